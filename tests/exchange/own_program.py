"""Whether all that is public proves a class small, by integer programs that share nothing with the product's own.

It reads what is published – the body of each revision as JSON, the text of each release – and knows the rules. Tables
are whole numbers, one for each combination of values, a missing value among them; what is known are equations and
"none, or at least k". A class is proven small if in every such table it has at least one row and fewer than k.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import lil_array

from tokumei.exchange.offer import Offer
from tokumei.predictors.one_way import halving_tree

Mask = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.float64]
Value = str | None


@dataclass(frozen=True)
class Out:
    """A release that is out: its levels, its text, the k of those who got it, and the nodes counted for it."""

    levels: Mapping[str, int]
    text: str
    k: int | None
    held: Sequence[tuple[tuple[int, ...], int]] = ()


class Published:
    """All combinations of values, and what is known of the rows of each."""

    def __init__(self, revisions: Sequence[Offer], releases: Sequence[Out], k: int) -> None:
        self.k = k
        attributes: list[dict[str, Any]] = revisions[-1].body()["attributes"]
        self.names = [each["attribute"] for each in attributes]
        self.labels = [_labels(each["levels"]) for each in attributes]
        self.cells = list(product(*(labels[0] for labels in self.labels)))
        self.sums: list[tuple[Mask, float, float]] = []
        self.either: list[tuple[Mask, int, Mask, int]] = []
        self.none_or_k: dict[bytes, tuple[Mask, int]] = {}
        for each in releases:
            if each.k is None or each.k >= k:
                self._learn_release(each)
                for node, bound in each.held:
                    self._learn_held(node, bound)
        for offer in revisions:
            for node in offer.lattice if offer.is_vetted else ():
                for bound in {one.k for one in offer.criteria}:
                    if offer.zone(offer.joint(node), bound).zone == "allowed":
                        self._learn_held(node, bound)
        if revisions[-1].knowledge["method"] == "margins":
            self._learn_margins(revisions[-1])

    def classes(self, node: Sequence[int]) -> dict[tuple[Value, ...], Mask]:
        """Find the combinations of each class of a node."""
        at = [dict(zip(each[0], each[level], strict=True)) for each, level in zip(self.labels, node, strict=True)]
        found: dict[tuple[Value, ...], Mask] = {}
        for number, cell in enumerate(self.cells):
            name = tuple(labels[value] for labels, value in zip(at, cell, strict=True))
            found.setdefault(name, np.zeros(len(self.cells), bool))[number] = True
        return found

    def _learn_release(self, release: Out) -> None:
        sizes: dict[tuple[Value, ...], int] = {}
        for row in csv.DictReader(io.StringIO(release.text)):
            name = tuple(row[each] or None for each in self.names)
            sizes[name] = sizes.get(name, 0) + int(row["n_rows"])
        classes = self.classes([release.levels[each] for each in self.names])
        assert set(sizes) <= set(classes)
        self.sums += [(mask, sizes.get(name, 0), sizes.get(name, 0)) for name, mask in classes.items()]

    def _learn_held(self, node: Sequence[int], bound: int) -> None:
        for mask in self.classes(node).values():
            known = self.none_or_k.get(mask.tobytes())
            if known is None or known[1] < bound:
                self.none_or_k[mask.tobytes()] = mask, bound

    def _learn_margins(self, offer: Offer) -> None:
        for index, name in enumerate(self.names):
            leaves, groups = self.labels[index][0], offer.knowledge["attributes"][name]

            def having(values: Sequence[Value], index: int = index) -> Mask:
                return np.array([cell[index] in values for cell in self.cells])

            for values, n_rows in groups:
                self.sums.append((having(values), n_rows, n_rows))
            listed = {value for values, _ in groups for value in values}
            self.sums.append((having([each for each in leaves if each not in listed]), 0, 0))
            if None in listed:
                self.sums.append((having([None]), 1, np.inf))
            codes = np.array([_numbers(each) for each in self.labels[index]], np.int64)
            # The tree is a rule that everybody knows; that a group was not parted says that one half has too few.
            tree = halving_tree(codes, has_missing=None in listed)
            for values, _ in groups:
                halves = tree.of(tuple(sorted(leaves.index(each) for each in values))).halves
                if halves:
                    one, other = ([leaves[leaf] for leaf in half.leaves] for half in halves)
                    need = offer.k_p - 1
                    self.either.append((having(one), need + len(one), having(other), need + len(other)))

    def proven(self, truth: Counts, nodes: Sequence[Sequence[int]]) -> Iterator[tuple[Sequence[int], Any, int, int]]:
        """Find the classes that are proven small; only those that are can be."""
        clear, tables = set(), [truth]
        assert self._agrees(truth)
        for node in nodes:
            for name, mask in self.classes(node).items():
                rows = truth[mask].sum()
                if not 0 < rows < self.k or mask.tobytes() in clear:
                    continue
                clear.add(mask.tobytes())
                if any(not 0 < table[mask].sum() < self.k for table in tables):
                    continue
                tables.append(self._table(mask, -1))
                most = int(tables[-1][mask].sum())
                if most < self.k:
                    tables.append(self._table(mask, 1))
                    if least := int(tables[-1][mask].sum()):
                        yield node, name, least, most

    def _agrees(self, table: Counts) -> bool:
        """Whether a table is one of those that are left: the true one must be, or the attacker reckons wrongly."""
        return (
            all(low <= table[mask].sum() <= high for mask, low, high in self.sums)
            and all(not 0 < table[mask].sum() < bound for mask, bound in self.none_or_k.values())
            and all(table[one].sum() < n or table[other].sum() < m for one, n, other, m in self.either)
        )

    def _table(self, aim: Mask, sign: int) -> Counts:
        n, n_held = len(self.cells), len(self.none_or_k)
        # Some published table counts all rows, those of the first release at least.
        n_rows = float(sum(most for _, _, most in self.sums if np.isfinite(most)))
        width = n + n_held + len(self.either)
        matrix = lil_array((len(self.sums) + 2 * n_held + 2 * len(self.either), width))
        low, high = np.full(matrix.shape[0], -np.inf), np.full(matrix.shape[0], np.inf)
        row = 0
        for mask, least, most in self.sums:
            matrix[row, np.flatnonzero(mask)] = 1
            low[row], high[row] = least, most
            row += 1
        for switch, (mask, bound) in enumerate(self.none_or_k.values(), start=n):
            # With the switch at 1 it has at least the bound, at 0 none.
            for factor, is_least in ((-float(bound), True), (-n_rows, False)):
                matrix[row, np.flatnonzero(mask)] = 1
                matrix[row, switch] = factor
                (low if is_least else high)[row] = 0
                row += 1
        for switch, (one, few, other, fewer) in enumerate(self.either, start=n + n_held):
            # With the switch at 0 the one half has too few, at 1 the other.
            matrix[row, np.flatnonzero(one)] = 1
            matrix[row, switch] = -n_rows
            high[row] = few - 1
            matrix[row + 1, np.flatnonzero(other)] = 1
            matrix[row + 1, switch] = n_rows
            high[row + 1] = fewer - 1 + n_rows
            row += 2
        upper = np.concatenate([np.full(n, np.inf), np.ones(width - n)])
        found = milp(
            np.concatenate([sign * aim.astype(float), np.zeros(width - n)]),
            constraints=LinearConstraint(matrix.tocsr(), low, high),
            bounds=Bounds(0, upper),
            integrality=np.ones(width, np.int64),
        )
        assert found.x is not None, found.message
        return np.rint(found.x[:n])


def _labels(levels: Sequence[Mapping[str, Any]]) -> list[list[Value]]:
    """List the label of each value at each level, a missing value last: apart, until a level says nothing."""
    found: list[list[Value]] = []
    for number, level in enumerate(levels):
        after = {label for each in levels[number:] for label in each["labels"]}
        is_silent = number > 0 and len(after) == 1
        missing = level["labels"][0] if is_silent else None
        found.append([*(level["labels"][code] for code in level["codes"]), missing])
    return found


def _numbers(labels: Sequence[Value]) -> list[int]:
    # In the order in which they first stand, the missing one last of all.
    known = list(dict.fromkeys(each for each in labels if each is not None))
    return [len(known) if each is None else known.index(each) for each in labels]


def truth_of(published: Published, rows: Sequence[tuple[Value, ...]]) -> Counts:
    """Count the rows of each combination of values."""
    place = {cell: number for number, cell in enumerate(published.cells)}
    return np.bincount([place[row] for row in rows], minlength=len(place)).astype(float)
