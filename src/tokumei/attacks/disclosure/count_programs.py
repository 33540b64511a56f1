"""Linear and integer programs over counts of rows, whose bounds are proven in whole numbers.

A program has one variable for each class and cell: how many rows of the class have the values of the cell. A solver
works in floating point, so that its word is no proof. What is taken from it is a guess at the dual solution: by weak
duality any dual solution gives a bound, which is computed here in whole numbers. A bound that only holds for whole
counts is proven by branching: each branch is ruled out by a dual solution of its own.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
How = Literal["linear program", "integer program"]

# Dual solutions are rounded to multiples of 1 / SCALE. Rounding can only widen a bound.
SCALE = 1 << 20
# Branches that are looked at for one bound.
MOST_BRANCHES = 60
# Programs with more variables have bounds by linear programs alone.
MOST_IN_INTEGERS = 2_000
SECONDS_IN_INTEGERS = 1.0
SECONDS_IN_REALS = 60.0
NEAR_WHOLE = 1e-6
NONE: tuple[int, How, bool] = (0, "linear program", True)
# Whole solutions that are kept, to tell what they attain.
MOST_KEPT = 64


@dataclass(frozen=True)
class Proven:
    """Bounds of a sum of counts: both are proven; is_exact: both are attained by some whole solution."""

    least: int
    most: int
    how: How
    is_exact: bool


@dataclass(frozen=True, eq=False)
class _Branch:
    """The bounds of the variables in one branch, what is proven there at most, and the solution of the relaxation."""

    low: Ints
    high: Ints
    most: int
    solution: Floats


class CountProgram:
    """Counts from 0 to `upper`, of which some add up to given totals and others to at most given caps.

    equal, at_most: a row for each total and each cap; ones where a variable counts. deadline: when solvers stop, by
    `time.perf_counter`; what they did not find in time is not known.
    """

    def __init__(
        self,
        equal: sparse.csr_array,
        totals: Ints,
        at_most: sparse.csr_array,
        caps: Ints,
        upper: Ints,
        *,
        deadline: float = math.inf,
    ) -> None:
        self.equal, self.totals, self.at_most, self.caps, self.upper = equal, totals, at_most, caps, upper
        self.deadline = deadline
        self._found: list[Ints] = []

    @property
    def n_variables(self) -> int:
        """How many counts are unknown: one for each class and cell."""
        return len(self.upper)

    def is_late(self) -> bool:
        """Whether the time to solve is up."""
        return self._seconds_left <= 0

    @property
    def _seconds_left(self) -> float:
        return self.deadline - time.perf_counter()

    def bounds(self, counted: Ints, known: tuple[int, int]) -> Proven | None:
        """Bound the sum of the counted variables, which is known to lie between two numbers; None if nothing is found.

        A program that no whole counts fit gives no bounds.
        """
        if not len(counted):
            return Proven(0, 0, "linear program", is_exact=True)
        ones = self._ones(counted)
        upper = self._at_most(ones, known[1])
        if upper is None:
            return None
        lower = self._at_most(-ones, -known[0])
        if lower is None:
            return None
        how: How = "integer program" if "integer program" in (upper[1], lower[1]) else "linear program"
        return Proven(-lower[0], upper[0], how, is_exact=upper[2] and lower[2])

    @cached_property
    def is_contradicted(self) -> bool:
        """Whether it is proven that no counts fit."""
        return self._has_no_solution(np.zeros_like(self.upper), self.upper)

    @property
    def solutions(self) -> Sequence[Ints]:
        """The whole solutions that were found last, each checked in whole numbers."""
        return self._found

    def most(self, counted: Ints, known: int, *, in_integers: bool = True) -> int | None:
        """Prove how many the counted variables add up to at most; None if nothing is found."""
        found = self._at_most(self._ones(counted), known, in_integers=in_integers) if len(counted) else NONE
        return None if found is None else found[0]

    def least(self, counted: Ints, *, in_integers: bool = True) -> int | None:
        """Prove how many the counted variables add up to at least; None if nothing is found."""
        found = self._at_most(-self._ones(counted), 0, in_integers=in_integers) if len(counted) else NONE
        return None if found is None else -found[0]

    def solve(self, gains: Floats, seconds: float, within: tuple[Ints, Ints] | None = None) -> Ints | None:
        """Return whole counts that fit, lie within bounds and gain as much as was found in time; None if none were."""
        left = min(seconds, self._seconds_left)
        low, high = (np.zeros_like(self.upper), self.upper) if within is None else within
        if left <= 0:
            return None
        found = milp(
            -gains,
            integrality=np.ones(self.n_variables, np.int64),
            bounds=Bounds(low, np.minimum(high, self.upper)),
            constraints=self._constraints(np.zeros_like(self.upper)),
            options={"time_limit": left},
        )
        if found.x is None or not self._keep(found.x):
            return None
        out: Ints = np.rint(found.x).astype(np.int64)
        return out

    def nearest(self, wanted: Ints, seconds: float, *, is_whole: bool) -> Floats | None:
        """Return counts that fit and differ in few rows from those wanted; None if none were found in time.

        is_whole: or else they may be fractions of rows, which are found far sooner.
        """
        left = min(seconds, self._seconds_left)
        if left <= 0:
            return None
        start = np.minimum(wanted, self.upper)
        found = milp(
            np.ones(2 * self.n_variables),
            integrality=np.full(2 * self.n_variables, int(is_whole)),
            bounds=Bounds(0, np.concatenate([self.upper - start, start])),
            # What is more and what is less than was wanted.
            constraints=self._constraints(start, doubled=True),
            options={"time_limit": left},
        )
        if found.x is None:
            return None
        more, less = np.split(found.x, 2)
        out: Floats = start + more - less
        return None if is_whole and not self._keep(out) else out

    def _constraints(self, start: Ints, *, doubled: bool = False) -> list[LinearConstraint]:
        """Return what must hold of counts beside those at the start; doubled: of what is more, and of what is less."""
        totals, caps = self.totals - self.equal @ start, self.caps - self.at_most @ start
        out = []
        for rows, low, high in ((self.equal, totals, totals), (self.at_most, -np.inf, caps)):
            if len(high):
                matrix = sparse.hstack([rows, -rows], format="csr") if doubled else rows
                out.append(LinearConstraint(matrix, low, high))
        return out

    def _ones(self, counted: Ints) -> Ints:
        ones = np.zeros(self.n_variables, np.int64)
        ones[counted] = 1
        return ones

    def _at_most(self, costs: Ints, known: int, *, in_integers: bool = True) -> tuple[int, How, bool] | None:
        """Prove the least bound on the costs that can be: the bound, how it was proven, and whether it is attained."""
        attained = max((int(costs @ one) for one in self._found), default=None)
        if attained is None or attained < known:
            attained = self._fill(costs)
        if attained is not None and attained >= known:
            return known, "linear program", True
        root = self._branch(costs, np.zeros_like(self.upper), self.upper)
        if root is None:
            return None
        most = min(known, root.most)
        self._keep(root.solution)
        attained = max((int(costs @ one) for one in self._found), default=None)
        if attained is not None and attained >= most:
            return most, "linear program", True
        if self.n_variables > MOST_IN_INTEGERS or not in_integers:
            return most, "linear program", False
        self.solve(costs.astype(float), SECONDS_IN_INTEGERS)
        whole = min(most, self._by_branches(costs, root))
        attained = max((int(costs @ one) for one in self._found), default=None)
        is_exact = attained is not None and attained >= whole
        return whole, "integer program" if whole < most else "linear program", is_exact

    def _by_branches(self, costs: Ints, root: _Branch) -> int:
        """Prove a bound for whole counts by branching on variables that are not whole, the worst branch first."""
        order = itertools.count()
        waiting = [(-root.most, next(order), root)]
        # A branch that can be neither ruled out nor split keeps its bound.
        settled = -math.inf
        for _ in range(MOST_BRANCHES):
            best = max((int(costs @ one) for one in self._found), default=None)
            floor = settled if best is None else max(settled, best)
            if not waiting or -waiting[0][0] <= floor or self.is_late():
                break
            branch = heapq.heappop(waiting)[2]
            away = np.abs(branch.solution - np.rint(branch.solution))
            at = int(np.argmax(away))
            if away[at] <= NEAR_WHOLE:
                settled = max(settled, branch.most)
                continue
            cut = math.floor(branch.solution[at])
            for side in (0, 1):
                low, high = branch.low.copy(), branch.high.copy()
                if side:
                    low[at] = cut + 1
                else:
                    high[at] = cut
                found = self._branch(costs, low, high)
                if found is not None:
                    self._keep(found.solution)
                    heapq.heappush(waiting, (-min(found.most, branch.most), next(order), found))
                elif not self._has_no_solution(low, high):
                    settled = max(settled, branch.most)
        reached = [settled, *(int(costs @ one) for one in self._found), *(-most for most, _, _ in waiting)]
        return root.most if max(reached) == -math.inf else int(max(reached))

    def _branch(self, costs: Ints, low: Ints, high: Ints) -> _Branch | None:
        """Solve the relaxation within bounds, and prove what it says at most; None if it found no solution in time."""
        left = self._seconds_left
        if (low > high).any() or left <= 0:
            return None
        # The stubs of scipy do not know that it takes sparse matrices here, and bounds as one array.
        limits: Any = np.column_stack([low, high])
        at_most: Any = self.at_most if len(self.caps) else None
        equal: Any = self.equal if len(self.totals) else None
        found = linprog(
            -costs.astype(float),
            at_most,
            self.caps if len(self.caps) else None,
            equal,
            self.totals if len(self.totals) else None,
            limits,
            method="highs",
            options={"time_limit": min(SECONDS_IN_REALS, left)},
        )
        if found.x is None or found.status != 0:
            return None
        duals = [-found.eqlin.marginals, -found.ineqlin.marginals]
        most = self._proven_most(costs, low, high, *(_scaled(one) for one in duals))
        return _Branch(low, high, most, found.x)

    def _proven_most(self, costs: Ints, low: Ints, high: Ints, of_totals: Ints, of_caps: Ints) -> int:
        """Compute what a dual solution proves of the costs, in whole numbers: any dual solution proves a bound."""
        of_caps = np.maximum(of_caps, 0)
        rest = SCALE * costs - self.equal.T @ of_totals - self.at_most.T @ of_caps
        bound = int(of_totals @ self.totals) + int(of_caps @ self.caps)
        bound += int(np.where(rest > 0, rest * high, rest * low).sum())
        return bound // SCALE

    def _has_no_solution(self, low: Ints, high: Ints) -> bool:
        """Prove that no counts within bounds fit: what must be violated at least is more than nothing."""
        if (low > high).any():
            return True
        n_totals, n_caps = len(self.totals), len(self.caps)
        own, other = sparse.eye_array(n_totals, dtype=np.int64), sparse.eye_array(n_caps, dtype=np.int64)
        none = sparse.csr_array((n_totals, n_caps), dtype=np.int64)
        none_of_caps = sparse.csr_array((n_caps, 2 * n_totals), dtype=np.int64)
        relaxed = CountProgram(
            sparse.hstack([self.equal, own, -own, none], format="csr"),
            self.totals,
            sparse.hstack([self.at_most, none_of_caps, -other], format="csr"),
            self.caps,
            np.zeros(0, np.int64),
            deadline=self.deadline,
        )
        n_more = 2 * n_totals + n_caps
        most = int(self.totals.sum()) + int(self.upper.sum()) + 1
        costs = np.concatenate([np.zeros_like(low), np.full(n_more, -1)])
        relaxed.upper = np.concatenate([high, np.full(n_more, most)])
        found = relaxed._branch(costs, np.concatenate([low, np.zeros(n_more, np.int64)]), relaxed.upper)
        return found is not None and found.most < 0

    def _fill(self, costs: Ints) -> int | None:
        """Fill the cells one after the other, those that count most first: where there is room, that attains the bound.

        Return what the costs add up to; None if it did not come out, or if variables do not have one total each.
        """
        if not self._is_parted:
            return None
        room, out = self.caps.tolist(), np.zeros_like(self.upper)
        order = np.lexsort((np.arange(len(costs)), -costs))
        # The class that is asked for is filled before those that share its cells.
        asked = self._total_of[order[0] if costs[order[0]] else order[-1]]
        by_total = (
            [order[self._total_of[order] == at] for at in range(len(self.totals))] if len(self.totals) > 1 else [order]
        )
        for at in sorted(range(len(by_total)), key=lambda at: at != asked):
            left = int(self.totals[at])
            for variable in by_total[at].tolist():
                own = self._caps_of[variable]
                placed = min([left, int(self.upper[variable]), *(room[cap] for cap in own)])
                if placed:
                    out[variable] = placed
                    left -= placed
                    for cap in own:
                        room[cap] -= placed
                    if not left:
                        break
            if left:
                return None
        self._keep(out.astype(float))
        return int(costs @ out)

    @cached_property
    def _is_parted(self) -> bool:
        """Whether each variable belongs to one total, and caps only add variables up."""
        n_totals = np.diff(self.equal.tocsc().indptr)
        return bool((n_totals == 1).all() and (self.at_most.data > 0).all())

    @cached_property
    def _total_of(self) -> Ints:
        """The total that each variable belongs to."""
        return self.equal.tocsc().indices.astype(np.int64)

    @cached_property
    def _caps_of(self) -> list[list[int]]:
        """The caps that each variable counts in."""
        by_variable = self.at_most.tocsc()
        return [one.tolist() for one in np.split(by_variable.indices, by_variable.indptr[1:-1])]

    def _keep(self, solution: Floats) -> bool:
        """Keep a solution if it is whole and fits, so that what it attains need not be asked again."""
        whole = np.rint(solution).astype(np.int64)
        is_in = ((whole >= 0) & (whole <= self.upper)).all()
        if is_in and (self.equal @ whole == self.totals).all() and (self.at_most @ whole <= self.caps).all():
            self._found.append(whole)
            del self._found[:-MOST_KEPT]
            return True
        return False


def rows_of(lists: Sequence[Ints], n_variables: int) -> sparse.csr_array:
    """Return the matrix with a row for each list of variables, ones where they stand."""
    starts = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
    columns = np.concatenate(lists) if lists else np.zeros(0, np.int64)
    return sparse.csr_array((np.ones(len(columns), np.int64), columns, starts), shape=(len(lists), n_variables))


def _scaled(duals: Floats) -> Ints:
    out: Ints = np.rint(np.asarray(duals, float) * SCALE).astype(np.int64)
    return out
