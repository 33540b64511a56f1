"""What the TOML file of a contest says, read and checked."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tokumei.contest.custom.formula import Formula
from tokumei.contest.custom.kinds import HISTORY, READERS, TABLE, Data, KindReader, Roles
from tokumei.core.errors import InputError, nearest
from tokumei.core.registry import Registry
from tokumei.core.wording import choice_of
from tokumei.data.files.csv import check_delimiter
from tokumei.data.files.toml import Section, Where, make_part

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


def settings_of(where: Where, found: Mapping[str, Any]) -> Settings:
    """Read the settings of a contest, refusing the first slip."""
    for key, value in found.items():
        if key not in SECTIONS:
            near = nearest(key, SECTIONS)
            wanted = f"'{near}'" if near else choice_of(SECTIONS)
            shown = None if isinstance(value, (dict, list)) else value
            raise where.fault(f"a section of a contest: {wanted}", key, value=shown)
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
    limits = _single(where, found, "limits")
    settings = Settings(
        **titles,
        kind=kind,
        data=data,
        roles=roles,
        checks=_read_checks(_single(where, found, "checks"), reader, roles),
        metrics=metrics,
        attacks=_read_parts(where, found, "attacks", reader.attacks),
        percents=_read_percents(knowledge),
        item_characters=reader.item_characters(knowledge),
        n_releases=limits.whole("releases", 1, 10_000, 20),
        n_guesses=limits.whole("guesses", 1, 10_000, 10),
        phases=_read_phases(_single(where, found, "phases")),
        **_read_score(_single(where, found, "score"), metrics, reader),
    )
    knowledge.finish()
    limits.finish()
    return settings


def _single(where: Where, found: Mapping[str, Any], name: str, *, is_required: bool = False) -> Section:
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
        least_kept=section.number_between("least_kept", 0, 1, 0.0),
        values_of_original=section.names("values_of_original", [], known=columns),
        unchanged=section.names("unchanged", [], known=columns),
        same_month=reader.same_month(section),
        pseudonyms=reader.pseudonyms(section),
    )
    section.finish()
    return checks


def _read_parts(where: Where, found: Mapping[str, Any], name: str, registry: Registry[Any]) -> tuple[Named, ...]:
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
        weight = section.number_between("weight", 0, 1_000_000, 1.0) if name == "metrics" else 1.0
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
        inner = section.section(name)
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


def _read_score(section: Section, metrics: tuple[Named, ...], reader: KindReader) -> dict[str, Any]:
    text = section.text("formula", "(U + S) / 2", expected="a formula such as (U + S) / 2")
    names = ("U", "S", *(_symbol(metric.label) for metric in metrics))
    combine = section.choice("utility", ("mean", "max"), "mean")
    success = reader.success(section)
    section.finish()
    try:
        formula = Formula(text, names)
    except InputError as error:
        fault = error.faults[0]
        raise section.fault(fault.expected, "formula", text if fault.value is None else fault.value) from None
    return {"formula": formula, "combine": combine, "success": success}
