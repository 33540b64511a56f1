"""What the API takes: names in addresses, and the bodies of requests."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from ninja import Schema
from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, StringConstraints

from tokumei.platform.api.models import NAME_LENGTH
from tokumei.platform.names import UNSEEN

# Names as they stand in addresses; what does not look like one is not there.
Slug = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,60}$")]
Key = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]{1,32}$")]
FileName = Annotated[str, StringConstraints(pattern=r"^[^/\\\x00-\x1f\x7f]{1,100}$")]
# No control characters: databases refuse NUL, and terminals obey others; nothing either that turns the text around it.
Line = Annotated[str, StringConstraints(pattern=rf"^[^\x00-\x1f\x7f{UNSEEN}]*$", max_length=254)]
Text = Annotated[str, StringConstraints(pattern=rf"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f{UNSEEN}]*$")]
FileKind = Literal["data", "knowledge", "release"]


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
