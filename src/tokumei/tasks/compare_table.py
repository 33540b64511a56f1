"""Several releases of one table side by side.

`compare_table` runs several methods: what each found and what it cost. `frontier_table` asks for more and more: what
each release loses and how many people can be found in it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.progress import UNASKED, Cost, step
from tokumei.core.registry import part_name, part_options
from tokumei.core.result import Drawing, Facts, Result, Rows, Section, Sentence
from tokumei.core.text import Json, JsonView, Text, counted
from tokumei.data.files.formats import scan_frame
from tokumei.data.frames import as_lazy
from tokumei.data.table import Table
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import count_classes
from tokumei.hierarchies.lattice import Lattice
from tokumei.methods.recipes import Goal
from tokumei.methods.registry import TABLE_ANONYMIZERS, LocalRecoder, Perturber, TableAnonymizer, searches
from tokumei.methods.rows import release_rows
from tokumei.methods.tables import decide
from tokumei.predictors.predictor import PREDICTORS
from tokumei.reports.evaluation import frontier as unbeaten
from tokumei.tasks.anonymize_table import anonymize_table, known_of
from tokumei.tasks.goal import Known, Trees, check_is_possible, goal_of, method_of, suppression_of, trees_of
from tokumei.tasks.preparing import told_of_made
from tokumei.tasks.request import DEFAULT_SUPPRESS, ReleaseRequest

LEFT_OUT = ("exhaustive",)
# Seconds of one core for a node, by searches that go through very many, and for a quasi-identifier of one class by
# methods that group rows: the middle of numbers and texts, 20,000 to 60,000 classes over four to eight columns.
NODE_SECONDS = {"incognito": 1e-4, "ola": 1.2e-4, "prediction-guided": 1e-4}
CELL_SECONDS = {
    "min-dis": 3e-5,
    "utility-clustering": 3e-5,
    "mu-argus": 3e-5,
    "partition": 2e-5,
    "mondrian": 6e-6,
    "top-down-specialization": 6e-6,
}
SHOWN = ("loss", "k", "suppressed", "may_suppress", "nodes_checked", "classes_checked", "seconds")


@dataclass(frozen=True, eq=False, repr=False)
class MethodComparison(Result):
    """What each method found, or why it did not."""

    n_rows: int
    n_classes: int
    loss_name: str
    methods: Sequence[JsonView]
    made: Mapping[str, str]
    frame_kind: str = "polars"

    def to_dict(self) -> Json:
        """Return the result as `tokumei compare --json` prints it."""
        return {
            "rows": self.n_rows,
            "classes": self.n_classes,
            "loss_name": self.loss_name,
            "methods": [dict(one) for one in self.methods],
            "hierarchies_made": dict(self.made),
        }

    def sections(self) -> Sequence[Section]:
        """Return the table of methods."""
        rows = [
            [
                one["method"],
                *(one.get(name) for name in SHOWN),
                one.get("error") or ("proven" if one["is_proven"] else ""),
            ]
            for one in self.methods
        ]
        columns = ["method", f"loss ({self.loss_name})", *(name.replace("_", " ") for name in SHOWN[1:]), ""]
        parts: list[Section] = [Facts({"rows": self.n_rows, "classes": self.n_classes}), Rows(columns, rows)]
        return [*parts, *told_of_made(self.made)]

    @property
    def found(self) -> list[JsonView]:
        """The methods that found a release."""
        return [one for one in self.methods if "error" not in one]

    def figure(self) -> Drawing | None:
        """Draw what each release lost."""
        from tokumei.reports.figures import bar_figure

        if not self.found:
            return None
        bars = pl.DataFrame({"method": [o["method"] for o in self.found], "loss": [o["loss"] for o in self.found]})
        return Drawing(bar_figure(bars, x="loss", y="method", x_title=f"loss ({self.loss_name})"))

    def report(self, out: Path | str, *, force: bool = False) -> None:
        """Write a page with the table and its figures."""
        from tokumei.data.files.outputs import guarded

        with guarded({"out": out}, pages=["out"], force=force) as drafts:
            self.write_page(drafts["out"])

    def write_page(self, out: Path) -> None:
        """Write the page to a draft that was guarded before."""
        from tokumei.reports.figures import dot_figure
        from tokumei.reports.page import Page

        page = Page("Ways to anonymize one table")
        page.paragraph("Each method was given the same rows, and the same was asked of it.")
        figure = self.figure()
        if figure is not None:
            page.figure(figure.svg, "What each release lost.")
        searched = [one for one in self.found if one["classes_checked"] is not None]
        if searched:
            costs = pl.DataFrame(
                {"method": [o["method"] for o in searched], "n": [o["classes_checked"] for o in searched]}
            )
            page.figure(
                dot_figure(costs, x="n", y="method", x_title="classes checked, on a logarithmic axis"),
                "Cost of a search: the class counts of all nodes whose k was computed, added up. Left is cheaper.",
            )
        page.table(
            ["method", f"loss ({self.loss_name})", *(name.replace("_", " ") for name in SHOWN[1:])],
            [[one["method"], *("–" if one[name] is None else one[name] for name in SHOWN)] for one in self.found],
            "What each method found. Least loss is best.",
        )
        failed = [[one["method"], one["error"]] for one in self.methods if "error" in one]
        if failed:
            page.table(["method", "why"], failed, "What found no release.")
        page.write(out)


def compare_table(
    table: Table, request: ReleaseRequest, methods: Sequence[str | TableAnonymizer] | str | None = None
) -> MethodComparison:
    """Run methods on one table; all that generalize if none are named."""
    asked = request.of_table(table)
    return compare_source(table.frame, known_of(table, asked), asked, methods, frame_kind=table.kind)


def compare_source(
    source: object,
    known: Known,
    asked: ReleaseRequest,
    methods: Sequence[str | TableAnonymizer] | str | None = None,
    *,
    engine: str = "local",
    frame_kind: str = "polars",
) -> MethodComparison:
    """Run methods on a frame, a file or a table of an engine."""
    optimal, asked = method_of(asked)
    trees = trees_of(known, optimal, asked)
    goal = goal_of(known, optimal, asked, trees)
    named = [methods] if isinstance(methods, str) else methods
    made = _methods(_usual(goal) if named is None else named)
    columns = list(trees.of_columns)
    counts = count_classes(
        source, columns, sensitive=goal.sensitive, person=goal.person, engine=engine, reading=known.reading
    )
    check_is_possible(counts.n_rows, asked, known.name)
    failed: list[CannotAnonymize] = []
    rows = _Rows(source, known, engine)
    goals = {
        name: replace(goal, method=one, suppression=suppression_of(one, asked.suppress, goal.requirements))
        for name, one in made.items()
    }
    # What is named is run, however long it takes.
    skipped = {} if named is not None else _skipped(made, Lattice.of(trees.of_columns).n_nodes, counts)
    results = [skipped.get(name) or _run(name, goals[name], rows, counts, trees, failed) for name in made]
    if failed and len(failed) + len(skipped) == len(results):
        raise failed[0]
    return MethodComparison(counts.n_rows, counts.n_classes, part_name(goal.loss), results, trees.made, frame_kind)


@dataclass(frozen=True)
class _Rows:
    """The rows themselves, read when a method needs them."""

    source: Any
    known: Known
    engine: str

    def frame(self, columns: Sequence[str], why: str) -> pl.DataFrame:
        if self.engine != "local":
            raise InputError.of(Text("the local engine, which {what} needs", what=why))
        is_file = isinstance(self.source, (str, Path))
        rows = scan_frame(self.source, self.known.reading) if is_file else as_lazy(self.source)
        return rows.select(columns).collect()


def _usual(goal: Goal) -> list[str]:
    """Return all searches but the slow oracle and, where they are measured by the same loss, local recodings."""
    recoders = [name for name in TABLE_ANONYMIZERS if hasattr(TABLE_ANONYMIZERS.get(name), "recode_locally")]
    usual = [name for name in searches() if name not in LEFT_OUT]
    return [*usual, *(recoders if part_name(goal.loss) == "ncp" else [])]


def _skipped(methods: Iterable[str], n_nodes: int, counts: ClassCounts) -> dict[str, dict[str, object]]:
    """Return the methods that would take longer than what nobody asked for may take, as they stand in the result."""
    skipped = {}
    for name in methods:
        seconds = expected_seconds(name, n_nodes, counts.n_classes * len(counts.columns))
        if Cost(seconds, 0).is_beyond(UNASKED):
            why = Text(
                "skipped: it would take about {seconds:,.0f} seconds (limit: {most:,.0f} seconds); "
                "--methods {name} (methods='{name}') runs it anyway",
                seconds=seconds,
                most=UNASKED.seconds,
                name=name.split(" ")[0],
            )
            skipped[name] = {"method": name, "is_proven": False, "error": why, "expected_seconds": round(seconds)}
    return skipped


def expected_seconds(name: str, n_nodes: int, n_cells: int) -> float:
    """Estimate what a method takes: by nodes or by the cells of all classes; 0 of those that are quick or unknown.

    >>> expected_seconds("ola", 1_000_000, 400)
    120.0
    >>> expected_seconds("optimal", 1_000_000, 400)
    0.0
    """
    method = name.split(" ")[0]
    return NODE_SECONDS.get(method, 0.0) * n_nodes + CELL_SECONDS.get(method, 0.0) * n_cells


def _methods(listed: Sequence[Any]) -> Json:
    """Make the methods; one that takes a predictor is run with each of them."""
    made: dict[str, object] = {}
    for name in listed:
        if not isinstance(name, str):
            made[part_name(name)] = name
        elif any(option.name == "predictor" for option in part_options(TABLE_ANONYMIZERS.get(name))):
            made |= {f"{name} ({one})": TABLE_ANONYMIZERS.make(name, predictor=one) for one in PREDICTORS}
        else:
            made[name] = TABLE_ANONYMIZERS.make(name)
        if isinstance(made.get(name), Perturber):
            raise InputError.of("a method that generalizes, whose loss can be compared", value=name)
    return made


def _run(
    name: str, goal: Goal, rows: _Rows, counts: ClassCounts, trees: Trees, failed: list[CannotAnonymize]
) -> dict[str, object]:
    """Return what a method found, or why it failed."""
    try:
        run = _by_rows if isinstance(goal.method, LocalRecoder) else _by_levels
        return {"method": name, "may_suppress": goal.suppression, **run(rows, counts, trees, goal)}
    except InputError as error:
        # A method that cannot take this requirement is no reason to hide what the others found.
        return {"method": name, "is_proven": False, "error": error.faults[0].expected}
    except CannotAnonymize as error:
        # Another may leave other rows out, and hold.
        failed.append(error)
        return {"method": name, "is_proven": False, "error": str(error)}


def _by_levels(_: _Rows, counts: ClassCounts, trees: Trees, goal: Goal) -> Json:
    decision = decide(counts, trees.of_columns, goal.against(counts))
    return {
        "levels": decision.levels,
        "loss": decision.loss.value,
        "k": decision.k,
        "suppressed": decision.n_suppressed,
        "nodes_checked": decision.n_nodes_checked,
        "classes_checked": decision.n_classes_checked,
        "seconds": round(decision.seconds, 4),
        "is_proven": decision.is_proven,
    }


def _by_rows(rows: _Rows, _: ClassCounts, trees: Trees, goal: Goal) -> dict[str, object]:
    if part_name(goal.loss) != "ncp":
        raise InputError.of("the loss ncp, which local recodings are measured by")
    known = list(rows.known.quasi_identifiers)
    frame = rows.frame([*known, *goal.sensitive, *goal.whose], part_name(goal.method))
    found = release_rows(frame, known, trees.of_columns, goal)
    return {
        "loss": found.loss and found.loss.value,
        "k": found.counts and found.counts.k,
        "suppressed": found.n_suppressed,
        "nodes_checked": None,
        "classes_checked": None,
        "seconds": round(found.seconds, 4),
        "is_proven": False,
    }


NOTHING = ReleaseRequest()
# Twelve releases by one method: enough to see where safety begins to cost.
USUAL_KS, USUAL_SHARES = (2, 3, 5, 10, 20, 50), (0.0, DEFAULT_SUPPRESS)
FOUND = (
    "Found is the share of all people that an attacker who knows every quasi-identifier of everybody finds on average, "
    "guessing within each class: classes for each row of the original. Who is left out is not found."
)


@dataclass(frozen=True, eq=False, repr=False)
class TableFrontier(Result):
    """Releases of one table, each with the use it lost and the people found, and which of them none beats."""

    n_rows: int
    loss_name: str
    releases: Sequence[JsonView]
    frame_kind: str = "polars"

    def to_dict(self) -> Json:
        """Return the result for JSON."""
        return {"rows": self.n_rows, "loss_name": self.loss_name, "releases": [dict(one) for one in self.releases]}

    def sections(self) -> Sequence[Section]:
        """Return the table of releases."""
        head = ["method", "k", "may suppress", f"loss ({self.loss_name})", "found", "suppressed", ""]
        rows = [
            [
                *(one["method"], one["k"], one["suppress"], one.get("loss"), one.get("found"), one.get("suppressed")),
                one.get("error") or ("frontier" if one["is_on_frontier"] else ""),
            ]
            for one in self.releases
        ]
        return [Rows(head, rows), Sentence(FOUND)]

    def figure(self) -> Drawing | None:
        """Draw use lost against people found."""
        from tokumei.reports.figures import frontier_figure

        made = [one for one in self.releases if "error" not in one]
        if not made:
            return None
        points = pl.DataFrame([{key: one[key] for key in ("loss", "found", "is_on_frontier")} for one in made])
        titles = {"x_title": f"use lost ({self.loss_name})", "y_title": "people found"}
        return Drawing(frontier_figure(points, x="loss", y="found", is_best="is_on_frontier", **titles))

    def __repr__(self) -> str:
        return f"TableFrontier({counted(len(self.releases), 'release')} of {counted(self.n_rows, 'row')})"


def frontier_table(
    table: Table,
    *,
    ks: Sequence[int] = USUAL_KS,
    shares: Sequence[float] = USUAL_SHARES,
    methods: Mapping[str, Mapping[str, object]] | None = None,
    seed: int = 0,
    asked: ReleaseRequest = NOTHING,
) -> TableFrontier:
    """Anonymize a table by each method for each k and each share that may be left out, and compare the releases.

    methods: options by the name of the method; `optimal` if not given.
    asked: what else every release must hold; its k, its share and its method are what is varied.

    >>> import tokumei as tk
    >>> people = tk.Table({"age": [30, 31, 52, 53]}, qi=["age"])
    >>> [(one["k"], one["found"]) for one in frontier_table(people, ks=[2, 4], shares=[0.0]).releases]
    [(2, 0.5), (4, 0.25)]
    """
    ways = list(itertools.product((methods or {"optimal": {}}).items(), ks, shares))
    if not ways:
        raise InputError.of("a method, a k and a share or more")
    made: list[Json] = []
    with step("trying releases", len(ways)) as bar:
        for (name, options), k, share in ways:
            made.append(
                {"method": name, "k": k, "suppress": share}
                | _try(table, replace(asked, method=name, options=options, k=k, suppress=share, seed=seed))
            )
            bar.advance()
    lines = pl.DataFrame(
        {"utility": [one.get("loss") for one in made], "found": [one.get("found") for one in made]},
        schema={"utility": pl.Float64, "found": pl.Float64},
    )
    for one, is_best in zip(made, unbeaten(lines), strict=True):
        one["is_on_frontier"] = bool(is_best)
    loss_name = next((one["loss_name"] for one in made if "loss_name" in one), "")
    return TableFrontier(table.n_rows, loss_name, made, table.kind)


def _try(table: Table, asked: ReleaseRequest) -> dict[str, object]:
    """Return what one release lost and how many people are found in it, or why there is none."""
    try:
        done = anonymize_table(table, asked).to_dict()
    except CannotAnonymize as error:
        return {"error": error.text}
    told = {key: done.get(key) for key in ("loss", "loss_name", "suppressed", "classes", "levels")}
    return told | {"k_found": done.get("k"), "found": (done.get("classes") or 0) / max(1, table.n_rows)}
