"""What the API takes and gives, as programs see it: names in addresses, bodies of requests, and answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from ninja import Schema
from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, StringConstraints

from tokumei.core.text import Json
from tokumei.platform.api.models import NAME_LENGTH
from tokumei.platform.typed_text import UNSEEN

# Names as they stand in addresses; what does not look like one is not there.
Slug = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,60}$")]
Key = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]{1,32}$")]
FileName = Annotated[str, StringConstraints(pattern=r"^[^/\\\x00-\x1f\x7f]{1,100}$")]
# No control characters: databases refuse NUL, and terminals obey others; nothing either that turns the text around it.
Line = Annotated[str, StringConstraints(pattern=rf"^[^\x00-\x1f\x7f{UNSEEN}]*$", max_length=254)]
Text = Annotated[str, StringConstraints(pattern=rf"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f{UNSEEN}]*$")]
FileKind = Literal["data", "own", "knowledge", "release"]


def _plausible(moment: datetime) -> datetime:
    # At the ends of the calendar a moment may have no year in another time zone.
    if not 2000 <= moment.year < 2100:
        raise ValueError("a time from 2000 to 2099")
    return moment


Moment = Annotated[AwareDatetime, AfterValidator(_plausible)]


class Taken(Schema):
    """The body of a request; a name that is not known is a slip, and refused."""

    model_config = ConfigDict(extra="forbid")


class LogIn(Taken):
    """Who wants a token, and what for."""

    username: Annotated[Line, Field(min_length=1)]
    password: Annotated[str, StringConstraints(min_length=1, max_length=4096)]
    code: Annotated[Line, Field(max_length=20, description="Of the second factor, where that is on.")] = ""
    name: Annotated[Line, Field(min_length=1, max_length=NAME_LENGTH, description="What to call the token.")]
    scope: Literal["read", "submit", "organize"] = "submit"
    days: Annotated[int | None, Field(ge=1, le=3650, description="How long it works; without, until revoked.")] = 90


class Join(Taken):
    """Which team joins; `invitation` is what an organizer's link to a private contest ends in."""

    team: Slug
    invitation: Annotated[Line, Field(max_length=100)] = ""


class Schedule(Taken):
    """When the phases begin and end."""

    opens_at: Moment
    attacks_open_at: Moment
    closes_at: Moment


class BoardIn(Taken):
    """What teams see of scores while the contest runs."""

    board: Literal["live", "frozen", "hidden"]
    digits_shown: Annotated[int, Field(ge=0, le=6)]
    shows_guess_scores: bool


class NewAnnouncement(Taken):
    """What everybody is to be told."""

    title: Annotated[Line, Field(min_length=1, max_length=120)]
    text: Annotated[Text, Field(min_length=1, max_length=5000)]


class NewContest(Schedule):
    """A contest of an edition with its options as the commands take them, or one's own by a TOML text."""

    slug: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,59}$")]
    title: Annotated[Line, Field(min_length=1, max_length=120)]
    edition: Annotated[Line, Field(max_length=60)] = ""
    options: Annotated[dict[Line, Line], Field(max_length=50, default_factory=dict)]
    own_toml: Annotated[Text, Field(max_length=100_000)] = ""
    is_public: bool = True
    counts: Annotated[
        Literal["latest", "best", "chosen"] | None,
        Field(description="Which release of a team counts; if none, its latest."),
    ] = None
    board: Literal["live", "frozen", "hidden"] = "live"
    digits_shown: Annotated[int, Field(ge=0, le=6)] = 3
    shows_guess_scores: bool = False
    releases_a_day: Annotated[int, Field(ge=1, le=1000)] = 5
    releases_in_all: Annotated[int | None, Field(ge=1, le=10_000)] = None
    guesses_a_day: Annotated[int, Field(ge=1, le=1000)] = 20
    guesses_on_one: Annotated[int | None, Field(ge=1, le=1000)] = None


class FaultOut(Schema):
    """One thing wrong with an input: where, what, and what was expected."""

    expected: str
    file: str | None = None
    line: int | None = None
    column: str | None = None
    value: str | None = None
    rule: str | None = None
    parameters: dict[str, str | int | float] | None = None


class Error(Schema):
    """What every error looks like."""

    error: str
    message: str
    faults: list[FaultOut] | None = None
    n_faults: int | None = None


class TokenOut(Schema):
    """A token; `token` is shown this once."""

    token: str
    name: str
    scope: str
    expires: datetime | None


class Me(Schema):
    """Whose token it is, and what it may do."""

    username: str
    display_name: str
    may_organize: bool
    token_name: str
    scope: str
    expires: datetime | None


class TeamOut(Schema):
    """One of the user's teams."""

    slug: str
    display_name: str
    role: str


class TeamName(Schema):
    """A team as others see it."""

    slug: str
    display_name: str


class FileRoleOut(Schema):
    """A file of the edition: its name, its name on a disk, what it holds."""

    name: str
    file_name: str
    holds: str


class Said(Schema):
    """A rule or a measure in words."""

    name: str
    says: str


class Rules(Schema):
    """What the edition says of itself, in the language that was asked for."""

    language: str
    title: str
    summary: str
    data_files: list[FileRoleOut]
    own_files: list[FileRoleOut]
    release_files: list[FileRoleOut]
    published_files: list[FileRoleOut]
    guess_files: list[FileRoleOut]
    knowledge_files: dict[str, list[FileRoleOut]]
    release_rules: list[Said]
    guess_rules: list[Said]
    measures: list[Said]


class Limits(Schema):
    """Which release of a team counts, how often it may submit, and what it sees of scores while the contest runs."""

    counts: str
    releases_a_day: int
    releases_in_all: int
    guesses_a_day: int
    guesses_on_one: int
    board: str
    digits_shown: int
    shows_guess_scores: bool


class AttemptsOut(Schema):
    """How many attempts are allowed, used and left."""

    today_allowed: int
    today_used: int
    in_all_allowed: int
    in_all_used: int
    n_left: int


class ContestLine(Schema):
    """A contest in a list; `team` is the user's own in it."""

    slug: str
    title: str
    phase: str
    is_public: bool
    opens_at: datetime
    attacks_open_at: datetime
    closes_at: datetime
    team: TeamName | None
    is_organizer: bool


class ContestOut(ContestLine):
    """A contest; `attempts` are the team's at releases, `trouble` is for its organizer.

    `heads` has the hash of the log's last line after each change of phase, `key` what line 1 commits to, at the end.
    """

    edition: str
    heads: dict[str, str]
    key: str
    rules: Rules
    limits: Limits
    attempts: AttemptsOut | None
    teams: list[TeamName]
    trouble: str


class ContestPage(Schema):
    """Some contests of `n`."""

    n: int
    items: list[ContestLine]


class FileOut(Schema):
    """A file that can be downloaded; `team` and `level` tell whose release and which knowledge."""

    kind: FileKind
    name: str
    role: str
    holds: str
    team: str
    level: str
    n_bytes: int


class Target(Schema):
    """A team whose release can be attacked, with the attempts at it by the level of knowledge."""

    team: TeamName
    attempts: dict[str, AttemptsOut]


class SubmissionOut(Schema):
    """A submission as the user may see it; `score` is missing until there is one to be seen."""

    key: str
    contest: str
    team: str
    kind: str
    target: str | None
    knowledge: str
    by: str
    at: datetime
    finished_at: datetime | None
    state: str
    says: str
    is_final: bool
    reason: str
    files: Json
    progress: Json
    score: Json | None
    is_score_hidden: bool
    faults: list[FaultOut]
    n_faults: int


class SubmissionPage(Schema):
    """Some submissions of `n`, newest first."""

    n: int
    items: list[SubmissionOut]


class StandingOut(Schema):
    """One line of the scoreboard; lower values are better."""

    place: int
    team: TeamName
    value: float | None
    utility: float | None
    safety: float | None
    numbers: dict[str, float | None]
    reason: str


class AttackOut(Schema):
    """The best success of one team at another's release."""

    attacker: str
    target: str
    success: float | None


class ScoreboardOut(Schema):
    """Who stands where, as far as the user may know; `digits` is missing where numbers are exact."""

    is_hidden: bool
    frozen_at: datetime | None
    has_attacks: bool
    digits: int | None
    lines: list[StandingOut]
    attacks: list[AttackOut]


class AnnouncementOut(Schema):
    """What an organizer told everybody."""

    title: str
    text: str
    at: datetime
