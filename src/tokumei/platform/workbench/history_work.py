"""What the workbench asks the library about a history of purchases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from tokumei.data.history import History
from tokumei.data.history_columns import SCHEMA
from tokumei.job.knowledge_history import knowledge_history
from tokumei.job.report_history import sweep_history
from tokumei.report.sweep import default_grid, possible_ways

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
MOST_ROWS_OF_KNOWLEDGE = 300_000
FRONTIER_WAYS, FRONTIER_ATTACKS = 12, ("tfidf",)


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


def history_risk(history: History) -> dict[str, Any]:
    """Give what a history is, and how surely attackers who know a little find a customer in it as it stands."""
    months = history.periods
    facts = {
        "rows": history.n_rows,
        "customers": len(history.customers),
        "months": (months[-1] - months[0] + 1) if months else 0,
        "items": history.frame["item"].n_unique() if history.frame["item"].null_count() < history.n_rows else 0,
    }
    if not facts["items"] or history.n_rows > MOST_ROWS_OF_KNOWLEDGE:
        return {"facts": facts, "attackers": [], "danger": []}
    told = knowledge_history(history).to_dict()
    return {"facts": facts, "attackers": told["attackers"], "danger": told["danger"]}


def sweep_frontier(history: History, folder: Path) -> dict[str, Any]:
    """Try twelve pipelines of the usual ones that the history allows; what was tried before is not tried again."""
    ways, left_out = possible_ways(default_grid(), history)
    every = max(1, -(-len(ways) // FRONTIER_WAYS))
    grid = dict(list(ways.items())[::every])
    swept = sweep_history(history, folder, grid=grid, attacks=FRONTIER_ATTACKS).to_dict()
    releases = [
        {
            "method": one["name"],
            "pipeline": grid[one["name"]]["step"],
            "loss": one["utility"],
            "found": one["found"],
            "is_on_frontier": one["is_on_frontier"],
            **({"error": one["left_out"]} if one["utility"] is None or one["found"] is None else {}),
        }
        for one in swept["ways"]
    ]
    return {"loss_name": "worst of seven losses", "releases": releases, "left_out": left_out, "said": swept["sampled"]}
