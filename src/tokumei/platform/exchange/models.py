"""What the server remembers of the exchange: offers, who asked for what, and what became of it.

What was signed is kept to the letter. An offer's folder is the public half of its desk, as
`tokumei.exchange.watch` describes it; where the platform hosts the table, it is the whole desk.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from tokumei.platform.files.shared import local
from tokumei.platform.messages import SentenceDecoder, SentenceField
from tokumei.platform.teams.models import Team
from tokumei.platform.typed_text import DISPLAY_NAME_LENGTH

TEXT_LENGTH = 2_000
CRITERION_LENGTH = 100


def new_key() -> str:
    """Draw a name that tells nothing of how many there are."""
    return secrets.token_hex(12)


def exchange_folder() -> Path:
    """Where the files of the exchange lie."""
    return Path(settings.MEDIA_ROOT) / "exchange"


class OfferState(models.TextChoices):
    """Where an offer stands."""

    MAKING = "making", _("Being made")
    OPEN = "open", _("Open")
    FAILED = "failed", _("Could not be made")
    CLOSED = "closed", _("Takes no more requests")
    REMOVED = "removed", _("Removed for good")


class PublishedOffer(models.Model):
    """An offer as the platform shows it; what it says is read from its document."""

    slug = models.SlugField(unique=True, max_length=60)
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="offers")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="offers")
    name = models.CharField(max_length=200)
    # Name, provider, purpose, summary and columns, for searching.
    words = models.TextField(blank=True)
    state = models.CharField(max_length=10, choices=OfferState.choices, default=OfferState.OPEN)
    # Why a hosted offer could not be made; its team reads it.
    trouble = SentenceField(blank=True)
    is_hosted = models.BooleanField(default=False)
    digest = models.CharField(max_length=64, blank=True)
    public_key = models.CharField(max_length=100, blank=True)
    revision = models.PositiveIntegerField(default=0)
    # The head of the public log as it was last received: a log that is made anew does not reach it.
    log_lines = models.PositiveIntegerField(default=0)
    log_hash = models.CharField(max_length=64, blank=True)
    # What the provider decided of a hosted offer, until it is made.
    wanted = models.JSONField(default=dict, blank=True)
    folder_key = models.CharField(max_length=32, default=new_key, editable=False)
    # What integer programs prove of all that is out, and when they were last run; its team reads it.
    attacked = models.DateTimeField(null=True, blank=True)
    attack = models.JSONField(default=dict, blank=True, decoder=SentenceDecoder)
    created = models.DateTimeField(default=timezone.now, editable=False)
    # The row is the tombstone of an offer that was removed: when, and the log's last head.
    removed = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created", "-pk")

    def __str__(self) -> str:
        return self.name

    @property
    def place(self) -> Path:
        """Where its files lie, on whichever machine."""
        return exchange_folder() / "offers" / self.folder_key

    @property
    def folder(self) -> Path:
        """Its files as they stand, on this machine; they are changed by `services.desks` alone."""
        return local(self.place)

    @property
    def table_place(self) -> Path:
        """Where a hosted table lies: apart from the desk, which wants an empty folder to begin with."""
        return exchange_folder() / "tables" / self.folder_key

    @property
    def is_published(self) -> bool:
        """Whether everybody may see it."""
        return self.state in (OfferState.OPEN, OfferState.CLOSED)


class Recipient(models.Model):
    """Who a user is to providers; their key on this platform signs what they ask for and agree to here."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="recipient")
    organization = models.CharField(max_length=DISPLAY_NAME_LENGTH)
    about = models.TextField(max_length=TEXT_LENGTH, blank=True)
    public_key = models.CharField(max_length=100, unique=True)
    key_name = models.CharField(max_length=32, default=new_key, editable=False)

    def __str__(self) -> str:
        return self.organization


class Trust(models.Model):
    """By which criterion a provider serves a recipient; everybody else is served by the strictest."""

    offer = models.ForeignKey(PublishedOffer, on_delete=models.CASCADE, related_name="trusted")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="trusted_by")
    criterion = models.CharField(max_length=CRITERION_LENGTH)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["offer", "user", "criterion"], name="trusted_once"),)
        ordering = ("user__username", "criterion")

    def __str__(self) -> str:
        return f"{self.user_id} by {self.criterion}"


class RequestState(models.TextChoices):
    """What became of a request."""

    SENT = "sent", _("Sent")
    WAITING = "waiting", _("Waits for approval")
    SERVED = "served", _("Served")
    REFUSED = "refused", _("Refused")
    INVALID = "invalid", _("Could not be used")
    WITHDRAWN = "withdrawn", _("Withdrawn")


OPEN_STATES = (RequestState.SENT, RequestState.WAITING)


class LevelRequest(models.Model):
    """What a user asked of an offer: a signed document, its answer, and where the release lies."""

    key = models.CharField(max_length=32, unique=True, default=new_key, editable=False)
    offer = models.ForeignKey(PublishedOffer, on_delete=models.PROTECT, related_name="requests")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="level_requests")
    # One document, one request: somebody else's cannot be sent again.
    digest = models.CharField(max_length=64, unique=True)
    document = models.TextField()
    # Told from the document: who asks, for what, by which criterion, for which levels.
    recipient = models.CharField(max_length=200)
    purpose = models.TextField()
    criterion = models.CharField(max_length=CRITERION_LENGTH)
    levels = models.JSONField(default=dict)
    # Whether the key on this platform signed it, or one of the user's own.
    is_signed_here = models.BooleanField(default=True)
    state = models.CharField(max_length=10, choices=RequestState.choices, default=RequestState.SENT)
    sent = models.DateTimeField(default=timezone.now, editable=False)
    answered = models.DateTimeField(null=True, blank=True)
    answer = models.TextField(blank=True)
    problem = models.TextField(blank=True)
    release_digest = models.CharField(max_length=64, blank=True)
    # What is odd about the release, as sentences.
    remarks = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ("-sent", "-pk")

    def __str__(self) -> str:
        return f"request {self.key}"

    @property
    def is_open(self) -> bool:
        """Whether an answer may still come."""
        return self.state in OPEN_STATES

    @property
    def release_path(self) -> Path:
        """Where the release lies: with the files of who asked, and of nobody else."""
        return local(exchange_folder() / "releases" / str(self.user_id) / f"{self.key}.csv")


class Vote(models.Model):
    """What a second person said of a request, signed."""

    request = models.ForeignKey(LevelRequest, on_delete=models.CASCADE, related_name="votes")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    is_approved = models.BooleanField()
    document = models.TextField()
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["request", "by"], name="one_vote_each"),)
        ordering = ("at",)

    def __str__(self) -> str:
        return f"{self.by_id} on {self.request_id}"


class Fetched(models.Model):
    """That a release was downloaded, and when."""

    request = models.ForeignKey(LevelRequest, on_delete=models.CASCADE, related_name="fetched")
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("-at",)

    def __str__(self) -> str:
        return f"{self.request_id} at {self.at}"
