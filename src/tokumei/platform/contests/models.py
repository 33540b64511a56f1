"""What the server remembers of a contest: its schedule, who takes part, what was submitted and what came of it.

The data, the secrets and the published releases of a contest are files in its contest folder, which
`tokumei.contest.folder` describes. Rows here say who did what and when; scores are made by `tokumei.contest` alone.
"""

from __future__ import annotations

import secrets
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from tokumei.platform.files.shared import local
from tokumei.platform.messages import SentenceField


def new_folder_key() -> str:
    """Draw the name of a contest's folder."""
    return secrets.token_hex(16)


def new_submission_key() -> str:
    """Draw the name by which a submission is asked for: it tells nothing of how many there are."""
    return secrets.token_hex(12)


class Phase(models.TextChoices):
    """Where a contest stands."""

    PREPARING = "preparing", _("Being prepared")
    UPCOMING = "upcoming", _("Not yet open")
    ANONYMIZE = "anonymize", _("Anonymize")
    PUBLISHING = "publishing", _("Releases are being published")
    ATTACK = "attack", _("Attack")
    CLOSING = "closing", _("The final ranking is being made")
    CLOSED = "closed", _("Closed")


class Board(models.TextChoices):
    """What the scoreboard shows while a contest runs."""

    LIVE = "live", _("Live")
    FROZEN = "frozen", _("Frozen")
    HIDDEN = "hidden", _("Hidden until the end")


class Counts(models.TextChoices):
    """Which of a team's releases counts."""

    LATEST = "latest", _("The latest that was scored")
    BEST = "best", _("The best that was scored")
    CHOSEN = "chosen", _("The one that the team chooses")


class Contest(models.Model):
    """One contest: an edition of the registry, or one's own by a TOML file."""

    slug = models.SlugField(unique=True, max_length=60)
    title = models.CharField(max_length=120)
    edition = models.CharField(max_length=60, blank=True)
    options = models.JSONField(default=dict, blank=True)
    own_toml = models.TextField(blank=True)
    organizer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="contests")
    is_public = models.BooleanField(default=True)
    opens_at = models.DateTimeField(default=timezone.now)
    attacks_open_at = models.DateTimeField()
    closes_at = models.DateTimeField()
    # Set by the jobs that do the work between two phases, so that a phase begins only when its files are there.
    prepared_at = models.DateTimeField(null=True, blank=True)
    published_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    # The hash of the log's last line after each change of phase, shown to everybody: the log cannot be written anew.
    heads = models.JSONField(default=dict, blank=True)
    # The key that the first line of the log commits to, from the end on: with it anybody replays the contest.
    key = models.CharField(max_length=64, blank=True)
    # Why the contest could not be prepared, published or closed, as an English sentence; its organizer reads it.
    trouble = models.TextField(blank=True)
    trouble_details = SentenceField(blank=True)
    board = models.CharField(max_length=10, choices=Board.choices, default=Board.LIVE)
    board_frozen_at = models.DateTimeField(null=True, blank=True)
    # Exact scores leak the truth: teams see this many digits.
    digits_shown = models.PositiveSmallIntegerField(default=3)
    # Whether teams see how right their guesses were before the contest ends.
    shows_guess_scores = models.BooleanField(default=False)
    counts = models.CharField(max_length=10, choices=Counts.choices, default=Counts.LATEST)
    releases_a_day = models.PositiveSmallIntegerField(default=5)
    releases_in_all = models.PositiveSmallIntegerField(default=20)
    guesses_a_day = models.PositiveSmallIntegerField(default=20)
    guesses_on_one = models.PositiveSmallIntegerField(default=10)
    created_at = models.DateTimeField(auto_now_add=True)
    # What the organizer tells of the contest beside its rules, as Markdown, in each language.
    description = models.TextField(blank=True, max_length=20_000)
    description_ja = models.TextField(blank=True, max_length=20_000)
    # Held results are the organizers' alone after the end, until they let them go.
    is_held = models.BooleanField(default=False)
    co_organizers = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="co_organized")
    # Which changes of phase people were told of, by name.
    told = models.JSONField(default=list, blank=True)
    # Names the folder, so that a slug tells nothing about where files lie.
    folder_key = models.CharField(max_length=32, default=new_folder_key, editable=False)

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return self.title

    @property
    def folder(self) -> Path:
        """The contest folder, as the last change of phase left it."""
        return local(Path(settings.MEDIA_ROOT) / "contests" / self.folder_key)

    @property
    def sources(self) -> Path:
        """Where the file lies that the data is sampled from, until it is; most contests have none."""
        return local(Path(settings.MEDIA_ROOT) / "sources" / self.folder_key)

    @property
    def trouble_in_words(self) -> str:
        """The trouble in the language of whoever reads."""
        return gettext(self.trouble) if self.trouble else ""

    @property
    def is_for_everybody(self) -> bool:
        """Whether anybody may know of it; the rows that `visible_contests` gives to visitors."""
        return self.is_public and not (self.prepared_at is None and self.trouble)

    @property
    def shows_results(self) -> bool:
        """Whether everybody may see the final results: the contest is over and they are not held back."""
        return self.closed_at is not None and not self.is_held

    @property
    def phase(self) -> Phase:
        """Where the contest stands now."""
        return self.phase_at()

    def phase_at(self, now: datetime | None = None) -> Phase:
        """Return the phase of the contest; a phase begins when its time has come and its files are there."""
        now = now or timezone.now()
        if self.prepared_at is None:
            return Phase.PREPARING
        if self.closed_at is not None:
            return Phase.CLOSED
        if now >= self.closes_at:
            return Phase.CLOSING
        # What is published stays so, even if the clock is set back.
        if self.published_at is not None:
            return Phase.ATTACK
        if now >= self.attacks_open_at:
            return Phase.PUBLISHING
        return Phase.ANONYMIZE if now >= self.opens_at else Phase.UPCOMING


class Participation(models.Model):
    """A team that takes part in a contest.

    Whoever submits holds the lock on this row while attempts are counted: that is what keeps the limits.
    """

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="participations")
    team = models.ForeignKey("teams.Team", on_delete=models.PROTECT, related_name="participations")
    joined_at = models.DateTimeField(auto_now_add=True)
    # A team may leave until releases are published; its row stays, since its submissions hang on it.
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    # From then on nothing of the team counts; everybody reads why.
    disqualified_at = models.DateTimeField(null=True, blank=True)
    disqualified_for = models.CharField(max_length=500, blank=True)
    # The release that the team wants to count, where the rules leave that to teams.
    chosen = models.ForeignKey("Submission", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    chosen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["contest", "team"], name="a_team_takes_part_once"),)

    def __str__(self) -> str:
        return f"{self.team_id} in {self.contest_id}"


class RosterEntry(models.Model):
    """Who was ever in a team of a contest: they know that team's truth, and are in no other team of that contest."""

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="roster")
    team = models.ForeignKey("teams.Team", on_delete=models.PROTECT, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = (models.UniqueConstraint(fields=["contest", "team", "user"], name="on_a_roster_once"),)

    def __str__(self) -> str:
        return f"{self.user_id} of {self.team_id} in {self.contest_id}"


class ContestInvitation(models.Model):
    """Lets a team join a private contest; the token is kept as its hash alone."""

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="invitations")
    token_hash = models.CharField(max_length=64, unique=True)
    note = models.CharField(max_length=120, blank=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    used_by = models.ForeignKey("teams.Team", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    def __str__(self) -> str:
        return f"invitation {self.pk}"


class Announcement(models.Model):
    """What an organizer tells everybody in a contest."""

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="announcements")
    title = models.CharField(max_length=120)
    text = models.TextField(max_length=5000)
    title_ja = models.CharField(max_length=120, blank=True)
    text_ja = models.TextField(max_length=5000, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-at",)

    def __str__(self) -> str:
        return self.title


class OrganizerAction(models.Model):
    """One thing that somebody did to a contest, which its organizers read and no page changes or removes."""

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="actions")
    # Empty where the server did it by itself, as in the demo.
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    what = models.CharField(max_length=30)
    # What it was done to and how: plain values by name, a change as [before, after].
    details = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-at", "-id")

    def __str__(self) -> str:
        return f"{self.what} in {self.contest_id}"


class Question(models.Model):
    """What somebody asks the organizers of a contest; its answer is for everybody, or for who asked alone."""

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="questions")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.TextField(max_length=2000)
    at = models.DateTimeField(auto_now_add=True)
    answer = models.TextField(max_length=5000, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    is_public = models.BooleanField(default=True)

    class Meta:
        ordering = ("-at", "-id")

    def __str__(self) -> str:
        return f"question {self.pk}"


class Kind(models.TextChoices):
    """What was submitted."""

    RELEASE = "release", _("Release")
    GUESS = "guess", _("Guess")


class State(models.TextChoices):
    """How far a submission is; the last three are final."""

    WAITING = "waiting", _("Waiting")
    RUNNING = "running", _("Being evaluated")
    SCORED = "scored", _("Scored")
    REFUSED = "refused", _("Refused: it breaks a rule")
    FAILED = "failed", _("The platform failed; no attempt was counted")


FINAL_STATES = (State.SCORED, State.REFUSED, State.FAILED)


class Submission(models.Model):
    """One submitted release, or one guess at another team's release with one level of knowledge.

    `score` is what `tokumei.contest` gave (a ReleaseScore or GuessScore as a dict) and stands only in a scored row.
    `reason` says in words why the state is what it is; `faults` lists what is wrong with a refused one.
    """

    key = models.CharField(max_length=32, unique=True, default=new_submission_key, editable=False)
    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="submissions")
    team = models.ForeignKey("teams.Team", on_delete=models.PROTECT, related_name="submissions")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    target = models.ForeignKey("teams.Team", null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    knowledge = models.CharField(max_length=20, blank=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING, db_index=True)
    at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)
    job = models.OneToOneField("jobs.Job", null=True, on_delete=models.SET_NULL, related_name="submission")
    # Name of each file of the edition → its name on the disk, SHA-256 and number of bytes.
    files = models.JSONField(default=dict)
    score = models.JSONField(null=True, blank=True)
    # Binds the score to the files, by the contest's key, which no row holds while the contest runs.
    seal = models.CharField(max_length=64, blank=True)
    faults = models.JSONField(default=list, blank=True)
    n_faults = models.PositiveIntegerField(default=0)
    reason = models.TextField(blank=True)
    # What the team wants to remember of it; nobody else reads it.
    note = models.TextField(blank=True, max_length=2000)

    class Meta:
        ordering = ("-at", "-id")
        indexes = (
            models.Index(fields=["contest", "kind", "state"]),
            # Every page with a place on it asks how many are scored, and when the last one was.
            models.Index(fields=["contest", "state", "finished_at"]),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"

    @property
    def is_final(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in FINAL_STATES

    @property
    def folder(self) -> Path:
        """Where its files lie; not in the contest folder, which holds what counted alone."""
        return local(Path(settings.MEDIA_ROOT) / "uploads" / self.key)

    @property
    def reason_in_words(self) -> str:
        """The reason in the language of whoever reads."""
        return gettext(self.reason) if self.reason else ""


class CheckState(models.TextChoices):
    """How far a check is; the last three are final."""

    WAITING = "waiting", _("Waiting")
    PASSED = "passed", _("It keeps all rules")
    REFUSED = "refused", _("It breaks a rule")
    FAILED = "failed", _("The platform failed to check it")


class FileCheck(models.Model):
    """Files that a team has checked without handing them in: no attempt, no score, and gone after a day.

    `groups` has the faults by their kinds, how many of each and the first; `notes` what was converted to be read.
    """

    key = models.CharField(max_length=32, unique=True, default=new_submission_key, editable=False)
    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="checks")
    team = models.ForeignKey("teams.Team", on_delete=models.CASCADE, related_name="+")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    target = models.ForeignKey("teams.Team", null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    state = models.CharField(max_length=10, choices=CheckState.choices, default=CheckState.WAITING)
    at = models.DateTimeField(default=timezone.now)
    job = models.OneToOneField("jobs.Job", null=True, on_delete=models.SET_NULL, related_name="file_check")
    files = models.JSONField(default=dict)
    groups = models.JSONField(default=list, blank=True)
    n_faults = models.PositiveIntegerField(default=0)
    notes = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ("-at", "-id")

    def __str__(self) -> str:
        return f"check {self.key}"

    @property
    def is_final(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state != CheckState.WAITING

    @property
    def folder(self) -> Path:
        """Where its files lie, beside those of submissions."""
        return local(Path(settings.MEDIA_ROOT) / "uploads" / self.key)


class ContestDraft(models.Model):
    """A contest that is being made: what was typed so far, step by step; nobody but its makers knows of it.

    `answers` has the fields of all steps as they were typed, valid or not. What tells of the data lies in the folder.
    """

    key = models.CharField(max_length=32, unique=True, default=new_submission_key, editable=False)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="contest_drafts")
    co_organizers = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="shared_drafts")
    answers = models.JSONField(default=dict, blank=True)
    n_bytes = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-changed_at", "-id")

    def __str__(self) -> str:
        return f"draft {self.key}"

    @property
    def title(self) -> str:
        """What the contest is going to be called."""
        # As it was typed, it may hold what turns the text around it; a contest's own title cannot.
        seen = "".join(one for one in str(self.answers.get("title") or "") if one.isprintable()).strip()
        return seen or gettext("Contest without a title")

    @property
    def folder(self) -> Path:
        """Where its data lie, and what was found out about them."""
        return local(Path(settings.MEDIA_ROOT) / "drafts" / self.key)
