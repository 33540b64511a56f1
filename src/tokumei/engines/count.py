"""The two things an engine is asked for: count the classes of some columns, and write rows recoded.

Columns that are released as they are may be counted along with the quasi-identifiers where they add few combinations.
Then one pass over the rows tells all that is decided about and all that is released, and rows are made from the counts.
Where there may be many combinations, nothing is gained: they would have to be in memory, and rows are read again.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import memory_of_machine
from tokumei.data.files.csv import check_has_columns
from tokumei.data.files.formats import PARQUET, format_of, is_glob, reading_beside, scan_frame
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.table import Table
from tokumei.engines.class_counts import PERSON, ClassCounts, ClassRecoding, Recoding, no_label, read_as
from tokumei.engines.connect import connect
from tokumei.engines.engine import NO_LABEL, Engine, Relation, WritePlan
from tokumei.engines.local import LocalEngine, LocalRelation
from tokumei.engines.writing import SIZE, combinations_of, with_types

# What one cell of one class takes while classes are counted, decided about and joined; measured.
CLASS_BYTES = 160
# Combinations of which an engine with machines of its own makes rows: each machine is sent all of them.
MOST_SENT = 100_000


class TooManyClasses(InputError):
    """There are more classes than fit into the memory of this machine."""


def most_classes(n_columns: int) -> int:
    """Return how many classes of so many columns fit into the memory of this machine."""
    memory = memory_of_machine()
    return sys.maxsize if memory is None else memory // (CLASS_BYTES * max(1, n_columns))


def count_classes(
    source: object,
    columns: Sequence[str] | str | None = None,
    *,
    recodings: Iterable[Recoding] = (),
    sensitive: Sequence[str] | str = (),
    person: str | None = None,
    engine: str | Engine = "local",
    reading: Reading = AS_IT_IS,
) -> ClassCounts:
    """Count the classes of some columns on an engine, in one pass over the rows.

    source: a frame, a file, the name of a table of the engine, or a `tk.Table`.
    columns: those of a class; the quasi-identifiers of a `tk.Table` if not given.

    person: the column that tells whose a row is, a person's or a household's; that of a `tk.Table` if not given.

    With `sensitive` columns the values of each are counted per class, in one further pass each; so are people.

    >>> import tokumei as tk
    >>> tk.count_classes({"age": [31, 31, 52], "sex": ["f", "f", "m"]}, ["age", "sex"]).n_unique
    1
    """
    if isinstance(source, Table):
        columns = source.quasi_identifiers if columns is None else columns
        person = source.unit.column if person is None and source.unit is not None else person
        source = source.frame
    if columns is None:
        raise InputError.of("columns to count the classes of, as tk.count_classes(data, ['age'])")
    known = [columns] if isinstance(columns, str) else list(columns)
    wanted = [sensitive] if isinstance(sensitive, str) else sensitive
    with connect(engine) as opened:
        relation = opened.open(source, reading)
        return count_relation(relation, known, recodings=recodings, sensitive=wanted, person=person)


def count_beside(
    source: Any, columns: Sequence[str], *, reading: Reading, sensitive: Sequence[str] = (), person: str | None = None
) -> ClassCounts:
    """Count the classes of another file than the one that the reading options were given for."""
    is_file = isinstance(source, (str, Path))
    own = reading_beside(source, reading, columns) if is_file else AS_IT_IS
    return count_classes(source, columns, sensitive=sensitive, person=person, reading=own)


def column_names(source: object, *, engine: str | Engine = "local", reading: Reading = AS_IT_IS) -> list[str]:
    """Return the names of the columns of a source, in its order."""
    with connect(engine) as opened:
        return list(opened.open(source, reading).schema)


def count_relation(
    relation: Relation,
    columns: Sequence[str],
    *,
    recodings: Iterable[Recoding] = (),
    sensitive: Sequence[str] = (),
    person: str | None = None,
    most: int | None = None,
) -> ClassCounts:
    """Count the classes of some columns of rows that are open already; more than `most` are TooManyClasses."""
    used = {recoding.column: recoding for recoding in recodings}
    asked = [*columns, *sensitive, *([] if person is None else [person])]
    check_has_columns([*asked, *used], list(relation.schema), relation.name)
    _check_once(asked)
    counts = _counted(relation, columns, used, most)
    _check_labels(relation, counts, used)
    return _with_histograms(relation, counts, sensitive, person, used)


def _counted(
    relation: Relation, columns: Sequence[str], recodings: Mapping[str, Recoding], most: int | None = None
) -> ClassCounts:
    texts = relation.few_texts(columns) if isinstance(relation, LocalRelation) and not recodings else None
    if texts is not None:
        counts = ClassCounts.of_rows(columns, texts)
        _check_fits(counts.n_classes, most, relation, columns)
        return counts
    groups = relation.group_sizes(columns, recodings, most)
    _check_fits(groups.height, most, relation, columns)
    return ClassCounts.of_groups(columns, groups)


def _check_fits(n_classes: int, most: int | None, relation: Relation, columns: Sequence[str]) -> None:
    if most is not None and n_classes > most:
        raise too_many_classes(relation, columns, most)


def too_many_classes(relation: Relation, columns: Sequence[str], most: int) -> InputError:
    """Make the error for more classes than `most`, with what to do."""
    expected = (
        f"at most {most:,} combinations of values, which fit into the memory of this machine: leave a column out, "
        "or make its values coarser first"
    )
    return TooManyClasses.of(expected, file=relation.name, column=", ".join(columns))


def with_histograms(
    source: object,
    counts: ClassCounts,
    sensitive: Sequence[str],
    *,
    person: str | None = None,
    along: ClassCounts | None = None,
    engine: str | Engine = "local",
    reading: Reading = AS_IT_IS,
) -> ClassCounts:
    """Count the values of further columns in each class of a source that is counted already, in one pass each.

    person: the column that tells whose a row is, where people are counted too.
    along: counts that have all these columns, where there are any; then the source is not read.
    """
    if not sensitive and person is None:
        return counts
    if along is not None and person is None:
        _check_once([*counts.columns, *sensitive])
        for column in sensitive:
            counts = counts.with_histogram(column, along.over([*counts.columns, column]))
        return counts
    with connect(engine) as opened:
        relation = opened.open(source, reading)
        further = [*sensitive, *([] if person is None else [person])]
        check_has_columns(further, list(relation.schema), relation.name)
        _check_once([*counts.columns, *further])
        return _with_histograms(relation, counts, sensitive, person, {})


def _with_histograms(
    relation: Relation,
    counts: ClassCounts,
    sensitive: Sequence[str],
    person: str | None,
    recodings: Mapping[str, Recoding],
) -> ClassCounts:
    whose = [] if person is None else [person]
    for column in sensitive:
        counts = counts.with_histogram(column, _counted(relation, [*counts.columns, column, *whose], recodings))
    if person is not None:
        counts = counts.with_histogram(PERSON, _counted(relation, [*counts.columns, person], recodings))
    return counts


def write_recoded(
    source: object,
    recodings: Iterable[Recoding],
    out: Path | str,
    *,
    columns: Sequence[str] | None = None,
    without: pl.DataFrame | None = None,
    is_shuffled: bool = False,
    is_covered: bool = False,
    classes: ClassRecoding | None = None,
    counts: ClassCounts | None = None,
    engine: str | Engine = "local",
    reading: Reading = AS_IT_IS,
) -> None:
    """Write the rows of a source with some columns recoded, on an engine, as Parquet or CSV.

    All columns are written, or those named; rows of the classes in `without`, given by recoded values, are left out.
    The local engine keeps the order of rows unless they are shuffled; a database has none to keep.

    is_covered: every value has a label, as whoever counted the rows knows; else that is looked up before, in a pass
    for each column.
    classes: what becomes of whole classes, in place of recodings of single columns.
    counts: those of the source. Where they tell all that is released of it, shuffled rows are made from them, and the
    source is not read again.
    """
    with connect(engine) as opened:
        relation = opened.open(source, reading)
        used = {recoding.column: recoding for recoding in recodings}
        written = list(relation.schema) if columns is None else list(columns)
        check_has_columns([*used, *written], list(relation.schema), relation.name)
        for column, recoding in () if is_covered else used.items():
            _check_covered(relation.distinct(column), recoding)
        write_relation(relation, WritePlan(written, used, without, is_shuffled, classes), Path(out), counts=counts)


def write_relation(relation: Relation, plan: WritePlan, out: Path, *, counts: ClassCounts | None = None) -> None:
    """Write rows that are open already as planned, from their counts where these tell all that is released."""
    known = combinations_of(counts, plan.columns) if counts is not None and plan.is_shuffled else None
    if known is not None:
        rows = LocalEngine().open(known).planned(replace(plan, columns=[*plan.columns, SIZE])).collect()
        recoded = plan.recodings if plan.classes is None else plan.classes.values.columns
        own = {column: relation.schema[column] for column in plan.columns if column not in recoded}
        typed = with_types(rows, own)
        if typed is not None and (not relation.writes_there or rows.drop(SIZE).n_unique() <= MOST_SENT):
            relation.write_made(typed, out)
            return
    relation.write(plan, out)


def _check_once(columns: Sequence[str]) -> None:
    for index, column in enumerate(columns):
        if column in columns[:index]:
            raise InputError.of("each column once", value=column)


def _check_labels(relation: Relation, counts: ClassCounts, recodings: Mapping[str, Recoding]) -> None:
    """Raise for values without a label; only then are the distinct values asked for."""
    for column, recoding in recodings.items():
        if column in counts.columns and NO_LABEL in counts.domain(column):
            _check_covered(relation.distinct(column), recoding)


def _check_covered(values: pl.Series, recoding: Recoding) -> None:
    known = read_as(recoding.values, values.dtype)
    unknown = values.filter(values.is_not_null() & ~values.is_in(known.implode())).sort()
    if len(unknown):
        raise no_label(recoding.column, unknown)


# Fewer rows of a combination are as well read again.
ROWS_EACH = 4
# A sample is this share of the rows, but at least so many, from so many places: rows may be sorted.
SAMPLE_SHARE, SAMPLE_ROWS, N_PLACES = 0.01, 100_000, 16
# Types that every engine groups and gives back as they are; a float may be 0 or −0, and a decimal no float.
PLAIN = (pl.String, pl.Boolean, pl.Date, pl.Categorical, pl.Enum)


def count_along(
    source: str, columns: Sequence[str], along: Sequence[str], *, engine: str, reading: Reading
) -> ClassCounts | None:
    """Count the classes of some columns and others along, or give None where that may be too much or is not told.

    Of Parquet alone rows can be looked at in many places; of other files there is no telling before.
    """
    wanted = list(dict.fromkeys([*columns, *along]))
    is_parquet = (Path(source).exists() or is_glob(source)) and format_of(source) == PARQUET
    if not is_parquet or not set(along) - set(columns) or len(set(columns)) < len(columns):
        return None
    rows = scan_frame(source, reading)
    schema = rows.collect_schema()
    if any(name not in schema or schema[name].is_nested() for name in wanted):
        return None
    if not all(schema[name].is_integer() or isinstance(schema[name], PLAIN) for name in along):
        return None
    with connect(engine) as opened:
        relation = opened.open(source, reading)
        if relation.writes_there:
            return None
        n_rows = int(rows.select(pl.len()).collect().item())
        most = most_along(n_rows, len(wanted))
        if most_combinations(_sample(rows.select(wanted), n_rows), n_rows) > most:
            return None
        groups = relation.group_sizes(wanted, {}, most)
        if groups.height > most:
            return None
    # Engines give whole numbers back as wider ones; what is released as it is keeps its type.
    whole = {name: schema[name] for name in wanted[len(columns) :] if schema[name].is_integer()}
    counts = ClassCounts.of_groups(wanted, groups)
    domains = (one.cast(whole.get(name, one.dtype)) for name, one in zip(wanted, counts.domains, strict=True))
    return replace(counts, domains=tuple(domains))


def most_along(n_rows: int, n_columns: int) -> int:
    """Return how many combinations may be counted along: a quarter of what fits, since rows are made of them."""
    return min(n_rows // ROWS_EACH, most_classes(n_columns) // 4)


def most_combinations(sample: pl.DataFrame, n_rows: int) -> int:
    """Estimate the most combinations from a sample: one that stands there once may be one of N/n such ones.

    Charikar et al. (2000) expect the square root of it; this is the upper end.

    >>> most_combinations(pl.DataFrame({"age": [31, 31, 52, 60]}), 400)
    201
    """
    if not sample.height:
        return 0
    sizes = sample.group_by(pl.all()).len(SIZE)[SIZE]
    once = int((sizes == 1).sum())
    return math.ceil(once * n_rows / sample.height) + len(sizes) - once


def _sample(rows: pl.LazyFrame, n_rows: int) -> pl.DataFrame:
    """Read rows at places that are spread over the file; of few rows all."""
    n_wanted = max(SAMPLE_ROWS, math.ceil(n_rows * SAMPLE_SHARE))
    if n_rows <= n_wanted:
        return rows.collect()
    n_each = n_wanted // N_PLACES
    starts = [at * (n_rows - n_each) // (N_PLACES - 1) for at in range(N_PLACES)]
    return pl.concat([rows.slice(start, n_each).collect() for start in starts])
