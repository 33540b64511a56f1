"""Tables of a contest for its organizers, as CSV that a spreadsheet opens and takes for text."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tokumei.platform.contests.models import Contest
from tokumei.platform.contests.services.editions import edition_of
from tokumei.platform.contests.services.scoreboard import entries
from tokumei.platform.names import inert_cell

Rows = Iterator[list[Any]]


def as_csv(name: str, contest: Contest) -> str:
    """Write a table; names of people and teams cannot be formulas, and a spreadsheet tells that it is UTF-8."""
    written = io.StringIO()
    writer = csv.writer(written)
    for row in TABLES[name](contest):
        writer.writerow([_cell(value) for value in row])
    return "\ufeff" + written.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    # A number is no formula, though it may begin with a minus.
    if isinstance(value, (int, float)):
        return str(value)
    return inert_cell(value if isinstance(value, str) else value.isoformat(timespec="seconds"))


def _teams(contest: Contest) -> Rows:
    yield ["team", "name", "members", "joined_at", "withdrawn_at", "disqualified_at", "disqualified_for"]
    found = contest.participations.select_related("team").prefetch_related("team__members").order_by("team__slug")
    for one in found:
        members = ", ".join(sorted(member.display_name for member in one.team.members.all()))
        facts = [one.joined_at, one.withdrawn_at, one.disqualified_at, one.disqualified_for]
        yield [one.team.slug, one.team.display_name, members, *facts]


def _submissions(contest: Contest) -> Rows:
    yield ["key", "at", "team", "by", "kind", "target", "knowledge", "state", "utility", "success", "finished_at"]
    for one in contest.submissions.select_related("team", "by", "target"):
        score = one.score or {}
        target = "" if one.target is None else one.target.slug
        what = [one.kind, target, one.knowledge, one.state, score.get("utility"), score.get("success")]
        yield [one.key, one.at, one.team.slug, one.by.display_name, *what, one.finished_at]


def _standings(contest: Contest) -> Rows:
    found = entries(contest)
    lines = edition_of(contest).rank(found) if found else []
    numbers = list(dict.fromkeys(name for line in lines for name in line.numbers))
    yield ["place", "team", "value", "utility", "safety", *numbers, "reason"]
    for line in lines:
        further = [line.numbers.get(name) for name in numbers]
        yield [line.place, line.team, line.value, line.utility, line.safety, *further, line.reason]


def _log(contest: Contest) -> Rows:
    yield ["at", "by", "what", "details"]
    for one in contest.actions.select_related("by"):
        details = "; ".join(f"{name}: {value}" for name, value in one.details.items())
        yield [one.at, "" if one.by is None else one.by.username, one.what, details]


TABLES: Mapping[str, Callable[[Contest], Rows]] = {
    "teams": _teams,
    "submissions": _submissions,
    "standings": _standings,
    "log": _log,
}
