"""Customers in groups whose purchases are written alike, as ranges and sets."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError, PromiseBroken
from tokumei.core.progress import Cost, notes, step
from tokumei.core.seeds import generator
from tokumei.core.text import Text, counted
from tokumei.data.files.released_histories import text_of
from tokumei.data.history import History, period_of
from tokumei.data.release import DELETED, Recipe, Release
from tokumei.methods.history.alignment import Floats, Indices, Purchases, align, numbers_of, seconds_of
from tokumei.methods.history.grouping import BYTES_OF_PAIR, MOST_COMPARED, group_customers
from tokumei.methods.history.public_cells import PublicCells, in_parts, write_groups
from tokumei.methods.local.task import Ranges, check_ranges

COLUMNS = ["date", "item", "price", "quantity"]
LEAST_PSEUDONYM, N_PSEUDONYMS = 100_000_000, 900_000_000
# Whatever takes longer is aligned in blocks, of at least so many rows.
MOST_SECONDS, LEAST_BLOCK = 120.0, 32
BYTES_OF_ROW = 1_000


@dataclass(frozen=True)
class Generalize:
    """Write the purchases of k similar customers alike, so that each pseudonym fits all of them equally.

    | original                    | released                                                     |
    |-----------------------------|--------------------------------------------------------------|
    | ann, 2011-02-16, tea, 4, 12 | 538104627, [2011-02-14;2011-03-06], {cup;pen;tea}, 4, [6;13] |
    | bob, 2011-03-01, cup, 4, 6  | 910277345, [2011-02-14;2011-03-06], {cup;pen;tea}, 4, [6;13] |

    Similar customers are grouped, and their rows aligned at the least loss by the Err of the 2018 contest. Rows that
    other members of a group have no counterpart for are deleted: `*` in every cell. The release is text, row by row
    as the original, and in the contest's form where the original is; invoice and time are not released. Of a large
    history only customers with about as many rows are compared, and rows are aligned in blocks that follow each other
    in time, which is said: k holds all the same, and the loss is a little larger.

    Ranges consist of whole cells of a public grid: weeks or longer stretches of the calendar, round steps of prices and
    quantities. Sets consist of whole parts of the item list, which have three items in alphabetical order. What all
    members of a group share stays as it is. So neither the end of a range nor the item of a set was somebody's because
    it is written. `ranges=tight` writes the least ranges and sets, `[2011-02-16;2011-03-01]`, `{cup;tea}` and `[6;12]`
    above, as won in 2018: less is lost, and each end and each item is known to be a purchase of the group.

    A pseudonym that fits k customers has no more rows than the k-th largest of all: nobody can hide the surplus of
    those who have far more, and its deletion may cost more than all else. `unhidden` customers with the most rows are
    therefore left out on demand: they are written as they are, and whoever knows the original names them.
    """

    k: int = field(default=3, metadata={"help": "Fewest customers that each pseudonym fits."})
    rounds: int = field(default=2, metadata={"help": "Times that each member's rows are aligned anew, for less loss."})
    unhidden: int = field(
        default=0, metadata={"help": "Customers with the most rows that are NOT protected, but written as they are."}
    )
    ranges: Ranges = field(
        default="grid",
        metadata={
            "help": "Whether ranges and sets consist of public cells and parts of the item list, or of the values of "
            "the group (tight)."
        },
    )

    def anonymize(self, original: History, *, seed: int) -> Release:
        """Write the rows in their order; CannotAnonymize if there are fewer than k customers."""
        self._check(original)
        purchases = Purchases.of(original)
        kept, items = original.frame["customer"].is_not_null(), original.frame["item"].drop_nulls().unique().sort()
        cells = self.public_cells(numbers_of(original.frame), kept.to_numpy(), items.to_list())
        purchases = in_parts(purchases, cells)
        groups, alignments = self.decide(purchases, seed=seed)
        pseudonyms = draw_pseudonyms(purchases.customers, seed)
        frame = text_of(write_groups(original.frame, purchases, alignments, pseudonyms, cells))
        unhidden = [pseudonyms[purchases.customers[customer]] for [customer] in groups[: self.unhidden]]
        self.check_k(smallest_class(frame.filter(~pl.col("customer").is_in(unhidden))))
        named = original.kept.select("customer", period=period_of(pl.col("date"))).unique()
        return Release(
            frame=frame,
            recipe=Recipe("generalize", asdict(self), seed, found={"ranges": self.ranges}),
            rows=pl.Series("row", np.arange(original.n_rows)),
            pseudonyms=named.with_columns(
                pseudonym=pl.col("customer").replace_strict(pseudonyms, return_dtype=pl.String)
            ).sort("customer", "period"),
        )

    def public_cells(self, raw: Floats, kept: npt.NDArray[np.bool_], items: list[str]) -> PublicCells | None:
        """Return what ranges and sets consist of; None if they are tight."""
        return PublicCells.of(raw, kept, items, k=self.k) if self.ranges == "grid" else None

    def decide(self, purchases: Purchases, *, seed: int) -> tuple[list[list[int]], list[Indices]]:
        """Group the customers, those who stay unhidden first, and for each group the rows written alike."""
        groups = group_customers(purchases, self.k, generator(seed, "generalise", "groups"), n_alone=self.unhidden)
        block = self._block(purchases)
        if block is not None:
            notes.info(
                "generalize aligns rows in blocks of %d that follow each other in time: all of a customer's at once "
                "would take %s.",
                block,
                self._cost(purchases, None),
            )
        # Large groups take longest: the bar goes by what each is expected to take.
        seconds = [self._seconds(np.sort(purchases.n_rows[group]), block) for group in groups]
        alignments = []
        with step("aligning rows", total=sum(seconds)) as bar:
            for group, taken in zip(groups, seconds, strict=True):
                alignments.append(align(purchases, group, n_rounds=self.rounds, block=block).rows)
                bar.advance(taken)
        return groups, alignments

    def check_k(self, k: int) -> None:
        """Raise PromiseBroken if a pseudonym fits fewer customers than asked for."""
        if k < self.k:
            raise PromiseBroken(f"A pseudonym of the release fits {counted(k, 'customer')}, not {self.k}.")

    def estimate(self, original: History) -> Cost:
        """Estimate what anonymizing will take, in blocks where those are needed."""
        return self.cost(Purchases.of(original))

    def cost(self, purchases: Purchases, *, row_bytes: int = BYTES_OF_ROW) -> Cost:
        """Estimate the same from purchases, where so many bytes of each row are in memory."""
        return self._cost(purchases, self._block(purchases), row_bytes)

    def _block(self, purchases: Purchases) -> int | None:
        """Return the largest block of rows that align in minutes; None if all of a customer's can be aligned."""
        for block in (None, 512, 256, 128, 64):
            if self._alignment_seconds(purchases, block) <= MOST_SECONDS:
                return block
        return LEAST_BLOCK

    def _cost(self, purchases: Purchases, block: int | None, row_bytes: int = BYTES_OF_ROW) -> Cost:
        n_rows = purchases.n_rows
        # A row is written, read and compared as text a few times; customers are exchanged some thousand times.
        seconds = self._alignment_seconds(purchases, block) + 3e-5 * int(n_rows.sum()) + 3e-3 * len(n_rows)
        most, n_compared = int(n_rows.max(initial=0)), min(len(n_rows), MOST_COMPARED)
        held = BYTES_OF_PAIR * (n_compared**2 + most * min(most, block or most)) + row_bytes * int(n_rows.sum())
        return Cost(seconds, held)

    def _alignment_seconds(self, purchases: Purchases, block: int | None) -> float:
        """Add up the groups as if customers with about as many rows met, which nearly is what grouping does."""
        n_rows = np.sort(purchases.n_rows)
        groups = [n_rows[first : first + self.k] for first in range(0, len(n_rows) - self.k + 1, self.k)]
        return sum(self._seconds(group, block) for group in groups)

    def _seconds(self, n_rows: Indices, block: int | None) -> float:
        """Estimate how long a group takes to align, given the rows of its members, the fewest first."""
        rounds = 1 + (self.rounds if len(n_rows) > 2 else 0)
        lines = np.full(len(n_rows), float(n_rows[0]))
        return float(rounds * seconds_of(lines, n_rows.astype(np.float64), block).sum())

    def check_options(self, n_customers: int) -> None:
        """Refuse options that cannot be, and fewer customers than make a group."""
        check_ranges(self.ranges)
        if self.k < 2:
            raise InputError.of("at least 2 customers", option="k", value=self.k)
        if self.rounds < 0:
            raise InputError.of("0 rounds or more", option="rounds", value=self.rounds)
        if self.unhidden < 0:
            raise InputError.of("0 customers or more", option="unhidden", value=self.unhidden)
        n_hidden = max(0, n_customers - self.unhidden)
        if n_hidden < self.k:
            raise CannotAnonymize(
                Text("{customers} cannot be put into groups of {k}.", customers=counted(n_hidden, "customer"), k=self.k)
            )

    def _check(self, original: History) -> None:
        """Refuse options and rows that cannot be written."""
        self.check_options(len(original.customers))
        rows = original.frame.with_row_index("row", offset=1).filter(pl.col("customer").is_not_null())
        for column in (name for name in COLUMNS if name not in original.absent):
            for row in rows.filter(pl.col(column).is_null())["row"][:1]:
                raise InputError.of("a value, since ranges and sets need one", line=row, column=column)


def smallest_class(frame: pl.DataFrame) -> int:
    """Count the pseudonyms whose rows are all alike, and give the smallest count: the k of the release."""
    return int(whole_texts(frame).value_counts()["count"].to_numpy().min())


def whole_texts(frame: pl.DataFrame) -> pl.Series:
    """Return all rows of each pseudonym as one text, in an order that is the same for all."""
    rows = frame.filter(pl.col("customer") != DELETED).select("customer", row=pl.concat_str(COLUMNS, separator=","))
    return rows.group_by("customer").agg(pl.col("row").sort()).select(pl.col("row").list.join("\n"))["row"]


def draw_pseudonyms(customers: list[str], seed: int) -> dict[str, str]:
    """Draw numbers of nine digits, none of them a customer's."""
    random = generator(seed, "generalise", "pseudonyms")
    taken = set(customers)
    numbers = random.choice(N_PSEUDONYMS, 2 * len(customers), replace=False) + LEAST_PSEUDONYM
    names = [name for name in map(str, numbers.tolist()) if name not in taken][: len(customers)]
    return dict(zip(customers, names, strict=True))
