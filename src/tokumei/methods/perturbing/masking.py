"""Rows left out, numbers exchanged, and ends cut off: sampling, rank swapping, and top and bottom coding."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.registry import part_name
from tokumei.core.seeds import DRAWN_BY, generator, key_of, order_of_rows, words_of_rows
from tokumei.core.text import Json, Text
from tokumei.methods.perturbing.perturbation import (
    USUAL_K,
    Floats,
    Ints,
    Original,
    Perturbed,
    RowByRow,
    RowChange,
    check_bounds,
    given_bounds,
    least_rows,
)


@dataclass(frozen=True)
class Sample(RowByRow):
    """Release a simple random sample of the rows, in an order drawn at random.

    Each row has the same chance to be released, and none is released twice. The number of rows is the share of all,
    rounded to the nearest; at least one if there are any. Whoever looks for a person does not know whether they are
    released: with a share of 0.1 nine of ten are not, and being unique in the release need not mean being unique among
    all. Cells are not changed, so that those who are released with rare values stay exposed. Whoever knows the seed
    knows which rows were drawn: keep it secret.

    Example: with share=0.5, four rows may become the third and the first

    | row | age |   | row | released |
    |-----|-----|---|-----|----------|
    | 0   | 31  |   | 2   | 42       |
    | 1   | 35  |   | 0   | 31       |
    | 2   | 42  |   |     |          |
    | 3   | 44  |   |     |          |
    """

    share: float = field(default=0.1, metadata={"help": "The share of the rows that is released."})

    def change(self, original: Original, *, seed: int) -> RowChange:  # noqa: ARG002 - It draws the order alone.
        """Release the first rows of the order that is drawn."""
        if not 0 < self.share <= 1:
            raise InputError.of("a share above 0 and at most 1", option="share", value=self.share)
        n_drawn = min(original.n_rows, max(1, round(self.share * original.n_rows)))
        return RowChange(facts={"n_rows": n_drawn, "drawn_by": DRAWN_BY}, n_released=n_drawn)


@dataclass(frozen=True)
class Swap:
    """Exchange each number with one whose rank is at most p percent of the rows away.

    Rank swapping (Moore 1996): from the smallest value up, each that was not exchanged yet changes places with one
    drawn evenly from those above it that were not either and whose rank is near enough; the last may find none and
    stays. Each column is exchanged on its own, so that it keeps exactly its values, while rows become mixtures. Missing
    values stay. It promises no k: how many rows can still be linked is for an attack to find out. Rows are released in
    an order drawn at random, and whoever knows the seed can undo all of it: keep it secret.

    Example: five rows with p=20, so that a value changes places with the next rank or stays

    | income   | 100 | 120 | 300 | 320 | 900 |
    |----------|-----|-----|-----|-----|-----|
    | released | 120 | 100 | 320 | 300 | 900 |
    """

    p: float = field(
        default=5.0,
        metadata={"help": "How far ranks may be apart, in percent of the rows; the next rank is near enough always."},
    )
    columns: tuple[str, ...] = field(
        default=(), metadata={"help": "The columns to exchange; the numeric quasi-identifiers if none."}
    )

    def perturb(self, original: Original, *, seed: int) -> Perturbed:
        """Exchange cells, column by column."""
        swapped, facts = self.swapped(original, seed)
        rows = order_of_rows(seed, part_name(self), original.n_rows)
        return Perturbed(original.frame.with_columns(swapped)[rows], pl.Series("row", rows), facts=facts)

    def swapped(self, original: Original, seed: int) -> tuple[list[pl.Series], Json]:
        """Return the columns whose cells changed places, and what the recipe says."""
        if not 0 < self.p <= 100:
            raise InputError.of("a percentage above 0 and at most 100", option="p", value=self.p)
        columns = original.chosen(self.columns, numeric=True)
        swapped = []
        for name in columns:
            values = original.column(name)
            source = np.arange(len(values))
            by_rank, partner = self._partners(original.read_numbers(values), seed, name)
            source[by_rank] = by_rank[partner]
            swapped.append(values.gather(source))
        return swapped, {"columns": columns, "window": self._window(original.n_rows)}

    def _window(self, n_rows: int) -> int:
        """Return how far apart ranks may be, of so many."""
        return max(1, int(self.p * n_rows / 100))

    def _partners(self, numbers: Floats, seed: int, column: str) -> tuple[Ints, Ints]:
        """Return the rows in the order of their numbers, and for each rank the one it changes places with."""
        random = generator(seed, part_name(self), column)
        # Equal values get their ranks by lot, not by where they stand.
        drawn = random.permutation(len(numbers))
        known = drawn[~np.isnan(numbers[drawn])]
        by_rank = known[np.argsort(numbers[known], kind="stable")]
        return by_rank, swapped_ranks(len(by_rank), self._window(len(by_rank)), random)


def swapped_ranks(n: int, window: int, rng: np.random.Generator) -> Ints:
    """Return for each rank the one it changes places with, at most `window` away; itself if it found none."""
    partner = list(range(n))
    luck = rng.random(n).tolist()
    # Those above the current rank that are near enough and were not exchanged; `index` says where each stands.
    near = list(range(1, min(window, n)))
    index = [rank - 1 for rank in range(n)]

    def leave(rank: int) -> None:
        last = near.pop()
        if last != rank:
            near[index[rank]] = last
            index[last] = index[rank]

    for rank in range(n):
        if rank + window < n:
            index[rank + window] = len(near)
            near.append(rank + window)
        if partner[rank] == rank and near:
            other = near[int(luck[rank] * len(near))]
            leave(other)
            partner[rank], partner[other] = other, rank
        if rank + 1 < n and partner[rank + 1] == rank + 1:
            # The next rank is the current one then, and no longer above itself.
            leave(rank + 1)
    return np.array(partner, np.int64)


@dataclass(frozen=True)
class BlockSwap(RowByRow, Swap):
    """Exchange numbers in pairs within blocks of ranks, each as wide as p percent of the rows.

    Tokumei's own, for tables on engines: in rank swapping (`swap`) each rank waits until all below it have found
    theirs, here all find their partners at once. Ranks are cut into blocks in which any two are near enough, at a place
    that is drawn, and the rows of a block are paired by lot; of an odd number one stays. No number moves further than
    `swap` would move it, but none crosses a border between blocks. Else it is as `swap` is: each column keeps its
    values, missing ones stay, no k is promised, and the seed is a secret.

    Example: five rows with p=20, so that blocks have two ranks; the first block begins with the smallest number or
    before it

    | income      | 100 | 120 | 300 | 320 | 900 |
    |-------------|-----|-----|-----|-----|-----|
    | either      | 120 | 100 | 320 | 300 | 900 |
    | or          | 100 | 300 | 120 | 900 | 320 |
    """

    def change(self, original: Original, *, seed: int) -> RowChange:
        """Exchange cells, column by column; the numbers of one column are in memory."""
        swapped, facts = self.swapped(original, seed)
        return RowChange(
            next=lambda rows, first: [one[first : first + rows.height] for one in swapped],
            facts={**facts, "drawn_by": DRAWN_BY},
        )

    def _partners(self, numbers: Floats, seed: int, column: str) -> tuple[Ints, Ints]:
        lot, turn, _, _ = words_of_rows(key_of(seed, "block-swap", column), len(numbers))
        # Equal numbers get their ranks by lot; what is not a number comes last.
        by_rank = np.lexsort((lot, numbers))[: int((~np.isnan(numbers)).sum())]
        window = self._window(len(by_rank))
        # Where blocks begin is drawn, so that no border is known.
        shift = int(generator(seed, "block-swap", column, "blocks").integers(window + 1))
        return by_rank, ranks_in_blocks(window, shift, turn[by_rank], lot[by_rank])


def ranks_in_blocks(window: int, shift: int, *lots: npt.NDArray[Any]) -> Ints:
    """Return for each rank the one it changes places with: those of a block are paired by lot; an odd one stays.

    shift: how many ranks the first block lacks; lots: what is drawn for each rank, the first counts most.
    """
    partner = np.arange(len(lots[0]))
    block = (partner + shift) // (window + 1)
    # Block after block, and by lot within each.
    drawn = np.lexsort((*reversed(lots), block))
    starts = np.flatnonzero(np.diff(block, prepend=-1))
    at = partner - np.repeat(starts, np.diff(starts, append=len(block)))
    first = np.flatnonzero((at % 2 == 0)[:-1] & (block[:-1] == block[1:]))
    partner[drawn[first]], partner[drawn[first + 1]] = drawn[first + 1], drawn[first]
    return partner


Written = Literal["bound", "mean"]


@dataclass(frozen=True)
class TopBottomCode:
    """Write the largest numbers of a column as one number, and the smallest as another.

    At the top it is the values from a threshold up: those of at most the share `top` of the rows, or from a bound that
    is given in `high`. Where fewer than k rows would be written so, the threshold goes down until there are k, since
    somebody who is alone above it would still be found, and it is a value of the table. The bottom is treated alike.
    Rows are written as the threshold or as the mean of all that are beyond or at it, which keeps the mean of the
    column. k is what is asked for, else 3. What lies between the thresholds is released as it is and can still be
    unique; missing values stay. A threshold that follows from a share or from k is the value of somebody in the table,
    and is told to all; a bound in `low` or `high` that has k rows beyond it says nothing of anybody. Top coding is
    usual in the public files of census bureaus; see Hundepool et al., Statistical Disclosure Control (2012). Rows keep
    their order, and no chance is involved.

    Example: with k=2, top=0.2 and bottom=0: one row is a fifth of five, but two must be written alike

    | income   | 100 | 120 | 300 | 320 | 900 |
    |----------|-----|-----|-----|-----|-----|
    | bound    | 100 | 120 | 300 | 320 | 320 |
    | mean     | 100 | 120 | 300 | 610 | 610 |
    """

    top: float = field(
        default=0.05, metadata={"help": "Most rows that are coded at the top, as a share; 0 codes none."}
    )
    bottom: float = field(
        default=0.05, metadata={"help": "Most rows that are coded at the bottom, as a share; 0 codes none."}
    )
    low: tuple[float, ...] = field(
        default=(), metadata={"help": "The least number released of each column, instead of the share at the bottom."}
    )
    high: tuple[float, ...] = field(
        default=(), metadata={"help": "The greatest number released of each column, instead of the share at the top."}
    )
    write: Written = field(default="bound", metadata={"help": "What is written: the threshold, or the mean beyond it."})
    k: int | None = field(
        default=None, metadata={"help": f"Fewest rows coded at an end; the k asked for, else {USUAL_K}, if none."}
    )
    columns: tuple[str, ...] = field(
        default=(), metadata={"help": "The columns to code; the numeric quasi-identifiers if none."}
    )

    @property
    def gives_away(self) -> str:
        """What is written of the values of people."""
        return (
            "Numbers between the thresholds are released as they are, and a threshold that follows from a share of "
            "the rows, or from k, is the value of somebody in the table."
        )

    def perturb(self, original: Original, *, seed: int) -> Perturbed:  # noqa: ARG002
        """Code the ends of each column; CannotAnonymize where it has not enough rows for them."""
        k = least_rows(self.k, original)
        columns = original.chosen(self.columns, numeric=True)
        self._check_options(columns)
        coded, thresholds = [], {}
        for name, (low, high) in given_bounds(columns, self.low, self.high).items():
            values, thresholds[name] = self._coded(name, original.numbers(name), low, high, k)
            coded.append(original.with_numbers(name, values))
        rows = pl.Series("row", np.arange(original.n_rows))
        return Perturbed(original.frame.with_columns(coded), rows, facts={"k": k, "thresholds": thresholds})

    def _check_options(self, columns: list[str]) -> None:
        for name in ("top", "bottom"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError.of("a share from 0 to 1", option=name, value=getattr(self, name))
        if self.write not in get_args(Written):
            raise InputError.of(" or ".join(get_args(Written)), option="write", value=self.write)
        check_bounds(columns, self.low, self.high)

    def _coded(
        self, column: str, numbers: Floats, low: float | None, high: float | None, k: int
    ) -> tuple[Floats, list[float | None]]:
        """Return a column with its ends coded, and the thresholds; None where an end is not coded."""
        known = np.sort(numbers[~np.isnan(numbers)])
        codes_top, codes_bottom = high is not None or self.top > 0, low is not None or self.bottom > 0
        if not len(known) or not (codes_top or codes_bottom):
            return numbers, [None, None]
        if len(known) < k:
            raise CannotAnonymize(
                Text(
                    "Column {column} has {n:,} numbers, and {k} must be written alike.",
                    column=column,
                    n=len(known),
                    k=k,
                )
            )
        # The bottom of numbers is the top of their negatives.
        above = threshold(known, self.top, high, k) if codes_top else None
        below = -threshold(-known[::-1], self.bottom, None if low is None else -low, k) if codes_bottom else None
        if above is not None and below is not None and below > above:
            raise CannotAnonymize(
                Text("Column {column} has not {k} numbers at each end: its ends would overlap.", column=column, k=k)
            )
        out = numbers.copy()
        ends = [(numbers <= below, below)] if below is not None else []
        ends += [(numbers >= above, above)] if above is not None else []
        if below is not None and below == above:
            ends = [(~np.isnan(numbers), below)]
        for is_coded, bound in ends:
            out[is_coded] = bound if self.write == "bound" else _mean(numbers[is_coded])
        return out, [below, above]


def threshold(ordered: Floats, share: float, bound: float | None, k: int) -> float:
    """Return the number from which on numbers are coded, at least k of them; they come smallest first.

    Without a bound it is the least number that at most the share of them reach.
    """
    kth = float(ordered[-k])
    if bound is not None:
        return min(bound, kth)
    n_rows = len(ordered)
    # A hair more, since 0.1 of 30 rows is not quite 3 to a computer.
    n_most = int(share * n_rows + 1e-9)
    # All copies of one number are coded or none is.
    index = n_rows - n_most
    if 0 < index < n_rows and ordered[index] == ordered[index - 1]:
        index = int(np.searchsorted(ordered, ordered[index], side="right"))
    return float(min(ordered[index], kth)) if index < n_rows else kth


def _mean(numbers: Floats) -> float:
    """Return the mean: the same in any order, and of equal numbers exactly that number."""
    return float(np.clip(np.sort(numbers).mean(), numbers.min(), numbers.max()))
