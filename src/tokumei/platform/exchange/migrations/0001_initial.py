from django.conf import settings
from django.db import migrations, models
from django.utils import timezone

from tokumei.platform.exchange.models import new_key
from tokumei.platform.messages import SentenceDecoder, SentenceField

USER = settings.AUTH_USER_MODEL


class Migration(migrations.Migration):
    initial = True

    dependencies = [("teams", "0001_initial"), migrations.swappable_dependency(USER)]

    operations = [
        migrations.CreateModel(
            name="LevelRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(default=new_key, editable=False, max_length=32, unique=True)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("document", models.TextField()),
                ("recipient", models.CharField(max_length=200)),
                ("purpose", models.TextField()),
                ("criterion", models.CharField(max_length=100)),
                ("levels", models.JSONField(default=dict)),
                ("is_signed_here", models.BooleanField(default=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("sent", "Sent"),
                            ("waiting", "Waits for approval"),
                            ("served", "Served"),
                            ("refused", "Refused"),
                            ("invalid", "Could not be used"),
                            ("withdrawn", "Withdrawn"),
                        ],
                        default="sent",
                        max_length=10,
                    ),
                ),
                ("sent", models.DateTimeField(default=timezone.now, editable=False)),
                ("answered", models.DateTimeField(blank=True, null=True)),
                ("answer", models.TextField(blank=True)),
                ("problem", models.TextField(blank=True)),
                ("release_digest", models.CharField(blank=True, max_length=64)),
                ("remarks", models.JSONField(blank=True, default=list)),
                ("user", models.ForeignKey(on_delete=models.PROTECT, related_name="level_requests", to=USER)),
            ],
            options={"ordering": ("-sent", "-pk")},
        ),
        migrations.CreateModel(
            name="Fetched",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(default=timezone.now, editable=False)),
                (
                    "request",
                    models.ForeignKey(on_delete=models.CASCADE, related_name="fetched", to="exchange.levelrequest"),
                ),
            ],
            options={"ordering": ("-at",)},
        ),
        migrations.CreateModel(
            name="PublishedOffer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(max_length=60, unique=True)),
                ("name", models.CharField(max_length=200)),
                ("words", models.TextField(blank=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("making", "Being made"),
                            ("open", "Open"),
                            ("failed", "Could not be made"),
                            ("closed", "Takes no more requests"),
                            ("removed", "Removed for good"),
                        ],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("trouble", SentenceField(blank=True)),
                ("is_hosted", models.BooleanField(default=False)),
                ("digest", models.CharField(blank=True, max_length=64)),
                ("public_key", models.CharField(blank=True, max_length=100)),
                ("revision", models.PositiveIntegerField(default=0)),
                ("log_lines", models.PositiveIntegerField(default=0)),
                ("log_hash", models.CharField(blank=True, max_length=64)),
                ("wanted", models.JSONField(blank=True, default=dict)),
                ("folder_key", models.CharField(default=new_key, editable=False, max_length=32)),
                ("attacked", models.DateTimeField(blank=True, null=True)),
                ("attack", models.JSONField(blank=True, decoder=SentenceDecoder, default=dict)),
                ("created", models.DateTimeField(default=timezone.now, editable=False)),
                ("removed", models.DateTimeField(blank=True, null=True)),
                ("by", models.ForeignKey(on_delete=models.PROTECT, related_name="offers", to=USER)),
                ("team", models.ForeignKey(on_delete=models.PROTECT, related_name="offers", to="teams.team")),
            ],
            options={"ordering": ("-created", "-pk")},
        ),
        migrations.AddField(
            model_name="levelrequest",
            name="offer",
            field=models.ForeignKey(on_delete=models.PROTECT, related_name="requests", to="exchange.publishedoffer"),
        ),
        migrations.CreateModel(
            name="Recipient",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("organization", models.CharField(max_length=60)),
                ("about", models.TextField(blank=True, max_length=2000)),
                ("public_key", models.CharField(max_length=100, unique=True)),
                ("key_name", models.CharField(default=new_key, editable=False, max_length=32)),
                ("user", models.OneToOneField(on_delete=models.CASCADE, related_name="recipient", to=USER)),
            ],
        ),
        migrations.CreateModel(
            name="Trust",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("criterion", models.CharField(max_length=100)),
                ("at", models.DateTimeField(default=timezone.now, editable=False)),
                ("by", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="+", to=USER)),
                (
                    "offer",
                    models.ForeignKey(on_delete=models.CASCADE, related_name="trusted", to="exchange.publishedoffer"),
                ),
                ("user", models.ForeignKey(on_delete=models.CASCADE, related_name="trusted_by", to=USER)),
            ],
            options={
                "ordering": ("user__username", "criterion"),
                "constraints": [models.UniqueConstraint(fields=("offer", "user", "criterion"), name="trusted_once")],
            },
        ),
        migrations.CreateModel(
            name="Vote",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("is_approved", models.BooleanField()),
                ("document", models.TextField()),
                ("at", models.DateTimeField(default=timezone.now, editable=False)),
                ("by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=USER)),
                (
                    "request",
                    models.ForeignKey(on_delete=models.CASCADE, related_name="votes", to="exchange.levelrequest"),
                ),
            ],
            options={
                "ordering": ("at",),
                "constraints": [models.UniqueConstraint(fields=("request", "by"), name="one_vote_each")],
            },
        ),
    ]
