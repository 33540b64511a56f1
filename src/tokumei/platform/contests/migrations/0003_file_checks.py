from __future__ import annotations

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import tokumei.platform.contests.models

KINDS = [("release", "Release"), ("guess", "Guess")]
STATES = [
    ("waiting", "Waiting"),
    ("passed", "It keeps all rules"),
    ("refused", "It breaks a rule"),
    ("failed", "The platform failed to check it"),
]
GONE_WITH_IT = django.db.models.deletion.CASCADE


class Migration(migrations.Migration):
    """Room for files that are checked without being handed in."""

    dependencies = [
        ("contests", "0002_heads"),
        ("jobs", "0001_initial"),
        ("teams", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="FileCheck",
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
                ("kind", models.CharField(choices=KINDS, max_length=10)),
                ("state", models.CharField(choices=STATES, default="waiting", max_length=10)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("files", models.JSONField(default=dict)),
                ("groups", models.JSONField(blank=True, default=list)),
                ("n_faults", models.PositiveIntegerField(default=0)),
                ("notes", models.JSONField(blank=True, default=list)),
                (
                    "by",
                    models.ForeignKey(on_delete=GONE_WITH_IT, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
                (
                    "contest",
                    models.ForeignKey(on_delete=GONE_WITH_IT, related_name="checks", to="contests.contest"),
                ),
                (
                    "job",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="file_check",
                        to="jobs.job",
                    ),
                ),
                (
                    "target",
                    models.ForeignKey(blank=True, null=True, on_delete=GONE_WITH_IT, related_name="+", to="teams.team"),
                ),
                ("team", models.ForeignKey(on_delete=GONE_WITH_IT, related_name="+", to="teams.team")),
            ],
            options={"ordering": ("-at", "-id")},
        ),
    ]
