from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """Room for offers that were removed for good."""

    dependencies = [("exchange", "0002_attack")]

    operations = [
        migrations.AddField("publishedoffer", "removed", models.DateTimeField(blank=True, null=True)),
        migrations.AlterField(
            "publishedoffer",
            "state",
            models.CharField(
                choices=[
                    ("making", "Being made"),
                    ("open", "Open"),
                    ("failed", "Could not be made"),
                    ("closed", "Takes no more requests"),
                    ("removed", "Removed for good"),
                ],
                default="open",
                max_length=10,
            ),
        ),
    ]
