"""A release: what is published, and how it came about.

A generalized history has cells that say less than what was bought, in columns.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Json, JsonView
from tokumei.data.cells import RangeCells, SetCells
from tokumei.data.files.disk import check_is_file, write_text
from tokumei.data.files.outputs import guarded
from tokumei.data.history import History

# What decides the bytes of a release besides its recipe.
VERSIONED = ("tokumei", "numpy", "polars")
# What the recipe of a table has among its options.
NEEDED = ("requirements", "suppression", "keep")


@dataclass(frozen=True)
class Recipe:
    """All that is needed to make the same release again from the same original.

    >>> import tokumei as tk
    >>> made = tk.anonymize(tk.Table({"age": [31, 31, 52, 52]}, qi=["age"]), k=2).recipe
    >>> made.save("recipe.json")
    >>> tk.Recipe.load("recipe.json").method
    'optimal'
    """

    method: str
    options: Mapping[str, Any]
    seed: int | None = None
    versions: Mapping[str, str] = field(default_factory=lambda: {name: version(name) for name in VERSIONED})
    # What the method found out on its way and promises, such as a bound; nothing that making it again needs.
    found: JsonView = field(default_factory=dict)

    def as_dict(self) -> Json:
        """Return the recipe for JSON."""
        return {name: value for name, value in asdict(self).items() if name != "found" or value}

    def save(self, out: Path | str, *, force: bool = False) -> None:
        """Write the recipe as JSON; a file that exists is replaced only with `force`. Keep it secret."""
        with guarded({"out": out}, force=force) as drafts:
            self.write(drafts["out"])

    def write(self, out: Path) -> None:
        """Write to a draft that was guarded before."""
        write_text(out, json.dumps(self.as_dict(), ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: Path | str) -> Recipe:
        """Read the recipe of a table that was saved as JSON."""
        path = check_is_file(path)
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            needed = (*NEEDED, *(("levels", "mapping") if "quasi_identifiers" not in found["options"] else ()))
            missing = [name for name in needed if name not in found["options"]]
            if not missing:
                return cls(found["method"], found["options"], found["seed"], found["versions"])
        except (UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError) as error:
            raise InputError.of(f"the recipe of a table ({type(error).__name__}: {error})", file=path) from None
        raise InputError.of(f"the recipe of a table, with {', '.join(missing)}", file=path)


@dataclass(frozen=True)
class Release:
    """The released frame with all that is needed to verify it, explain it and apply it again.

    `rows` holds for each released row the row of the original it came from, where the method keeps that
    (None where it does not). `pseudonyms` has the columns customer, period and pseudonym; `mapping` has for
    each generalized column a frame of value and label. All three are secrets of the publisher.
    """

    frame: pl.DataFrame
    recipe: Recipe
    rows: pl.Series | None = None
    pseudonyms: pl.DataFrame | None = None
    mapping: Mapping[str, pl.DataFrame] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.rows is not None and len(self.rows) != self.frame.height:
            raise ValueError("rows must name one original row for each released row")


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
