from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("contests", "0008_said"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="submission",
            index=models.Index(fields=["contest", "state", "finished_at"], name="contests_su_contest_efda0a_idx"),
        ),
    ]
