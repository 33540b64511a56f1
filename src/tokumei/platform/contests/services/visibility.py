"""Who may see a contest, and how much of its scores.

Guesses tell nothing before the end, or one of a few bands, with a bound on what that tells: exact scores are an oracle,
by which an attacker finds out with guesses that differ in a line, or by an integer program over some that differ in
many, which lines are right. The organizer sees everything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from tokumei.core.errors import NotFound
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Board, Contest
from tokumei.platform.middleware import CompiledQuery, columns_of, find_once, made

BY_SLUG = CompiledQuery(
    lambda slug: Contest.objects.filter(slug=slug).order_by().values_list(*columns_of(Contest)), str
)
CO_ORGANIZERS = CompiledQuery(
    lambda contest: Contest.co_organizers.through.objects.filter(contest_id=contest).values_list("user_id"), int
)


def visible_contests(user: User | None) -> QuerySet[Contest]:
    """Return the contests a user may see: public ones, their own, and those their teams are in.

    A contest whose data could not be prepared yet is its organizers' alone.
    """
    public = Q(is_public=True) & ~(Q(prepared_at=None) & ~Q(trouble=""))
    if user is None or not user.is_authenticated:
        return Contest.objects.filter(public)
    if user.is_superuser:
        return Contest.objects.all()
    takes_part = Q(participations__team__members=user, participations__withdrawn_at=None)
    return Contest.objects.filter(public | Q(organizer=user) | Q(co_organizers=user) | takes_part).distinct()


def find_contest(user: User | None, slug: str) -> Contest:
    """Find a contest that somebody may know of; any other is not there."""
    found = BY_SLUG(slug)
    contest = made(Contest, found[0]) if found else None
    if contest is None or not contest.is_for_everybody:
        # Alike for those that are not there and those that one may not see: neither takes longer.
        contest = visible_contests(user).filter(slug=slug).first()
    if contest is None:
        raise NotFound(_("There is no such contest."))
    return contest


def is_organizer(contest: Contest, user: User | None) -> bool:
    """Whether somebody runs this contest: its organizers, or a site admin."""
    # Nobody who is not logged in has a number.
    if user is None or user.pk is None:
        return False
    if user.is_superuser or contest.organizer_id == user.pk:
        return True
    return user.pk in find_once(("co-organizers", contest.pk), lambda: {row[0] for row in CO_ORGANIZERS(contest.pk)})


@dataclass(frozen=True)
class Visibility:
    """How much a viewer may see of a contest's scores."""

    is_hidden: bool
    until: datetime | None
    has_attacks: bool
    digits: int | None
    has_bands: bool = False


def seen_by(contest: Contest, viewer: User | None) -> Visibility:
    """Return how much a viewer may see."""
    if contest.shows_results or is_organizer(contest, viewer):
        return Visibility(is_hidden=False, until=None, has_attacks=True, digits=None)
    return Visibility(
        is_hidden=contest.board == Board.HIDDEN,
        until=contest.board_frozen_at if contest.board == Board.FROZEN else None,
        # Places that follow from guesses would tell more of them than a band does.
        has_attacks=False,
        has_bands=contest.shows_guess_scores,
        digits=contest.digits_shown,
    )


N_BANDS = 4


def in_band(success: float) -> float:
    """Return the lower end of the band of a success: 0, 0.25, 0.5 or 0.75."""
    return min(int(success * N_BANDS), N_BANDS - 1) / N_BANDS


@dataclass(frozen=True)
class LeakBound:
    """What the allowed guesses at one release can tell before the end, whoever makes them."""

    n_guesses: int
    bits: float


def bound_of(contest: Contest, n_levels: int, n_teams: int) -> LeakBound:
    """Bound what all other teams together can learn of one release: an answer is one of so many bands, and no more.

    n_levels: levels of knowledge, each of which has guesses of its own.
    """
    n_guesses = contest.guesses_on_one * max(n_levels, 1) * max(n_teams - 1, 0)
    bits = n_guesses * math.log2(N_BANDS) if contest.shows_guess_scores else 0.0
    return LeakBound(n_guesses, bits)
