"""What editions, scores and the organizers' log say, in the language of whoever reads; and filters for the pages.

Editions speak English in names of columns and steps, in remarks and in what a fault expected. What is known of these is
translated here; what another package's edition says stands for itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from tokumei.contest.edition import ContestTerms, Standing
from tokumei.core.errors import Fault
from tokumei.core.text import JsonView
from tokumei.data.files.text_bytes import CALLED
from tokumei.platform.contests.models import Board, OrganizerAction, State
from tokumei.platform.messages import translated
from tokumei.reports.japanese import expected_in_japanese, found_in_japanese

# Parts of a score, columns of the scoreboard and steps of an evaluation, by the names that editions have for them.
NAMES: Mapping[str, str | Promise] = {
    "utility": gettext_lazy("Loss of use"),
    "safety": gettext_lazy("Built-in attacks"),
    "reidentification": gettext_lazy("Re-identification"),
    "row_map": gettext_lazy("Row numbers"),
    "total": gettext_lazy("In all"),
    "success": gettext_lazy("Found"),
    "baseline": gettext_lazy("by chance"),
    "mean": gettext_lazy("mean"),
    "interval": gettext_lazy("95 % interval"),
    "guesses": gettext_lazy("guesses"),
    "right": gettext_lazy("right"),
    "needed": gettext_lazy("needed for a proof"),
    "attacks": gettext_lazy("attacks"),
    "best share right": gettext_lazy("best share right"),
    "sample attacks": gettext_lazy("built-in attacks"),
    "submitted attacks": gettext_lazy("teams' attacks"),
    "mean_price_error": gettext_lazy("error of mean prices"),
    "contradicted": gettext_lazy("contradicted"),
    "random": gettext_lazy("given at random"),
    "attribution": gettext_lazy("Whose purchases are known"),
    "check": gettext_lazy("checking the file"),
    "scoring": gettext_lazy("measuring use and trying attacks"),
    "measuring": gettext_lazy("measuring use"),
    "attacking": gettext_lazy("trying attacks"),
    "attributing": gettext_lazy("giving purchases to buyers"),
}
REMARKS: Mapping[str, str | Promise] = {"P contradicts the data.": gettext_lazy("The row numbers contradict the data.")}


def said_by(thing: object, name: str) -> str:
    """Return a text of an edition in the reader's language: every `holds` has its `holds_ja`."""
    is_japanese = (get_language() or "").startswith("ja")
    return str((getattr(thing, f"{name}_ja", "") if is_japanese else "") or getattr(thing, name))


def knowledge_levels(terms: ContestTerms) -> dict[str, str]:
    """Name the levels of knowledge by what their files hold; the one level of those who know all has no name."""
    return {
        level: "; ".join(said_by(role, "holds") for role in roles) if level else ""
        for level, roles in terms.knowledge_files.items()
    }


def name_in_words(name: str, terms: ContestTerms | None = None) -> str:
    """Call a part of a score, a column or a step as readers do: as the edition does, where it has a title for it.

    A name that is not known stands for itself.
    """
    title = next((said_by(one, "title") for one in terms.measures if one.name == name), "") if terms else ""
    return title or str(NAMES.get(name, name))


def remark_in_words(standing: Standing, names: Mapping[str, str]) -> str:
    """Explain why a team is not ranked like the others, with teams called by their names."""
    if standing.proven_by:
        teams = [names.get(team, team) for team in standing.proven_by]
        return _("proven unsafe by %(teams)s") % {"teams": ", ".join(teams)}
    return str(REMARKS.get(standing.reason, standing.reason))


@dataclass(frozen=True)
class FaultLine:
    """One fault: where it stands, what stands there, what was expected, and the rule that asks for it.

    `language` is that of `expected`: English where nothing is known in the reader's.
    """

    file: str | None
    line: int | None
    column: str | None
    value: str | None
    expected: str
    language: str = "en"
    rule: str = ""
    rule_says: str = ""


def fault_lines(faults: Sequence[Mapping[str, object]], terms: ContestTerms | None) -> list[FaultLine]:
    """Describe each fault, with the words of the rule it breaks where the check names it."""
    rules = {rule.name: rule for rule in (*terms.release_rules, *terms.guess_rules)} if terms else {}
    is_japanese = (get_language() or "").startswith("ja")
    lines = []
    for told in faults:
        fault = Fault.from_json(told)
        rule = rules.get(fault.rule or "")
        japanese = expected_in_japanese(fault) if is_japanese else None
        lines.append(
            FaultLine(
                file=fault.file,
                line=fault.line,
                column=fault.column,
                value=found_in_japanese(fault) if is_japanese else fault.value,
                expected=japanese or fault.wanted,
                language="ja" if japanese else "en",
                rule=rule.name if rule else "",
                rule_says=said_by(rule, "says") if rule else "",
            )
        )
    return lines


@dataclass(frozen=True)
class FaultKind:
    """Faults of one kind: how many, the rule they break, and the first of them."""

    n_faults: int
    rule: str
    rule_says: str
    first: list[FaultLine]


def fault_groups(groups: Sequence[JsonView], terms: ContestTerms | None) -> list[FaultKind]:
    """Describe faults by kind, the most frequent first."""
    kinds = []
    for group in sorted(groups, key=lambda one: -int(one["n_faults"])):
        first = fault_lines(group["first"], terms)
        kinds.append(FaultKind(int(group["n_faults"]), first[0].rule, first[0].rule_says, first))
    return kinds


def note_in_words(note: Mapping[str, str]) -> str:
    """Describe how a file was converted."""
    if note["was"] == "excel":
        says = _("%(file)s is an Excel workbook: its sheet %(sheet)s was read, and written as CSV in UTF-8.")
    elif note["was"] == "utf-8-sig":
        says = _("%(file)s began with a byte order mark, which was taken off.")
    else:
        says = _("%(file)s is text in %(encoding)s: it was read as such, and written in UTF-8.")
    return says % (dict(note) | {"encoding": CALLED.get(note["was"], note["was"])})


@dataclass(frozen=True)
class ScoreLine:
    """One measure of a score: what it is called, what it says, and its numbers in the order of the columns."""

    name: str
    meaning: str
    cells: Sequence[Any]


@dataclass(frozen=True)
class ScoreTable:
    """A part of a score; `columns` is empty where each line has but one number."""

    title: str
    columns: Sequence[str] = ()
    lines: list[ScoreLine] = field(default_factory=list)


def meanings_of(terms: ContestTerms) -> dict[str, str]:
    """Return the meaning of each number of an edition by its name."""
    return {measure.name: said_by(measure, "says") for measure in terms.measures}


def score_tables(details: Mapping[str, object], terms: ContestTerms) -> list[ScoreTable]:
    """Lay out the details of any edition's score: a table for each part, single numbers in one of their own."""
    meanings = meanings_of(terms)
    alone = ScoreTable("")
    tables = []
    for title, part in details.items():
        if isinstance(part, str):
            # Why there is no number, which stands above the tables.
            continue
        if not isinstance(part, Mapping):
            alone.lines.append(ScoreLine(name_in_words(title, terms), meanings.get(title, ""), [part]))
            continue
        flat = {name: _flat(value) for name, value in part.items()}
        columns = list(dict.fromkeys(column for cells in flat.values() for column in cells))
        is_plain = columns in ([()], [])
        lines = [
            ScoreLine(name_in_words(name, terms), meanings.get(name, ""), [cells.get(column) for column in columns])
            for name, cells in flat.items()
        ]
        titles = () if is_plain else [_column(column, terms) for column in columns]
        tables.append(ScoreTable(name_in_words(title, terms), titles, lines))
    return [table for table in (*tables, alone) if table.lines]


@dataclass(frozen=True)
class WhosePurchases:
    """The share of the unknown purchases that are given to their buyers, and what to say of it; None if not known."""

    value: float | None
    said: str


def whose_purchases(details: JsonView) -> WhosePurchases | None:
    """Sum up whose purchases are known of a release, over the levels of knowledge; None where it is not measured."""
    found = details.get("attribution")
    if found is None:
        return None
    if isinstance(found, str):
        return WhosePurchases(None, translated(found))
    shares, parts = found["attributed"], []
    if len(shares) == 1:
        low, high = next(iter(found["interval"].values()))
        parts.append(_("95 %% interval from %(low)s to %(high)s") % {"low": number(low), "high": number(high)})
    else:
        parts.append(_("averaged over the levels of knowledge"))
    parts.append(_("by chance %s") % number(max(found["baseline"].values())))
    return WhosePurchases(shares.get("mean", min(shares.values())), "; ".join(parts))


def _column(path: Sequence[str], terms: ContestTerms) -> str:
    """Name a column by what leads to it: the level of knowledge in per cent, then what is counted."""
    return " ".join(f"{part} %" if part.isdigit() else name_in_words(part, terms) for part in path)


def _flat(value: object) -> dict[tuple[str, ...], object]:
    """Flatten the numbers below one name by the path of their names."""
    if not isinstance(value, Mapping):
        return {(): value}
    return {(str(name), *inner): number for name, below in value.items() for inner, number in _flat(below).items()}


ACTIONS: Mapping[str, str | Promise] = {
    "create": gettext_lazy("made the contest"),
    "schedule": gettext_lazy("changed the schedule"),
    "phase_now": gettext_lazy("let the next phase begin"),
    "board": gettext_lazy("changed the scoreboard"),
    "announce": gettext_lazy("announced"),
    "retry": gettext_lazy("tried a change of phase again"),
    "take_out": gettext_lazy("took a team out"),
    "invite": gettext_lazy("made an invitation"),
    "revoke": gettext_lazy("revoked an invitation"),
    "texts": gettext_lazy("changed the texts"),
    "limits": gettext_lazy("changed the limits"),
    "hold": gettext_lazy("held results back, or let them go"),
    "rejudge": gettext_lazy("had submissions judged again"),
    "disqualify": gettext_lazy("disqualified a team"),
    "readmit": gettext_lazy("let a disqualified team count again"),
    "add_organizer": gettext_lazy("added an organizer"),
    "remove_organizer": gettext_lazy("removed an organizer"),
    "message": gettext_lazy("wrote to teams"),
    "answer": gettext_lazy("answered a question"),
    "choose": gettext_lazy("chose the release that counts"),
}
DETAILS: Mapping[str, str | Promise] = {
    "opens_at": gettext_lazy("Opens"),
    "attacks_open_at": gettext_lazy("Attacks begin"),
    "closes_at": gettext_lazy("Closes"),
    "board": gettext_lazy("Scoreboard"),
    "digits_shown": gettext_lazy("Decimals shown"),
    "shows_guess_scores": gettext_lazy("Teams see how right their guesses were"),
    "title": gettext_lazy("Title"),
    "description": gettext_lazy("Description"),
    "description_ja": gettext_lazy("Description in Japanese"),
    "releases_a_day": gettext_lazy("Releases a day"),
    "releases_in_all": gettext_lazy("Releases in all"),
    "guesses_a_day": gettext_lazy("Guesses a day"),
    "guesses_on_one": gettext_lazy("Guesses at one release"),
    "is_held": gettext_lazy("Results are held back"),
    "team": gettext_lazy("Team"),
    "teams": gettext_lazy("Teams"),
    "reason": gettext_lazy("Reason"),
    "note": gettext_lazy("For whom"),
    "user": gettext_lazy("User name"),
    "n": gettext_lazy("How many"),
    "before": gettext_lazy("Results before"),
    "kinds": gettext_lazy("What"),
    "invitation": gettext_lazy("Invitation"),
    "question": gettext_lazy("Question"),
    "text": gettext_lazy("Text"),
    "submission": gettext_lazy("Submission"),
}
LONGEST_SHOWN = 300
WORDS: Mapping[str, str | Promise] = {str(value): label for value, label in (*Board.choices, *State.choices)}


@dataclass(frozen=True)
class ActionLine:
    """One line of the log: who did what, and its details as pairs of a name and words."""

    action: OrganizerAction
    says: str
    details: list[tuple[str, str]]


def in_words(action: OrganizerAction) -> ActionLine:
    """Describe an action in words."""
    details = [
        (str(DETAILS.get(name, name)), _changed(value) if _is_change(value) else _value(value))
        for name, value in action.details.items()
        if value not in ("", None)
    ]
    return ActionLine(action, str(ACTIONS.get(action.what, action.what)), details)


def _is_change(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and not isinstance(value[0], (list, dict))


def _changed(value: list[object]) -> str:
    return f"{_value(value[0])} → {_value(value[1])}"


def _value(value: object) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, dict):
        return ", ".join(f"{name} {_value(part)}" for name, part in value.items())[:LONGEST_SHOWN]
    if isinstance(value, list):
        return ", ".join(_value(part) for part in value)
    if isinstance(value, str):
        return _moment(value) or str(WORDS.get(value, "")) or value[:LONGEST_SHOWN] or "–"
    return str(value)


def _moment(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return ""
    return date_format(timezone.localtime(moment), "DATETIME_FORMAT") if moment.tzinfo is not None else ""


register = template.Library()
# A number is shown with at most this many decimals, also to those who may see all of them.
DECIMALS = 6


@register.filter
def said(thing: object, name: str) -> str:
    """Return a text of an edition in the reader's language."""
    return said_by(thing, name)


@register.filter
def called(name: str | None, terms: ContestTerms | None = None) -> str:
    """Call a part of a score, a column or a step as readers do, and as the edition does."""
    return name_in_words(name or "", terms)


@register.filter
def number(value: object) -> str:
    """Write a score: numbers without trailing zeros, several with commas, nothing as a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "✓" if value else "–"
    if isinstance(value, (list, tuple)):
        return ", ".join(number(part) for part in value) or "–"
    if isinstance(value, float):
        text = f"{value:.{DECIMALS}f}".rstrip("0").rstrip(".")
        return "0" if text == "-0" else text
    return str(number_format(value, use_l10n=True, force_grouping=True)) if isinstance(value, int) else str(value)


@register.filter
def lookup(mapping: Mapping[object, object], key: object) -> object:
    """Look a name up; one that is not there stands for itself."""
    return mapping.get(key, key)


@register.filter
def lookup_or_none(mapping: Mapping[object, object], key: object) -> object:
    """Look a name up; one that is not there is nothing."""
    return mapping.get(key)
