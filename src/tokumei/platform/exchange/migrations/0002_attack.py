from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """Room for what an attack on an offer found."""

    dependencies = [("exchange", "0001_initial")]

    operations = [
        migrations.AddField("publishedoffer", "attacked", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("publishedoffer", "attack", models.JSONField(blank=True, default=dict)),
    ]
