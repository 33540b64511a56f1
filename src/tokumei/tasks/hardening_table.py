"""The search for the least further changes to a table under which no attack finds more than is allowed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.attacks.public_knowledge import Deductions, PublicKnowledge
from tokumei.attacks.registry import DisclosureAttack, NamesVictims, ReleaseAttack
from tokumei.attacks.threat_model import NOBODY, Published, ThreatModel
from tokumei.core.errors import CannotAnonymize
from tokumei.core.progress import Bar, SilentBar, step
from tokumei.core.score import Score
from tokumei.core.text import Text
from tokumei.data.table import Table
from tokumei.methods.class_changes import ChangedClasses, ClassChange, ReleasedClasses
from tokumei.tasks.attack_table import deduce_each, try_each
from tokumei.tasks.table_attack_result import Tried

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Key = tuple[str, str]
Changes = tuple[ClassChange, ...]
# What is known for certain of cells counts beside the main score of an attack.
CERTAIN = "cells-certain"
# Of tables up to so many rows so many next changes are tried one by one; of larger ones the likeliest are made at once.
SMALL_TABLE, MOST_TRIALS = 500, 40
# The blame of attacks that do not tell whom they find.
UNKNOWN = ""
# Partners that a class might be merged with.
PARTNERS = 8
# So many attempts are made at most before the search goes on with the best it has.
MOST_ATTEMPTS = 400
# A share that equals what is found blindly may differ from it by the last digits.
ROUNDING = 1e-12
# How often at most one more attack tries to do without some of the changes.
IMPROVEMENTS = 8


@dataclass(frozen=True, eq=False)
class TableEvidence:
    """Who attacks: the attacks by name, and what they know of the people, or of the release alone."""

    attacks: Mapping[str, DisclosureAttack]
    scene: ThreatModel | PublicKnowledge
    by_interval: bool
    seed: int

    def on(self, frame: pl.DataFrame, kept: Ints, snapped: Sequence[str]) -> ThreatModel | PublicKnowledge:
        """Return what attackers know when this frame is released in place of the first, and columns are on a grid."""
        method = replace(self.scene.method, on_grid=[*self.scene.method.on_grid, *snapped])
        if isinstance(self.scene, PublicKnowledge):
            return replace(self.scene, release=_with_rows(self.scene.release, frame), method=method)
        before = self.scene.published
        made = Published(_with_rows(before.table, frame), before.rows[kept])
        return replace(self.scene, published=made, method=method)

    def try_on(self, scene: ThreatModel | PublicKnowledge) -> list[Tried]:
        """Try every attack."""
        if isinstance(scene, ThreatModel):
            return try_each(self.attacks, scene, self.seed)
        alone = {name: part for name, part in self.attacks.items() if isinstance(part, ReleaseAttack)}
        return deduce_each(alone, scene, self.seed)

    def found(self, score: Score) -> float:
        """Return what an attack finds beyond what is found blindly: the upper end of its interval, if that counts."""
        if score.interval == (0.0, 1.0) and not score.value:
            # There was nothing to find at all.
            return 0.0
        most = score.interval[1] if self.by_interval and score.interval else score.value
        beyond = most - (score.baseline or 0.0)
        return beyond if beyond > ROUNDING else 0.0

    def blamed(self, tried: Tried, scene: ThreatModel | PublicKnowledge) -> dict[str | None, Floats]:
        """Return how much each released row adds to what an attack found, by the column where it is one.

        People are blamed under None; attacks that tell neither rows nor people blame all rows alike, under "".
        """
        if tried.deduced is not None:
            public = PublicKnowledge.of(scene) if isinstance(scene, ThreatModel) else scene
            found = _by_claims(tried.deduced, public)
            if found:
                return found
        elif isinstance(scene, ThreatModel):
            part = self.attacks[tried.attack]
            if tried.sensitive is not None:
                part = replace(part, sensitive=tried.sensitive)  # type: ignore[type-var]
            if isinstance(part, NamesVictims):
                is_found = np.zeros(scene.original.n_rows + 1)
                is_found[scene.targets] = part.risks(scene, seed=self.seed)
                owners = scene.published.owners(scene.original.n_rows)
                return {None: np.where(owners == NOBODY, 0.0, is_found[owners])}
        n_rows = scene.published.table.n_rows if isinstance(scene, ThreatModel) else scene.release.n_rows
        return {UNKNOWN: np.ones(n_rows)}


@dataclass(frozen=True, eq=False)
class Attempt:
    """Some changes, and what the attacks find then."""

    changes: Changes
    changed: ChangedClasses
    tried: Sequence[Tried]
    shares: Mapping[Key, float]
    kept: Ints
    scene: ThreatModel | PublicKnowledge

    def excess(self, bound: float) -> dict[Key, float]:
        """Return by how much scores are above the bound, those that are."""
        return {key: share - bound for key, share in self.shares.items() if share > bound}

    @property
    def worst(self) -> tuple[Key, float]:
        """The attack that finds most, and what it finds."""
        return max(self.shares.items(), key=lambda one: one[1])


@dataclass(frozen=True, eq=False)
class TableHardening:
    """What the search found: the changes, what every attack finds before and after, and how many attempts it took."""

    before: Attempt
    after: Attempt
    n_attempts: int
    stopped: str = ""


@dataclass(eq=False)
class TableSearch:
    """A greedy search with local improvement: change what is blamed most for its cost, then undo what is not needed."""

    classes: ReleasedClasses
    evidence: TableEvidence
    bound: float
    moves: Sequence[str]
    n_may_suppress: int
    keeps_promise: Callable[[pl.DataFrame], bool]
    deadline: float = float("inf")
    attempts: dict[Changes, Attempt | None] = field(default_factory=dict)
    _best: Attempt | None = None
    _bar: Bar = field(default_factory=SilentBar)

    def run(self) -> TableHardening:
        """Find the changes; CannotAnonymize where none keeps every attack under the bound."""
        with step("hardening") as bar:
            self._bar = bar
            before = self.attempt(())
            assert before is not None  # noqa: S101 - nothing was changed, and nothing promised is broken by that.
            for order in self._orders:
                self._greedy(before, order)
            if self._best is None:
                raise self._failed(before)
            best = self._improved(self._best) if self._best.changes else self._best
        late = "the time was up" if time.monotonic() > self.deadline else ""
        return TableHardening(before, best, len(self.attempts), late)

    def attempt(self, changes: Sequence[ClassChange], *, as_good: bool = False) -> Attempt | None:
        """Make changes and attack the result; None where a promise breaks or too many rows are left out.

        None too for changes that cost no less than what holds already: further ones only cost more. Those that cost as
        much are tried where they are fewer (`as_good`).
        """
        key = tuple(sorted(changes))
        if key not in self.attempts:
            changed = self.classes.changed(key)
            if self._best is not None and changed.cost > self._best.changed.cost + (ROUNDING if as_good else -ROUNDING):
                return None
            self.attempts[key] = self._attempted(key, changed)
            self._bar.advance()
        found = self.attempts[key]
        holds = found is not None and not found.excess(self.bound)
        if found is not None and holds and (self._best is None or found.changed.cost < self._best.changed.cost):
            self._best = found
        return found

    @cached_property
    def n_trials(self) -> int:
        """How many changes are tried for each decision; 0 of a large table."""
        return MOST_TRIALS if self.classes.frame.height <= SMALL_TABLE else 0

    @cached_property
    def _orders(self) -> list[Order]:
        """How often a small table is searched: by what goes farthest, by what is cheapest, and without each kind."""
        if not self.n_trials:
            return [Order(tuple(self.moves))]
        kinds = [tuple(kind for kind in self.moves if kind != left_out) for left_out in self.moves]
        return [Order(tuple(self.moves)), Order(tuple(self.moves), by_cost=True), *(Order(one) for one in kinds if one)]

    def _attempted(self, changes: Changes, changed: ChangedClasses) -> Attempt | None:
        frame, kept = self.classes.released(changed)
        if len(kept) < max(1, self.classes.frame.height - self.n_may_suppress):
            return None
        if changes and not self.keeps_promise(frame):
            return None
        scene = self.evidence.on(frame, kept, sorted({one.column for one in changes if one.kind == "snap"}))
        tried = self.evidence.try_on(scene)
        shares = {
            (one.title, name): self.evidence.found(score)
            for one in tried
            for at, (name, score) in enumerate(one.scores.items())
            if at == 0 or name == CERTAIN
        }
        return Attempt(changes, changed, tried, shares, kept, scene)

    def _greedy(self, now: Attempt, order: Order) -> Attempt | None:
        """Change until every attack stays under the bound; None where there is nothing left to change."""
        factor = 1.0
        while now.excess(self.bound):
            if time.monotonic() > self.deadline or (self._best and len(self.attempts) > MOST_ATTEMPTS):
                return None
            moves = self._moves(now, order.kinds)
            if not moves:
                return None
            moves.sort(key=lambda one: (one.cost if order.by_cost else one.cost / max(one.relief, 1e-12), one.changes))
            done = self._best_of(now, moves[: self.n_trials], by_cost=order.by_cost) if self.n_trials else None
            if done is None:
                done = self._batch(now, moves, factor)
                factor *= 1 if done is None or self._distance(done) < 0.9 * self._distance(now) else 2
            if done is None:
                return None
            now = done
        return now

    def _distance(self, attempt: Attempt) -> float:
        return sum(attempt.excess(self.bound).values())

    def _best_of(self, now: Attempt, moves: Sequence[Move], *, by_cost: bool) -> Attempt | None:
        """Try moves one by one; return the cheapest that is enough, or what goes farthest for its cost."""
        made = [one for move in moves if (one := self.attempt((*now.changes, *move.changes))) is not None]
        enough = [one for one in made if not one.excess(self.bound)]
        if enough:
            return min(enough, key=lambda one: one.changed.cost)
        distance = self._distance(now)
        nearer = [one for one in made if self._distance(one) < distance - 1e-12]

        def price(one: Attempt) -> float:
            rise = one.changed.cost - now.changed.cost
            return rise if by_cost else rise / (distance - self._distance(one))

        return min(nearer, key=price, default=None)

    def _batch(self, now: Attempt, moves: Sequence[Move], factor: float) -> Attempt | None:
        """Make as many of the moves at once as should bring all attacks under the bound, each class once."""
        needed = factor * self._distance(now)
        taken: list[Move] = []
        touched: set[int] = set()
        # What puts a whole column on a grid goes first: it is cheap for all that it hides.
        snaps = [move for move in moves if move.changes[0].kind == "snap"]
        for move in snaps or moves:
            if needed <= 1e-12:
                break
            if touched.isdisjoint(move.units):
                taken.append(move)
                touched |= move.units
                needed -= move.relief
        while taken:
            done = self.attempt((*now.changes, *(change for move in taken for change in move.changes)))
            if done is not None:
                return done
            # What is promised of all rows together may break where rows are left out.
            without = [one for one in taken if one.changes[0].kind != "suppress"]
            taken = without if len(without) < len(taken) else taken[: len(taken) // 2]
        return None

    def _improved(self, best: Attempt) -> Attempt:
        """Undo what is not needed, in halves of halves; of small tables also put something cheaper in its place."""
        left = IMPROVEMENTS + 5 * self.n_trials
        size = max(1, len(best.changes) // 2)
        while size and left > 0:
            order = sorted(best.changes, key=self._alone, reverse=True)
            for start in range(0, len(order), size):
                if left <= 0 or time.monotonic() > self.deadline:
                    return best
                without = _without(best.changes, order[start : start + size])
                if len(without) == len(best.changes):
                    continue
                done, left = self.attempt(without, as_good=True), left - 1
                if done is not None and not done.excess(self.bound):
                    best = done
            size //= 2
        return self._exchanged(best, left) if self.n_trials else best

    def _exchanged(self, best: Attempt, left: int) -> Attempt:
        """Undo one change at a time and search on from there, as long as that gets cheaper."""
        for change in best.changes:
            base = self.attempt(_without(best.changes, [change]))
            if base is None or left <= 0 or time.monotonic() > self.deadline:
                continue
            left -= 1
            for order in self._orders:
                other = self._greedy(base, order)
                if other is not None and other.changed.cost < best.changed.cost - ROUNDING:
                    return self._improved(other)
        return best

    def _alone(self, change: ClassChange) -> float:
        return self.classes.changed([change]).cost

    def _moves(self, now: Attempt, kinds: Sequence[str]) -> list[Move]:
        """List what might be changed next, with what it costs and how much of the blame it takes away."""
        # Of a large table nothing is tried by itself, and what seldom hides a person is not considered.
        is_tried = bool(self.n_trials)
        units = _Units(self.classes, now, self._blame(now), is_tried=is_tried or "merge" not in kinds)
        found: list[Move] = []
        if "snap" in kinds:
            found += self._snaps(now, units)
        for unit in units.blamed:
            if "widen" in kinds:
                found += units.widened(unit)
            if "merge" in kinds:
                found += units.merged(unit, PARTNERS if is_tried else 1)
            if "suppress" in kinds:
                found += units.suppressed(unit)
        return found

    def _snaps(self, now: Attempt, units: _Units) -> Iterator[Move]:
        done = {one.column for one in now.changes if one.kind == "snap"}
        for column in self.classes.columns:
            relief = units.all_of(column)
            if column in done or not relief or self.classes.is_public(column):
                continue
            change = ClassChange("snap", column=column)
            rise = self.classes.changed([*now.changes, change]).cost - now.changed.cost
            # It may stand beside changes of any class.
            yield Move((change,), frozenset(), rise, relief)

    def _blame(self, now: Attempt) -> dict[str | None, Floats]:
        """Return for each class how much it adds to what is above the bound, by column."""
        out: dict[str | None, Floats] = {}
        over, by_title = now.excess(self.bound), {one.title: one for one in now.tried}
        class_of = self.classes.class_of[now.kept]
        for (title, _), excess in over.items():
            found = self.evidence.blamed(by_title[title], now.scene)
            total = sum(float(rows.sum()) for rows in found.values())
            # Taking all of the blame away takes away all that is found.
            scale = (excess + self.bound) / total if total else 0.0
            for column, rows in found.items():
                own = np.bincount(class_of, rows * scale, len(self.classes.sizes))
                out[column] = out.get(column, np.zeros(len(own))) + own
        return out

    def _failed(self, before: Attempt) -> CannotAnonymize:
        made = [one for one in self.attempts.values() if one is not None]
        nearest = min(made, key=lambda one: (self._distance(one), one.changed.cost)) if made else before
        (attack, score), found = nearest.worst
        why = Text(" The time was up.") if time.monotonic() > self.deadline else ""
        return CannotAnonymize(
            Text(
                "No further change keeps every attack under {bound:g}; nearest comes {n:,} changes with {found:.3f} by "
                "{attack} ({score}).{why}",
                bound=self.bound,
                n=len(nearest.changes),
                found=found,
                attack=attack,
                score=score,
                why=why,
            )
        )


@dataclass(frozen=True)
class Order:
    """How a search chooses among changes: of these kinds, by what goes farthest for its cost, or by the cost alone."""

    kinds: tuple[str, ...]
    by_cost: bool = False


@dataclass(frozen=True)
class Move:
    """Changes that are considered next: the units they touch, what they cost, and what blame they take away."""

    changes: Changes
    units: frozenset[int]
    cost: float
    relief: float


class _Units:
    """The classes after some changes, those that were merged as one, with what each is blamed for."""

    def __init__(
        self, classes: ReleasedClasses, now: Attempt, blame: dict[str | None, Floats], *, is_tried: bool
    ) -> None:
        self.classes, self.now, self.blame, self.is_tried = classes, now, blame, is_tried
        changed = now.changed
        n_rows = classes.frame.height + classes.n_left_out
        self.first = np.flatnonzero((np.arange(len(changed.unit_of)) == changed.unit_of) & ~changed.is_out)
        self.sizes = np.bincount(changed.unit_of, np.where(changed.is_out, 0, classes.sizes), len(changed.unit_of))
        self.weights = {name: weight / max(1, n_rows) for name, weight in classes.weights.items()}
        self.total = {column: np.bincount(changed.unit_of, own, len(changed.unit_of)) for column, own in blame.items()}
        whole = sum(self.total.values(), np.zeros(len(changed.unit_of)))
        is_blamed = whole[self.first] > 0
        self.whole = whole
        order = np.argsort(-whole[self.first[is_blamed]], kind="stable")
        self.blamed: list[int] = self.first[is_blamed][order].tolist()

    def all_of(self, column: str) -> float:
        """Return how much blame a wider column may take away."""
        return sum(float(self.total[one].sum()) * share for one, share in self._shares(column) if one in self.total)

    def _shares(self, column: str) -> list[tuple[str | None, float]]:
        # A wider label alone hides a person only where it makes other records fit.
        return [(column, 1.0), (UNKNOWN, 0.5), (None, 0.5 if self.is_tried else 0.0)]

    def widened(self, unit: int) -> Iterator[Move]:
        """Widen one label of a unit, in the columns that are blamed or, where people are, in any."""
        for column in self.classes.columns:
            relief = sum(self._of(one, unit) * share for one, share in self._shares(column))
            label = self.now.changed.labels[column][unit]
            wider = self.classes.wider(column, label)
            if not relief or wider == label:
                continue
            rise = self.classes.cost(column, wider) - self.classes.cost(column, label)
            cost = rise * float(self.sizes[unit]) * self.weights[column]
            yield Move((ClassChange("widen", (unit,), column),), frozenset([unit]), cost, relief)

    def merged(self, unit: int, n_partners: int) -> Iterator[Move]:
        """Merge a unit with those that cost least, and have a sensitive value that it has not."""
        place = int(np.searchsorted(self.first, unit))
        rises = np.zeros(len(self.first))
        for column in self.classes.columns:
            codes, labels = self._coded[column]
            own = labels[codes[place]]
            if (column, own) not in self._joint:
                self._joint[column, own] = self.classes.ladders[column].cover_costs(own, labels)
            each = np.array([self.classes.cost(column, label) for label in labels])[codes]
            size, sizes = self.sizes[unit], self.sizes[self.first]
            together = self._joint[column, own][codes] * (size + sizes)
            rises += self.weights[column] * (together - each[place] * size - each * sizes)
        rises[place] = np.inf
        low, high = self._ends
        if low is not None and high is not None and self._of(None, unit) > 0 and not self.is_tried:
            is_new = (low[self.first] < low[unit]) | (high[self.first] > high[unit])
            rises = np.where(is_new, rises, np.inf)
        for at in np.argsort(rises, kind="stable")[:n_partners].tolist():
            if np.isfinite(rises[at]):
                other = int(self.first[at])
                change = ClassChange("merge", (min(unit, other), max(unit, other)))
                relief = float(self.whole[unit] + self.whole[other])
                yield Move((change,), frozenset([unit, other]), max(float(rises[at]), 0.0), relief)

    def suppressed(self, unit: int) -> Iterator[Move]:
        """Leave out all rows of a unit."""
        members = np.flatnonzero(self.now.changed.unit_of == unit).tolist()
        lost = sum(
            (1 - self.classes.cost(column, self.now.changed.labels[column][unit])) * self.weights[column]
            for column in self.classes.columns
        )
        change = ClassChange("suppress", tuple(members))
        yield Move((change,), frozenset([unit]), lost * float(self.sizes[unit]), float(self.whole[unit]))

    def _of(self, column: str | None, unit: int) -> float:
        return float(self.total[column][unit]) if column in self.total else 0.0

    @cached_property
    def _joint(self) -> dict[tuple[str, str | None], Floats]:
        return {}

    @cached_property
    def _coded(self) -> dict[str, tuple[Ints, list[str | None]]]:
        """For each column the number of each unit's label among the different ones."""
        out: dict[str, tuple[Ints, list[str | None]]] = {}
        for column, labels in self.now.changed.labels.items():
            own = [labels[unit] for unit in self.first.tolist()]
            distinct = list(dict.fromkeys(own))
            number = {label: at for at, label in enumerate(distinct)}
            out[column] = np.array([number[label] for label in own]), distinct
        return out

    @cached_property
    def _ends(self) -> tuple[Ints, Ints] | tuple[None, None]:
        """The first and the last sensitive value of each unit in order of texts; None unless there is one column."""
        scene = self.now.scene
        sensitive = scene.sensitive if isinstance(scene, ThreatModel) else []
        if len(sensitive) != 1 or sensitive[0] not in self.classes.frame.columns:
            return None, None
        codes = self.classes.frame[sensitive[0]].cast(pl.String).rank("dense").fill_null(0).to_numpy().astype(np.int64)
        unit_of = self.now.changed.unit_of[self.classes.class_of]
        low, high = np.full(len(self.sizes), np.iinfo(np.int64).max), np.full(len(self.sizes), -1)
        np.minimum.at(low, unit_of, codes)
        np.maximum.at(high, unit_of, codes)
        return low, high


def _by_claims(deduced: Deductions, public: PublicKnowledge) -> dict[str | None, Floats]:
    """Return how many cells each row has that are claimed to be known, by column; of nothing known, all claims."""
    claims = deduced.claims.filter(pl.col("row").is_not_null())
    exact = claims.filter(pl.col("value").is_not_null())
    out: dict[str | None, Floats] = {}
    told = exact if exact.height else claims
    for column, row, n_cells in told.select("column", "row", pl.col("least").clip(1)).iter_rows():
        by_class = out.setdefault(column, np.zeros(len(public.sizes)))
        by_class[public.class_of[row - 1]] += n_cells
    return {column: (own / public.sizes)[public.class_of] for column, own in out.items()}


def _with_rows(table: Table, frame: pl.DataFrame) -> Table:
    return Table(frame, roles={name: table.roles[name] for name in frame.columns}, name=table.name)


def _without(changes: Changes, undone: Sequence[ClassChange]) -> Changes:
    """Return changes without some, each as often as it is named."""
    left = list(changes)
    for one in undone:
        if one in left:
            left.remove(one)
    return tuple(left)
