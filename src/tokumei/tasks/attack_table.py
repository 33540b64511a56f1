"""What a released table gives away to somebody who knows people."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from tokumei.attacks.registry import (
    ALL,
    DISCLOSURE_ATTACKS,
    ChecksThreatModel,
    DisclosureAttack,
    ReleaseAttack,
)
from tokumei.attacks.table_threats import TAKE_FOR_RIGHT, TableThreat, table_threat_of
from tokumei.attacks.threat_model import KnownMethod, ThreatModel
from tokumei.core.errors import InputError, nearest
from tokumei.core.registry import part_name
from tokumei.core.text import Text
from tokumei.data.files.formats import read_beside
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.frames import as_frame
from tokumei.data.table import Table
from tokumei.inspection.repeated_people import repeated_people
from tokumei.methods.registry import TableAnonymizer
from tokumei.tasks.table_attack_result import TableAttack, Tried
from tokumei.tasks.table_release import TableRelease, as_count_table
from tokumei.tasks.table_threat_model import public_of, threat_model_of

if TYPE_CHECKING:
    from tokumei.attacks.public_knowledge import PublicKnowledge

COUNTS = "a table of counts (the column rows, or another that counts=NAME names)"
ROWS = "records, one a row: this is a table of counts"
# Who makes attacks that need the release alone.
ANYBODY = "anybody"
OPTIONS = (
    *("attack", "known", "known_share", "numeric", "hierarchies", "rows", "in_order", "made_up", "earlier"),
    "earlier_rows",
    *("population", "control", "method", "k", "seed", "threat", *(one.name for one in fields(TableThreat))),
)


def attack_table(
    original: Table,
    release: object,
    attack: object = ALL,
    *,
    threat: str | TableThreat | None = None,
    known: Sequence[str] = (),
    known_share: float = 1.0,
    numeric: Sequence[str] | None = None,
    hierarchies: object = None,
    rows: object = None,
    in_order: bool = False,
    made_up: bool = False,
    optional: bool = False,
    earlier: Sequence[object] = (),
    earlier_rows: Sequence[object] = (),
    population: object = None,
    control: object = None,
    method: str | KnownMethod | TableAnonymizer | None = None,
    k: int | None = None,
    seed: int = 1,
    reading: Reading = AS_IT_IS,
    **options: object,
) -> TableAttack:
    """Attack a released table; see `tk.attack`.

    optional: attacks that cannot be tried are left out, with the reason, though they were named.
    """
    started = time.perf_counter()
    if made_up and (in_order or rows is not None):
        raise InputError.of("either whose each row is, or that no row is anybody's", option="made_up")
    changes = {one.name: options.pop(one.name) for one in fields(TableThreat) if one.name in options}
    who = None if threat is None and not changes else table_threat_of(threat or TableThreat(), **changes)
    parts = chosen_attacks(attack, options)
    optional = optional or attack == ALL
    if isinstance(release, (str, Path)):
        columns = [*original.quasi_identifiers, *original.sensitive]
        release = Table(read_beside(release, reading, columns), name=str(release))
    if who is not None and optional:
        refused = who.lacks(has_population=population is not None)
        if refused is not None:
            raise InputError.of(refused, option="population")
    cannot = {name: why for name in parts if who is not None and (why := who.why_not(name)) is not None}
    if made_up:
        asking = [name for name, part in parts.items() if getattr(part, "asks_whose", True)]
        cannot |= dict.fromkeys(asking, Text("to know whose each row is"))
    if optional:
        cannot |= dict.fromkeys(_of_rows(parts, release, original.frame.columns), Text(ROWS))
    threat_model = threat_model_of(
        original,
        release,
        threat=who,
        known=known,
        known_share=known_share,
        numeric=numeric,
        hierarchies=hierarchies,
        rows=rows,
        in_order=in_order,
        earlier=earlier,
        earlier_rows=earlier_rows,
        population=population,
        control=control,
        method=method,
        k=k,
        seed=seed,
        reading=reading,
        may_be_made_up=made_up
        or not any(getattr(part, "asks_whose", True) for name, part in parts.items() if str(cannot.get(name)) != ROWS),
    )
    parts = {name: _with_link(part, threat_model) for name, part in parts.items()}
    left_out = {
        name: lack
        for name, part in parts.items()
        if (lack := cannot.get(name) or what_is_missing(threat_model, part)) is not None
    }
    if not optional and left_out:
        name, told = next(iter(left_out.items()))
        raise InputError.of(Text("{lack}, which {name} needs", lack=told, name=name))
    tried = try_each({name: part for name, part in parts.items() if name not in left_out}, threat_model, seed)
    facts = {
        "rows": original.n_rows,
        "released": threat_model.published.table.n_rows,
        "known": threat_model.known_columns,
        "looked_for": len(threat_model.targets),
        **_takes_for_right(threat_model, [one.attack for one in tried]),
        "seed": seed,
        "seconds": round(time.perf_counter() - started, 3),
    }
    return TableAttack(tried, left_out, facts, original.kind, who, threat_model.control is not None)


def _takes_for_right(threat_model: ThreatModel, attacks: Sequence[str]) -> dict[str, object]:
    """Name the attacks that a mistaken value misleads, so that they find less than could be found."""
    misled = [name for name in attacks if name in TAKE_FOR_RIGHT]
    return {"take_every_known_value_for_right": misled} if threat_model.codes_wrong and misled else {}


def try_each(parts: Mapping[str, DisclosureAttack], threat_model: ThreatModel, seed: int) -> list[Tried]:
    """Try attacks that have all they need; one that learns a column learns each of several in turn."""
    from tokumei.attacks.public_knowledge import PublicKnowledge

    tried = []
    for name, part in parts.items():
        if isinstance(part, ReleaseAttack):
            tried.append(_deduced(name, part, PublicKnowledge.of(threat_model), seed))
            continue
        for learned, one in _for_each_sensitive(part, threat_model.sensitive):
            tried.append(Tried(name, learned, dict(one.measure(threat_model, seed=seed))))
    return tried


def attack_release(
    release: Table,
    attack: object = ALL,
    *,
    numeric: Sequence[str] | None = None,
    hierarchies: object = None,
    method: str | KnownMethod | TableAnonymizer | None = None,
    k: int | None = None,
    seed: int = 1,
    **options: object,
) -> TableAttack:
    """Attack a release of which nothing else is there: by what its labels give away; see `tk.attack`."""
    started = time.perf_counter()
    parts = chosen_attacks(attack, options)
    has_role = [*release.quasi_identifiers, *release.sensitive]
    of_rows = _of_rows(parts, release, has_role) if attack == ALL else []
    left_out = {
        name: lack
        for name, part in parts.items()
        if (lack := Text(ROWS) if name in of_rows else what_release_lacks(release, part))
    }
    alone = {name: part for name, part in parts.items() if isinstance(part, ReleaseAttack) and name not in left_out}
    if attack != ALL and left_out:
        name, lack = next(iter(left_out.items()))
        raise InputError.of(Text("{lack}, which {name} needs", lack=lack, name=name), file=release.name)
    tried = deduce_each(alone, public_of(release, numeric, hierarchies, method, k), seed)
    facts = {"released": release.n_rows, "seed": seed, "seconds": round(time.perf_counter() - started, 3)}
    return TableAttack(tried, left_out, facts, release.kind)


def deduce_each(parts: Mapping[str, ReleaseAttack], public: PublicKnowledge, seed: int) -> list[Tried]:
    """Try attacks that need nothing but the release."""
    return [_deduced(name, part, public, seed) for name, part in parts.items()]


def _deduced(name: str, part: ReleaseAttack, public: PublicKnowledge, seed: int) -> Tried:
    found = part.deduce(public, seed=seed)
    return Tried(name, None, dict(found.scores), found)


def chosen_attacks(attack: Any, options: Mapping[str, object]) -> dict[str, DisclosureAttack]:
    """Make the attack or the attacks that are asked for, or all of them."""
    if isinstance(attack, str) and attack != ALL:
        return {attack: DISCLOSURE_ATTACKS.make(attack, **options)}
    for name in options:
        near = nearest(name, OPTIONS)
        raise InputError.of(f"'{near}'" if near else "the name of one attack, whose option it is", value=name)
    wanted = list(DISCLOSURE_ATTACKS) if attack == ALL else attack if isinstance(attack, (list, tuple)) else [attack]
    made = [DISCLOSURE_ATTACKS.make(one) if isinstance(one, str) else one for one in wanted]
    for one in made:
        if not isinstance(one, DisclosureAttack):
            raise InputError.of("an attack on tables by its name", option="attack", value=type(one).__name__)
    return {part_name(one): one for one in made}


def _with_link(part: DisclosureAttack, threat_model: ThreatModel) -> DisclosureAttack:
    """Name the released column that links the rows of a person to an attack that needs one, where one does."""
    if getattr(part, "column", None) != "":
        return part
    found = linking_column(threat_model.published.table.frame, threat_model.known_columns)
    return part if found is None else replace(part, column=found)  # type: ignore[type-var]


def linking_column(released: pl.DataFrame, known: Sequence[str]) -> str | None:
    """Return the released column whose values repeat as codes of people do; None where none does."""
    found = repeated_people(released)
    return None if found is None or found.column in known else found.column


def _for_each_sensitive(part: Any, columns: Sequence[str]) -> list[tuple[str | None, DisclosureAttack]]:
    """Repeat an attack that learns one column for each sensitive column, where none is named."""
    if len(columns) > 1 and getattr(part, "sensitive", None) == "":
        return [(column, replace(part, sensitive=column)) for column in columns]
    return [(None, part)]


def what_is_missing(threat_model: ThreatModel, part: DisclosureAttack) -> str | None:
    """Name what an attack needs and was not given."""
    has = {
        "sensitive": bool(threat_model.sensitive),
        "earlier": bool(threat_model.earlier),
        "population": threat_model.population is not None,
        "control": threat_model.control is not None,
        "counts": has_counts(threat_model.published.table.frame, part, threat_model.original.frame.columns),
    }
    words = {"sensitive": "a sensitive column that is not known"} if threat_model.original.sensitive else {}
    words |= {"counts": COUNTS}
    missing = [words.get(need, need) for need in part.needs if not has[need]]
    if missing:
        return " and ".join(missing)
    return part.lacks(threat_model) if isinstance(part, ChecksThreatModel) else None


def what_release_lacks(release: Table, part: DisclosureAttack) -> str | None:
    """Name what an attack needs beside a release of which nothing else is there."""
    if not isinstance(part, ReleaseAttack):
        return "the original"
    return None if has_counts(release.frame, part, [*release.quasi_identifiers, *release.sensitive]) else COUNTS


def _of_rows(parts: Mapping[str, DisclosureAttack], release: object, of_people: Sequence[str]) -> list[str]:
    """Name the attacks that take rows for records, where a release is a table of counts; `of_people` are no counts."""
    if isinstance(release, TableRelease):
        frame = release.table
    else:
        frame = release.frame if isinstance(release, Table) else as_frame(release)
    frame = as_count_table(frame, of_people)
    counting = [part for part in parts.values() if "counts" in part.needs]
    if not any(has_counts(frame, part, of_people) for part in counting):
        return []
    return [name for name, part in parts.items() if "counts" not in part.needs]


def has_counts(released: pl.DataFrame, part: DisclosureAttack, of_people: Sequence[str]) -> bool:
    """Whether a release has the counts that an attack needs, if it needs any; a column of people is none."""
    name = getattr(part, "counts", "")
    return "counts" not in part.needs or (name in released.columns and name not in of_people)
