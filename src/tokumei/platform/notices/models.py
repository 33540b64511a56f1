"""What somebody is told, and how they want to be."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _


class NoticeKind(models.TextChoices):
    """What a notice is about; people choose by these which are mailed."""

    ANNOUNCEMENT = "announcement", _("Announcements and messages of organizers")
    PHASE = "phase", _("Phases that begin, end, or soon will")
    SCORE = "score", _("Scores that are ready")
    FAILURE = "failure", _("Submissions that were refused or failed")
    ATTACK = "attack", _("Attacks on my release")
    REQUEST = "request", _("Requests and questions at my desk")
    ANSWER = "answer", _("Answers to what I asked")


class Notice(models.Model):
    """One thing that one person is told; it is written when it is read, in the language of who reads."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=20, choices=NoticeKind.choices)
    # An English sentence with places for the facts.
    says = models.CharField(max_length=300)
    facts = models.JSONField(default=dict, blank=True)
    # What somebody wrote, as Markdown.
    text = models.TextField(blank=True)
    text_ja = models.TextField(blank=True)
    link = models.CharField(max_length=300, blank=True)
    at = models.DateTimeField(default=timezone.now)
    read_at = models.DateTimeField(null=True, blank=True)
    mailed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-at", "-id")
        indexes = (models.Index(fields=["user", "read_at"]),)

    def __str__(self) -> str:
        return f"notice {self.pk}"

    @property
    def in_words(self) -> str:
        """The sentence in the language of whoever reads."""
        facts: dict[str, object] = self.facts
        return gettext(self.says) % facts if facts else gettext(self.says)

    @property
    def spoken_text(self) -> str:
        """What somebody wrote, in the language of whoever reads where there is such a text."""
        is_japanese = (get_language() or "").startswith("ja")
        return (self.text_ja or self.text) if is_japanese else (self.text or self.text_ja)


class Mailing(models.TextChoices):
    """How notices are mailed."""

    NONE = "none", _("Not at all")
    AT_ONCE = "at_once", _("At once")
    DIGEST = "digest", _("Once a day, together")


class Preferences(models.Model):
    """How one person wants to be told; without a row, in the inbox alone."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notice_preferences")
    mailing = models.CharField(max_length=10, choices=Mailing.choices, default=Mailing.NONE)
    # The kinds that are mailed.
    kinds = models.JSONField(default=list, blank=True)
    # Scheme and host by which they reached the server when they chose: links in letters lead there.
    origin = models.CharField(max_length=300, blank=True)
    digest_at = models.DateTimeField(null=True, blank=True)
    # Part of what the address of the calendar is made from: another number makes the old address void.
    calendar_number = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"preferences of {self.user_id}"
