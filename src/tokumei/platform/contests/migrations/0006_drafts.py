from __future__ import annotations

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import tokumei.platform.contests.models


class Migration(migrations.Migration):
    """Room for contests that are being made."""

    dependencies = [
        ("contests", "0005_notes"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ContestDraft",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "key",
                    models.CharField(
                        default=tokumei.platform.contests.models.new_submission_key,
                        editable=False,
                        max_length=32,
                        unique=True,
                    ),
                ),
                ("answers", models.JSONField(blank=True, default=dict)),
                ("n_bytes", models.PositiveBigIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("changed_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="contest_drafts",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "co_organizers",
                    models.ManyToManyField(blank=True, related_name="shared_drafts", to=settings.AUTH_USER_MODEL),
                ),
            ],
            options={"ordering": ("-changed_at", "-id")},
        ),
    ]
