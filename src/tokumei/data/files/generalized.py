"""Generalized histories as text: a value, `*`, a range `[lo;hi]` of dates, prices or quantities, a set `{a;b;…}`."""

from __future__ import annotations

import polars as pl

from tokumei.data.cells import read_range_cells, read_set_cells
from tokumei.data.files.strict import DATE, PRICE, QUANTITY, write_date, write_price
from tokumei.data.generalized import GeneralizedHistory

# Longer sets say no more than a star.
LARGEST_SET = 100


def cells_of(text: pl.DataFrame, name: str) -> GeneralizedHistory:
    """Read text cells; what cannot be read has the kind BROKEN."""
    return GeneralizedHistory(
        customer=text["customer"],
        date=read_range_cells(text["date"], DATE.read),
        item=read_set_cells(text["item"]),
        price=read_range_cells(text["price"], PRICE.read),
        quantity=read_range_cells(text["quantity"], QUANTITY.read),
        name=name,
    )


def text_of(release: GeneralizedHistory) -> pl.DataFrame:
    """Write cells as text."""
    return pl.DataFrame(
        {
            "customer": release.customer,
            "date": release.date.to_text(write_date),
            "item": release.item.to_text(),
            "price": release.price.to_text(write_price),
            "quantity": release.quantity.to_text(lambda number: number.cast(pl.String)),
        }
    )
