"""The rules of a contest, and its submissions as its rulebook takes them.

`tokumei.contest.season` decides what counts and who stands where; here the rows of the database become its values.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from django.db.models import Q, QuerySet

from tokumei.contest.edition import (
    EDITIONS,
    Attempt,
    ContestTerms,
    Edition,
    GuessScore,
    ReleaseScore,
    Standing,
    TeamEntry,
)
from tokumei.contest.season import scores_decide, standings_of, team_entries, which_counts
from tokumei.contest.setting import parse_setting, with_counts, write_setting
from tokumei.core.text import Json
from tokumei.platform.contests.models import Contest, Counts, Kind, Participation, State, Submission
from tokumei.platform.middleware import CompiledQuery, find_once


def edition_of(contest: Contest) -> Edition:
    """Return the edition of a contest."""
    return _read(setting_of(contest))


def terms_of(contest: Contest) -> ContestTerms:
    """Return the terms of a contest's edition, and which releases count."""
    return replace(edition_of(contest).terms, counts=str(contest.counts))


def setting_of(contest: Contest) -> str:
    """Return the text of a contest's contest.toml."""
    if contest.own_toml:
        return with_counts(contest.own_toml, str(contest.counts))
    options = {name: tuple(value) if isinstance(value, list) else value for name, value in contest.options.items()}
    return with_counts(write_setting(EDITIONS.make(contest.edition, **options)), str(contest.counts))


@lru_cache(maxsize=64)
def _read(setting: str) -> Edition:
    return parse_setting(setting)


class ChangedTeam(NamedTuple):
    """A team that is not as it was when it joined."""

    team_id: int
    team__display_name: str
    withdrawn_at: datetime | None
    disqualified_at: datetime | None
    disqualified_for: str
    chosen_at: datetime | None


CHANGED = CompiledQuery(
    lambda contest: (
        Participation.objects.filter(contest=contest)
        .filter(~Q(withdrawn_at=None) | ~Q(disqualified_at=None) | ~Q(chosen_at=None))
        .order_by("pk")
        .values_list(*ChangedTeam._fields)
    ),
    int,
)


def changed_teams(contest: Contest) -> list[ChangedTeam]:
    """List them, mostly none; every page of a contest needs them for one thing or another."""
    return find_once(("changed teams", contest.pk), lambda: [ChangedTeam(*row) for row in CHANGED(contest.pk)])


def disqualified(contest: Contest) -> list[ChangedTeam]:
    """List those that are disqualified."""
    return [one for one in changed_teams(contest) if one.disqualified_at is not None]


def teams_that_count_no_more(contest: Contest) -> set[int]:
    """Return the ids of the teams that left or were disqualified."""
    return {one.team_id for one in changed_teams(contest) if one.withdrawn_at or one.disqualified_at}


class _Release(NamedTuple):
    """A scored release; its score is read where it decides what counts, since it is long."""

    pk: int
    key: str
    score: Json | None = None


def counting_releases(contest: Contest, until: datetime | None = None) -> dict[int, Submission]:
    """Return the release of each participating team that counts, by the team's id."""
    scored = _scored_releases(contest, until)
    counting = [one.pk for one in _counting(contest, scored, until).values()]
    found = contest.submissions.filter(pk__in=counting).select_related("team")
    return {one.team_id: one for one in found.order_by("at", "pk")}


def counting_key(contest: Contest, team: int) -> str | None:
    """Return the key of the release by which a team is ranked."""
    found = _counting(contest, _scored_releases(contest).filter(team=team)).get(team)
    return None if found is None else found.key


def _counting(contest: Contest, scored: QuerySet[Submission], until: datetime | None = None) -> dict[int, _Release]:
    gone, chosen = teams_that_count_no_more(contest), chosen_releases(contest, until)
    columns = ("pk", "key", "score") if scores_decide(contest.counts) else ("pk", "key")
    came: dict[int, list[_Release]] = {}
    for team, *release in scored.order_by("at", "pk").values_list("team", *columns):
        if team not in gone:
            came.setdefault(team, []).append(_Release(*release))
    return {
        team: which_counts(
            contest.counts,
            releases,
            lambda entries: edition_of(contest).rank(entries),
            lambda one: ReleaseScore.of(one.score or {}),
            lambda one: one.pk in chosen,
        )
        for team, releases in came.items()
    }


def chosen_releases(contest: Contest, until: datetime | None = None) -> set[int]:
    """Return the ids of the releases that teams chose, where the rules leave that to them."""
    if contest.counts != Counts.CHOSEN:
        return set()
    chosen = contest.participations.exclude(chosen=None)
    if until is not None:
        chosen = chosen.filter(chosen_at__lte=until)
    return set(chosen.values_list("chosen", flat=True))


def _scored_releases(contest: Contest, until: datetime | None = None) -> QuerySet[Submission]:
    scored = contest.submissions.filter(kind=Kind.RELEASE, state=State.SCORED)
    return scored if until is None else scored.filter(at__lte=until)


def scored_guesses(contest: Contest) -> list[Submission]:
    """Return all judged guesses in order of submission."""
    scored = contest.submissions.filter(kind=Kind.GUESS, state=State.SCORED)
    return list(scored.select_related("team", "target").order_by("at", "pk"))


def entries(contest: Contest, until: datetime | None = None, *, has_attacks: bool = True) -> list[TeamEntry]:
    """Return what is ranked: each team's release that counts, and the judged attacks on it."""
    gone = teams_that_count_no_more(contest)
    attacks: dict[str, list[Attempt]] = {}
    for guess in scored_guesses(contest) if has_attacks else ():
        if guess.target is not None and guess.team_id not in gone and (until is None or guess.at <= until):
            attempt = Attempt(guess.team.slug, guess.knowledge, GuessScore.of(guess.score or {}))
            attacks.setdefault(guess.target.slug, []).append(attempt)
    releases = counting_releases(contest, until).values()
    return team_entries({one.team.slug: ReleaseScore.of(one.score or {}) for one in releases}, attacks)


def ranked(contest: Contest, until: datetime | None = None, *, has_attacks: bool = True) -> list[Standing]:
    """Rank the teams by exact scores."""
    return standings_of(entries(contest, until, has_attacks=has_attacks), edition_of(contest).rank)
