"""The authority on what is to be done and who does it.

The row of a job says whether there is work and whose it is; there is no queue beside it. Whoever takes a job counts an
attempt and raises the fencing number in one step, before any work; only the holder of the newest number may write a
result, so that a process that froze and woke up late is refused.
"""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext


class Outcome(models.TextChoices):
    """How a job ended; empty while it has not."""

    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"


class Job(models.Model):
    """One piece of work of a registered kind on one subject, done once."""

    kind = models.CharField(max_length=20)
    # What the work is on, by a name that its kind understands.
    subject = models.CharField(max_length=80)
    # Which processes take it: one kind of work must not keep another waiting.
    queue = models.CharField(max_length=20)
    # What the kind of work wants to remember: plain values, and nothing that lets anybody in.
    payload = models.JSONField(default=dict, blank=True)
    n_attempts = models.PositiveSmallIntegerField(default=0)
    fence = models.PositiveIntegerField(default=0)
    is_running = models.BooleanField(default=False)
    is_done = models.BooleanField(default=False, db_index=True)
    outcome = models.CharField(max_length=10, choices=Outcome.choices, blank=True)
    # Why it failed, as an English sentence that is translated when shown.
    reason = models.TextField(blank=True)
    beat_at = models.DateTimeField(null=True, blank=True)
    # Not before: a failed attempt is tried again a little later.
    due_at = models.DateTimeField(null=True, blank=True)
    worker = models.CharField(max_length=80, blank=True)
    # What is being computed now and how far it is, for the person who waits: step, done, total.
    progress = models.JSONField(default=dict, blank=True)
    # For operators: the kind of the last failure, never its data.
    last_failure = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["kind", "subject"], name="a_job_is_done_once"),)
        indexes = (models.Index(fields=["is_done", "queue", "is_running", "due_at"]),)

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"

    @property
    def reason_in_words(self) -> str:
        """The reason in the language of whoever reads."""
        return gettext(self.reason) if self.reason else ""


class WorkerSeen(models.Model):
    """That a worker was there, and when it last showed itself."""

    name = models.CharField(max_length=80, unique=True)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
