from django.conf import settings
from django.db import migrations, models
from django.utils import timezone

USER = settings.AUTH_USER_MODEL


class Migration(migrations.Migration):
    initial = True

    dependencies = [migrations.swappable_dependency(USER)]

    operations = [
        migrations.CreateModel(
            name="Token",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60)),
                ("digest", models.CharField(max_length=64, unique=True)),
                (
                    "scope",
                    models.CharField(
                        choices=[
                            ("read", "Read"),
                            ("submit", "Read and submit"),
                            ("organize", "Read, submit and organize"),
                        ],
                        default="read",
                        max_length=10,
                    ),
                ),
                ("created", models.DateTimeField(default=timezone.now, editable=False)),
                ("expires", models.DateTimeField(blank=True, null=True)),
                ("last_used", models.DateField(blank=True, null=True)),
                ("password_mark", models.CharField(max_length=64)),
                ("user", models.ForeignKey(on_delete=models.CASCADE, related_name="tokens", to=USER)),
            ],
            options={"ordering": ("-created", "-pk")},
        )
    ]
