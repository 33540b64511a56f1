"""The public functions: each takes a table or a history, as a frame or a file, and returns a result.

The overloads state every keyword with its type and default, for each kind of data; `help` and notebooks show them
together. What is done stands in the files beside this one, a function for each kind.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, Unpack, cast, overload

from tokumei.core.errors import InputError
from tokumei.core.text import Json, Text
from tokumei.data.history import History
from tokumei.data.table import Table, Unit
from tokumei.tasks.request import DEFAULT_METHOD, PerColumn, ReleaseRequest, Requirements, refuse_unknown

if TYPE_CHECKING:
    from tokumei.attacks.history.attackers import HistoryThreat
    from tokumei.attacks.registry import DisclosureAttack, HistoryAttack
    from tokumei.attacks.table_threats import TableThreat
    from tokumei.attacks.threat_model import KnownMethod
    from tokumei.data.history import Draw
    from tokumei.data.release import Recipe
    from tokumei.hierarchies.hierarchy import Hierarchy
    from tokumei.measures.losses import Loss
    from tokumei.measures.registry import HistoryUtility, TableUtility
    from tokumei.measures.requirement import Requirement
    from tokumei.methods.registry import HistoryAnonymizer, TableAnonymizer
    from tokumei.predictors.predictor import Rule
    from tokumei.tasks.attack_history import Guesses
    from tokumei.tasks.attack_membership import CustomerMembership
    from tokumei.tasks.attribute_history import Attribution
    from tokumei.tasks.audit_generalized import GeneralizedAudit
    from tokumei.tasks.audit_table import TableAudit
    from tokumei.tasks.compare_table import MethodComparison
    from tokumei.tasks.dossier import TableReport
    from tokumei.tasks.harden_history import Hardened
    from tokumei.tasks.harden_table import HardenedTable
    from tokumei.tasks.histories import HistoryRelease
    from tokumei.tasks.job_file import Job
    from tokumei.tasks.link_releases import LinkedReleases
    from tokumei.tasks.measure_history import HistoryUse
    from tokumei.tasks.measure_table import TableUse
    from tokumei.tasks.predict_history import HistoryPredictions
    from tokumei.tasks.predict_table import NodePredictions
    from tokumei.tasks.report_history import HistoryReport, Knowledge, Sweep
    from tokumei.tasks.request import (
        HistoryAttackOptions,
        HistoryMeasureOptions,
        HistoryMethodOptions,
        TableAttackOptions,
        TableMeasureOptions,
        TableMethodOptions,
        ThreatOptions,
    )
    from tokumei.tasks.run_job import JobResult
    from tokumei.tasks.table_attack_result import TableAttack
    from tokumei.tasks.table_release import TableRelease
    from tokumei.tasks.threat_history import ThreatReport, Unicity

F = TypeVar("F", bound=Callable[..., Any])


class HasColumns(Protocol):
    """A pandas, Polars or Arrow frame."""

    @property
    def columns(self) -> Any:
        """Its columns, or their names."""


# What a table is read from: a frame, columns by name, or a file.
Frame = HasColumns | Mapping[str, Sequence[Any]] | Path | str


# Names of columns; a column of a frame that was never given names has a number.
Names = Sequence[str | int] | str
# The row of the original of each row, counted from 0, or the file that counts them from 1.
Rows = Iterable[int] | Path | str
# A folder, or one by column in any of the forms of `hierarchies/given.py`.
Hierarchies = Path | str | Mapping[str, object]


def public(function: F) -> F:
    """Refuse a misspelt keyword with the nearest name, and show the keywords of all overloads in `help`."""
    stated = [inspect.signature(one) for one in typing.get_overloads(function) or [function]]
    merged: dict[str, inspect.Parameter] = {}
    for part in (part for one in stated for part in one.parameters.values()):
        merged.setdefault(part.name, part)
    takes_more = any(part.kind is part.VAR_KEYWORD for part in merged.values())
    names = [part.name for part in merged.values() if part.kind is not part.VAR_KEYWORD]
    own = inspect.signature(function)

    @functools.wraps(function)
    def run(*given: Any, **options: Any) -> Any:
        if not takes_more:
            refuse_unknown({one: options[one] for one in options if one not in names}, names, function.__name__)
        try:
            own.bind(*given, **options)
        except TypeError as error:
            expected = Text("a call as help(tk.{what}) shows it: {why}", what=function.__name__, why=str(error))
            raise InputError.of(expected) from None
        return function(*given, **options)

    returns = " | ".join(dict.fromkeys(str(one.return_annotation) for one in stated))
    parts = sorted(merged.values(), key=lambda part: part.kind)
    run.__signature__ = inspect.Signature(parts, return_annotation=returns)  # type: ignore[attr-defined]
    return cast("F", run)


@overload
def audit(  # type: ignore[overload-overlap]  # A file may be either; what it holds tells.
    table: HistoryRelease | Path | str,
    *,
    against: HistoryRelease | Path | str | Sequence[HistoryRelease | Path | str],
    original: History | Path | str | None = None,
    k: int | None = None,
    in_order: bool = False,
) -> GeneralizedAudit: ...
@overload
def audit(
    table: Table | TableRelease | Frame,
    qi: Names | None = None,
    *,
    sensitive: Names = (),
    k: int | None = None,
    preset: str | None = None,
    l_diversity: PerColumn | None = None,
    t_closeness: PerColumn | None = None,
    alpha_k: PerColumn | None = None,
    beta_likeness: PerColumn | None = None,
    delta_disclosure: PerColumn | None = None,
    k_map: int | None = None,
    delta_presence: float | str | tuple[object, ...] | None = None,
    population: Table | Frame | None = None,
    missing_is_a_value: bool = False,
    requirements_given: Sequence[Requirement] = (),
    against: Table | TableRelease | Frame | Sequence[Table | TableRelease | Frame] = (),
    person: str | None = None,
    household: str | None = None,
    rows: Rows | None = None,
    against_rows: Rows | Sequence[Rows | None] = (),
    in_order: bool = False,
    original: Table | Frame | None = None,
    recipe: Recipe | Path | str | None = None,
    threshold: float = 0.2,
    hierarchies: Hierarchies | None = None,
    population_size: int | None = None,
    weights: str | None = None,
    suda: int | None = None,
) -> TableAudit: ...


@public
def audit(table: Any, qi: Names | None = None, **options: Any) -> Any:
    """Measure how safe a table is as it stands, by every measure, and check what is stated.

    table: a `tk.Table`, what `tk.anonymize` gave, or a frame or file with its quasi-identifiers in `qi`.
    options: what must hold, as for `tk.anonymize` (`k=5`, `l_diversity={"illness": 2}` …); `against`, earlier releases
        or other tables of the same people (a `tk.Table` has classes by its own quasi-identifiers): what `tk.anonymize`
        gave knows whose each row is, others need `person`, the column that says it, `rows` and `against_rows`, counted
        from 0, or `in_order`; with `person` or `household` all is counted of people, or of households, in however many
        rows; `population`; `threshold`, above which a record's risk is counted. Of rows that are a sample of more
        people: `population_size`, how many these are, `weights`, the column that says how many people each row stands
        for, and `suda`, to look for rows that so many columns or fewer single out.

    A generalized history, or its file with the `original`, is held `against` others of the same people: how many
    customers fit each person in one of them and in all together, of whom `k` must be left.

    >>> import tokumei as tk
    >>> t = tk.Table({"age": [31, 31, 52], "illness": ["flu", "cold", "flu"]}, qi=["age"], sensitive=["illness"])
    >>> tk.audit(t, k=2).holds
    False
    """
    from tokumei.tasks.audit_generalized import audit_generalized, is_generalized
    from tokumei.tasks.audit_table import audit_table, released_table
    from tokumei.tasks.table_release import TableRelease

    if qi is None and is_generalized(table):
        return audit_generalized(table, _listed(options.pop("against", ())), **options)
    sensitive = options.pop("sensitive", ())
    if isinstance(table, TableRelease):
        is_matched = any(options.get(one) is not None for one in ("person", "rows")) or options.get("in_order")
        if options.get("against") and table.rows is not None and not is_matched:
            options["rows"] = table.rows
        data: Any = released_table(table)
    else:
        data = _table(_with_roles(table, qi, sensitive))
    stated = {one.name: options.pop(one.name) for one in fields(Requirements) if one.name in options}
    return audit_table(data, Requirements(**stated), **options)


def _listed(given: Any) -> list[Any]:
    return list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]


@overload
def anonymize(
    data: Table | Frame,
    qi: Names | None = None,
    *,
    sensitive: Names = (),
    k: int | None = None,
    preset: str | None = None,
    l_diversity: PerColumn | None = None,
    t_closeness: PerColumn | None = None,
    alpha_k: PerColumn | None = None,
    beta_likeness: PerColumn | None = None,
    delta_disclosure: PerColumn | None = None,
    k_map: int | None = None,
    delta_presence: float | str | tuple[object, ...] | None = None,
    population: Table | Frame | None = None,
    missing_is_a_value: bool = False,
    person: str | None = None,
    household: str | None = None,
    requirements_given: Sequence[Requirement] = (),
    suppress: float | None = None,
    loss: str | Loss | None = None,
    prices: Path | str | None = None,
    weights: Mapping[str, float] | None = None,
    prefer: Sequence[str] = (),
    numeric: Sequence[str] | None = None,
    hierarchies: Hierarchies | None = None,
    method: str | TableAnonymizer = DEFAULT_METHOD,
    keep: Sequence[str] = (),
    keep_anyway: bool | Sequence[str] = False,
    keep_order: bool = False,
    seed: int | None = None,
    reproducible: bool = False,
    **options: Unpack[TableMethodOptions],
) -> TableRelease: ...
@overload
def anonymize(
    data: History,
    *,
    method: str | HistoryAnonymizer | None = None,
    pipeline: Path | str | Mapping[str, object] | None = None,
    seed: int | None = None,
    form: str = "table",
    carry_anyway: bool = False,
    hierarchy: Hierarchy | Path | str | None = None,
    **options: Unpack[HistoryMethodOptions],
) -> HistoryRelease: ...
@public
def anonymize(data: Any, qi: Any = None, **options: Any) -> Any:
    """Anonymize a table or a history so that it keeps what is asked for, with as little loss as the method can.

    data: a `tk.Table` or a `tk.History`; or a frame or file with its quasi-identifiers in `qi`.

    Of a table: `method` ("optimal" if not given; `tokumei parts table-anonymizer` lists them) and its own options;
    `k`, `l_diversity={"illness": 2}` or `"2:entropy"`, or `l_diversity=2` for every sensitive column, `t_closeness`,
    `alpha_k`, `beta_likeness`, `k_map`, `delta_presence`, `preset`, with `population`; `suppress`, the share of rows
    that may be left out (.05 if not given, where the method recodes whole columns); `loss` ("ncp" if not given),
    `weights`, `prefer`; `keep`, further columns to release unchanged (`keep_anyway=['note']`, or True, where they
    single people out); `keep_order`, or else rows are shuffled; `seed`; `hierarchies`, a folder, or one by column: a
    `tk.Hierarchy`, a file, a mapping, a frame, a list of cuts or a function.

    Of a history: `method` and its own options, or `pipeline`, the file of several; `seed`.

    >>> import tokumei as tk
    >>> t = tk.Table({"age": [31, 31, 52, 52]}, qi=["age"])
    >>> tk.anonymize(t, k=2)
    TableRelease(4 rows, 0 left out, by optimal, k 2, ncp 0)
    """
    data = _with_roles(data, qi, options.pop("sensitive", ()))
    if isinstance(data, History):
        from tokumei.tasks.anonymize_history import anonymize_history

        return anonymize_history(data, **options)
    from tokumei.tasks.anonymize_table import anonymize_table

    return anonymize_table(_table(data, History), ReleaseRequest.of(options))


@overload
def attack(
    original: Table | TableRelease | Frame,
    release: Table | TableRelease | Frame | None = None,
    attack: str | DisclosureAttack | Sequence[str | DisclosureAttack] | None = None,
    *,
    qi: Names | None = None,
    sensitive: Names | str = (),
    person: str | None = None,
    household: str | None = None,
    threat: str | TableThreat | None = None,
    known: Sequence[str] = (),
    known_share: float = 1.0,
    numeric: Sequence[str] | None = None,
    hierarchies: Hierarchies | None = None,
    rows: Rows | None = None,
    in_order: bool = False,
    made_up: bool = False,
    earlier: Sequence[Table | TableRelease | Frame] = (),
    earlier_rows: Sequence[Rows | None] = (),
    population: Table | Frame | None = None,
    control: Table | Frame | None = None,
    method: str | KnownMethod | None = None,
    k: int | None = None,
    seed: int = 1,
    **options: Unpack[TableAttackOptions],
) -> TableAttack: ...
@overload
def attack(  # type: ignore[overload-overlap]
    original: History | HistoryRelease,
    release: History | HistoryRelease | Frame,
    attack: Literal["link-releases"],
    *,
    truth: Frame | None = None,
    seed: int = 1,
) -> LinkedReleases: ...
@overload
def attack(  # type: ignore[overload-overlap]  # A name of its own gives a result of its own.
    original: History | HistoryRelease,
    release: History | HistoryRelease | Frame,
    attack: Literal["attribution"],
    *,
    threat: str | HistoryThreat | None = None,
    sources: Rows | None = None,
    draws: int = 3,
    seed: int = 1,
    hierarchy: Hierarchy | Path | str | None = None,
    **options: Unpack[ThreatOptions],
) -> Attribution: ...
@overload
def attack(
    original: History | HistoryRelease,
    release: History | HistoryRelease | Frame,
    attack: Literal["membership"],
    *,
    control: History | Frame | None,
    threat: str | HistoryThreat | None = None,
    people: int = 2_000,
    draws: int = 3,
    seed: int = 1,
    hierarchy: Hierarchy | Path | str | None = None,
    **options: Unpack[ThreatOptions],
) -> CustomerMembership: ...
@overload
def attack(
    original: History | HistoryRelease,
    release: History | HistoryRelease | Frame | None = None,
    attack: str | HistoryAttack | None = None,
    *,
    threat: None = None,
    customers: Sequence[str] | None = None,
    hierarchy: Hierarchy | Path | str | None = None,
    **options: Unpack[HistoryAttackOptions],
) -> Guesses: ...
@overload
def attack(
    original: History | HistoryRelease,
    release: History | HistoryRelease | Frame | None = None,
    *,
    threat: str | HistoryThreat,
    attacks: Sequence[str] | None = None,
    draws: int = 3,
    seed: int = 1,
    hierarchy: Hierarchy | Path | str | None = None,
    **options: Unpack[ThreatOptions],
) -> ThreatReport: ...
@public
def attack(original: Any, release: Any = None, attack: Any = None, **options: Any) -> Any:
    """Attack a release as somebody would who knows people, by one attack or by all that what is given allows.

    original: a `tk.Table`, or what is known of a history; a release that `tk.anonymize` gave may stand alone.
    release: what `tk.anonymize` gave; or a released table, with `rows`, whose each row is, counted from 0 as `r.rows`
        (a file of them from 1), `in_order`, or `made_up` where no row is anybody's, as of synthetic rows.
    person, household: the column of the original that tells whose a row is, where people have several.
    attack: the name of an attack, of a table also several. If not given, all on a table and "linkage" on a history.

    threat: of a table, who attacks: "prosecutor", "journalist", "marketer", "employer", "insider", "data-broker" or a
        `TableThreat`; every attack is tried that such a person can make. Its assumptions are changed by their names,
        as in `numbers_off=0.1`; `known` and `known_share` say what else they know.

    An attack that needs no original takes any released table alone, as in `tk.attack(tk.Table("release.csv",
    qi=["age"]), attack="downcoding")`, with `method` and `k` where it is known how it was made.

    Of a history, `threat` says who attacks in place of what is known: "neighbor", "spouse", "data-broker", "rivals",
    "insider" or a threat of your own, with `attacks`, `draws`, `seed` and changes such as `share` or `days`; the first
    is the original then. So it is with "attribution", which asks whose purchase each row is, whatever its pseudonym;
    `sources` then tells which row of the original each was, counted from 0, where the release is only a frame or file.
    "membership" asks whether customers are in the release, with a `control`: a history of customers who are not in it.
    "link-releases" takes two releases of the same people, and tells which names are one person's; `truth` has the
    columns first and second.

    >>> import tokumei as tk
    >>> t = tk.Table({"age": [31, 31, 52, 52]}, qi=["age"])
    >>> tk.attack(t, tk.anonymize(t, k=2), "record-linkage").scores["record-linkage"]["certain"].value
    0.0
    """
    named = [] if attack is None else [attack]
    if release is None and attack is not None and (isinstance(original, Table) or "qi" in options):
        from tokumei.tasks.attack_table import attack_release
        from tokumei.tasks.table_release import released_table

        if "qi" in options and not type(original).__module__.startswith("tokumei."):
            original = released_table(original, options.pop("qi"), options.pop("sensitive", ()))
        released = _given_roles(original, options)
        return attack_release(_table(released), *named, **options)
    original, release = _pair("attack", original, release, options)
    if isinstance(original, History) or attack == "link-releases":
        from tokumei.tasks.attack_history import attack_history

        return attack_history(original, release, *named, **options)
    from tokumei.tasks.attack_table import attack_table

    return attack_table(_table(original, History), release, *named, **options)


@overload
def measure(
    original: Table | TableRelease | Frame,
    release: Table | TableRelease | Frame | None = None,
    measures: str | TableUtility | Sequence[str | TableUtility] | None = None,
    *,
    qi: Names | None = None,
    sensitive: Names = (),
    numeric: Sequence[str] | None = None,
    hierarchies: Hierarchies | None = None,
    rows: Rows | None = None,
    in_order: bool = False,
    **options: Unpack[TableMeasureOptions],
) -> TableUse: ...
@overload
def measure(
    original: History | HistoryRelease,
    release: History | HistoryRelease | Frame | None = None,
    measures: str | HistoryUtility | Sequence[str | HistoryUtility] | None = None,
    *,
    master: Frame | None = None,
    options: Mapping[str, Mapping[str, object]] | None = None,
    draws: int | None = None,
    seed: int = 1,
    **own: Unpack[HistoryMeasureOptions],
) -> HistoryUse: ...
@public
def measure(original: Any, release: Any = None, measures: Any = None, **options: Any) -> Any:
    """Measure how much use a release lost, by every measure that its columns allow or by those that are named.

    original: a `tk.Table` or a `tk.History`; a release that `tk.anonymize` gave may stand alone.
    release: what `tk.anonymize` gave; or a released table, with `rows`, whose each row is, counted from 0 as `r.rows`
        (a file of them from 1), or `in_order`.

    >>> import tokumei as tk
    >>> t = tk.Table({"age": [31, 31, 52, 52]}, qi=["age"])
    >>> tk.measure(t, tk.anonymize(t, k=2), "statistics").scores["statistics"].value
    0.0
    """
    original, release = _pair("measure", original, release, options)
    if isinstance(original, History):
        from tokumei.tasks.measure_history import measure_history

        return measure_history(original, release, measures, **options)
    from tokumei.tasks.measure_table import measure_table

    return measure_table(_table(original, History), release, measures, **options)


@overload
def harden(
    original: Table | TableRelease | Frame,
    release: Table | TableRelease | Frame | None = None,
    *,
    bound: float,
    qi: Names | None = None,
    sensitive: Names = (),
    attacks: Sequence[str] | None = None,
    changes: Sequence[str] | None = None,
    suppress: float = 0.05,
    by_interval: bool = True,
    minutes: float | None = None,
    seed: int = 1,
    known: Sequence[str] = (),
    known_share: float = 1.0,
    numeric: Sequence[str] | None = None,
    hierarchies: Hierarchies | None = None,
    rows: Rows | None = None,
    in_order: bool = False,
    earlier: Sequence[Table | TableRelease | Frame] = (),
    earlier_rows: Sequence[Rows | None] = (),
    population: Table | Frame | None = None,
    control: Table | Frame | None = None,
    method: str | None = None,
    k: int | None = None,
) -> HardenedTable: ...
@overload
def harden(
    original: History | HistoryRelease,
    release: History | HistoryRelease | Frame | None = None,
    *,
    bound: float,
    pipeline: Path | str | None = None,
    knowledge: Sequence[str | int] | Mapping[str, object] | None = None,
    draw: Draw = "contest",
    draws: int = 1,
    attacks: Sequence[str] | None = None,
    minutes: float | None = None,
    changes: Sequence[str] | None = None,
    sample: int | None = None,
    seed: int | None = None,
    form: str = "table",
    hierarchy: Hierarchy | Path | str | None = None,
) -> Hardened: ...
@public
def harden(original: Any, release: Any = None, **options: Any) -> Any:
    """Change a release no more than needed for every attack to find at most a share of the people.

    original: a `tk.Table` or a `tk.History`; a release that `tk.anonymize` gave may stand alone, and so may any
        released table of which only the labels are attacked.
    release: what `tk.anonymize` gave and nobody has seen yet; a released table, with `rows` or `in_order` as for
        `tk.attack`; or none, with a `pipeline` that makes the release of a history.

    Of a table: `attacks`, all that what is given allows if not named; `changes`, some of "snap" (ranges and sets onto a
    public grid or hierarchy), "widen", "merge" and "suppress"; `suppress`, the share of rows that may be left out;
    `by_interval=False` holds the shares found against the bound, not the upper ends of their intervals; `minutes` for
    the search; `seed`, `hierarchies`, `numeric`, and what attackers know, as for `tk.attack`.

    Of a history: `knowledge` in per cent, `attacks`, `minutes`, `draws`; `changes`, some of "widen", "delete",
    "re-pseudonymize" and "permute"; `sample`, the most customers that are attacked; `seed`.

    >>> import tokumei as tk
    >>> days = [f"2011-0{1 + n % 3}-0{1 + n // 3}" for n in range(9)]
    >>> h = tk.History({"customer": list("aaabbbccc"), "date": days, "item": list("xyzxxyzzz"), "quantity": [1] * 9})
    >>> r = tk.anonymize(h, method="pseudonyms", lifetime=12, seed=1)
    >>> tk.harden(r, bound=0.7, attacks=["s6"], changes=["permute"], seed=1).found.change.found
    2

    >>> t = tk.Table({"age": ["31-45", "31-45", "50-58", "50-58"]}, qi=["age"])
    >>> tk.harden(t, bound=0.2, attacks=["downcoding"], by_interval=False, method="mondrian").frame["age"].to_list()
    ['30-49', '30-49', '50-59', '50-59']
    """
    if release is None and (isinstance(original, Table) or "qi" in options):
        from tokumei.tasks.harden_table import harden_release

        table = _given_roles(original, options)
        return _checked("harden", harden_release, _table(table), options)
    if "pipeline" not in options:
        original, release = _pair("harden", original, release, options)
    if isinstance(original, History):
        from tokumei.tasks.harden_history import harden_history

        return _checked("harden", harden_history, original, options, release)
    from tokumei.tasks.harden_table import harden_table

    return _checked("harden", harden_table, _table(original, History), options, release)


@public
def compare(
    table: Table | Frame,
    qi: Names | None = None,
    *,
    sensitive: Names = (),
    k: int | None = None,
    preset: str | None = None,
    l_diversity: PerColumn | None = None,
    t_closeness: PerColumn | None = None,
    alpha_k: PerColumn | None = None,
    beta_likeness: PerColumn | None = None,
    delta_disclosure: PerColumn | None = None,
    k_map: int | None = None,
    delta_presence: float | str | tuple[object, ...] | None = None,
    population: Table | Frame | None = None,
    missing_is_a_value: bool = False,
    person: str | None = None,
    household: str | None = None,
    requirements_given: Sequence[Requirement] = (),
    suppress: float | None = None,
    loss: str | Loss | None = None,
    prices: Path | str | None = None,
    weights: Mapping[str, float] | None = None,
    prefer: Sequence[str] = (),
    numeric: Sequence[str] | None = None,
    hierarchies: Hierarchies | None = None,
    methods: Sequence[str | TableAnonymizer] | str | None = None,
) -> MethodComparison:
    """Run methods on one table, and compare what each found and what it cost.

    options: as for `tk.anonymize`, with `methods` in place of `method`.

    >>> import tokumei as tk
    >>> t = tk.Table({"age": [31, 31, 52, 52]}, qi=["age"])
    >>> tk.compare(t, k=2, methods=["optimal", "mondrian"]).to_frame()["method"].to_list()
    ['optimal', 'mondrian']
    """
    from tokumei.tasks.compare_table import compare_table

    asked = ReleaseRequest(
        k=k,
        preset=preset,
        l_diversity=l_diversity,
        t_closeness=t_closeness,
        alpha_k=alpha_k,
        beta_likeness=beta_likeness,
        delta_disclosure=delta_disclosure,
        k_map=k_map,
        delta_presence=delta_presence,
        population=population,
        missing_is_a_value=missing_is_a_value,
        person=person,
        household=household,
        requirements_given=requirements_given,
        suppress=suppress,
        loss=loss,
        prices=prices,
        weights=weights or {},
        prefer=prefer,
        numeric=numeric,
        hierarchies=hierarchies,
    )
    return compare_table(_table(_with_roles(table, qi, sensitive)), asked, methods)


@overload
def predict(
    table: Table | Frame,
    qi: Names | None = None,
    *,
    k: int = 2,
    method: str | None = None,
    levels: Mapping[str, int] | None = None,
    limit: int = 20,
    hierarchies: Hierarchies | None = None,
    rule: Rule = "low",
    largest: int | None = None,
    n_nodes: int | None = None,
    caution: float | None = None,
) -> NodePredictions: ...
@overload
def predict(
    table: History,
    *,
    method: str | HistoryAnonymizer | None = None,
    bound: float | Sequence[float] = 0.33,
    smallest: int | Sequence[int] = 2,
    most_open: float | Sequence[float] = 1.0,
    attributed: float | Sequence[float] = 1.0,
    deals: Literal["rows", "baskets"] | Sequence[str] = "rows",
    seed: int = 0,
) -> HistoryPredictions: ...
@public
def predict(table: Any, qi: Any = None, **options: Any) -> Any:
    """Predict the k of every node of a table from few counts, or what it costs to permute groups of a history.

    options: `k` that a release must have, `method` (one predictor, all if not given), `levels` of one node; `largest`
        class count or `n_nodes` that the power law is fitted on, `caution` of the band, and `rule`: what must reach k,
        "low", the low end of the band, or "k" itself, as in the thesis.

    Of a history: groups, bounds, and the use that is lost by `permute-groups` with its options; of an option with
    several values, as `bound=[0.2, 0.3]`, with each.

    >>> import tokumei as tk
    >>> t = tk.Table({"age": [31, 31, 52, 52], "sex": ["f", "f", "m", "m"]}, qi=["age", "sex"])
    >>> tk.predict(t, k=2).n_rows
    4
    """
    if isinstance(table, History):
        from tokumei.tasks.predict_history import PERMUTE_GROUPS, predict_history

        method = options.pop("method", None) or PERMUTE_GROUPS
        # What a history does not have is refused with the options that there are.
        return predict_history(table, method=method, **options, **({} if qi is None else {"qi": qi}))
    from tokumei.tasks.predict_table import predict_table

    return _checked("predict", predict_table, _table(_with_roles(table, qi)), {"limit": 20, **options})


@public
def sweep(
    history: History,
    out: Path | str | None = None,
    *,
    grid: Path | str | Mapping[str, object] | None = None,
    knowledge: Sequence[str | int] | Mapping[str, object] | None = None,
    attacks: Sequence[str] | None = None,
    minutes: float | None = None,
    draw: Draw = "contest",
    sample: int | None = None,
    seed: int = 0,
    hierarchy: Hierarchy | Path | str | None = None,
) -> Sweep:
    """Anonymize a history in many ways and compare the use that each loses with the customers that are found.

    history: a `tk.History`.
    out: a folder that keeps what was done, so that nothing is done twice.
    options: `grid`, the ways to try by name or in a file; `knowledge` in per cent; `attacks`; `sample`, the most
        customers that are attacked; `seed`.

    >>> import tokumei as tk
    >>> days = [f"2011-0{1 + n % 3}-01" for n in range(9)]
    >>> h = tk.History({"customer": list("aaabbbccc"), "date": days, "item": list("xyzxxyzzz"), "quantity": [1] * 9})
    >>> tk.sweep(h, attacks=["s1"], grid={"monthly": {"step": [{"method": "pseudonyms", "lifetime": 1}]}})
    Sweep(1 ways, 1 on the frontier)
    """
    from tokumei.tasks.report_history import sweep_history

    return sweep_history(
        _history(history),
        out,
        grid=grid,
        knowledge=knowledge,
        attacks=attacks,
        minutes=minutes,
        draw=draw,
        sample=sample,
        seed=seed,
        hierarchy=hierarchy,
    )


@overload
def knowledge(
    history: History, release: History | HistoryRelease | Frame | None = None, *, weight: str = "usual"
) -> Knowledge: ...
@overload
def knowledge(
    history: History,
    release: None = None,
    *,
    unicity: Literal[True],
    points: int = 10,
    draws: int = 5,
    exactness: Sequence[str] | None = None,
    seed: int = 0,
) -> Unicity: ...
@public
def knowledge(history: Any, release: Any = None, **options: Any) -> Any:
    """Measure what each kind of knowledge of a purchase is worth to an attacker, beside what theory says.

    history: a `tk.History`; with a `release`, customers are looked for there.
    options: `weight`, what share meets a piece of knowledge: "usual", "baskets" or "rows"; `unicity=True` gives instead
        the share of customers singled out by 1, 2, … known purchases, with `points`, `draws`, `exactness` and `seed`.

    >>> import tokumei as tk
    >>> h = tk.History({"customer": list("aab"), "date": ["2011-01-01"] * 3, "item": list("xyx")})
    >>> tk.knowledge(h).risks[1].value
    0.6666666666666666
    """
    from tokumei.tasks.report_history import knowledge_history

    return knowledge_history(_history(history), release, **options)


@overload
def report(
    original: Table | Frame,
    release: Table | TableRelease | Frame,
    out: Path | str | None = None,
    *,
    qi: Names | None = None,
    sensitive: Names = (),
    k: int | None = None,
    preset: str | None = None,
    l_diversity: PerColumn | None = None,
    t_closeness: PerColumn | None = None,
    alpha_k: PerColumn | None = None,
    beta_likeness: PerColumn | None = None,
    delta_disclosure: PerColumn | None = None,
    k_map: int | None = None,
    delta_presence: float | str | tuple[object, ...] | None = None,
    missing_is_a_value: bool = False,
    person: str | None = None,
    household: str | None = None,
    requirements_given: Sequence[Requirement] = (),
    rows: Rows | None = None,
    in_order: bool = False,
    threat: str | TableThreat | None = None,
    control: Table | Frame | None = None,
    population: Table | Frame | None = None,
    hierarchies: Hierarchies | None = None,
    language: Literal["en", "ja"] = "en",
    force: bool = False,
    population_size: int | None = None,
    weights: str | None = None,
) -> TableReport: ...
@overload
def report(
    release: TableRelease,
    out: Path | str | None = None,
    *,
    language: Literal["en", "ja"] = "en",
    force: bool = False,
    population_size: int | None = None,
    weights: str | None = None,
    context: Mapping[str, object] | None = None,
    reviewer: str | None = None,
    is_public: bool = False,
) -> TableReport: ...
@overload
def report(
    release: HistoryRelease,
    out: Path | str | None = None,
    *,
    force: bool = False,
    knowledge: Sequence[str | int] | Mapping[str, object] | None = None,
    attacks: Sequence[str] | None = None,
    minutes: float | None = None,
    draw: Draw = "contest",
    sample: int | None = None,
    hierarchy: Hierarchy | Path | str | None = None,
) -> HistoryReport: ...
@public
def report(*given: Any, force: bool = False, language: str = "en", **options: Any) -> Any:
    """Measure and attack a release in every way, and write all of it as one page.

    release: what `tk.anonymize` gave; or an original and a table that others made of it, as frames or files, with the
        original's roles in `qi` and `sensitive`, and `rows`, whose each row is, or `in_order`; without them no row is
        taken for anybody's, as of synthetic rows. What must hold is named as for `tk.audit`, who attacks by `threat`;
        `control` are people who are not in the release, of whom 400 let membership be tried.
    out: of a table .html, .md or .pdf (where Chromium is installed), of a history .html; nothing is written without.
    language: of the page of a table, "en" or "ja".
    population_size, weights: of rows that are a sample of more people, how many these are, and the column that says how
        many of them each row stands for.
    context: what only people know of the release, as `{"recipient": "the board", "environment": "enclave"}`; the keys
        are those of [context] in a job file. reviewer: who decides on the release.
    is_public: write the document that may be published, in which nothing leads to a person.

    Of a history: `knowledge` in per cent, `attacks`, the `minutes` that they may take, and `sample`, the most customers
    that are attacked.

    >>> import tokumei as tk
    >>> r = tk.anonymize(tk.Table({"age": [31, 31, 52, 52]}, qi=["age"]), k=2)
    >>> tk.report(r, "release.html").dossier["holds"]
    True
    """
    from tokumei.data.files.outputs import guarded
    from tokumei.tasks.histories import HistoryRelease
    from tokumei.tasks.table_release import TableRelease

    named: tuple[str, ...] = ("release", "out")
    if "original" in options or (given and not isinstance(given[0], (TableRelease, HistoryRelease))):
        named = ("original", *named)
    if len(given) > len(named):
        raise InputError.of(f"at most {', '.join(named)}, as tk.report shows them in help")
    told = dict(zip(named, given, strict=False))
    original, release, out = (told.get(one, options.pop(one, None)) for one in ("original", "release", "out"))
    if isinstance(release, HistoryRelease):
        from tokumei.tasks.report_history import report_history

        if language != "en":
            raise InputError.of("en, in which pages of histories are", option="language", value=language)
        with guarded({"out": out}, pages=["out"], force=force) as drafts:
            of_history = report_history(
                release.original if original is None else original, release, seed=release.seed, **options
            )
            if out is not None:
                of_history.page().write(drafts["out"])
        return of_history
    from tokumei.data.context import context_of
    from tokumei.tasks.dossier import check_page, report_table

    if original is None and isinstance(release, TableRelease) and release.has_rows:
        original = release.original
    if original is None or release is None:
        raise InputError.of("a release of rows of people that is in this process, or an original and its release")
    people = _given_roles(_as_released(original, release), options)
    stated = {one.name: options.pop(one.name) for one in fields(Requirements) if one.name in options}
    options["context"] = context_of(options.pop("context", None) or {})
    is_public = bool(options.pop("is_public", False))
    if out is not None:
        check_page(Path(out))
    read = [one for one in (original, release) if isinstance(one, (str, Path))] or [_table(people, History).name]
    with guarded({"out": out}, inputs=read, force=force) as drafts:
        asked = Requirements(**stated)
        of_table = _checked("report", report_table, _table(people, History), options | {"asked": asked}, release)
        if out is not None:
            of_table.write(drafts["out"], language, Path(out).suffix, is_public=is_public)
    return of_table


@public
def run(job: Job, out: Path | str, *, force: bool = False, pdf: bool = False) -> JobResult:
    r"""Do a job and write its results to a folder; what was done there before is not done again.

    pdf: print the pages of the dossier too, where Chromium is installed.

    >>> import tokumei as tk
    >>> tk.write_frame(tk.Table({"age": ["31", "31", "52", "52"]}).frame, "people.csv")
    >>> text = '[input]\nfile = "people.csv"\n[roles]\nage = "quasi-identifier"\n[requirements]\nk = 2\n'
    >>> tk.run(tk.Job.of(text), "dossier").holds
    True
    """
    from tokumei.tasks.job_file import Job
    from tokumei.tasks.run_job import run_job

    if not isinstance(job, Job):
        expected = "a tk.Job, as tk.Job.read('job.toml'); a frame is for tk.anonymize"
        raise InputError.of(expected, value=job if isinstance(job, (str, Path)) else _kind(job))
    return run_job(job, Path(out), force=force, pdf=pdf)


def _table(data: Any, *others: type) -> Table:
    """Return a table, or refuse whatever else was given."""
    if isinstance(data, Table):
        return data
    wanted = " or ".join(f"a tk.{kind.__name__}" for kind in (Table, *others))
    raise InputError.of(f"{wanted}, as tk.Table(data, qi=['age'])", value=_kind(data))


def _history(data: Any) -> History:
    if isinstance(data, History):
        return data
    raise InputError.of("a tk.History", value=_kind(data))


def _with_roles(data: Any, qi: Any, sensitive: Any = ()) -> Any:
    """Convert a frame or file with quasi-identifiers to a table; what has roles already takes no others."""
    if qi is None:
        return data
    if type(data).__module__.startswith("tokumei."):
        expected = f"no quasi-identifiers beside {_kind(data)}; all else is named, as k=5"
        raise InputError.of(expected, option="qi", value=qi)
    return Table(data, qi, sensitive)


def _given_roles(data: Any, options: dict[str, Any]) -> Any:
    """Take the roles out of the keywords, where there are any: an attack has a sensitive column of its own."""
    unit = Unit.of(options.pop("person", None), options.pop("household", None))
    given = _with_roles(data, options.pop("qi"), options.pop("sensitive", ())) if "qi" in options else data
    if unit is not None and not isinstance(given, Table):
        raise InputError.of("a tk.Table, or a frame or file with its quasi-identifiers in qi", option=str(unit.role))
    return given if unit is None else given.of_unit(unit)


def _pair(job: str, original: Any, release: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """Return an original and its release; a release that knows its original may stand alone."""
    original = _given_roles(original, options)
    if release is not None:
        return _as_released(original, release), release
    known = getattr(original, "original", None)
    if isinstance(known, (Table, History)):
        return known, original
    raise InputError.of(f"an original and its release, as tk.{job}(t, r)", value=_kind(original))


def _as_released(original: Any, release: Any) -> Any:
    """Give a frame or file the roles of the original that a release was made of."""
    known = getattr(release, "original", None)
    if isinstance(known, Table) and not isinstance(original, (Table, History)):
        roles: Json = {"hierarchies": known.hierarchies, "numeric": known.numeric}
        return Table(original, known.quasi_identifiers, known.sensitive, **roles).of_unit(known.unit)
    return original


def _checked(job: str, function: Callable[..., Any], data: Any, options: Mapping[str, Any], *more: Any) -> Any:
    """Call the function of a kind of data, which may lack a keyword that another kind has."""
    named = [one.name for one in inspect.signature(function).parameters.values() if one.kind is one.KEYWORD_ONLY]
    refuse_unknown({name: value for name, value in options.items() if name not in named}, named, job)
    for one in inspect.signature(function).parameters.values():
        if one.kind is one.KEYWORD_ONLY and one.default is one.empty and one.name not in options:
            raise InputError.of(Text("{name}=…, which {what} needs", name=one.name, what=f"tk.{job}"))
    return function(data, *more, **options)


def _kind(data: Any) -> str:
    """Name the kind of what was given: a tk.Table, or another library's with its home."""
    kind = type(data)
    if kind in (Table, History):
        return f"a tk.{kind.__name__}"
    return (
        kind.__name__ if kind.__module__.startswith(("tokumei.", "builtins")) else f"{kind.__module__}.{kind.__name__}"
    )
