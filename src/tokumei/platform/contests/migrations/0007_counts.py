from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

COUNTS = [
    ("latest", "The latest that was scored"),
    ("best", "The best that was scored"),
    ("chosen", "The one that the team chooses"),
]


class Migration(migrations.Migration):
    """Room for which release of a team counts, and for its choice."""

    dependencies = [("contests", "0006_drafts")]

    operations = [
        migrations.AddField("contest", "counts", models.CharField(choices=COUNTS, default="latest", max_length=10)),
        migrations.AddField(
            "participation",
            "chosen",
            models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="contests.submission",
            ),
        ),
        migrations.AddField("participation", "chosen_at", models.DateTimeField(blank=True, null=True)),
    ]
