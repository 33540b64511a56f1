"""What the API of the exchange takes and gives, as programs see it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from ninja import Schema
from pydantic import Field

from tokumei.platform.api.schemas import Line, Taken, Text


class OfferOut(Schema):
    """An offer, by what names it."""

    slug: str
    name: str
    team: str
    state: str
    digest: str
    revision: int
    signed_by: str
    log_lines: int
    is_hosted: bool


class AttackOut(Schema):
    """What the attack of last night found of an offer, for its team.

    `found` is empty where there are too many combinations of values for integer programs; `trouble` where it failed.
    """

    attacked: datetime | None
    is_safe: bool | None
    found: dict[str, object]
    trouble: str


class RecipientOut(Schema):
    """A recipient whom an offer lists by their key; `user` is who they are here, where they are."""

    name: str
    key: str
    criterion: str
    user: str | None


class Recipients(Schema):
    """The recipients that an offer lists."""

    recipients: list[RecipientOut]


class TrustIn(Taken):
    """A user of this platform, and the criterion that they are served by."""

    user: Line
    criterion: Line


class Offers(Schema):
    """Offers, some of `n`."""

    n: int
    offers: list[OfferOut]


class TryOut(Schema):
    """What an offer says of levels; `zone` counts what is out, `zone_alone` does not.

    `judged_k` and `judged_low` are those of the node that must hold: the one that the first release and this tell
    together, which may have more classes.
    """

    levels: dict[str, int]
    class_count: int
    k: float
    low: float
    high: float
    judged_k: float
    judged_low: float
    criterion: str
    k_p: int
    zone: Literal["allowed", "discretion", "refused"]
    zone_alone: Literal["allowed", "discretion", "refused"]
    why: str


class TryIn(Taken):
    """Levels by column; one that is not named is at the top."""

    levels: dict[str, Annotated[int, Field(ge=0, le=1000)]] = Field(default_factory=dict)
    criterion: Line | None = None


class AskIn(TryIn):
    """Levels to ask for, and what for; signed by the key that signs for the user here."""

    purpose: Annotated[Text, Field(min_length=1, max_length=2000)]


class RequestOut(Schema):
    """A request of the user's own."""

    key: str
    offer: str
    digest: str
    levels: dict[str, int]
    criterion: str
    state: str
    sent: datetime
    answered: datetime | None
    problem: str
    answer: str


class Requests(Schema):
    """Requests, some of `n`."""

    n: int
    requests: list[RequestOut]


class PendingOut(Schema):
    """A request that wants an answer: its document to the letter."""

    key: str
    document: str


class Pending(Schema):
    """What waits at an offer, and what second persons said of it."""

    requests: list[PendingOut]
    approvals: list[str]
