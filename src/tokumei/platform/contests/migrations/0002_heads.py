from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """Room for the heads of a contest's log and, at its end, for the key."""

    dependencies = [("contests", "0001_initial")]

    operations = [
        migrations.AddField("contest", "heads", models.JSONField(blank=True, default=dict)),
        migrations.AddField("contest", "key", models.CharField(blank=True, max_length=64)),
    ]
