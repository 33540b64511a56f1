"""What is asked of a release of a table, from keywords to a goal: requirements, loss, method, columns of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.registry import part_name, part_options
from tokumei.core.text import Text
from tokumei.core.wording import counted
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.table import check_column
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import count_beside, count_relation, most_classes
from tokumei.engines.engine import connect
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.leaves import are_numbers
from tokumei.measures.losses import LOSSES, Loss
from tokumei.methods.goal import Goal
from tokumei.methods.registry import TABLE_ANONYMIZERS, LocalRecoder, Perturber, TableAnonymizer, TableSearch
from tokumei.tasks.hierarchies import (
    Values,
    check_hierarchies_are_used,
    given_hierarchies,
    is_folder_given,
    is_of_numbers,
    made_hierarchy,
)
from tokumei.tasks.request import Asked, refuse_unknown

# Names that people type for a loss.
SHORT_NAMES = {"dm": "discernibility", "acs": "average-class-size"}
DEFAULT_LOSS = "ncp"
DEFAULT_METHOD = "optimal"


@dataclass(frozen=True)
class Wishes:
    """How a release is to be made, beside its requirements."""

    suppress: Any = 0.0
    loss: Any = None
    prices: Any = None
    weights: Mapping[str, float] = field(default_factory=dict)
    prefer: Sequence[str] = ()
    population: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.suppress, str) or not 0 <= self.suppress <= 1:
            raise InputError.of("a share of rows from 0 to 1", option="suppress", value=self.suppress)


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
    source: Any,
    qi: Sequence[str],
    *,
    engine: str,
    reading: Reading,
    hierarchies: Any = None,
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
    source: Any,
    qi: Sequence[str],
    *,
    engine: str,
    reading: Reading,
    hierarchies: Any = None,
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


def method_of(method: Any, options: Mapping[str, Any]) -> tuple[TableAnonymizer, dict[str, Any]]:
    """Return the method by name or part, and the options left that are not its own."""
    if not isinstance(method, str):
        if not isinstance(method, (TableSearch, LocalRecoder, Perturber)):
            raise InputError.of("a method for tables by its name", option="method", value=type(method).__name__)
        return method, dict(options)
    known = {option.name for option in part_options(TABLE_ANONYMIZERS.get(method))}
    own = {name: value for name, value in options.items() if name in known}
    return TABLE_ANONYMIZERS.make(method, **own), {name: options[name] for name in options if name not in known}


def with_own_k(method: TableAnonymizer, asked: Asked) -> tuple[TableAnonymizer, Asked]:
    """Hand the k that is asked to a method that promises one of its own, and ask it of classes no longer."""
    if asked.k is None or not getattr(method, "has_own_k", False):
        return method, asked
    usual = next(option.default for option in part_options(type(method)) if option.name == "k")
    own = getattr(method, "k", usual)
    if own not in (usual, asked.k):
        raise InputError.of(Text("one k; the method was given {k}", k=own), option="k", value=asked.k)
    return replace(method, k=asked.k), replace(asked, k=None)  # type: ignore[type-var]


def trees_of(known: Known, method: TableAnonymizer, asked: Asked) -> Trees:
    """Return the hierarchies that a method needs: those given, and made ones where none was named.

    A local recoding takes numbers as they are. A folder is meant to hold one for each column, and one that it lacks is
    an error, not a reason to make another in silence.
    """
    wanted = list(known.quasi_identifiers)
    sensitive = asked.sensitive_columns()
    check_hierarchies_are_used(known.hierarchies, known.columns)
    found = given_hierarchies(known.hierarchies, [*wanted, *sensitive])
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


def goal_of(known: Known, method: TableAnonymizer, asked: Asked, wishes: Wishes, trees: Trees) -> Goal:
    """Make what is asked of a method."""
    check_loss(method, wishes.loss)
    everybody: ClassCounts | None = None
    if wishes.population is not None:
        if not asked.needs_population:
            raise InputError.of("k-map or δ-presence, which a population is for", option="population")
        everybody = count_beside(wishes.population, known.quasi_identifiers, reading=known.reading)
    for what, columns in (("weights", wishes.weights), ("prefer", wishes.prefer), ("numeric", known.numeric or ())):
        for column in columns:
            check_column(column, known.columns, what, known.name)
    for column in asked.sensitive_columns():
        check_column(column, known.columns, "a sensitive column", known.name)
        if column in known.quasi_identifiers:
            expected = "one role a column, not quasi-identifier and sensitive"
            raise InputError.of(expected, file=known.name, column=column)
    return Goal(
        requirements=asked.requirements(trees.of_sensitive, everybody),
        loss=loss_of(wishes.loss, wishes.prices),
        method=method,
        suppression=wishes.suppress,
        weights={name: float(value) for name, value in wishes.weights.items()},
        numeric=trees.numeric if known.numeric is None else list(known.numeric),
        preference=list(wishes.prefer),
    )


def loss_of(loss: Any, prices: Any = None) -> Loss:
    """Return the loss by name or part; ncp by default."""
    if loss is not None and not isinstance(loss, str):
        return loss  # type: ignore[no-any-return]
    name = loss or DEFAULT_LOSS
    return LOSSES.make(SHORT_NAMES.get(name, name), **({} if prices is None else {"file": str(prices)}))


def check_loss(method: TableAnonymizer, loss: Any) -> None:
    """Refuse a loss that a method would not look at."""
    if loss is not None and isinstance(method, Perturber):
        expected = f"none: {part_name(method)} is measured by what it promises"
        raise InputError.of(expected, option="loss", value=loss)
    if loss not in (None, "ncp") and not isinstance(method, TableSearch):
        raise InputError.of("ncp, which methods that do not search levels are measured by", option="loss", value=loss)


def check_is_possible(n_rows: int, asked: Asked, name: str) -> None:
    """Raise for what no release of so many rows can hold."""
    if not n_rows:
        raise InputError.of("a table with a row or more", file=name, value="no rows")
    if asked.k is not None and asked.k > n_rows:
        raise CannotAnonymize(
            Text(
                "k = {k:,} is more than the {rows} of the table: no class can hold it.",
                k=asked.k,
                rows=counted(n_rows, "row"),
            )
        )


def refuse_left(left: Mapping[str, Any], method: Any, known: Iterable[str], job: str) -> None:
    """Raise for options that neither a job nor its method knows, with the nearest name."""
    if left:
        own = [option.name for option in part_options(type(method))]
        refuse_unknown(left, [*known, *own], job)


def _numeric(known: Known, found: Mapping[str, Hierarchy]) -> list[str]:
    """Return the quasi-identifiers whose values, and whose hierarchy's leaves, are all numbers."""
    if known.numeric is not None:
        return list(known.numeric)
    numbers = [name for name in known.quasi_identifiers if is_of_numbers(_as_text_or_number(known.values(name)))]
    return [name for name in numbers if name not in found or are_numbers(found[name].leaves)]


def _as_text_or_number(values: pl.Series) -> pl.Series:
    return values.cast(pl.String) if isinstance(values.dtype, (pl.Categorical, pl.Enum)) else values
