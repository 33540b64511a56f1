"""The rules of a contest: its edition, from the registry or from a TOML text of the organizer's own."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from tokumei.contest.edition import ContestTerms, Edition
from tokumei.contest.registry import EDITIONS
from tokumei.contest.setting import parse_setting, with_counts, write_setting
from tokumei.platform.contests.models import Contest


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
