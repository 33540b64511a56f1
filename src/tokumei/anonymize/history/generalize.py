"""Customers in groups whose purchases are written alike, as ranges and sets."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import numpy as np
import polars as pl

from tokumei.anonymize.generalizing.alignment import align
from tokumei.anonymize.generalizing.grouping import group_customers
from tokumei.anonymize.generalizing.purchases import Purchases
from tokumei.anonymize.generalizing.writing import write_groups
from tokumei.core.errors import CannotAnonymize, InputError, PromiseBroken
from tokumei.core.progress import step
from tokumei.core.seeds import generator
from tokumei.data.files.generalized import text_of
from tokumei.data.generalized import DELETED
from tokumei.data.history import History, period_of
from tokumei.data.release import Recipe, Release

COLUMNS = ["date", "item", "price", "quantity"]
# They belong to the notation of ranges and sets.
NOTATION = r"[\[\]{}*;,\s]"
LEAST_PSEUDONYM, N_PSEUDONYMS = 100_000_000, 900_000_000


@dataclass(frozen=True)
class Generalize:
    """Write the purchases of k similar customers alike, so that each pseudonym fits all of them equally.

    | original                       | released                                        |
    |--------------------------------|-------------------------------------------------|
    | 12352, 2011/2/16, 22728, 4, 12 | 538104627, [2011/2/16;2011/3/1], {22727;22728}, 4, [6;12] |
    | 12370, 2011/3/1, 22727, 4, 6   | 910277345, [2011/2/16;2011/3/1], {22727;22728}, 4, [6;12] |

    Similar customers are grouped, and their rows aligned at the least loss by the Err of the 2018 contest. Rows that
    other members of a group have no counterpart for are deleted: `*` in every cell. The release is text, row by row
    as the original, in the form of the file A of 2018; invoice and time are not released.

    A pseudonym that fits k customers has no more rows than the k-th largest of all: nobody can hide the surplus of
    those who have far more, and its deletion may cost more than all else. `unhidden` customers with the most rows are
    therefore left out on demand: they are written as they are, and whoever knows the original names them.
    """

    k: int = field(default=3, metadata={"help": "Fewest customers that each pseudonym fits."})
    rounds: int = field(default=2, metadata={"help": "Times that each member's rows are aligned anew, for less loss."})
    unhidden: int = field(
        default=0, metadata={"help": "Customers with the most rows that are NOT protected, but written as they are."}
    )

    def anonymize(self, original: History, *, seed: int) -> Release:
        """Write the rows in their order; CannotAnonymize if there are fewer than k customers."""
        self._check(original)
        purchases = Purchases.of(original)
        random = generator(seed, "generalise", "groups")
        groups = group_customers(purchases, self.k, random, n_alone=self.unhidden)
        alignments = []
        with step("aligning rows", total=len(groups)) as bar:
            for group in groups:
                alignments.append(align(purchases, group, n_rounds=self.rounds).rows)
                bar.advance()
        pseudonyms = dict(zip(purchases.customers, _draw_pseudonyms(purchases.customers, seed), strict=True))
        frame = text_of(write_groups(original, purchases, alignments, pseudonyms))
        unhidden = [pseudonyms[purchases.customers[customer]] for [customer] in groups[: self.unhidden]]
        k = smallest_class(frame.filter(~pl.col("customer").is_in(unhidden)))
        if k < self.k:
            raise PromiseBroken(f"A pseudonym of the release fits {k} customers, not {self.k}.")
        named = original.kept.select("customer", period=period_of(pl.col("date"))).unique()
        return Release(
            frame=frame,
            recipe=Recipe("generalize", asdict(self), seed),
            rows=pl.Series("row", np.arange(original.n_rows)),
            pseudonyms=named.with_columns(
                pseudonym=pl.col("customer").replace_strict(pseudonyms, return_dtype=pl.String)
            ).sort("customer", "period"),
        )

    def _check(self, original: History) -> None:
        """Refuse options and rows that cannot be written."""
        if self.k < 2:
            raise InputError.of("at least 2 customers", option="k", value=self.k)
        if self.rounds < 0:
            raise InputError.of("0 rounds or more", option="rounds", value=self.rounds)
        if self.unhidden < 0:
            raise InputError.of("0 customers or more", option="unhidden", value=self.unhidden)
        n_hidden = max(0, len(original.customers) - self.unhidden)
        if n_hidden < self.k:
            raise CannotAnonymize(f"{n_hidden} customers cannot be put into groups of {self.k}.")
        rows = original.frame.with_row_index("row", offset=1).filter(pl.col("customer").is_not_null())
        for column in COLUMNS:
            for row in rows.filter(pl.col(column).is_null())["row"][:1]:
                raise InputError.of("a value, since ranges and sets need one", line=row, column=column)
        for row, item in rows.filter(pl.col("item").str.contains(NOTATION)).select("row", "item").rows()[:1]:
            raise InputError.of("an item without blanks and [ ] { } * ; ,", line=row, column="item", value=item)


def smallest_class(frame: pl.DataFrame) -> int:
    """Count the pseudonyms whose rows are all alike, and give the smallest count: the k of the release."""
    rows = frame.filter(pl.col("customer") != DELETED).select("customer", row=pl.concat_str(COLUMNS, separator=","))
    whole = rows.group_by("customer").agg(pl.col("row").sort()).select(pl.col("row").list.join("\n"))
    return int(whole.group_by("row").len()["len"].to_numpy().min())


def _draw_pseudonyms(customers: list[str], seed: int) -> list[str]:
    """Draw numbers of nine digits, none of them a customer's."""
    random = generator(seed, "generalise", "pseudonyms")
    taken = set(customers)
    numbers = random.choice(N_PSEUDONYMS, 2 * len(customers), replace=False) + LEAST_PSEUDONYM
    return [name for name in map(str, numbers.tolist()) if name not in taken][: len(customers)]
