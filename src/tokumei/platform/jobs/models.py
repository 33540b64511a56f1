"""The authority on who works on which evaluation.

The queue only says that there may be work; this row says whether there is, and whose it is. Whoever takes it counts an
attempt and raises the fencing number in one step, before any work; only the holder of the newest number may write a
result, so that a worker that froze and woke up late is refused.
"""

from __future__ import annotations

from django.db import models


class Task(models.TextChoices):
    """What is to be done: to a release, to a guess, or between two phases of a contest."""

    SCORE = "score"
    JUDGE = "judge"
    PREPARE = "prepare"
    PUBLISH = "publish"
    CLOSE = "close"


class Evaluation(models.Model):
    """The work on one submission, or on the change of a contest's phase."""

    submission = models.OneToOneField(
        "contests.Submission", null=True, blank=True, on_delete=models.CASCADE, related_name="evaluation"
    )
    contest = models.ForeignKey("contests.Contest", on_delete=models.CASCADE, related_name="evaluations")
    task = models.CharField(max_length=10, choices=Task.choices)
    n_attempts = models.PositiveSmallIntegerField(default=0)
    fence = models.PositiveIntegerField(default=0)
    is_running = models.BooleanField(default=False)
    is_done = models.BooleanField(default=False, db_index=True)
    beat_at = models.DateTimeField(null=True, blank=True)
    # When the queue was last told; a message that got lost is sent again after a while.
    queued_at = models.DateTimeField(null=True, blank=True)
    # Not before: a failed attempt is tried again a little later.
    due_at = models.DateTimeField(null=True, blank=True)
    worker = models.CharField(max_length=80, blank=True)
    # What is being computed now and how far it is, for the person who waits: step, done, total.
    progress = models.JSONField(default=dict, blank=True)
    # For operators: the kind of the last failure, never its data.
    last_failure = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """A contest is prepared, published and closed once."""

        constraints = (
            models.UniqueConstraint(
                fields=["contest", "task"], condition=models.Q(submission=None), name="a_phase_changes_once"
            ),
        )
        indexes = (models.Index(fields=["is_done", "is_running", "due_at"]),)

    def __str__(self) -> str:
        return f"{self.task} {self.pk}"
