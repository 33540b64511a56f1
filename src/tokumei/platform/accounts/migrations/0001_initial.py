from django.conf import settings
from django.db import migrations, models
from django.db.models.functions import Lower
from django.utils import timezone

from tokumei.platform.typed_text import check_short_name


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Deed",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(db_index=True, max_length=64)),
                ("until", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name="User",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                ("username", models.CharField(max_length=40, validators=[check_short_name], verbose_name="user name")),
                ("email", models.EmailField(max_length=254, verbose_name="email address")),
                ("display_name", models.CharField(max_length=60, verbose_name="display name")),
                ("language", models.CharField(blank=True, default="", max_length=10)),
                ("time_zone", models.CharField(blank=True, default="", max_length=64)),
                ("is_active", models.BooleanField(default=True)),
                ("is_organizer", models.BooleanField(default=False)),
                ("is_superuser", models.BooleanField(default=False)),
                ("verified_at", models.DateTimeField(blank=True, null=True)),
                ("session_number", models.PositiveIntegerField(default=0)),
                ("deleted_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("joined", models.DateTimeField(default=timezone.now, editable=False)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(Lower("username"), name="username_is_unique"),
                    models.UniqueConstraint(
                        Lower("email"),
                        condition=models.Q(("verified_at__isnull", False)),
                        name="verified_email_is_unique",
                    ),
                ]
            },
        ),
        migrations.CreateModel(
            name="BackupCode",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="backup_codes", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("user", "digest"), name="backup_code_is_unique")]},
        ),
    ]
