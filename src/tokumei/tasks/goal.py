"""What is asked of a release of a table, from keywords to a goal: requirements, loss, method, columns of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.registry import part_name, part_options
from tokumei.core.text import Text, counted
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.table import Unit, check_column
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.connect import connect
from tokumei.engines.count import count_beside, count_relation, most_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.leaves import are_numbers
from tokumei.measures.losses import LOSSES, Loss
from tokumei.measures.requirement import SAFETY, Requirement, sees_whole_release
from tokumei.measures.safety.risks import preset
from tokumei.methods.recipes import Goal, check_not_whose
from tokumei.methods.registry import TABLE_ANONYMIZERS, LocalRecoder, Perturber, TableAnonymizer, TableSearch
from tokumei.tasks.preparing import (
    Values,
    check_hierarchies_are_used,
    given_hierarchies,
    is_folder_given,
    is_of_numbers,
    made_hierarchy,
)
from tokumei.tasks.request import (
    DEFAULT_SUPPRESS,
    DISTANCES,
    LIKENESS,
    WHOSE,
    ReleaseRequest,
    Requirements,
    number_of,
    refuse_unknown,
)

# Names that people type for a loss.
SHORT_NAMES = {"dm": "discernibility", "acs": "average-class-size"}
DEFAULT_LOSS = "ncp"


@dataclass(frozen=True)
class Known:
    """What is known of the table that is anonymized: its columns, how its values are looked up, how many rows."""

    name: str
    columns: Sequence[str]
    quasi_identifiers: Sequence[str]
    values: Values
    hierarchies: Any = None
    numeric: Sequence[str] | None = None
    reading: Reading = AS_IT_IS
    sensitive: Sequence[str] = ()


@dataclass(frozen=True)
class Trees:
    """The hierarchies of a job, which of them were made here and as what, and the columns of numbers."""

    of_columns: dict[str, Hierarchy]
    made: dict[str, str]
    numeric: list[str]
    of_sensitive: dict[str, Hierarchy] = field(default_factory=dict)


def known_on_engine(
    source: object,
    qi: Sequence[str],
    *,
    engine: str,
    reading: Reading,
    hierarchies: object = None,
    numeric: Sequence[str] | None = None,
) -> Known:
    """Look at a file or a table where it is: its columns, and the distinct values of its quasi-identifiers."""
    with connect(engine) as opened:
        relation = opened.open(source, reading)
        columns = list(relation.schema)
        for column in qi:
            check_column(column, columns, "a quasi-identifier", relation.name)
        values = {column: relation.distinct(column) for column in qi}
    return Known(relation.name, columns, qi, values.__getitem__, hierarchies, numeric, reading)


def counted_on_engine(
    source: object,
    qi: Sequence[str],
    *,
    engine: str,
    reading: Reading,
    hierarchies: object = None,
    numeric: Sequence[str] | None = None,
    along: ClassCounts | None = None,
) -> tuple[Known, ClassCounts]:
    """Count the classes of a file or a table where it is, in one pass that tells the distinct values as well.

    along: counts of these columns and others, where there are any.
    """
    with connect(engine) as opened:
        relation = opened.open(source, reading)
        columns = list(relation.schema)
        for column in qi:
            check_column(column, columns, "a quasi-identifier", relation.name)
        counts = count_relation(relation, qi, most=most_classes(len(qi))) if along is None else along.over(qi)
    return Known(relation.name, columns, qi, counts.domain, hierarchies, numeric, reading), counts


def method_of(asked: ReleaseRequest) -> tuple[TableAnonymizer, ReleaseRequest]:
    """Return the method, and the request that it is to meet.

    The k that is asked is handed to a method that promises one of its own, and asked of classes no longer.
    """
    method = asked.method
    if isinstance(method, str):
        made = TABLE_ANONYMIZERS.get(method)
        _refuse_options(asked, made)
        method = TABLE_ANONYMIZERS.make(method, **asked.options)
    elif not isinstance(method, (TableSearch, LocalRecoder, Perturber)):
        raise InputError.of("a method for tables by its name", option="method", value=type(method).__name__)
    else:
        _refuse_options(asked, None)
    if asked.k is None or not getattr(method, "has_own_k", False):
        return method, asked
    usual = next(option.default for option in part_options(type(method)) if option.name == "k")
    own = getattr(method, "k", usual)
    if own not in (usual, asked.k):
        raise InputError.of(Text("one k; the method was given {k}", k=own), option="k", value=asked.k)
    return replace(method, k=asked.k), replace(asked, k=None)  # type: ignore[type-var]


def trees_of(known: Known, method: TableAnonymizer, asked: Requirements) -> Trees:
    """Return the hierarchies that a method needs: those given, and made ones where none was named.

    A local recoding takes numbers as they are. A folder is meant to hold one for each column, and one that it lacks is
    an error, not a reason to make another in silence.
    """
    wanted = list(known.quasi_identifiers)
    sensitive = asked.sensitive_columns()
    check_hierarchies_are_used(known.hierarchies, known.columns)
    found = given_hierarchies(known.hierarchies, [*wanted, *sensitive], known.values)
    of_sensitive = {name: found.pop(name) for name in sensitive if name in found and name not in wanted}
    numeric = _numeric(known, found)
    made: dict[str, str] = {}
    is_search = isinstance(method, TableSearch)
    for name in wanted:
        if name in found or isinstance(method, Perturber) or (not is_search and name in numeric):
            continue
        if is_folder_given(known.hierarchies):
            # Named by the reader of folders, which lists the files there are.
            from tokumei.hierarchies.files import read_hierarchies

            folder = known.hierarchies[""] if isinstance(known.hierarchies, Mapping) else known.hierarchies
            found |= read_hierarchies(folder, [name])
        else:
            found[name], made[name] = made_hierarchy(name, known.values(name))
    return Trees({name: found[name] for name in wanted if name in found}, made, numeric, of_sensitive)


def goal_of(known: Known, method: TableAnonymizer, asked: ReleaseRequest, trees: Trees) -> Goal:
    """Return what is asked of a method, checked against the columns of the table."""
    check_loss(method, asked.loss)
    everybody: ClassCounts | None = None
    if asked.population is not None:
        if not asked.needs_population:
            raise InputError.of("k-map or δ-presence, which a population is for", option="population")
        everybody = count_beside(asked.population, known.quasi_identifiers, reading=known.reading)
    for what, columns in (("weights", asked.weights), ("prefer", asked.prefer), ("numeric", known.numeric or ())):
        for column in columns:
            check_column(column, known.columns, what, known.name)
    for column in asked.sensitive_columns():
        check_column(column, known.columns, "a sensitive column", known.name)
        if column in known.quasi_identifiers:
            expected = "one role a column, not quasi-identifier and sensitive"
            raise InputError.of(expected, file=known.name, column=column)
    requirements = requirements_of(asked, trees.of_sensitive, everybody)
    return Goal(
        requirements=requirements,
        loss=loss_of(asked.loss, asked.prices),
        method=method,
        suppression=suppression_of(method, asked.suppress, requirements),
        weights={name: float(value) for name, value in asked.weights.items()},
        numeric=trees.numeric if known.numeric is None else list(known.numeric),
        preference=list(asked.prefer),
        unit=_unit_of(known, asked),
    )


def suppression_of(method: TableAnonymizer, asked: float | None, requirements: Sequence[Requirement]) -> float:
    """Return the share of rows that a method may leave out: what was asked, or what is usual for it.

    Methods that recode a column alike in all rows may leave a few out; others have finer ways. A search that relies on
    coarser nodes holding, too, has none where leaving rows out would break that.
    """
    if asked is not None:
        return asked
    is_sure = not getattr(method, "needs_monotone", False) or all(
        one.is_strongly_monotone and not sees_whole_release(one) for one in requirements
    )
    return usual_suppression(type(method)) if is_sure else 0.0


def usual_suppression(kind: type[TableAnonymizer]) -> float:
    """Return the share of rows that a method may leave out where nobody says, whatever is required."""
    is_whole = issubclass(kind, TableSearch) or getattr(kind, "recodes_columns", False)
    return DEFAULT_SUPPRESS if is_whole else 0.0


def _unit_of(known: Known, asked: ReleaseRequest) -> Unit | None:
    """Return who is protected; the column that tells it has no other role."""
    unit = asked.unit
    if unit is not None:
        check_column(unit.column, known.columns, f"a {unit.role}", known.name)
        roles = (("quasi-identifier", known.quasi_identifiers), ("sensitive", asked.sensitive_columns()))
        for role, columns in roles:
            if unit.column in columns:
                expected = Text("one role a column, not {first} and {second}", first=role, second=unit.role)
                raise InputError.of(expected, file=known.name, column=unit.column)
    check_not_whose(unit, asked.keep)
    return unit


def requirements_of(
    asked: Requirements, hierarchies: Mapping[str, Hierarchy], population: ClassCounts | None = None
) -> list[Requirement]:
    """Make the requirements that are asked for; `hierarchies` may hold those of sensitive columns."""
    made: list[Requirement] = [] if asked.preset is None else list(preset(asked.preset).requirements())
    if asked.k is not None:
        made.append(SAFETY.make("k-anonymity", k=asked.k))
    missing = {"is_missing_a_value": asked.missing_is_a_value}
    for column, number, kinds in _levels(asked, "l_diversity"):
        options = {"sensitive": column, "l": number, **_diversity_kind(kinds, column)}
        made.append(SAFETY.make("l-diversity", **options, **missing))
    for column, number, kinds in _levels(asked, "t_closeness"):
        distance, against = _kind_and_whose(kinds, DISTANCES, "t_closeness", column)
        options = {"sensitive": column, "t": number, "distance": distance, "hierarchy": hierarchies.get(column)}
        made.append(SAFETY.make("t-closeness", **options, **missing, against=against))
    for column, number, kinds in _levels(asked, "alpha_k"):
        if kinds:
            raise InputError.of("nothing after the number", option=f"alpha_k {column}", value=":".join(kinds))
        made.append(SAFETY.make("alpha-k", sensitive=column, alpha=number, k=asked.k or 1, **missing))
    for column, number, kinds in _levels(asked, "beta_likeness"):
        kind, against = _kind_and_whose(kinds, LIKENESS, "beta_likeness", column)
        options = {"sensitive": column, "beta": number, "kind": kind, "against": against}
        made.append(SAFETY.make("beta-likeness", **options, **missing))
    for column, number, kinds in _levels(asked, "delta_disclosure"):
        against, *rest = kinds or WHOSE[:1]
        if rest or against not in WHOSE:
            expected = f"{' or '.join(WHOSE)} after the number"
            raise InputError.of(expected, option=f"delta_disclosure {column}", value=":".join(kinds))
        options = {"sensitive": column, "delta": number, "against": against}
        made.append(SAFETY.make("delta-disclosure", **options, **missing))
    return [*made, *_of_population(asked, population), *asked.requirements_given]


def _levels(asked: Requirements, name: str) -> list[tuple[str, float, list[str]]]:
    """Read the columns of one kind of requirement: each with its number and what follows it."""
    found = []
    for column, given in (getattr(asked, name) or {}).items():
        # A list holds several for one column, a tuple a number and its kind.
        for one in given if isinstance(given, list) else [given]:
            parts = one if isinstance(one, tuple) else str(one).split(":")
            number, *kinds = (str(part) for part in parts)
            found.append((column, number_of(number, f"{name} {column}"), kinds))
    return found


def _of_population(asked: Requirements, population: ClassCounts | None) -> list[Requirement]:
    if not asked.needs_population:
        return []
    if population is None:
        raise InputError.of("a population, which k-map and δ-presence need", option="population")
    made: list[Requirement] = []
    if asked.k_map is not None:
        made.append(SAFETY.make("k-map", population=population, k=asked.k_map))
    if asked.delta_presence is not None:
        given = asked.delta_presence
        low, mark, high = given if isinstance(given, tuple) and len(given) == 3 else str(given).rpartition(":")
        ends = {"delta_max": number_of(high, "delta_presence")}
        ends |= {"delta_min": number_of(low, "delta_presence")} if mark else {}
        made.append(SAFETY.make("delta-presence", population=population, **ends))
    return made


def _diversity_kind(kinds: list[str], column: str) -> dict[str, object]:
    kind, *rest = kinds or ["distinct"]
    if kind == "recursive" and len(rest) == 1:
        return {"kind": kind, "c": number_of(rest[0], f"l_diversity {column}")}
    if kind not in ("distinct", "entropy") or rest:
        expected = "distinct, entropy or recursive:C after the number"
        raise InputError.of(expected, option=f"l_diversity {column}", value=":".join(kinds))
    return {"kind": kind}


def _kind_and_whose(kinds: list[str], known: Sequence[str], name: str, column: str) -> tuple[str, str]:
    """Read a kind and whose shares classes are compared with, the first of each if not given."""
    kind, against, *rest = [*kinds, *("", "")[len(kinds) :]]
    if rest or (kind and kind not in known) or (against and against not in WHOSE):
        expected = f"{' or '.join(known)} after the number, then {' or '.join(WHOSE)}"
        raise InputError.of(expected, option=f"{name} {column}", value=":".join(kinds))
    return kind or known[0], against or WHOSE[0]


def loss_of(loss: Any, prices: Any = None) -> Loss:
    """Return the loss by name or part; ncp by default."""
    if loss is not None and not isinstance(loss, str):
        return loss  # type: ignore[no-any-return]
    name = loss or DEFAULT_LOSS
    return LOSSES.make(SHORT_NAMES.get(name, name), **({} if prices is None else {"file": str(prices)}))


def check_loss(method: TableAnonymizer, loss: object) -> None:
    """Refuse a loss that a method would not look at."""
    if loss is not None and isinstance(method, Perturber):
        expected = f"none: {part_name(method)} is measured by what it promises"
        raise InputError.of(expected, option="loss", value=loss)
    if loss not in (None, "ncp") and not isinstance(method, TableSearch):
        raise InputError.of("ncp, which methods that do not search levels are measured by", option="loss", value=loss)


def check_is_possible(n_rows: int, asked: Requirements, name: str, n_people: int | None = None) -> None:
    """Raise for what no release of so many rows, or of so many people, can hold."""
    if not n_rows:
        raise InputError.of("a table with a row or more", file=name, value="no rows")
    if asked.unit is not None and asked.k is not None and n_people is not None and asked.k > n_people:
        form = "k = {k:,} is more than the {n:,} {people} of the table: no class can hold it."
        raise CannotAnonymize(Text(form, k=asked.k, n=n_people, people=asked.unit.plural))
    if asked.k is not None and asked.k > n_rows:
        raise CannotAnonymize(
            Text(
                "k = {k:,} is more than the {rows} of the table: no class can hold it.",
                k=asked.k,
                rows=counted(n_rows, "row"),
            )
        )


def _refuse_options(asked: ReleaseRequest, method: type[TableAnonymizer] | None) -> None:
    """Refuse options that the method does not have."""
    own = [] if method is None else [option.name for option in part_options(method)]
    left = {name: value for name, value in asked.options.items() if name not in own}
    refuse_unknown(left, [*own, *(one.name for one in fields(ReleaseRequest) if one.name != "options")], "anonymize")


def _numeric(known: Known, found: Mapping[str, Hierarchy]) -> list[str]:
    """Return the quasi-identifiers whose values, and whose hierarchy's leaves, are all numbers."""
    if known.numeric is not None:
        return list(known.numeric)
    numbers = [name for name in known.quasi_identifiers if is_of_numbers(_as_text_or_number(known.values(name)))]
    return [name for name in numbers if name not in found or are_numbers(found[name].leaves)]


def _as_text_or_number(values: pl.Series) -> pl.Series:
    return values.cast(pl.String) if isinstance(values.dtype, (pl.Categorical, pl.Enum)) else values
