"""What generalized histories of the same people give away together, for `tokumei audit --against`.

Of releases by other groups a person's cells can be laid on one another: whom only one release lets stand for the person
is out of the question, and so is an item that only one of them names. Compared is what the strongest could do who knows
all purchases of everybody, and who can tell which pseudonyms of the releases are one person's.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.attacks.history.fitting import Known, cells_by_pseudonym, find_fitting
from tokumei.core.errors import InputError
from tokumei.core.result import Facts, Result, Rows, Section, Sentence
from tokumei.core.text import Json, JsonView, Text
from tokumei.data.files.histories import is_generalized_file
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.files.released_histories import read_generalized
from tokumei.data.history import History
from tokumei.data.release import GeneralizedHistory
from tokumei.tasks.histories import HistoryRelease, history_of

UNITS = (
    "Customers who fit are those whose purchases all cells of the person's pseudonyms can stand for, the person among "
    "them; items are those that a cell can stand for, one of them right."
)


STANDS_FOR = "a cell that can stand for the value of the same row of the original"


@dataclass(frozen=True, repr=False)
class GeneralizedAudit(Result):
    """How many customers fit each person, and how many items each row, in one release and in all together.

    customers, items: by "alone", the most telling release, and "together": what is left of each.
    """

    customers: Mapping[str, npt.NDArray[np.int64]]
    items: Mapping[str, npt.NDArray[np.int64]]
    k: int | None
    facts: JsonView

    @property
    def holds(self) -> bool:
        """Whether at least k customers fit everybody in all releases together; True where no k is stated."""
        return self.k is None or not len(self.customers["together"]) or int(self.customers["together"].min()) >= self.k

    def to_dict(self) -> Json:
        """Return the counts as `tokumei audit --json` prints them."""
        stated = {} if self.k is None else {"k_stated": self.k, "holds": self.holds}
        return {
            **self.facts,
            **{name: _told(self.customers[name], self.items[name]) for name in self.customers},
            **stated,
        }

    def sections(self) -> Sequence[Section]:
        """Return what one release leaves and what all leave."""
        told = self.to_dict()
        rows = [[words, *(told[name][key] for name in self.customers)] for key, words in READ_AS.items()]
        said: list[Section] = [
            Facts(self.facts),
            Rows(["", "in one release", "in all together"], rows),
            Sentence(UNITS),
        ]
        if self.k is not None:
            said.append(Sentence(f"{'holds' if self.holds else 'FAILS'}  k = {self.k} in all releases together"))
        return said

    def to_frame(self) -> pl.DataFrame:
        """Return for each customer how many fit."""
        return pl.DataFrame({name: pl.Series(found) for name, found in self.customers.items()})

    def __repr__(self) -> str:
        least = {name: int(found.min()) if len(found) else 0 for name, found in self.customers.items()}
        return f"GeneralizedAudit(at least {least['together']} fit together, {least['alone']} alone)"


READ_AS = {
    "k": "customers who fit, at least",
    "mean_k": "customers who fit, on average",
    "singled_out": "people whom only they fit",
    "item_precision": "right items of those named",
    "items_told": "rows with one item left",
}


def _told(customers: npt.NDArray[np.int64], items: npt.NDArray[np.int64]) -> dict[str, object]:
    return {
        "k": int(customers.min()) if len(customers) else 0,
        "mean_k": float(customers.mean()) if len(customers) else 0.0,
        "singled_out": int((customers == 1).sum()),
        "item_precision": float((1 / items).mean()) if len(items) else 0.0,
        "items_told": int((items == 1).sum()),
    }


def is_generalized(release: object, reading: Reading = AS_IT_IS) -> bool:
    """Whether a release is a history of ranges and sets."""
    if isinstance(release, HistoryRelease):
        return release.is_generalized
    if isinstance(release, GeneralizedHistory):
        return True
    return isinstance(release, str | Path) and is_generalized_file(release, reading)


def audit_generalized(
    release: object,
    against: Sequence[object],
    *,
    original: object = None,
    k: int | None = None,
    in_order: bool = False,
    reading: Reading = AS_IT_IS,
) -> GeneralizedAudit:
    """Count how many customers fit each person, and how many items each row, in one release and in all together.

    The releases are the publisher's own, row for row as the original.
    """
    started = time.perf_counter()
    if original is None and isinstance(release, HistoryRelease):
        original = release.original
    if original is None:
        raise InputError.of("the original, in which those who fit are counted", option="--original")
    if not against:
        raise InputError.of("an earlier release of the same people", option="--against")
    if not in_order and not all(isinstance(one, HistoryRelease) for one in (release, *against)):
        expected = "--in-order: each release row for row as the original, as 'anonymize history --out' writes it"
        raise InputError.of(expected, option="--against")
    before = history_of(original, reading)
    cells = [_cells_of(one, before, number, reading) for number, one in enumerate((release, *against))]
    known, numbers = Known.of(before), {name: number for number, name in enumerate(before.customers)}
    fits = [_fit(one, before, known, numbers) for one in cells]
    # Of whom a release has no row left it rules nobody out.
    has_rows = np.stack([found.any(axis=1) for found in fits])
    may_be = np.stack(fits) | ~has_rows[:, :, None]
    is_there = has_rows.any(axis=0)
    left = {"alone": may_be.sum(axis=2).min(axis=0), "together": may_be.all(axis=0).sum(axis=1)}
    customers = {name: found[is_there] for name, found in left.items()}
    facts = {
        "releases": len(cells),
        "customers": len(numbers),
        "rows": before.n_rows,
        "seconds": round(time.perf_counter() - started, 3),
    }
    return GeneralizedAudit(customers, _items_left(cells, before), k, facts)


def _cells_of(release: Any, original: History, number: int, reading: Reading) -> GeneralizedHistory:
    """Return the cells of a release, and refuse one that does not stand beside the original."""
    if isinstance(release, HistoryRelease):
        cells = release.cells
    else:
        cells = release if isinstance(release, GeneralizedHistory) else read_generalized(release, reading)
    name = str(release) if isinstance(release, str | Path) else f"release {number + 1}"
    if cells.n_rows != original.n_rows:
        expected = Text("{n} rows, row for row as the original", n=original.n_rows)
        raise InputError.of(expected, file=name, value=cells.n_rows)
    holds = cells.contains(original)
    for column in holds.columns:
        wrong = (~(holds[column] | cells.is_deleted)).arg_true()
        if len(wrong):
            raise InputError.of(STANDS_FOR, file=name, line=int(wrong[0]) + 1, column=column)
    return cells


def _fit(
    cells: GeneralizedHistory, original: History, known: Known, numbers: Mapping[str, int]
) -> npt.NDArray[np.bool_]:
    """Whether each customer (across) fits the pseudonyms of each (down), in all of them."""
    by_name = cells_by_pseudonym(cells, known)
    fits = np.isfinite(find_fitting(known, by_name))
    line = {name: at for at, name in enumerate(by_name)}
    pairs = pl.DataFrame({"customer": original.frame["customer"], "name": cells.customer}).filter(~cells.is_deleted)
    found = np.zeros((len(numbers), len(numbers)), np.bool_)
    for customer, names in pairs.drop_nulls().group_by("customer").agg(pl.col("name").unique()).iter_rows():
        found[numbers[customer]] = np.all([fits[line[name]] for name in names], axis=0)
    return found


def _items_left(cells: Sequence[GeneralizedHistory], original: History) -> dict[str, npt.NDArray[np.int64]]:
    """Count the items that each row can stand for, of rows that some release has."""
    n_items = original.frame["item"].n_unique()
    sets = pl.DataFrame({str(at): one.item.members for at, one in enumerate(cells)})
    is_there = pl.any_horizontal([pl.Series(~one.is_deleted) for one in cells])
    left = pl.col("0")
    for name in sets.columns[1:]:
        # Where one names nothing, what the other names is left.
        left = pl.coalesce(left.list.set_intersection(name), left, name)
    sizes = sets.select(
        alone=pl.min_horizontal([pl.col(name).list.n_unique().fill_null(n_items) for name in sets.columns]),
        together=left.list.n_unique().fill_null(n_items),
    ).filter(is_there)
    return {name: sizes[name].to_numpy().astype(np.int64) for name in sizes.columns}
