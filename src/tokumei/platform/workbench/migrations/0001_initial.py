import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import tokumei.platform.workbench.models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Piece",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "key",
                    models.CharField(
                        default=tokumei.platform.workbench.models.new_key, editable=False, max_length=40, unique=True
                    ),
                ),
                ("kind", models.CharField(choices=[("table", "table"), ("history", "history")], max_length=10)),
                ("n_bytes", models.PositiveBigIntegerField(default=0)),
                ("created", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("expires", models.DateTimeField(default=tokumei.platform.workbench.models.end_of_life)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="pieces", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ("-created", "-pk"),
            },
        ),
    ]
