from django.conf import settings
from django.db import migrations, models
from django.utils import timezone

from tokumei.platform.workbench.models import end_of_life, new_key

USER = settings.AUTH_USER_MODEL


class Migration(migrations.Migration):
    initial = True

    dependencies = [migrations.swappable_dependency(USER)]

    operations = [
        migrations.CreateModel(
            name="Piece",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(default=new_key, editable=False, max_length=40, unique=True)),
                ("kind", models.CharField(choices=[("table", "table"), ("history", "history")], max_length=10)),
                ("n_bytes", models.PositiveBigIntegerField(default=0)),
                ("created", models.DateTimeField(default=timezone.now, editable=False)),
                ("expires", models.DateTimeField(default=end_of_life)),
                ("owner", models.ForeignKey(on_delete=models.CASCADE, related_name="pieces", to=USER)),
            ],
            options={"ordering": ("-created", "-pk")},
        )
    ]
