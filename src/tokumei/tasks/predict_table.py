"""What an offer begins with: the k of nodes predicted from few counts, and hierarchies that may be published.

`predict_table` sets predictions beside the k that counting gives. The hierarchies of an offer that comes without any
are published, so they must not tell which values occur.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import GIGABYTE, UNASKED, Cost
from tokumei.core.result import Drawing, Facts, Result, Rows, Section, Sentence
from tokumei.core.text import Json, JsonView, Text, choice_of, counted
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.table import Table
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import count_classes
from tokumei.hierarchies.files import read_hierarchies
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice
from tokumei.hierarchies.written_dates import read_days
from tokumei.methods.registry import TABLE_ANONYMIZERS
from tokumei.predictors.compare import Comparison, compare, predictors_for
from tokumei.predictors.power_law import FittedPowerLaw, law_in_words
from tokumei.predictors.predictor import Predictor, Rule, is_served
from tokumei.tasks.anonymize_table import known_of
from tokumei.tasks.goal import Known, counted_on_engine, trees_of
from tokumei.tasks.preparing import days_of, is_of_numbers, made_hierarchy, told_of_made
from tokumei.tasks.request import ReleaseRequest, Requirements, whole_number

LISTED = 30
# What it takes to count a node and tell of it, whoever predicts it.
LISTED_SECONDS = 1e-4


@dataclass(frozen=True, eq=False, repr=False)
class NodePredictions(Result):
    """What each predictor says of each node, and how right it was."""

    n_rows: int
    k_p: int
    compared: Comparison
    made: Mapping[str, str]
    limit: int = LISTED
    frame_kind: str = "polars"
    rule: Rule = "low"

    def to_dict(self) -> Json:
        """Return the result as `tokumei predict --json` prints it."""
        summary = self.compared.summary()
        return {
            "rows": self.n_rows,
            "nodes": self._nodes(),
            "k_p": self.k_p,
            "rule": self.rule,
            "methods": {name: {**summary[name], **self._quadrants(name), **self._law(name)} for name in self.names},
            "skipped": {
                name: {"seconds": round(cost.seconds), "gigabytes": round(cost.n_bytes / GIGABYTE, 1)}
                for name, cost in self.compared.skipped.items()
            },
            "hierarchies_made": dict(self.made),
        }

    @property
    def names(self) -> list[str]:
        """The predictors."""
        return list(self.compared.fitted)

    def sections(self) -> Sequence[Section]:
        """Return the first nodes, and how right each predictor was."""
        nodes, summary = self._nodes(), self.compared.summary()
        header = [", ".join(self.compared.lattice.attributes), "classes", "k", *self.names]
        parts: list[Section] = [
            Facts({"rows": self.n_rows, "nodes": len(nodes), "k asked for": self.k_p}),
            Rows(header, [self._row(one) for one in nodes[: self.limit]]),
        ]
        if len(nodes) > self.limit:
            parts.append(Sentence(f"… and {len(nodes) - self.limit:,} more nodes (--limit shows more)"))
        title = "α served and holds, β refused though it holds, γ served and fails, δ refused and fails"
        columns = ["predictor", "mean error ratio", "classes counted", "numbers published", "α", "β", "γ", "δ"]
        rows = [[name, *summary[name].values(), *self._quadrants(name).values()] for name in self.names]
        parts.append(Rows(columns, rows, title))
        laws = [law_in_words(law, self.k_p) for law in map(self._law, self.names) if law]
        parts += [Sentence(Text("power-law: {law}", law=law)) for law in laws]
        parts += [Sentence(self._of_skipped(name, cost)) for name, cost in self.compared.skipped.items()]
        return [*parts, *told_of_made(self.made)]

    def figure(self) -> Drawing | None:
        """Draw the k that was predicted over the k that counting gives."""
        from tokumei.reports.figures import crowd_figure

        rows = [
            {"k": float(one.k), "predicted": float(max(each.k, 0.5)), "predictor": name}
            for one in self.compared.nodes
            for name, each in one.predictions.items()
        ]
        if not rows:
            return None
        options = {"x_title": "k counted", "y_title": "k predicted"}
        return Drawing(crowd_figure(pl.DataFrame(rows), x="k", y="predicted", series="predictor", **options))

    def _nodes(self) -> list[dict[str, object]]:
        return [
            {
                "levels": self.compared.lattice.levels(one.node),
                "class_count": one.class_count,
                "k": one.k,
                "predicted": {
                    name: {
                        "k": each.k,
                        "low": each.low,
                        "high": each.high,
                        "serves": is_served(each, self.k_p, by=self.rule),
                    }
                    for name, each in one.predictions.items()
                },
            }
            for one in self.compared.nodes
        ]

    def _of_skipped(self, name: str, cost: Cost) -> Text:
        numbers = {"seconds": cost.seconds, "gigabytes": cost.n_bytes / GIGABYTE, "most": UNASKED.seconds}
        return Text(
            "{name} was skipped: predicting {n:,} nodes would take about {seconds:,.0f} seconds and "
            "{gigabytes:,.1f} GB (limit: {most:,.0f} seconds). --method {name} (method='{name}') runs it anyway; "
            "--levels predicts one node.",
            name=name,
            n=self.compared.lattice.n_nodes,
            **numbers,
        )

    def _quadrants(self, name: str) -> dict[str, int]:
        return self.compared.quadrants(name, self.k_p, by=self.rule).as_dict()

    def _law(self, name: str) -> dict[str, float | None]:
        """List the numbers of a predictor's law, if it is one."""
        fitted = self.compared.fitted[name]
        return fitted.numbers(self.k_p) if isinstance(fitted, FittedPowerLaw) else {}

    def _row(self, one: JsonView) -> list[object]:
        shown = ["{k:,.0f} ({low:,.0f}–{high:,.0f})".format(**one["predicted"][name]) for name in self.names]
        return [", ".join(str(level) for level in one["levels"].values()), one["class_count"], one["k"], *shown]


def predict_table(
    table: Table,
    *,
    k: int = 2,
    method: str | None = None,
    levels: Mapping[str, int] | None = None,
    limit: int = LISTED,
    hierarchies: object = None,
    rule: Rule = "low",
    largest: int | None = None,
    n_nodes: int | None = None,
    caution: float | None = None,
) -> NodePredictions:
    """Predict the k of the nodes of a table; see `tk.predict`."""
    if not table.n_rows:
        raise InputError.of("a table with a row or more", file=table.name, value="no rows")
    fitting = {"largest": largest, "n_nodes": n_nodes, "caution": caution}
    predictors = _predictors(whole_number(k, "k"), method, rule, fitting)
    known = known_of(table, ReleaseRequest(hierarchies=hierarchies))
    compared, made = _compared(known, count_classes(table), predictors, levels, limit_for(method))
    return NodePredictions(table.n_rows, k, compared, made, limit, table.kind, rule)


def predict_source(
    source: object,
    qi: Sequence[str],
    *,
    k: int,
    method: str | None,
    levels: Mapping[str, int] | None,
    limit: int,
    hierarchies: object = None,
    rule: str = "low",
    largest: int | None = None,
    n_nodes: int | None = None,
    caution: float | None = None,
    engine: str = "local",
    reading: Reading = AS_IT_IS,
) -> NodePredictions:
    """Predict the k of the nodes of a file or a table of an engine, whose rows are read once."""
    predictors = _predictors(k, method, rule, {"largest": largest, "n_nodes": n_nodes, "caution": caution})
    known, counts = counted_on_engine(source, qi, engine=engine, reading=reading, hierarchies=hierarchies)
    compared, made = _compared(known, counts, predictors, levels, limit_for(method))
    return NodePredictions(counts.n_rows, k, compared, made, limit, "polars", cast("Rule", rule))


def _predictors(k: int, method: str | None, rule: str, fitting: Mapping[str, float | None]) -> dict[str, Predictor]:
    """Make the predictors before anything is read, so that a slip is told at once."""
    if rule not in get_args(Rule):
        raise InputError.of(choice_of(get_args(Rule)), option="rule", value=rule)
    options = {name: value for name, value in fitting.items() if value is not None}
    for name in ("largest", "n_nodes"):
        if name in options:
            whole_number(options[name], name)
    if "caution" in options and not isinstance(options["caution"], (int, float)):
        raise InputError.of("a chance above 0 and at most 0.5", option="caution", value=options["caution"])
    return predictors_for(k, None if method is None else [method], options)


def limit_for(method: str | None) -> Cost | None:
    """Return what predicting may take: as long as it does where a predictor is named."""
    return UNASKED if method is None else None


def _compared(
    known: Known,
    counts: ClassCounts,
    predictors: Mapping[str, Predictor],
    levels: Mapping[str, int] | None,
    limit: Cost | None,
) -> tuple[Comparison, Mapping[str, str]]:
    trees = trees_of(known, TABLE_ANONYMIZERS.make("optimal"), Requirements())
    lattice = Lattice.of(trees.of_columns)
    nodes = None if levels is None else [lattice.node(dict(levels))]
    if limit is not None and nodes is None and lattice.n_nodes * LISTED_SECONDS > limit.seconds:
        expected = Text(
            "a lattice of at most {most:,} nodes, or a predictor by name: --method power-law (method='power-law') "
            "takes about {seconds:,.0f} seconds; --levels predicts a single node",
            most=int(limit.seconds / LISTED_SECONDS),
            seconds=lattice.n_nodes * LISTED_SECONDS,
        )
        raise InputError.of(expected, file=known.name, value=counted(lattice.n_nodes, "node"))
    return compare(lattice, counts, predictors, nodes=nodes, limit=limit), trees.made


# More numbers or days than this are not written out: the offer would be megabytes.
MOST_VALUES = 40_000
WRITTEN_DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%Y/%-m/%-d", "%Y%m%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y")


def offered_hierarchies(
    source: object, qi: Sequence[str], k: int, *, given: Path | None = None, engine: str = "local", reading: Reading
) -> tuple[list[Hierarchy], dict[str, Text]]:
    """Read the hierarchies of an offer from the folder given, or make one of each column and say what it is.

    Whole numbers and days are those that there can be, not those that occur, and end where k rows end. Of texts nobody
    knows which there can be: one that fewer than k rows have would be told to occur, and is refused.
    """
    if given is not None:
        return list(read_hierarchies(given, qi).values()), {}
    known, counts = counted_on_engine(source, qi, engine=engine, reading=reading)
    hierarchies, said = [], {}
    for column in qi:
        of_column = counts.over([column])
        values, sizes = of_column.domain(column)[of_column.codes[0]], of_column.sizes
        sizes = sizes[values.is_not_null().to_numpy()]
        values = values.drop_nulls()
        possible = _possible(values, sizes, k)
        if possible is None and (sizes < k).any():
            expected = (
                "a hierarchy (--hierarchies): one that is made here is published, and would tell of {n:,} values "
                "that occur in fewer than {k:,} rows"
            )
            raise InputError.of(Text(expected, n=int((sizes < k).sum()), k=k), file=known.name, column=column)
        made, said[column] = made_hierarchy(column, values if possible is None else possible)
        hierarchies.append(made)
    return hierarchies, said


def _possible(values: pl.Series, sizes: np.ndarray, k: int) -> pl.Series | None:
    """Return the possible whole numbers or days, as the column writes them.

    None where nobody knows, where there are too many, and where fewer than k rows would tell how far they reach.
    """
    if days_of(values):
        days = read_days(values.cast(pl.String).to_list()) or ()
        reach = _reach(np.array([day.year for day in days]), sizes, k, step=1)
        if reach is None or (reach[1] - reach[0]) * 366 > MOST_VALUES or not dt.MINYEAR <= reach[0] < reach[1] <= 9999:
            return None
        span = pl.date_range(dt.date(reach[0], 1, 1), dt.date(reach[1], 1, 1), closed="left", eager=True)
        return _holding(values, (_written_days(span, form, values.dtype) for form in WRITTEN_DAYS))
    if not is_of_numbers(values):
        return None
    numbers = values.cast(pl.Float64)
    if not (numbers.is_finite().all() and numbers.equals(numbers.round())):
        return None
    reach = _reach(numbers.to_numpy(), sizes, k)
    if reach is None or reach[1] - reach[0] > MOST_VALUES:
        return None
    # What the type of the column cannot hold cannot be in it, and is none of what there can be.
    return _holding(values, [pl.int_range(*reach, eager=True).cast(values.dtype, strict=False).drop_nulls()])


def _reach(numbers: np.ndarray, sizes: np.ndarray, k: int, *, step: int | None = None) -> tuple[int, int] | None:
    """Return round ends, the upper one excluded, of the k rows at each end; None if one lies beyond.

    A step is round and at least half of the way between them, and there is one more on either side: ages of which k
    rows reach down to 22 and k up to 88 are written from 0 to 149.
    """
    order = np.argsort(numbers)
    below, above = np.cumsum(sizes[order]), np.cumsum(sizes[order][::-1])
    if not len(below) or below[-1] < k:
        return None
    least = int(numbers[order][np.searchsorted(below, k)])
    most = int(numbers[order][::-1][np.searchsorted(above, k)])
    if step is None:
        half = max(1, (most - least) / 2)
        size = 10 ** math.floor(math.log10(half))
        step = next(size * one for one in (1, 2, 5, 10) if size * one >= half)
    start, stop = (least // step - 1) * step, (most // step + 2) * step
    # Of what is counted from nothing, such as ages, there is nothing below it.
    start = max(start, 0) if least >= 0 else start
    return (start, stop) if numbers.min() >= start and numbers.max() < stop else None


def _written_days(days: pl.Series, form: str, dtype: pl.DataType) -> pl.Series:
    return days if dtype == pl.Date else days.dt.strftime(form).cast(dtype, strict=False).drop_nulls()


def _holding(values: pl.Series, ways: Iterable[pl.Series]) -> pl.Series | None:
    """Return the first domain that holds every value; 007 is in none."""
    return next((way for way in ways if values.is_in(way.implode()).all()), None)
