"""Which measures of histories engines have, each to the digits of the one in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokumei.core.score import Score
from tokumei.engines.engine_history import EngineHistory
from tokumei.measures.on_engine import item_cf, rows
from tokumei.measures.on_engine.buyers import buyers
from tokumei.measures.on_engine.crosstab import crosstab
from tokumei.measures.on_engine.frequent_itemsets import association_rules, frequent_itemsets
from tokumei.measures.on_engine.rfm_table import rfm_table
from tokumei.measures.on_engine.statistic import statistic

MEASURES: dict[str, Callable[[Any, EngineHistory, EngineHistory], Score]] = {
    "association-rules": association_rules,
    "buyers": buyers,
    "crosstab": crosstab,
    "date": rows.date,
    "frequent-itemsets": frequent_itemsets,
    "item-cf": item_cf.item_cf,
    "item-cf-retail": item_cf.item_cf_retail,
    "item-cf-supply": item_cf.item_cf_supply,
    "item-cf-top": item_cf.item_cf_top,
    "item-item": item_cf.item_item,
    "price": rows.price,
    "rfm-table": rfm_table,
    "rows": rows.rows,
    "statistic": statistic,
    "top-items": rows.top_items,
}
