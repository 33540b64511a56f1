from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """Room for the time zone that somebody chose."""

    dependencies = [("accounts", "0002_deleted")]

    operations = [
        migrations.AddField("user", "time_zone", models.CharField(blank=True, default="", max_length=64)),
    ]
