from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """Room for what teams note of their submissions."""

    dependencies = [("contests", "0004_console")]

    operations = [
        migrations.AddField("submission", "note", models.TextField(blank=True, default="", max_length=2000)),
        migrations.AlterField("submission", "note", models.TextField(blank=True, max_length=2000)),
    ]
