from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """Room for when an account was deleted."""

    dependencies = [("accounts", "0001_initial")]

    operations = [
        migrations.AddField("user", "deleted_at", models.DateTimeField(blank=True, editable=False, null=True))
    ]
