from __future__ import annotations

from django.db import migrations, models
from django.utils import timezone


class Migration(migrations.Migration):
    """Which version of each shared folder is the one that counts."""

    initial = True
    dependencies = []

    operations = [
        migrations.CreateModel(
            "SharedFolder",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200, unique=True)),
                ("version", models.CharField(max_length=64)),
                ("at", models.DateTimeField(default=timezone.now)),
            ],
        )
    ]
