"""What the TOML file of a contest says, read and checked.

A score formula such as `(U + S) / 2` has numbers, names, + - * /, max, min and mean, and nothing else. The file of a
contest may come from anywhere, so the formula is parsed, held against a list of what it may hold, and computed here.
Nothing in it is ever run.
"""

from __future__ import annotations

import ast
import datetime
import itertools
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokumei.contest.custom.kinds import ATTRIBUTION, HISTORY, READERS, TABLE, Data, KindReader, Roles
from tokumei.core.errors import InputError, nearest
from tokumei.core.fields import wanted
from tokumei.core.registry import Registry
from tokumei.core.seeds import generator
from tokumei.core.text import Json, Text, choice_of
from tokumei.data.files.csv import check_delimiter
from tokumei.data.files.toml import Section, Where, make_part

LONGEST = 500
DEEPEST = 20
MOST_DIGITS = 20
STRANGE = re.compile(r"[^A-Za-z0-9_.+\-*/(),\s]", re.ASCII)
LONG_NUMBER = re.compile(rf"[0-9]{{{MOST_DIGITS + 1}}}|[eE][+-]?[0-9]{{4}}")
# What losses and successes may be: nothing, some, all.
SAMPLES = (0.0, 0.5, 1.0)
N_DRAWN = 50
OPERATIONS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
FUNCTIONS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "max": max,
    "min": min,
    "mean": lambda values: math.fsum(values) / len(values),
}
EXPECTED = Text("numbers, names, + - * /, parentheses, {functions}", functions=", ".join(FUNCTIONS))


@dataclass(frozen=True)
class Formula:
    """A formula that was found to be harmless; `names` are the names it may use."""

    text: str
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        _check(_parse(self.text), self.names, 0)
        self._try_out()

    def _try_out(self) -> None:
        """Refuse a formula without a value for scores that a release may well have, before anybody relies on it."""
        rng = generator(0, "formula", self.text)
        drawn = [dict(zip(self.names, rng.choice(SAMPLES, len(self.names)), strict=True)) for _ in range(N_DRAWN)]
        alike = [dict.fromkeys(self.names, sample) for sample in SAMPLES]
        apart = [
            dict.fromkeys(self.names, others) | {name: one}
            for name in self.names
            for one, others in itertools.permutations(SAMPLES, 2)
        ]
        for values in (*alike, *apart, *drawn):
            self.value(values)

    def uses(self, name: str) -> bool:
        """Whether a name stands in the formula."""
        return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(_parse(self.text)))

    def value(self, values: Mapping[str, float]) -> float:
        """Compute the formula; a value that is no number, as after dividing by 0, is an input error."""
        try:
            value = _compute(_parse(self.text), values)
        except (ZeroDivisionError, OverflowError):
            value = math.nan
        if not math.isfinite(value):
            given = ", ".join(f"{name} = {values[name]:g}" for name in self.names)
            raise InputError.of(
                Text("a formula with a finite value for {given}", given=given), column="formula", value=self.text
            )
        return value


def _parse(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise InputError.of(Text("a formula of at most {n} characters", n=LONGEST), column="formula", value=text)
    # Before anything parses it: each of these takes a parser long, or brings it down.
    strange = STRANGE.search(text)
    if strange is not None:
        raise InputError.of(Text("only {these}", these=EXPECTED), column="formula", value=strange[0])
    if LONG_NUMBER.search(text):
        raise InputError.of(Text("numbers of at most {n} digits", n=MOST_DIGITS), column="formula", value=text)
    # ast gives up on deep nesting in its own ways; parentheses and signs are what makes it deep.
    if sum(text.count(mark) for mark in "(-+") > LONGEST // 4:
        raise InputError.of(Text("at most {n} parentheses and signs", n=LONGEST // 4), column="formula", value=text)
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError.of(Text("a formula of {these}", these=EXPECTED), column="formula", value=text) from None


def _check(node: ast.expr, names: tuple[str, ...], depth: int) -> None:
    """Refuse whatever is not on the list; names that are unknown are told with the nearest."""
    if depth > DEEPEST:
        raise InputError.of(Text("a formula of at most {n} levels", n=DEEPEST), column="formula")
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool) and math.isfinite(number):
            pass
        case ast.Name(id=name):
            if name not in names:
                near = nearest(name, names)
                wanted = f"'{near}'" if near else choice_of(names)
                raise InputError.of(Text("a name of the formula: {names}", names=wanted), column="formula", value=name)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=inner):
            _check(inner, names, depth + 1)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATIONS:
            _check(left, names, depth + 1)
            _check(right, names, depth + 1)
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as inner, keywords=[]) if name in FUNCTIONS:
            for part in inner:
                _check(part, names, depth + 1)
        case _:
            raise InputError.of(Text("only {these}", these=EXPECTED), column="formula", value=ast.unparse(node))


def _compute(node: ast.expr, values: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name):
            return values[name]
        case ast.UnaryOp(op=op, operand=inner):
            value = _compute(inner, values)
            return -value if isinstance(op, ast.USub) else value
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATIONS[type(op)](_compute(left, values), _compute(right, values))
        case ast.Call(func=ast.Name(id=name), args=inner):
            return FUNCTIONS[name]([_compute(part, values) for part in inner])
    raise AssertionError("the formula was checked")


SECTIONS = ("contest", "data", "roles", "checks", "metrics", "attacks", "knowledge", "limits", "phases", "score")
PHASES = ("anonymize", "attack")
MOST_PARTS = 50


@dataclass(frozen=True)
class Checks:
    """What a release must keep."""

    least_kept: float
    values_of_original: tuple[str, ...]
    unchanged: tuple[str, ...]
    same_month: bool
    pseudonyms: str


@dataclass(frozen=True)
class Named:
    """A metric or attack with the name it has in this contest, and its weight."""

    label: str
    part: Any
    weight: float = 1.0


@dataclass(frozen=True)
class Phase:
    """When a phase opens and closes, where that is told; for whoever runs the contest by the calendar."""

    name: str
    opens: datetime.datetime | None
    closes: datetime.datetime | None


@dataclass(frozen=True)
class Settings:
    """A contest as its file tells it."""

    title: str
    title_ja: str
    summary: str
    summary_ja: str
    kind: str
    data: Data
    roles: Roles
    checks: Checks
    metrics: tuple[Named, ...]
    attacks: tuple[Named, ...]
    percents: tuple[int, ...]
    item_characters: int
    n_releases: int
    n_guesses: int
    phases: tuple[Phase, ...]
    formula: Formula
    combine: str
    success: str
    attribution: bool = False


def settings_of(where: Where, found: Mapping[str, object]) -> Settings:
    """Read the settings of a contest, refusing the first slip."""
    for key, value in found.items():
        if key not in SECTIONS:
            shown = None if isinstance(value, (dict, list)) else value
            raise where.fault(f"a section of a contest: {wanted(key, SECTIONS)}", key, value=shown)
    contest = _single(where, found, "contest", is_required=True)
    kind = contest.choice("kind", (HISTORY, TABLE))
    title = contest.text("title")
    titles: dict[str, Any] = {
        "title": title,
        "title_ja": contest.text("title_ja", title),
        "summary": contest.text("summary", ""),
        "summary_ja": contest.text("summary_ja", ""),
    }
    contest.finish()
    reader = READERS[kind]
    data = _read_data(_single(where, found, "data"), reader)
    roles = reader.roles(_single(where, found, "roles"), data)
    metrics = _read_parts(where, found, "metrics", reader.utilities)
    knowledge = _single(where, found, "knowledge")
    percents = _read_percents(knowledge)
    limits = _single(where, found, "limits")
    settings = Settings(
        **titles,
        kind=kind,
        data=data,
        roles=roles,
        checks=_read_checks(_single(where, found, "checks"), reader, roles),
        metrics=metrics,
        attacks=_read_parts(where, found, "attacks", reader.attacks),
        percents=percents,
        item_characters=reader.item_characters(knowledge),
        n_releases=limits.whole("releases", 1, 10_000, 20),
        n_guesses=limits.whole("guesses", 1, 10_000, 10),
        phases=_read_phases(_single(where, found, "phases")),
        **_read_score(_single(where, found, "score"), metrics, reader, percents),
    )
    knowledge.finish()
    limits.finish()
    return settings


def _single(where: Where, found: Mapping[str, object], name: str, *, is_required: bool = False) -> Section:
    section = found.get(name, None if is_required else {})
    if not isinstance(section, dict):
        raise where.fault(f"a section [{name}]", name, value=section)
    return Section(where, name, section)


def _read_data(section: Section, reader: KindReader) -> Data:
    source = section.maybe_text("source", "the name of a file")
    # The file of a contest may come from anybody: it must not reach into other folders.
    if source is not None and (source in (".", "..") or any(mark in source for mark in "/\\\0")):
        raise section.fault("the name of a file beside this one, without a folder", "source", source)
    delimiter = section.maybe_text("delimiter", "one character")
    if delimiter is not None:
        try:
            check_delimiter(delimiter)
        except InputError as error:
            raise section.fault(error.faults[0].expected, "delimiter", delimiter) from None
    data = reader.data(section, source, delimiter)
    section.finish()
    return data


def _read_checks(section: Section, reader: KindReader, roles: Roles) -> Checks:
    columns = reader.columns(roles)
    checks = Checks(
        least_kept=section.number("least_kept", 0, 1, 0.0),
        values_of_original=section.names("values_of_original", [], known=columns),
        unchanged=section.names("unchanged", [], known=columns),
        same_month=reader.same_month(section),
        pseudonyms=reader.pseudonyms(section),
    )
    section.finish()
    return checks


def _read_parts(where: Where, found: Mapping[str, object], name: str, registry: Registry[Any]) -> tuple[Named, ...]:
    listed = found.get(name)
    if not isinstance(listed, list) or not listed or not all(isinstance(one, dict) for one in listed):
        raise where.fault(f"at least one [[{name}]]", name, value=None if isinstance(listed, (dict, list)) else listed)
    if len(listed) > MOST_PARTS:
        raise where.fault(f"at most {MOST_PARTS} [[{name}]]", name, value=len(listed))
    parts: list[Named] = []
    for number, one in enumerate(listed, 1):
        section = Section(where, name, one, number)
        part = section.text("name", expected=f"a {registry.kind}: {', '.join(registry)}")
        label = section.text("label", part)
        options = section.get("options", "a table of options such as { k = 10 }", dict, {})
        weight = section.number("weight", 0, 1_000_000, 1.0) if name == "metrics" else 1.0
        section.finish()
        if _symbol(label) in {_symbol(other.label) for other in parts} | {"U", "S"}:
            raise section.fault("a label that no other has, and that is not U or S", "label", label)
        if not _symbol(label).isidentifier():
            raise section.fault("a label of letters, digits, - and _", "label", label)
        parts.append(Named(label, make_part(section, registry, part, options), weight))
    if name == "metrics" and not sum(part.weight for part in parts):
        raise where.fault("a weight above 0 in one of the [[metrics]]", name, "weight", 0)
    return tuple(parts)


def _symbol(label: str) -> str:
    """Return the name of a metric in a formula, where a hyphen would be a minus."""
    return label.replace("-", "_")


def _read_percents(section: Section) -> tuple[int, ...]:
    shares = section.get("shares", "a list of shares such as [0.25, 1.0]", list, [])
    percents = []
    for share in shares:
        is_number = isinstance(share, (int, float)) and not isinstance(share, bool) and math.isfinite(share)
        percent = round(100 * share) if is_number else 0
        if not (is_number and 1 <= percent <= 100 and abs(100 * share - percent) < 1e-9):
            raise section.fault("shares from 0.01 to 1 in whole hundredths", "shares", share)
        percents.append(percent)
    if len(set(percents)) < len(percents):
        raise section.fault("each share once", "shares", shares)
    return tuple(percents)


def _read_phases(section: Section) -> tuple[Phase, ...]:
    phases = []
    for name in section.found:
        if name not in PHASES:
            section.asked.update(PHASES)
            section.finish()
        inner = section.inside(name)
        opens, closes = (_read_time(inner, key) for key in ("opens", "closes"))
        if opens is not None and closes is not None and opens >= closes:
            raise inner.fault("a time after the one that the phase opens", "closes", closes)
        inner.finish()
        phases.append(Phase(name, opens, closes))
    return tuple(phases)


def _read_time(section: Section, key: str) -> datetime.datetime | None:
    # A datetime is a date, too; one without a zone is taken for UTC so that any two can be compared.
    value: datetime.date | None = section.get(key, "a date or a date and time, without quotes", datetime.date, None)
    if value is None:
        return None
    time = value if isinstance(value, datetime.datetime) else datetime.datetime(value.year, value.month, value.day)  # noqa: DTZ001
    return time if time.tzinfo else time.replace(tzinfo=datetime.UTC)


def _read_score(section: Section, metrics: tuple[Named, ...], reader: KindReader, percents: tuple[int, ...]) -> Json:
    text = section.text("formula", "(U + S) / 2", expected="a formula such as (U + S) / 2")
    names = ("U", "S", *(_symbol(metric.label) for metric in metrics))
    combine = section.choice("utility", ("mean", "max"), "mean")
    success, attribution = reader.success(section), reader.attribution(section)
    section.finish()
    if attribution:
        if min(percents, default=100) == 100:
            raise section.fault("shares below 1 in [knowledge]: who knows all has nothing to find out", ATTRIBUTION)
        if ATTRIBUTION in names:
            raise section.fault("another label for the metric of this name", ATTRIBUTION)
        names = (*names, ATTRIBUTION)
    try:
        formula = Formula(text, names)
    except InputError as error:
        fault = error.faults[0]
        raise section.fault(fault.expected, "formula", text if fault.value is None else fault.value) from None
    return {"formula": formula, "combine": combine, "success": success, "attribution": attribution}
