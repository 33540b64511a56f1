from django.conf import settings
from django.db import migrations, models
from django.utils import timezone

USER = settings.AUTH_USER_MODEL


class Migration(migrations.Migration):
    initial = True

    dependencies = [migrations.swappable_dependency(USER)]

    operations = [
        migrations.CreateModel(
            name="Preferences",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "mailing",
                    models.CharField(
                        choices=[("none", "Not at all"), ("at_once", "At once"), ("digest", "Once a day, together")],
                        default="none",
                        max_length=10,
                    ),
                ),
                ("kinds", models.JSONField(blank=True, default=list)),
                ("origin", models.CharField(blank=True, max_length=300)),
                ("digest_at", models.DateTimeField(blank=True, null=True)),
                ("calendar_number", models.PositiveIntegerField(default=0)),
                ("user", models.OneToOneField(on_delete=models.CASCADE, related_name="notice_preferences", to=USER)),
            ],
        ),
        migrations.CreateModel(
            name="Notice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("announcement", "Announcements and messages of organizers"),
                            ("phase", "Phases that begin, end, or soon will"),
                            ("score", "Scores that are ready"),
                            ("failure", "Submissions that were refused or failed"),
                            ("attack", "Attacks on my release"),
                            ("request", "Requests and questions at my desk"),
                            ("answer", "Answers to what I asked"),
                        ],
                        max_length=20,
                    ),
                ),
                ("says", models.CharField(max_length=300)),
                ("facts", models.JSONField(blank=True, default=dict)),
                ("text", models.TextField(blank=True)),
                ("text_ja", models.TextField(blank=True)),
                ("link", models.CharField(blank=True, max_length=300)),
                ("at", models.DateTimeField(default=timezone.now)),
                ("read_at", models.DateTimeField(blank=True, null=True)),
                ("mailed_at", models.DateTimeField(blank=True, null=True)),
                ("user", models.ForeignKey(on_delete=models.CASCADE, related_name="notices", to=USER)),
            ],
            options={
                "ordering": ("-at", "-id"),
                "indexes": [models.Index(fields=["user", "read_at"], name="notices_not_user_id_3be34e_idx")],
            },
        ),
    ]
