"""Integer programs over all tables that agree with what is known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import TokumeiError
from tokumei.exchange.public_knowledge import Bools, CellKnowledge
from tokumei.predictors.margin import Ints

# SciPy's solvers are imported where they are called: every process of the server imports this module, few solve.
if TYPE_CHECKING:
    from scipy.optimize import LinearConstraint
    from scipy.sparse import csr_array


class Unsolved(TokumeiError):
    """A program that has no end, such as the sum of cells that nothing holds back, or that took too long."""


class Program:
    """The integer program of all tables that agree with what is known; several tables lie side by side."""

    def __init__(self, n_cells: int) -> None:
        self.n_cells = n_cells
        self._rows: list[csr_array] = []
        self._lows: list[float] = []
        self._highs: list[float] = []
        self.n_switches = 0
        self._switched: list[tuple[int, int, float]] = []
        self.n_solved = 0

    def learn(self, known: CellKnowledge, parts: Sequence[int], n_rows: int) -> None:
        """Add what is known of the sum of some of the tables, which have this many rows at most."""
        for told in known.told:
            self._add(told.cells, parts, told.rows, told.rows)
        for inside in known.occur:
            self._add(inside, parts, 1, np.inf)
        for (one, enough), (other, bound) in known.halves:
            switch = self._switch()
            self._add(one, parts, -np.inf, enough - 1, (switch, -float(n_rows)))
            self._add(other, parts, -np.inf, bound - 1 + n_rows, (switch, float(n_rows)))
        for inside, k in known.hold:
            switch = self._switch()
            self._add(inside, parts, 0, np.inf, (switch, -float(k)))
            self._add(inside, parts, -np.inf, 0, (switch, -float(n_rows)))

    def _switch(self) -> int:
        self.n_switches += 1
        return self.n_switches - 1

    def _add(
        self, inside: Bools, parts: Sequence[int], low: float, high: float, switch: tuple[int, float] | None = None
    ) -> None:
        from scipy.sparse import csr_array

        at = np.flatnonzero(inside)
        indices = np.concatenate([at + part * (len(inside)) for part in parts])
        ones = np.ones(len(indices))
        if switch is not None:
            self._switched.append((len(self._rows), switch[0], switch[1]))
        self._rows.append(csr_array((ones, (np.zeros(len(indices), int), indices)), shape=(1, self.n_cells)))
        self._lows.append(low)
        self._highs.append(high)

    @cached_property
    def _constraint(self) -> LinearConstraint:
        from scipy.optimize import LinearConstraint
        from scipy.sparse import csr_array, hstack, vstack

        cells = vstack(self._rows, format="csr")
        rows, columns, values = zip(*self._switched, strict=True) if self._switched else ((), (), ())
        switches = csr_array((values, (rows, columns)), shape=(len(self._rows), self.n_switches))
        matrix = hstack([cells, switches], format="csr") if self.n_switches else cells
        return LinearConstraint(matrix, np.array(self._lows), np.array(self._highs))

    def solve(self, aim: npt.NDArray[np.float64]) -> Ints | None:
        """Return a table that minimizes the aim; None if there is no table at all."""
        from scipy.optimize import Bounds, milp

        n = self.n_cells + self.n_switches
        most = np.concatenate([np.full(self.n_cells, np.inf), np.ones(self.n_switches)])
        full = np.concatenate([aim, np.zeros(self.n_switches)])
        self.n_solved += 1
        found = milp(full, constraints=self._constraint, bounds=Bounds(0, most), integrality=np.ones(n, np.int64))
        if found.x is None:
            if found.status == 2:
                return None
            raise Unsolved(f"An integer program was not solved: {found.message}")
        return np.rint(found.x[: self.n_cells]).astype(np.int64)
