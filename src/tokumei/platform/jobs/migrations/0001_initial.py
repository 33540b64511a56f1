from django.db import migrations, models
from django.utils import timezone


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="WorkerSeen",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=80, unique=True)),
                ("seen_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Job",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=20)),
                ("subject", models.CharField(max_length=80)),
                ("queue", models.CharField(max_length=20)),
                ("payload", models.JSONField(blank=True, default=dict)),
                ("n_attempts", models.PositiveSmallIntegerField(default=0)),
                ("fence", models.PositiveIntegerField(default=0)),
                ("is_running", models.BooleanField(default=False)),
                ("is_done", models.BooleanField(db_index=True, default=False)),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[("done", "Done"), ("refused", "Refused"), ("failed", "Failed")],
                        max_length=10,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("beat_at", models.DateTimeField(blank=True, null=True)),
                ("due_at", models.DateTimeField(blank=True, null=True)),
                ("worker", models.CharField(blank=True, max_length=80)),
                ("progress", models.JSONField(blank=True, default=dict)),
                ("last_failure", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField(default=timezone.now)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["is_done", "queue", "is_running", "due_at"], name="jobs_job_is_done_85d205_idx"
                    )
                ],
                "constraints": [models.UniqueConstraint(fields=("kind", "subject"), name="a_job_is_done_once")],
            },
        ),
    ]
