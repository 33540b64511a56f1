from __future__ import annotations

from django.db import migrations, models

import tokumei.platform.said


class Migration(migrations.Migration):
    dependencies = [
        ("exchange", "0003_removed"),
    ]

    operations = [
        migrations.AlterField(
            model_name="publishedoffer",
            name="attack",
            field=models.JSONField(blank=True, decoder=tokumei.platform.said.SaidDecoder, default=dict),
        ),
        migrations.AlterField(
            model_name="publishedoffer",
            name="trouble",
            field=tokumei.platform.said.SaidField(blank=True),
        ),
    ]
