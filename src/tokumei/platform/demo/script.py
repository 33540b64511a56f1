"""Who is in the demo and what they do: all names and moves in one place, played by `play`; and moving their dates.

A demo that is started again after days looks as on its first day.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from tokumei.platform.contests.models import Contest, Phase

ORGANIZER, ADMIN = "organizer", "admin"


@dataclass(frozen=True)
class Person:
    """A user: the name to log in by, the name to be called by, and the language of the pages."""

    name: str
    display_name: str
    language: str


@dataclass(frozen=True)
class ScriptedTeam:
    """A team; the first of its members is the captain."""

    slug: str
    display_name: str
    members: tuple[Person, ...]


STAFF = (Person(ORGANIZER, "大会事務局 Organizer", ""), Person(ADMIN, "Site admin", ""))
SIDES = (
    ScriptedTeam("sakura", "チーム桜", (Person("haruka", "佐藤 遥", "ja"), Person("kenta", "田中 健太", "ja"))),
    ScriptedTeam("maple", "Maple", (Person("alice", "Alice Martin", "en"), Person("bob", "Bob Chen", "en"))),
    ScriptedTeam("fuji", "富士山", (Person("yuki", "鈴木 雪", "ja"),)),
    ScriptedTeam("harbour", "Harbour Lab", (Person("carol", "Carol O'Neill", "en"),)),
    ScriptedTeam("hokuto", "北斗七星", (Person("ren", "高橋 蓮", "ja"),)),
    ScriptedTeam("lattice", "Lattice Crew", (Person("dan", "Dan Müller", "en"),)),
)


@dataclass(frozen=True)
class ScriptedRelease:
    """A release that a team hands in, made by a built-in anonymizer; a spoilt one is refused."""

    team: str
    anonymizer: str
    is_spoilt: bool = False


@dataclass(frozen=True)
class ScriptedGuess:
    """A guess at another team's release, made by a built-in attack from one level of knowledge."""

    team: str
    target: str
    attack: str
    knowledge: str = ""


@dataclass(frozen=True)
class Script:
    """A contest of the demo: how it is made, what happens in it, and in which phase it is left.

    The three times are counted from now: when it opened, when attacks began or begin, and when it ended or ends.
    """

    slug: str
    title: str
    edition: str
    options: Mapping[str, int]
    opens: timedelta
    attacks_open: timedelta
    closes: timedelta
    phase: Phase
    releases: tuple[ScriptedRelease, ...]
    guesses: tuple[ScriptedGuess, ...] = ()
    announcements: Mapping[str, str] = field(default_factory=dict)


def _days(number: float) -> timedelta:
    return timedelta(days=number)


ATTACK = Script(
    slug="summer-cup",
    title="夏の匿名化カップ · Summer Cup",
    edition="pwscup2017",
    options={"n_customers": 60},
    opens=_days(-10),
    attacks_open=_days(-3),
    closes=_days(18),
    phase=Phase.ATTACK,
    releases=(
        ScriptedRelease("sakura", "yearly-pseudonyms"),
        ScriptedRelease("lattice", "half-yearly-pseudonyms"),
        ScriptedRelease("fuji", "monthly-pseudonyms"),
        ScriptedRelease("harbour", "exchange-pseudonyms"),
        ScriptedRelease("maple", "perturb-and-delete"),
        ScriptedRelease("hokuto", "blur"),
        ScriptedRelease("sakura", "perturb"),
    ),
    guesses=(
        ScriptedGuess("maple", "sakura", "s1", "25"),
        ScriptedGuess("maple", "lattice", "s6", "100"),
        ScriptedGuess("sakura", "lattice", "linkage", "50"),
        ScriptedGuess("sakura", "fuji", "same-item", "50"),
        ScriptedGuess("fuji", "harbour", "s4", "75"),
        ScriptedGuess("fuji", "maple", "jaccard", "50"),
        ScriptedGuess("hokuto", "sakura", "tfidf", "100"),
        ScriptedGuess("hokuto", "fuji", "same-day", "25"),
        ScriptedGuess("harbour", "hokuto", "s6", "100"),
        ScriptedGuess("lattice", "maple", "s1", "50"),
    ),
    announcements={
        "攻撃フェーズの開始 · Attacks are open": "全チームの加工データを公開しました。健闘を祈ります。\n\n"
        "All releases are published. Good luck!"
    },
)
OPEN = Script(
    slug="autumn-cup",
    title="秋の一般化カップ · Autumn Cup",
    edition="pwscup2018",
    options={"n_customers": 30},
    opens=_days(-3),
    attacks_open=_days(11),
    closes=_days(25),
    phase=Phase.ANONYMIZE,
    releases=(
        ScriptedRelease("sakura", "months"),
        ScriptedRelease("maple", "coarse", is_spoilt=True),
        ScriptedRelease("maple", "coarse"),
        ScriptedRelease("fuji", "generalize-2"),
        ScriptedRelease("sakura", "generalize-3"),
    ),
    announcements={
        "ようこそ · Welcome": "データとルールは上のタブから。提出は1日5回までです。\n\n"
        "Data and rules are in the tabs above. Each team may submit five times a day."
    },
)
CLOSED = Script(
    slug="spring-cup",
    title="春のミクロデータカップ · Spring Cup",
    edition="pwscup2015",
    options={"n_rows": 300},
    opens=_days(-60),
    attacks_open=_days(-46),
    closes=_days(-32),
    phase=Phase.CLOSED,
    releases=(
        ScriptedRelease("sakura", "shuffle"),
        ScriptedRelease("maple", "noise"),
        ScriptedRelease("fuji", "average"),
        ScriptedRelease("lattice", "swap"),
    ),
    guesses=(
        ScriptedGuess("sakura", "maple", "id-sa"),
        ScriptedGuess("maple", "fuji", "sort"),
        ScriptedGuess("fuji", "lattice", "sa21"),
        ScriptedGuess("lattice", "sakura", "id-rand"),
    ),
)


CONTEST_TIMES = (
    "opens_at",
    "attacks_open_at",
    "closes_at",
    "prepared_at",
    "published_at",
    "closed_at",
    "board_frozen_at",
)


def bring_up_to_date(contest: Contest, script: Script) -> None:
    """Move everything that happened in a contest by whole days, so that it opened as long ago as the script says."""
    age = timezone.now() + script.opens - contest.opens_at
    if age >= timedelta(days=1):
        move(contest, timedelta(days=age.days))


@transaction.atomic
def move(contest: Contest, by: timedelta) -> None:
    """Move every time of a contest; those that have not come stay empty."""
    Contest.objects.filter(pk=contest.pk).update(**{name: F(name) + by for name in CONTEST_TIMES})
    contest.submissions.update(at=F("at") + by, finished_at=F("finished_at") + by)
    contest.announcements.update(at=F("at") + by)
    contest.refresh_from_db()
