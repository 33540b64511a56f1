"""What became of a table: the use that is left, and its columns before and after.

`measure_table` measures the loss by every measure that the columns allow. Below it are correlations before and after,
what the columns of a history hold, and for a dossier the values of each column, who was left out and who is most
exposed.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from tokumei.attacks.threat_model import ThreatModel
from tokumei.core.errors import InputError, MissingExtra
from tokumei.core.progress import step
from tokumei.core.registry import part_name, part_options
from tokumei.core.result import Drawing, Result, Rows, Section, Sentence
from tokumei.core.score import Score
from tokumei.core.text import Json, JsonView, Text
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.history import History
from tokumei.data.table import Table, check_column
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import count_classes
from tokumei.measures.registry import TABLE_UTILITIES, Sees, TableUtility
from tokumei.measures.table.generalized import CorrelationError
from tokumei.methods.registry import TABLE_ANONYMIZERS
from tokumei.reports.dossier_pages import MISSING
from tokumei.tasks.audit_sample import NOT_SAMPLED, Sampling, measure_sample
from tokumei.tasks.row_numbers import check_pairing
from tokumei.tasks.table_release import hierarchies_of, numeric_of, published
from tokumei.tasks.table_threat_model import known_method

# What is said of a measure that compares row by row, where no row is said to be anybody's.
WHOSE_ROWS = "rows of which it is known whose they are"


@dataclass(frozen=True, eq=False, repr=False)
class TableUse(Result):
    """The scores of measures by name, and what was left out and why."""

    scores: Mapping[str, Score]
    left_out: Mapping[str, str]
    seconds: float
    frame_kind: str = "polars"

    def to_dict(self) -> Json:
        """Return the result as `tokumei measure table --json` prints it."""
        scores = {name: score.as_dict() for name, score in self.scores.items()}
        return {"scores": scores, "left_out": dict(self.left_out), "seconds": self.seconds}

    def sections(self) -> Sequence[Section]:
        """Return the scores, and what was not measured, each reason once."""
        rows = [[name, one.value, one.best, one.worst, one.baseline] for name, one in self.scores.items()]
        parts: list[Section] = [Rows(["measure", "value", "best", "worst", "blindly"], rows)]
        for reason in dict.fromkeys(self.left_out.values()):
            who = ", ".join(name for name, own in self.left_out.items() if own == reason)
            parts.append(Sentence(f"left out: {who}: {reason}"))
        return parts

    def __repr__(self) -> str:
        return f"TableUse({', '.join(f'{name} {one.value:.4g}' for name, one in self.scores.items())})"

    def figure(self) -> Drawing | None:
        """Draw those scores that lie between 0 and 1."""
        from tokumei.reports.figures import bar_figure

        shown = {name: one.value for name, one in self.scores.items() if {one.best, one.worst} == {0, 1}}
        if not shown:
            return None
        points = pl.DataFrame({"measure": list(shown), "value": list(shown.values())})
        return Drawing(bar_figure(points, x="value", y="measure", x_title="value"))


def measure_table(
    original: Table,
    release: Any,
    measures: Any = None,
    *,
    numeric: Sequence[str] | None = None,
    hierarchies: Any = None,
    rows: Any = None,
    in_order: bool = False,
    reading: Reading = AS_IT_IS,
    may_be_made_up: bool = False,
    **options: Any,
) -> TableUse:
    """Measure how much use a released table lost; see `tk.measure`.

    may_be_made_up: where nobody says whose the released rows are, what needs to know it is left out.
    """
    started = time.perf_counter()
    asked = [measures] if isinstance(measures, str) or hasattr(measures, "measure") else measures
    wanted = list(TABLE_UTILITIES) if asked is None else list(asked)
    if options and len(wanted) != 1:
        raise InputError.of("one measure, whose option it is", value=next(iter(options)))
    numbers = numeric_of(original, numeric)
    for column in numbers:
        check_column(column, original.frame.columns, "numeric", original.name)
    given = published(original, release, rows, in_order=in_order, reading=reading, may_be_made_up=may_be_made_up)
    given.owners(original.n_rows)
    is_made_up = may_be_made_up and given.rows.null_count() == given.table.n_rows
    before, after = typed_alike(original, given.table, numbers)
    trees = hierarchies_of(original, release, hierarchies, given.table.frame)
    check_pairing(
        ThreatModel(
            original.with_written_moments(),
            replace(given, table=given.table.with_written_moments()),
            trees,
            numeric=numbers,
            method=known_method(release, None, None),
        )
    )
    scores: dict[str, Score] = {}
    left_out: dict[str, str] = {}
    with step("measuring", len(wanted)) as bar:
        for one in wanted:
            name, part = _part(one, options, trees, numbers)
            try:
                if is_made_up and part.sees == Sees.ROWS:
                    raise InputError.of(WHOSE_ROWS)
                scores[name] = part.measure(before, after, given.rows)
            except (InputError, MissingExtra) as error:
                if asked is not None:
                    raise
                left_out[name] = _lack(error)
            bar.advance()
    return TableUse(scores, left_out, round(time.perf_counter() - started, 3), original.kind)


def typed_alike(before: Table, after: Table, numeric: Sequence[str]) -> tuple[Table, Table]:
    """Read the columns of numbers as such, where every cell of both tables is one."""
    for name in numeric:
        if name not in after.frame.columns:
            continue
        columns = [table.frame[name] for table in (before, after)]
        numbers = [column.cast(pl.Float64, strict=False) for column in columns]
        if all(found.is_finite().sum() == column.count() for found, column in zip(numbers, columns, strict=True)):
            before = before.with_frame(before.frame.with_columns(numbers[0]))
            after = after.with_frame(after.frame.with_columns(numbers[1]))
    return before, after


def _part(
    measure: object, options: Mapping[str, object], hierarchies: Mapping[str, object], numeric: Sequence[str]
) -> tuple[str, TableUtility]:
    """Make a measure with its options and, if it reads labels, what is needed for that."""
    name = measure if isinstance(measure, str) else part_name(measure)
    more = {"hierarchies": dict(hierarchies), "numeric": tuple(numeric)}
    for key in more.keys() & options.keys():
        raise InputError.of(f"{key} of the job instead", value=key)
    part: Any = TABLE_UTILITIES.make(name, **options) if isinstance(measure, str) else measure
    known = {option.name for option in part_options(type(part))}
    return name, replace(part, **{key: value for key, value in more.items() if key in known})


def _lack(error: InputError | MissingExtra) -> Text | str:
    """Say what a measure needs that the columns or this installation lack; the names of types are for programs."""
    if isinstance(error, MissingExtra):
        return error.text
    fault = error.faults[0]
    found = getattr(pl, str(fault.value).partition("(")[0], None)
    is_of_a_cell = fault.line is not None or fault.column is not None
    if fault.value is not None and is_of_a_cell and not isinstance(found, type):
        # A cell that says nothing is found by its place.
        return error.text
    return Text("needs {wanted}", wanted=Text(fault.form, **fault.values))


MOST_PAIRS, MOST_MONTHS, MOST_ITEMS, BINS = 12, 24, 8, 8


def correlations(original: Table, released: pl.DataFrame) -> list[Json]:
    """Return Pearson's correlation of each two columns of numbers before and after, those that moved most first.

    A released label counts as the numbers that it stands for, as `correlation-error` counts them.
    """
    numbers = numeric_of(original, None)
    qi, sensitive = (
        [name for name in names if name in released.columns]
        for names in (original.quasi_identifiers, original.sensitive)
    )
    before, after = typed_alike(original, Table(released, qi, sensitive, name="release"), numbers)
    try:
        found = CorrelationError(dict(original.hierarchies or {}), tuple(numbers)).correlations(before, after)
    except InputError:
        # Fewer than two columns of numbers, or labels that stand for none.
        return []
    moved = sorted(found.items(), key=lambda one: -abs(one[1][0] - one[1][1]))[:MOST_PAIRS]
    return [{"columns": list(pair), "before": ours, "after": theirs} for pair, (ours, theirs) in moved]


def history_before_after(original: History, released: pl.DataFrame) -> dict[str, list[dict[str, object]]]:
    """Count rows by month, item, quantity and price before and after, as shares of the rows of each side.

    released: as it was written; what is no date or number there, such as a generalized cell, counts as `other`.
    """
    ours, found = original.kept, {}
    months = ours["date"].dt.strftime("%Y-%m")
    found["date"] = _shares(months, _months(released["date"]), most=MOST_MONTHS, in_order=True)
    if "item" not in original.absent and "item" in released.columns:
        found["item"] = _shares(ours["item"].cast(pl.String), released["item"].cast(pl.String), most=MOST_ITEMS)
    for name in ("quantity", "price"):
        if name not in original.absent and name in released.columns:
            edges = _edges(ours[name].cast(pl.Float64))
            sides = (_binned(column.cast(pl.Float64, strict=False), edges) for column in (ours[name], released[name]))
            found[name] = _shares(*sides, most=BINS + 1, in_order=_labels(edges))
    return found


def _months(written: pl.Series) -> pl.Series:
    text = written.cast(pl.String).str.replace_all("/", "-")
    parts = text.str.extract_groups(r"^(\d{4})-(\d{1,2})-\d{1,2}$").struct.unnest()
    return parts.select(pl.concat_str(pl.col("1"), pl.lit("-"), pl.col("2").str.zfill(2))).to_series()


def _edges(values: pl.Series) -> list[float]:
    """Cut the middle of the values evenly by rows: prices and quantities have few that are very large."""
    shares = np.linspace(0, 1, BINS + 1)[1:-1]
    return sorted({float(f"{values.quantile(share) or 0:.4g}") for share in shares})


def _labels(edges: Sequence[float]) -> list[str]:
    ends = [-math.inf, *edges, math.inf]
    return [_range_label(low, high) for low, high in itertools.pairwise(ends)]


def _range_label(low: float, high: float) -> str:
    if low == -math.inf:
        return f"≤ {high:g}"
    return f"> {low:g}" if high == math.inf else f"{low:g} < … ≤ {high:g}"


def _binned(values: pl.Series, edges: Sequence[float]) -> pl.Series:
    at = np.searchsorted(np.asarray(edges), values.fill_null(math.nan).to_numpy(), side="left")
    labels = _labels(edges)
    return pl.Series([None if missing else labels[place] for missing, place in zip(values.is_null(), at, strict=True)])


def _shares(before: pl.Series, after: pl.Series, *, most: int, in_order: bool | Sequence[str] = False) -> list[Json]:
    """Return the shares of values on both sides: in their order, or the most frequent first; the rest is `other`."""
    ours, theirs = _counted(before), _counted(after)
    names = [name for name in (ours | theirs) if name is not None]
    if in_order is True:
        chosen = sorted(names)[:most]
    elif in_order:
        chosen = [name for name in in_order if name in names]
    else:
        chosen = sorted(names, key=lambda name: (-ours.get(name, 0), -theirs.get(name, 0), name))[:most]
    listed = [{"value": name, "before": ours.get(name, 0.0), "after": theirs.get(name, 0.0)} for name in chosen]
    rest = {
        "before": 1 - sum(ours.get(name, 0.0) for name in chosen),
        "after": 1 - sum(theirs.get(name, 0.0) for name in chosen),
    }
    small = 1e-9
    return [*listed, *([{"value": None, **rest}] if max(rest.values()) > small else [])]


def _counted(values: pl.Series) -> dict[str | None, float]:
    counted = values.alias("value").value_counts(name="n").sort("value")
    return {value: n / max(1, len(values)) for value, n in counted.iter_rows()}


MOST_VALUES, MOST_GROUPS = 12, 10
# Names that no column of a file has.
SIZE, WIDER, WHOSE = "size \0", "wider \0", "whose \0"
# A group as small as this share of all rows is a minority whose loss is told.
SMALL_GROUP = 0.05


def copies(original: Table, released: Table) -> dict[str, int]:
    """Count the released rows that are equal to a row of the original in all columns of both.

    alone: those equal to a row that no other of the original is equal to, and so to one person's.

    Example: of (f, 30), (f, 30), (m, 40) the rows (f, 30), (m, 40), (m, 50) hold two that are equal, one of them to a
    row that is alone.
    """
    both = [name for name in released.frame.columns if name in original.frame.columns]
    before, after = typed_alike(original, released, both)
    cells = [pl.col(name).cast(pl.String).alias(f"{at}") for at, name in enumerate(both)]
    sizes = before.frame.select(cells).group_by(pl.all()).agg(pl.len().alias("size"))
    on = [f"{at}" for at in range(len(both))]
    found = after.frame.select(cells).join(sizes, on=on, nulls_equal=True)["size"]
    return {"columns": len(both), "rows": len(found), "alone": int((found == 1).sum())}


def drawn_rows(facts: JsonView) -> Json | None:
    """Return what a dossier says of rows that a method drew, by the facts of the release; None of other releases."""
    name = facts.get("method")
    if name not in TABLE_ANONYMIZERS or not getattr(TABLE_ANONYMIZERS.get(str(name)), "draws_all_columns", False):
        return None
    # A promise is void where its noise can be drawn again.
    names = ("audit",) if facts.get("promise") is not None else ("epsilon", "delta", "protects", "audit")
    return {one: facts[one] for one in names if one in facts}


def profile(
    original: Table,
    released: pl.DataFrame,
    rows: pl.Series | None,
    *,
    population_size: int | None = None,
    weights: str | None = None,
) -> Json:
    """Compare columns before and after, count whom suppression hits, and name the smallest classes.

    rows: the row of the original of each released row, counted from 0; None where no row is a person's.
    population_size, weights: what is known of the rows as a sample of more people.
    """
    unit = original.unit
    whose = None if unit is None else original.frame[unit.column]
    if weights is not None:
        check_column(weights, original.frame.columns, "sampling weights", original.name)
    sampling = Sampling(population_size, weights)
    known = [name for name in original.quasi_identifiers if name in released.columns]
    before = _counts(original.frame, known, whose)
    after = _counts(released, known, None if whose is None or rows is None else whose.gather(rows))
    return {
        "columns": {
            name: {
                "before": _commonest(original.frame[name]),
                "after": _commonest(released[name]),
                **_grouped(original.frame[name], released[name], rows),
            }
            for name in released.columns
            if name in original.frame.columns
        },
        "released": released.height,
        "unchanged": None if rows is None else _unchanged(original.frame, released, known, rows),
        "left_out": None if rows is None else _left_out(original, rows),
        "riskiest": _riskiest(released, known, None if whose is None or rows is None else whose.gather(rows), after),
        "class_sizes": {"before": _rows_by_size(before), "after": _rows_by_size(after)},
        **_as_sample(original, released, rows, known, (before, after), sampling),
    }


def _unchanged(original: pl.DataFrame, released: pl.DataFrame, known: Sequence[str], rows: pl.Series) -> int:
    """Count released rows of which every quasi-identifier reads as it did; none where there is no quasi-identifier."""
    mine = pl.Series(range(len(rows))).filter(rows.is_not_null())
    same = pl.Series([bool(known)]).new_from_index(0, len(mine))
    for name in known:
        before = original[name].gather(rows.drop_nulls()).cast(pl.String)
        same &= before.eq_missing(released[name].gather(mine).cast(pl.String))
    return int(same.sum())


def _counts(frame: pl.DataFrame, known: Sequence[str], whose: pl.Series | None) -> ClassCounts | None:
    """Count the classes of known columns; None where there are no rows or columns."""
    if not known or not frame.height:
        return None
    told = frame.select(known)
    if whose is None:
        return count_classes(told, known)
    return count_classes(told.with_columns(whose.alias(WHOSE)), known, person=WHOSE)


def _commonest(column: pl.Series) -> Json:
    counted = column.cast(pl.String).alias("value").value_counts(name="n")
    counted = counted.sort("n", "value", descending=[True, False])
    n_rows = max(1, len(column))
    top = {MISSING if value is None else value: n / n_rows for value, n in counted.head(MOST_VALUES).iter_rows()}
    return {"distinct": counted.height, "shares": top, "rest": 1 - sum(top.values()) if len(column) else 0.0}


def _grouped(before: pl.Series, after: pl.Series, rows: pl.Series | None) -> Json:
    """Return the shares of an original column in the groups of its release; nothing where no value was changed.

    A value counts to the labels under which it is released, by how often; one that is not released counts to none.
    """
    if rows is None or not len(before):
        return {}
    is_own = rows.is_not_null()
    pairs = pl.DataFrame(
        {
            "value": before.gather(rows.drop_nulls()).cast(pl.String),
            "label": after.filter(is_own).cast(pl.String),
        }
    )
    if pairs["value"].eq_missing(pairs["label"]).all():
        return {}
    counted = pairs.group_by("value", "label").agg(n=pl.len())
    within = counted.with_columns(share=pl.col("n") / pl.col("n").sum().over("value"))
    n_rows = before.cast(pl.String).alias("value").value_counts(name="n_before")
    told = within.join(n_rows, on="value", nulls_equal=True).group_by("label")
    shares = told.agg(n=(pl.col("share") * pl.col("n_before")).sum()).sort("n", "label", descending=[True, False])
    return {
        "grouped": {
            MISSING if label is None else label: n / len(before) for label, n in shares.head(MOST_VALUES).rows()
        }
    }


def _left_out(original: Table, rows: pl.Series) -> list[dict[str, object]]:
    """Return how many rows of small groups of the original are left out, those that lost most first."""
    is_kept = np.zeros(original.n_rows, bool)
    is_kept[rows.drop_nulls().to_numpy()] = True
    if is_kept.all():
        return []
    found: list[pl.DataFrame] = []
    for name in [*original.quasi_identifiers, *original.sensitive]:
        counted = (
            pl.DataFrame({"value": original.frame[name].cast(pl.String), "kept": is_kept})
            .group_by("value")
            .agg(rows=pl.len(), n_kept=pl.col("kept").sum())
            .filter((pl.col("rows") <= SMALL_GROUP * original.n_rows) & (pl.col("n_kept") < pl.col("rows")))
        )
        found.append(
            counted.select(
                pl.lit(name).alias("column"), "value", "rows", left_out=pl.col("rows").cast(pl.Int64) - pl.col("n_kept")
            )
        )
    if not found:
        return []
    # By how many more are left out than of everybody: of a group of one that is one row at most.
    share = 1 - float(is_kept.mean())
    by = [pl.col("left_out") - share * pl.col("rows"), pl.col("rows"), pl.col("value").fill_null(MISSING)]
    return pl.concat(found).sort(by, descending=[True, True, False], maintain_order=True).head(MOST_GROUPS).to_dicts()


def _riskiest(
    released: pl.DataFrame, known: Sequence[str], whose: pl.Series | None, counts: ClassCounts | None
) -> list[dict[str, object]]:
    """Return the smallest classes of the release, each with the column without which it would be largest.

    Example: of (f, A), (m, A), (m, A), (m, B) the classes (f, A) and (m, B) have a row each. Without sex, (f, A) would
    be of three rows, without the town of one: sex makes it small. (m, B) would be of one and of three: the town does.
    """
    if counts is None:
        return []
    least = counts.values().with_columns(pl.Series(SIZE, counts.people)).sort(SIZE, *known).head(MOST_GROUPS)
    largest: list[tuple[str | None, int]] = [(None, size) for size in least[SIZE]]
    for column in known:
        others = [name for name in known if name != column]
        wider = _counts(released, others, whose)
        if wider is None:
            without = [released.height if whose is None else whose.n_unique()] * least.height
        else:
            sizes = wider.values().with_columns(pl.Series(WIDER, wider.people))
            without = least.join(sizes, on=others, nulls_equal=True, how="left", maintain_order="left")[WIDER].to_list()
        largest = [max(old, (column, n), key=lambda one: one[1]) for old, n in zip(largest, without, strict=True)]
    return [
        {
            "values": {name: row[name] for name in known},
            "class": row[SIZE],
            "risk": 1 / row[SIZE],
            "by": by,
            "without": n,
        }
        for row, (by, n) in zip(least.iter_rows(named=True), largest, strict=True)
    ]


def _as_sample(
    original: Table,
    released: pl.DataFrame,
    rows: pl.Series | None,
    known: Sequence[str],
    counts: tuple[ClassCounts | None, ClassCounts | None],
    sampling: Sampling,
) -> Json:
    """Measure both sides as a sample of more people, where it is known to be one."""
    nothing: Json = {"population_uniques": None, "sample": None}
    before, after = counts
    if sampling == NOT_SAMPLED or before is None:
        return nothing
    first = _measured_side(original.frame, original.frame, known, before, sampling, original)
    second: Json = {}
    if after is not None:
        # Where no row is a person's, only the sizes of classes are known.
        beside = None if rows is None else original.frame[rows.cast(pl.Int64).to_list()]
        size = first.get("population_uniques", {}).get("population")
        known_of_it = sampling if beside is not None else Sampling(size)
        second = _measured_side(released, beside, known, after, known_of_it, original)
    sides = [one.get("population_uniques") for one in (first, second)]
    alone = [None if one is None or one["alone"] is None else round(one["alone"]) for one in sides]
    return {
        "population_uniques": sides[0] and {"n": sides[0]["population"], "before": alone[0], "after": alone[1]},
        "sample": {"before": _without_people(first), "after": _without_people(second)},
    }


def _without_people(found: Mapping[str, object]) -> Json:
    """Leave out single rows, people and values: a dossier is kept longer than the original."""
    return {
        name: _without_people(one) if isinstance(one, Mapping) else one
        for name, one in found.items()
        if name not in ("riskiest", "by_value")
    }


def _measured_side(
    labels: pl.DataFrame,
    beside: pl.DataFrame | None,
    known: Sequence[str],
    counts: ClassCounts,
    sampling: Sampling,
    original: Table,
) -> Json:
    """Measure the rows of one side by their labels, with the weights and people that stand beside them."""
    unit = None if beside is None else original.unit
    frame = labels.select(known)
    if beside is not None:
        more = [sampling.weights, None if unit is None else unit.column]
        frame = frame.with_columns(
            beside[name] for name in dict.fromkeys(more) if name is not None and name not in known
        )
        sampling = sampling.with_special_uniques(len(known), labels.height)
    return measure_sample(frame, known, counts, sampling, unit=unit, name=original.name).as_dict()


def _rows_by_size(counts: ClassCounts | None) -> dict[str, int]:
    """Return how many rows are in classes of each size."""
    grouped = [] if counts is None else counts.rows_by_size()
    return {f"{least}" if least == most else f"{least}-{most}": n for least, most, n in grouped}
