from django.conf import settings
from django.db import migrations, models
from django.db.models.functions import Lower
from django.utils import timezone

from tokumei.platform.typed_text import check_short_name

USER = settings.AUTH_USER_MODEL


class Migration(migrations.Migration):
    initial = True

    dependencies = [migrations.swappable_dependency(USER)]

    operations = [
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[("captain", "captain"), ("member", "member")], default="member", max_length=10
                    ),
                ),
                ("joined", models.DateTimeField(default=timezone.now, editable=False)),
                ("user", models.ForeignKey(on_delete=models.CASCADE, related_name="memberships", to=USER)),
            ],
            options={"ordering": ("role", "joined", "pk")},
        ),
        migrations.CreateModel(
            name="Team",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.CharField(max_length=40, validators=[check_short_name], verbose_name="short name")),
                ("display_name", models.CharField(max_length=60, verbose_name="display name")),
                ("display_key", models.CharField(editable=False, max_length=1080, unique=True)),
                ("created", models.DateTimeField(default=timezone.now, editable=False)),
                ("closed", models.DateTimeField(blank=True, editable=False, null=True)),
                ("members", models.ManyToManyField(related_name="teams", through="teams.Membership", to=USER)),
            ],
            options={"ordering": ("display_key",)},
        ),
        migrations.AddField(
            model_name="membership",
            name="team",
            field=models.ForeignKey(on_delete=models.CASCADE, related_name="memberships", to="teams.team"),
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("created", models.DateTimeField(default=timezone.now, editable=False)),
                ("expires", models.DateTimeField()),
                ("revoked", models.DateTimeField(blank=True, null=True)),
                ("accepted", models.DateTimeField(blank=True, null=True)),
                (
                    "accepted_by",
                    models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name="+", to=USER),
                ),
                ("invited_by", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="+", to=USER)),
                ("team", models.ForeignKey(on_delete=models.CASCADE, related_name="invitations", to="teams.team")),
            ],
            options={"ordering": ("-created",)},
        ),
        migrations.AddConstraint(
            model_name="team", constraint=models.UniqueConstraint(Lower("slug"), name="team_slug_is_unique")
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.UniqueConstraint(fields=("team", "user"), name="user_is_in_team_once"),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.UniqueConstraint(
                condition=models.Q(("role", "captain")), fields=("team",), name="team_has_one_captain"
            ),
        ),
    ]
