"""A generalized purchase history: cells that say less than what was bought, in columns."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from tokumei.data.cells import RangeCells, SetCells
from tokumei.data.history import History

# Stands for the pseudonym of a deleted row.
DELETED = "*"


@dataclass(frozen=True)
class GeneralizedHistory:
    """Purchases whose date, item, price and quantity may be ranges, sets or suppressed.

    `customer` is text: a customer id or pseudonym, and `*` in a deleted row, whose other cells are suppressed.
    """

    customer: pl.Series
    date: RangeCells
    item: SetCells
    price: RangeCells
    quantity: RangeCells
    name: str = "release"

    def __post_init__(self) -> None:
        lengths = {len(column) for column in (self.customer, self.date, self.item, self.price, self.quantity)}
        if len(lengths) != 1:
            raise ValueError(f"all columns must have as many rows, not {sorted(lengths)}")

    @classmethod
    def of(cls, history: History, *, name: str = "release") -> GeneralizedHistory:
        """Make one of a plain history: every cell stands for its own value, a missing one for any."""
        frame = history.frame
        return cls(
            customer=frame["customer"].fill_null(DELETED),
            date=RangeCells.of(frame["date"]),
            item=SetCells.of(frame["item"]),
            price=RangeCells.of(frame["price"]),
            quantity=RangeCells.of(frame["quantity"]),
            name=name,
        )

    @property
    def n_rows(self) -> int:
        """Number of rows, deleted ones included."""
        return len(self.customer)

    @property
    def is_deleted(self) -> pl.Series:
        """Marks the deleted rows."""
        return self.customer == DELETED

    def filter(self, mask: pl.Series) -> GeneralizedHistory:
        """Keep the rows that are marked."""
        return GeneralizedHistory(
            customer=self.customer.filter(mask),
            date=self.date.filter(mask),
            item=self.item.filter(mask),
            price=self.price.filter(mask),
            quantity=self.quantity.filter(mask),
            name=self.name,
        )

    def contains(self, history: History) -> pl.DataFrame:
        """Whether each cell may stand for the value of the same row of the original."""
        frame = history.frame
        return pl.DataFrame(
            {
                "date": self.date.contains(frame["date"]),
                "item": self.item.contains(frame["item"]),
                "price": self.price.contains(frame["price"]),
                "quantity": self.quantity.contains(frame["quantity"]),
            }
        )
