"""What is seen of a file's columns: what is drawn of one and of its hierarchy, and which may be those of a history.

What is drawn is plain numbers and labels, counted where the data is. Columns of a history are suggested by their
headers.
"""

from __future__ import annotations

import itertools

import polars as pl

from tokumei.core.text import Json
from tokumei.data.history_columns import SCHEMA
from tokumei.hierarchies.hierarchy import Hierarchy

BINS, MOST_VALUES = 12, 8
# A level of more labels than this is told by their number; more values than this are not edited one by one.
MOST_SEGMENTS, MOST_EDITED = 60, 150
LONGEST_LABEL = 60


def histogram(column: pl.Series) -> Json:
    """Count a column for a small picture: intervals of numbers, or the commonest values and all the others."""
    there = column.alias("value").drop_nulls()
    numbers = _numbers(there)
    if numbers is not None and numbers.n_unique() > MOST_VALUES:
        return _of_numbers(numbers)
    counted = there.cast(pl.String).value_counts(name="n").sort("n", "value", descending=[True, False])
    top = [[_short(str(value)), n] for value, n in counted.head(MOST_VALUES).iter_rows()]
    return {"bars": top, "others": len(there) - sum(n for _, n in top), "is_of_numbers": False}


def _of_numbers(numbers: pl.Series) -> dict[str, object]:
    low, high = float(numbers.min()), float(numbers.max())  # type: ignore[arg-type]
    place = ((numbers - low) / (high - low) * BINS).floor().clip(0, BINS - 1).cast(pl.Int64)
    counts = dict(place.value_counts(name="n").iter_rows())
    edges = [low + (high - low) * number / BINS for number in range(BINS + 1)]
    bars = [[f"{edges[number]:.4g}–{edges[number + 1]:.4g}", counts.get(number, 0)] for number in range(BINS)]
    return {"bars": bars, "others": 0, "is_of_numbers": True}


def _numbers(there: pl.Series) -> pl.Series | None:
    if there.dtype.is_numeric():
        found = there.cast(pl.Float64)
    elif there.dtype == pl.String and not there.str.contains(r"^[+-]?0[0-9]").any():
        found = there.cast(pl.Float64, strict=False)
    else:
        return None
    return found if len(found) and not found.null_count() and found.is_finite().all() else None


def drawn_tree(hierarchy: Hierarchy, said: str) -> dict[str, object]:
    """Return the levels of a hierarchy as bands: runs of values under one label, or how many labels there are."""
    levels = []
    for number in range(len(hierarchy.levels)):
        labels = hierarchy.labels_at(number)
        runs = [(label, len(list(group))) for label, group in itertools.groupby(labels)]
        is_shown = len(runs) <= MOST_SEGMENTS
        levels.append(
            {"n_labels": len(set(labels)), "bands": [[_short(label), n] for label, n in runs] if is_shown else []}
        )
    leaves = list(hierarchy.leaves)
    first = hierarchy.labels_at(1) if len(hierarchy.levels) > 1 else leaves
    values = [[leaf, group] for leaf, group in zip(leaves, first, strict=True)]
    return {
        "said": said,
        "n_leaves": len(leaves),
        "levels": levels,
        "values": values if len(values) <= MOST_EDITED else [],
    }


def first_rows(frame: pl.DataFrame, most: int = 8) -> list[list[str | None]]:
    """Return the first rows as texts, long ones cut."""
    return [[None if cell is None else _short(str(cell)) for cell in row] for row in frame.head(most).iter_rows()]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"


# Words that headers have for what a history consists of; the first that is found is taken, and shown to be changed.
WORDS: dict[str, tuple[str, ...]] = {
    "customer": ("customer", "client", "user", "member", "person", "patient", "顧客", "会員", "客", "利用者", "患者"),
    "date": ("date", "day", "日付", "購入日", "年月日", "日"),
    "time": ("time", "時刻", "時間"),
    "item": ("item", "product", "stock", "goods", "sku", "article", "商品", "品目", "品"),
    "price": ("price", "amount", "単価", "価格", "金額"),
    "quantity": ("quantity", "qty", "count", "数量", "個数"),
    "invoice": ("invoice", "receipt", "order", "basket", "伝票", "レシート", "注文"),
}


def find_history_columns(frame: pl.DataFrame) -> dict[str, str]:
    """Guess which column is the customer, the date, …; those by their very name need not be declared."""
    found: dict[str, str] = {}
    for role, words in WORDS.items():
        if role in frame.columns:
            continue
        fits = [name for name in frame.columns if name not in SCHEMA and name not in found.values()]
        named = [name for word in words for name in fits if word in name.lower()]
        if named:
            found[role] = named[0]
    for role in ("customer", "date"):
        # Something has to stand there, so that the job file can be read; who looks at the page chooses better.
        left = [name for name in frame.columns if name not in found.values() and name not in SCHEMA]
        if role not in found and role not in frame.columns and left:
            found[role] = left[0]
    return found
