"""Which column of a file may be the customer, the date, … of a history, by their headers."""

from __future__ import annotations

import polars as pl

from tokumei.data.history_columns import SCHEMA

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
