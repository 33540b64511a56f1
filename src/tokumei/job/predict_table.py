"""The k of nodes from few counts, beside the k that counting gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from tokumei.anonymize.registry import TABLE_ANONYMIZERS
from tokumei.core.errors import InputError
from tokumei.core.result import Drawing, Facts, Result, Rows, Section, Sentence
from tokumei.counting.class_counts import ClassCounts
from tokumei.counting.count import count_classes
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.table import Table
from tokumei.hierarchy.lattice import Lattice
from tokumei.job.anonymize_table import known_of
from tokumei.job.asked import Asked, whole_number
from tokumei.job.goal import Known, counted_on_engine, trees_of
from tokumei.job.hierarchies import told_of_made
from tokumei.predict.compare import Comparison, compare, predictors_for
from tokumei.predict.predictor import PREDICTORS

LISTED = 30


@dataclass(frozen=True, eq=False, repr=False)
class NodePredictions(Result):
    """What each predictor says of each node, and how right it was."""

    n_rows: int
    k_p: int
    compared: Comparison
    made: Mapping[str, str]
    limit: int = LISTED
    frame_kind: str = "polars"

    def to_dict(self) -> dict[str, Any]:
        """Give all as `tokumei predict --json` prints it."""
        summary = self.compared.summary()
        return {
            "rows": self.n_rows,
            "nodes": self._nodes(),
            "k_p": self.k_p,
            "methods": {name: {**summary[name], **self._quadrants(name)} for name in self.names},
            "hierarchies_made": dict(self.made),
        }

    @property
    def names(self) -> list[str]:
        """The predictors."""
        return list(self.compared.fitted)

    def sections(self) -> Sequence[Section]:
        """Give the first nodes, and how right each predictor was."""
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
        rows = [[name, *summary[name].values(), *list(self._quadrants(name).values())[:4]] for name in self.names]
        parts.append(Rows(columns, rows, title))
        return [*parts, *told_of_made(self.made)]

    def figure(self) -> Drawing | None:
        """Draw the k that was predicted over the k that counting gives."""
        from tokumei.report.figures import crowd_figure

        rows = [
            {"k": float(one.k), "predicted": float(max(each.k, 0.5)), "predictor": name}
            for one in self.compared.nodes
            for name, each in one.predictions.items()
        ]
        if not rows:
            return None
        options = {"x_title": "k counted", "y_title": "k predicted"}
        return Drawing(crowd_figure(pl.DataFrame(rows), x="k", y="predicted", series="predictor", **options))

    def _nodes(self) -> list[dict[str, Any]]:
        return [
            {
                "levels": self.compared.lattice.levels(one.node),
                "class_count": one.class_count,
                "k": one.k,
                "predicted": {
                    name: {"k": each.k, "low": each.low, "high": each.high, "serves": each.low >= self.k_p}
                    for name, each in one.predictions.items()
                },
            }
            for one in self.compared.nodes
        ]

    def _quadrants(self, name: str) -> dict[str, int]:
        return asdict(self.compared.quadrants(name, self.k_p))

    def _row(self, one: Mapping[str, Any]) -> list[Any]:
        shown = ["{k:,.0f} ({low:,.0f}–{high:,.0f})".format(**one["predicted"][name]) for name in self.names]
        return [", ".join(str(level) for level in one["levels"].values()), one["class_count"], one["k"], *shown]


def predict_table(
    table: Table,
    *,
    k: int = 2,
    method: str | None = None,
    levels: Mapping[str, int] | None = None,
    limit: int = LISTED,
    hierarchies: Any = None,
) -> NodePredictions:
    """Predict the k of the nodes of a table; see `tk.predict`."""
    if not table.n_rows:
        raise InputError.of("a table with a row or more", file=table.name, value="no rows")
    known = known_of(table, hierarchies)
    counts = count_classes(table)
    return _predicted(known, counts, whole_number(k, "k"), method, levels, limit, table.kind)


def predict_source(
    source: Any,
    qi: Sequence[str],
    *,
    k: int,
    method: str | None,
    levels: Mapping[str, int] | None,
    limit: int,
    hierarchies: Any = None,
    engine: str = "local",
    reading: Reading = AS_IT_IS,
) -> NodePredictions:
    """Predict the k of the nodes of a file or a table of an engine, whose rows are read once."""
    known, counts = counted_on_engine(source, qi, engine=engine, reading=reading, hierarchies=hierarchies)
    return _predicted(known, counts, k, method, levels, limit, "polars")


def _predicted(
    known: Known,
    counts: ClassCounts,
    k: int,
    method: str | None,
    levels: Mapping[str, int] | None,
    limit: int,
    frame_kind: str,
) -> NodePredictions:
    trees = trees_of(known, TABLE_ANONYMIZERS.make("optimal"), Asked())
    lattice = Lattice.of(trees.of_columns)
    nodes = None if levels is None else [lattice.node(dict(levels))]
    predictors = predictors_for(k)
    if method is not None:
        PREDICTORS.get(method)
        predictors = {method: predictors[method]}
    compared = compare(lattice, counts, predictors, nodes=nodes)
    return NodePredictions(counts.n_rows, k, compared, trees.made, limit, frame_kind)
