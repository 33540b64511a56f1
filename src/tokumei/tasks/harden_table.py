"""A released table made harder: the least further changes until no attack finds more than is allowed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tokumei.attacks.public_knowledge import PublicKnowledge
from tokumei.attacks.registry import ALL, DisclosureAttack
from tokumei.attacks.threat_model import KnownMethod, ThreatModel
from tokumei.core.errors import InputError, PromiseBroken
from tokumei.core.result import Drawing, Facts, Result, Rows, Section, Sentence
from tokumei.core.score import Score, most_within
from tokumei.core.text import Json, Text
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.release import Recipe, Release
from tokumei.data.table import Table
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import SUPPRESSED, Hierarchy
from tokumei.hierarchies.label_semantics import Vocabulary
from tokumei.hierarchies.labels import number_label, read_range
from tokumei.measures.requirement import Requirement, population_of
from tokumei.measures.safety.class_sizes import KAnonymity
from tokumei.methods.class_changes import ReleasedClasses
from tokumei.methods.label_ladders import GridLadder, Ladder, TreeLadder
from tokumei.methods.local.task import column_weights
from tokumei.methods.recipes import against_original, check_classes, requirement_of
from tokumei.methods.registry import TableAnonymizer
from tokumei.tasks.anonymize_table import promised
from tokumei.tasks.attack_table import chosen_attacks, what_is_missing, what_release_lacks
from tokumei.tasks.hardening_table import Attempt, TableEvidence, TableHardening, TableSearch
from tokumei.tasks.request import DEFAULT_SUPPRESS
from tokumei.tasks.table_attack_result import numbers_of
from tokumei.tasks.table_release import TableRelease
from tokumei.tasks.table_threat_model import public_of, threat_model_of

MOVES = ("snap", "widen", "merge", "suppress")
# The share of rows that may be left out, if nobody says.
UNPUBLISHED = (
    "The release before must not be published: rows of both could be laid side by side, and each narrows the other."
)
OUTERMOST = (
    "Whoever knows how the release was hardened learns that the outermost cells of a range have a row each, and not "
    "which values stand there; the attacks below were told which columns are on a grid."
)


@dataclass(frozen=True, eq=False, repr=False)
class HardenedTable(Result):
    """A hardened release with what every attack finds before and after, what was changed, and what it cost."""

    release: TableRelease
    found: TableHardening
    facts: Mapping[str, Any]
    costs: Mapping[str, tuple[float, float]]
    left_out: Mapping[str, str]
    frame_kind: str = "polars"

    @property
    def frame(self) -> Any:
        """The hardened rows, as a frame of the caller's kind."""
        return self.release.frame

    @property
    def steps(self) -> list[Json]:
        """The changes, those of one kind and column as one."""
        counted = Counter((one.kind, one.column) for one in self.found.after.changes)
        return [
            {"change": kind, "column": column or None, "times": times, "rows": self._rows_of(kind, column)}
            for (kind, column), times in sorted(counted.items(), key=lambda one: (MOVES.index(one[0][0]), one[0][1]))
        ]

    def _rows_of(self, kind: str, column: str) -> int:
        own = [one for one in self.found.after.changes if (one.kind, one.column) == (kind, column)]
        if kind == "snap":
            return int(self.facts["snapped_rows"][column])
        touched = sorted({number for one in own for number in one.classes})
        return int(self.facts["class_sizes"][touched].sum())

    def attacks(self) -> list[Json]:
        """Return what each attack found before, and what it finds now."""
        found: list[Json] = []
        after = {one.title: one.scores for one in self.found.after.tried}
        for one in self.found.before.tried:
            for name, score in one.scores.items():
                now = after[one.title][name]
                key = (one.title, name)
                judged = key in self.found.before.shares
                found.append(
                    {
                        "attack": one.title,
                        "score": name,
                        "before": score.as_dict(),
                        "after": now.as_dict(),
                        "compared_before": self.found.before.shares[key] if judged else None,
                        "compared": self.found.after.shares[key] if judged else None,
                    }
                )
        return found

    def to_dict(self) -> Json:
        """Return everything as `tokumei harden table --json` prints it."""
        costs = {name: {"before": a, "after": b, "rise": b - a} for name, (a, b) in self.costs.items()}
        plain = {name: value for name, value in self.facts.items() if name not in ("snapped_rows", "class_sizes")}
        steps = {"steps": self.steps, "promises": {n: s.as_dict() for n, s in self.release.promises.items()}}
        return {**plain, "attacks": self.attacks(), "costs": costs, **steps, "left_out": dict(self.left_out)}

    def sections(self) -> Sequence[Section]:
        """Return what each attack finds, what was changed, what it cost, and what was left out."""
        plain = {
            name: value
            for name, value in self.facts.items()
            if name not in ("snapped_rows", "class_sizes") and value is not None
        }
        rows = [
            [
                f"{one['attack']}: {one['score']}",
                *(cell for when in ("before", "after") for cell in numbers_of(one[when])[:3]),
                one["compared"],
            ]
            for one in self.attacks()
        ]
        head = ["attack", "before", "95 %", "blindly", "now", "95 % now", "blindly now", "held against the bound"]
        said: list[Section] = [
            Rows(head, rows),
            Facts(plain | {"seed": str(self.facts["seed"])}),
            Rows(["loss", "before", "now", "it cost"], [[name, a, b, b - a] for name, (a, b) in self.costs.items()]),
        ]
        if self.steps:
            said.append(Rows(["change", "column", "times", "rows"], [list(one.values()) for one in self.steps]))
        if self.release.promises:
            promises = [[name, one.value] for name, one in self.release.promises.items()]
            said.append(Rows(["promise", "value"], promises))
        if self.left_out:
            said.append(Rows(["left out", "because"], [list(pair) for pair in self.left_out.items()]))
        if self.facts["on_grid"]:
            said.append(Sentence(OUTERMOST))
        return [*said, Sentence(UNPUBLISHED)]

    def figure(self) -> Drawing | None:
        """Draw what each attack found before and what it finds now."""
        from tokumei.reports.figures import bar_figure

        named = [
            (f"{one['attack']}, {one['score']}, {when}", one[when]["value"])
            for one in self.attacks()
            for when in ("before", "after")
            if one["compared"] is not None
        ]
        points = pl.DataFrame({"attack": [name for name, _ in named], "found": [value for _, value in named]})
        return Drawing(bar_figure(points, x="found", y="attack", x_title="share found"))

    def save(self, out: Path | str, **options: Any) -> None:
        """Write the release and, where named, whose each row is and the recipe."""
        self.release.save(out, **options)

    def __repr__(self) -> str:
        (attack, score), found = self.found.after.worst
        before, after = self.costs["ncp"]
        by = f"at most {found:.3g} by {attack} ({score})"
        return f"HardenedTable({len(self.found.after.changes):,} changes: {by}, ncp {before:.3g} to {after:.3g})"


def harden_table(
    original: Table,
    release: Any,
    *,
    bound: float,
    attacks: Sequence[str] | str | None = None,
    changes: Sequence[str] | None = None,
    suppress: float = DEFAULT_SUPPRESS,
    by_interval: bool = True,
    minutes: float | None = None,
    seed: int = 1,
    known: Sequence[str] = (),
    known_share: float = 1.0,
    numeric: Sequence[str] | None = None,
    hierarchies: Any = None,
    rows: Any = None,
    in_order: bool = False,
    earlier: Sequence[Any] = (),
    earlier_rows: Sequence[Any] = (),
    population: Any = None,
    control: Any = None,
    method: str | KnownMethod | TableAnonymizer | None = None,
    k: int | None = None,
    reading: Reading = AS_IT_IS,
) -> HardenedTable:
    """Change a released table no more than needed for every attack to stay under a bound; see `tk.harden`.

    attacks: those that must stay under it; all that what is given allows if none are named.
    changes: some of snap, widen, merge and suppress; all if not given.
    suppress: the share of the released rows that may be left out.
    by_interval: hold the upper ends of 95 % intervals against the bound, not the shares that were found.
    minutes: after so long the search ends with the best it found. The others are as for `tk.attack`.
    """
    started = time.monotonic()
    if original.unit is not None:
        expected = "a table whose every row is somebody else: labels are changed row by row; anonymize it anew instead"
        raise InputError.of(expected, option=str(original.unit.role), value=original.unit.column)
    parts, moves = _checked(attacks, bound, changes, suppress, minutes)
    scene = threat_model_of(
        original,
        release,
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
        reading=reading,
    )
    # Groups that were changed cannot be retraced: what no attack can measure afterwards is not said to be closed.
    after = replace(scene, method=replace(scene.method, is_hardened=True))
    lacking = {name: lack for name, part in parts.items() if (lack := what_is_missing(after, part))}
    parts, left_out = _allowed(parts, lacking, attacks)
    evidence = TableEvidence(parts, scene, by_interval, seed)
    options = _Options(bound, moves, suppress, minutes, seed, started)
    return _hardened(evidence, options, release, original, left_out)


def harden_release(
    release: Table,
    *,
    bound: float,
    attacks: Sequence[str] | str | None = None,
    changes: Sequence[str] | None = None,
    suppress: float = DEFAULT_SUPPRESS,
    by_interval: bool = True,
    minutes: float | None = None,
    seed: int = 1,
    numeric: Sequence[str] | None = None,
    hierarchies: Any = None,
    method: str | KnownMethod | TableAnonymizer | None = None,
    k: int | None = None,
) -> HardenedTable:
    """Change a released table of which nothing else is there, so that attacks on its labels stay under a bound."""
    started = time.monotonic()
    parts, moves = _checked(attacks, bound, changes, suppress, minutes)
    lacking = {name: lack for name, part in parts.items() if (lack := what_release_lacks(release, part))}
    parts, left_out = _allowed(parts, lacking, attacks)
    public = public_of(release, numeric, hierarchies, method, k)
    evidence = TableEvidence(parts, public, by_interval, seed)
    return _hardened(evidence, _Options(bound, moves, suppress, minutes, seed, started), release, None, left_out)


@dataclass(frozen=True)
class _Options:
    bound: float
    moves: Sequence[str]
    suppress: float
    minutes: float | None
    seed: int
    started: float


def _checked(
    attacks: Sequence[str] | str | None,
    bound: float,
    changes: Sequence[str] | None,
    suppress: float,
    minutes: float | None,
) -> tuple[dict[str, DisclosureAttack], list[str]]:
    """Check the options and return the attacks, and the kinds of changes that may be made."""
    if not 0 <= bound < 1:
        raise InputError.of("a share from 0 to less than 1", option="bound", value=bound)
    if not 0 <= suppress < 1:
        raise InputError.of("a share from 0 to less than 1", option="suppress", value=suppress)
    if minutes is not None and not minutes > 0:
        raise InputError.of("a number above 0", option="minutes", value=minutes)
    moves = [changes] if isinstance(changes, str) else list(MOVES if changes is None else changes)
    for one in moves:
        if one not in MOVES:
            raise InputError.of(f"some of {', '.join(MOVES)}", option="changes", value=one)
    if not moves or attacks == []:
        raise InputError.of("one or more", option="changes" if not moves else "attacks")
    return chosen_attacks(ALL if attacks is None else attacks, {}), moves


def _allowed(
    parts: Mapping[str, DisclosureAttack], lacking: Mapping[str, str], asked: Any
) -> tuple[dict[str, DisclosureAttack], dict[str, str]]:
    """Leave out attacks that lack something; one that was asked for by name is an error."""
    if asked not in (None, ALL) and lacking:
        name, lack = next(iter(lacking.items()))
        raise InputError.of(Text("{lack}, which {name} needs", lack=lack, name=name))
    left = {name: part for name, part in parts.items() if name not in lacking}
    if not left:
        raise InputError.of("an attack that can be tried", option="attacks")
    return left, {name: f"needs {lack}" for name, lack in lacking.items()}


def _hardened(
    evidence: TableEvidence, options: _Options, release: Any, original: Table | None, left_out: Mapping[str, str]
) -> HardenedTable:
    scene = evidence.scene
    table = scene.published.table if isinstance(scene, ThreatModel) else scene.release
    if not table.quasi_identifiers:
        raise InputError.of("a quasi-identifier or more", file=table.name)
    before = count_classes(table.frame, table.quasi_identifiers, sensitive=table.sensitive)
    requirements = _requirements(release, original, before)
    classes = _classes(scene, table, release, before.k)

    def keeps_promise(frame: pl.DataFrame) -> bool:
        try:
            check_classes(count_classes(frame, table.quasi_identifiers, sensitive=_of(requirements)), requirements)
        except PromiseBroken:
            return False
        return True

    search = TableSearch(
        classes,
        evidence,
        options.bound,
        options.moves,
        most_within(options.suppress, table.n_rows),
        keeps_promise,
        float("inf") if options.minutes is None else options.started + 60 * options.minutes,
    )
    found = search.run()
    frame = _released_frame(release, table, classes, found.after)
    _check_covers(classes, found.after, scene)
    counts = count_classes(frame, table.quasi_identifiers, sensitive=_of(requirements))
    check_classes(counts, requirements)
    made = _release_of(release, original, frame, found, counts, promised(requirements, counts), classes, options)
    facts = _facts(evidence, options, found, before, counts, classes)
    pairs = _costs(found)
    return HardenedTable(made, found, facts, pairs, left_out, made.frame_kind)


def _of(requirements: Sequence[Requirement]) -> list[str]:
    return sorted({column for one in requirements for column in one.sensitive_columns})


def _requirements(release: Any, original: Table | None, before: ClassCounts) -> list[Requirement]:
    """Return what the release promises: what was asked for or, of a release of others, the k that it has."""
    if not isinstance(release, TableRelease):
        return [KAnonymity(before.k)]
    described = release.recipe.options.get("requirements", [])
    asked = [requirement_of(one, release.hierarchies, None) for one in described]
    for one in asked:
        if population_of(one) is not None:
            raise InputError.of("a release that promises nothing of a population", value=str(one))
    if original is not None and asked:
        whole = count_classes(original.frame, original.quasi_identifiers, sensitive=_of(asked))
        asked = against_original(asked, whole, moves=True)
    return asked or [KAnonymity(before.k)]


def _classes(scene: ThreatModel | PublicKnowledge, table: Table, release: Any, k: int) -> ReleasedClasses:
    """Read the classes of a release, with the public labels of each column."""
    columns = table.quasi_identifiers
    vocabularies = {name: scene.vocabulary(name) for name in columns}
    ladders = {name: _ladder(name, vocabularies[name], scene, table, k) for name in columns}
    weights = release.recipe.options.get("weights") if isinstance(release, TableRelease) else None
    shares = dict(zip(columns, column_weights(columns, weights).tolist(), strict=True))
    n_left_out = release.n_suppressed if isinstance(release, TableRelease) else 0
    return ReleasedClasses(table.frame, ladders, vocabularies, shares, n_left_out)


def _ladder(column: str, vocabulary: Vocabulary, scene: ThreatModel | PublicKnowledge, table: Table, k: int) -> Ladder:
    """Choose the public labels of a column: nodes of its hierarchy if all labels are, else cells of a grid."""
    cells = table.frame[column].cast(pl.String).value_counts()
    labels, rows = cells[column].to_list(), cells["count"].to_list()
    tree = scene.hierarchies.get(column)
    nodes = set() if tree is None else {label for level in tree.levels for label in level.labels} | {SUPPRESSED}
    told = [label for label in labels if label is not None]
    is_numeric = vocabulary.is_numeric and any(label != SUPPRESSED for label in told)
    if not is_numeric or (tree is not None and all(label in nodes for label in told)):
        return TreeLadder(vocabulary)
    n_columns = len(table.quasi_identifiers)
    if isinstance(scene, ThreatModel):
        numbers = _tree_of_numbers(column, vocabulary, tree)
        values = vocabulary.indices(scene.original.frame[column], file=scene.original.name)
        counted = np.bincount(values, minlength=vocabulary.n_leaves + 1)[:-1].astype(np.int64)
        return GridLadder.of_values(numbers, counted, k=k, n_columns=n_columns)
    return GridLadder.of_labels(column, labels, rows, k=k, n_columns=n_columns)


def _tree_of_numbers(column: str, vocabulary: Vocabulary, tree: Hierarchy | None) -> Hierarchy:
    """Return the hierarchy of a column whose leaves are in ascending order; a flat one if they are not."""
    if tree is not None and (np.diff(vocabulary.index_of_leaf) > 0).all():
        return tree
    return Hierarchy.of_levels(column, [[number_label(number) for number in sorted(vocabulary.index_of_number)]])


def _released_frame(release: Any, table: Table, classes: ReleasedClasses, after: Attempt) -> pl.DataFrame:
    """Return the rows that are released; what was not changed stands as it stood."""
    changed, kept = classes.released(after.changed)
    frame = release.table if isinstance(release, TableRelease) else table.frame
    columns = [name for name in classes.columns if after.changed.labels[name] != classes.labels[name]]
    return frame[kept].with_columns([changed[name] for name in columns])


def _check_covers(classes: ReleasedClasses, after: Attempt, scene: ThreatModel | PublicKnowledge) -> None:
    """Check on the labels as they are read that each still stands for all that the one before stood for."""
    for name in classes.columns:
        before, now = classes.labels[name], after.changed.labels[name]
        pairs = sorted({pair for pair in zip(before, now, strict=True) if pair[0] != pair[1]}, key=str)
        vocabulary, is_ranged = scene.vocabulary(name), isinstance(classes.ladders[name], GridLadder)
        for old, new in pairs:
            # A node of the hierarchy may be called as a range is and hold others: in a column of ranges it is none.
            ranges = [None if label is None else read_range(label) for label in (old, new)]
            if is_ranged and ranges[0] is not None and ranges[1] is not None and ranges[0].lies_within(ranges[1]):
                continue
            sets = vocabulary.leaf_sets([old, new])
            held: list[set[int]] = [set(), set()]
            for label, first, end in zip(sets.label.tolist(), sets.first.tolist(), sets.end.tolist(), strict=True):
                held[label] |= set(range(first, end))
            if not held[0] <= held[1]:
                raise PromiseBroken(f"column {name}: '{new}' does not stand for all that '{old}' stood for")


def _release_of(
    release: Any,
    original: Table | None,
    frame: pl.DataFrame,
    found: TableHardening,
    counts: ClassCounts,
    promises: Mapping[str, Score],
    classes: ReleasedClasses,
    options: _Options,
) -> TableRelease:
    """Return the hardened release; its recipe says what was changed, and cannot make it again."""
    changes = [one.as_dict() for one in found.after.changes]
    scene = found.after.scene
    hardened = {"bound": options.bound, "changes": changes, "on_grid": list(scene.method.on_grid)}
    n_out = classes.n_left_out + classes.frame.height - frame.height
    by_column = dict(found.after.changed.cost_by_column)
    facts = {
        "loss": found.after.changed.cost,
        "loss_name": "ncp",
        "loss_by_attribute": by_column,
        "rows": frame.height,
        "k": counts.k,
        "classes": counts.n_classes,
        "suppressed": n_out,
    }
    columns = [{"column": name, "loss": share} for name, share in by_column.items()]
    if isinstance(release, TableRelease) and release.release is not None:
        recipe = replace(release.recipe, options={**release.recipe.options, "hardened": hardened})
        rows = None if release.rows is None else release.rows[found.after.kept]
        made = Release(frame, recipe, rows)
        others = ("levels", "seconds", "may_suppress")
        told = {name: value for name, value in release.facts.items() if name not in others}
        ranges = {"ranges": "grid" if hardened["on_grid"] else release.facts.get("ranges")}
        return replace(
            release,
            release=made,
            recipe=recipe,
            facts={**told, **facts, **ranges, "hardened": True},
            promises={**release.promises, **promises},
            columns=columns,
            counts=counts,
        )
    asked: list[Any] = [{"name": "k-anonymity", "options": {"k": counts.k}}]
    more = {"requirements": asked, "suppression": options.suppress, "keep": [], "quasi_identifiers": classes.columns}
    recipe = Recipe("harden", {**more, "options": {}, "hardened": hardened}, options.seed)
    rows = scene.published.rows if isinstance(scene, ThreatModel) else None
    return TableRelease(
        original,
        Release(frame, recipe, rows),
        recipe,
        {"method": "harden", **facts},
        promises,
        columns,
        scene.hierarchies,
        number_columns=[name for name, one in classes.vocabularies.items() if one.is_numeric],
        counts=counts,
        frame_kind=release.kind if isinstance(release, Table) else "polars" if original is None else original.kind,
    )


def _facts(
    evidence: TableEvidence,
    options: _Options,
    found: TableHardening,
    before: ClassCounts,
    counts: ClassCounts,
    classes: ReleasedClasses,
) -> Json:
    after, old = found.after, classes.labels
    (attack, score), share = after.worst
    is_left = ~after.changed.is_out
    different = {
        name: np.array([a != b for a, b in zip(old[name], after.changed.labels[name], strict=True)]) & is_left
        for name in classes.columns
    }
    cells = int(sum(classes.sizes[one].sum() for one in different.values()))
    return {
        "method": "harden",
        "bound": options.bound,
        "compared": "the upper end of the 95 % interval" if evidence.by_interval else "the share found",
        "found_before": found.before.worst[1],
        "found": share,
        "found_by": f"{attack} ({score})",
        "k_before": before.k,
        "k": counts.k,
        "rows_before": classes.frame.height,
        "rows": counts.n_rows,
        "rows_left_out": classes.frame.height - counts.n_rows,
        "cells": counts.n_rows * len(classes.columns),
        "cells_changed": cells,
        "on_grid": list(after.scene.method.on_grid),
        "attempts": found.n_attempts,
        "stopped": found.stopped or None,
        "seed": options.seed,
        "seconds": round(time.monotonic() - options.started, 2),
        "class_sizes": classes.sizes,
        "snapped_rows": {name: int(classes.sizes[one].sum()) for name, one in different.items()},
    }


def _costs(found: TableHardening) -> dict[str, tuple[float, float]]:
    before, after = found.before.changed, found.after.changed
    own = {f"ncp of {name}": (cost, after.cost_by_column[name]) for name, cost in before.cost_by_column.items()}
    return {"ncp": (before.cost, after.cost), **own}
