from __future__ import annotations

from django.db import migrations

import tokumei.platform.said


class Migration(migrations.Migration):
    dependencies = [
        ("contests", "0007_counts"),
    ]

    operations = [
        migrations.AlterField(
            model_name="contest",
            name="trouble_details",
            field=tokumei.platform.said.SaidField(blank=True),
        ),
    ]
