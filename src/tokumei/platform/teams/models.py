"""Teams, who is in them, and the links by which others come in."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from tokumei.platform.typed_text import DISPLAY_NAME_LENGTH, KEY_LENGTH, check_short_name


class Team(models.Model):
    """Some users who act as one: a short name for files and addresses, and a name to be called by."""

    slug = models.CharField(_("short name"), max_length=40, validators=[check_short_name])
    display_name = models.CharField(_("display name"), max_length=DISPLAY_NAME_LENGTH)
    # What the display name has in common with names that look the same.
    display_key = models.CharField(max_length=KEY_LENGTH, unique=True, editable=False)
    created = models.DateTimeField(default=timezone.now, editable=False)
    # A team that all have left keeps its name, since results stand under it.
    closed = models.DateTimeField(null=True, blank=True, editable=False)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, through="Membership", related_name="teams")

    class Meta:
        constraints = (models.UniqueConstraint(Lower("slug"), name="team_slug_is_unique"),)
        ordering = ("display_key",)

    def __str__(self) -> str:
        return self.display_name


class Role(models.TextChoices):
    """What somebody is in a team."""

    CAPTAIN = "captain", _("captain")
    MEMBER = "member", _("member")


class Membership(models.Model):
    """One user in one team."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.MEMBER)
    joined = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["team", "user"], name="user_is_in_team_once"),
            models.UniqueConstraint(fields=["team"], condition=models.Q(role="captain"), name="team_has_one_captain"),
        )
        ordering = ("role", "joined", "pk")

    def __str__(self) -> str:
        return f"{self.user_id} in {self.team_id}"

    @property
    def is_captain(self) -> bool:
        """Whether this is the captain's."""
        return self.role == Role.CAPTAIN


class Invitation(models.Model):
    """A link that lets one user into a team once; only the digest of its token is kept."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invitations")
    digest = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created = models.DateTimeField(default=timezone.now, editable=False)
    expires = models.DateTimeField()
    revoked = models.DateTimeField(null=True, blank=True)
    accepted = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ("-created",)

    def __str__(self) -> str:
        return f"invitation {self.pk}"
