"""Which measures of histories engines have, each to the digits of the one in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokumei.core.score import Score
from tokumei.engines.engine_history import EngineHistory
from tokumei.measures.utility import item_similarity_on_engine, purchases_on_engine
from tokumei.measures.utility.customers_on_engine import buyers, crosstab, rfm_table
from tokumei.measures.utility.itemsets_on_engine import association_rules, frequent_itemsets
from tokumei.measures.utility.purchases_on_engine import statistic

MEASURES: dict[str, Callable[[Any, EngineHistory, EngineHistory], Score]] = {
    "association-rules": association_rules,
    "buyers": buyers,
    "crosstab": crosstab,
    "date": purchases_on_engine.date,
    "frequent-itemsets": frequent_itemsets,
    "item-cf": item_similarity_on_engine.item_cf,
    "item-cf-retail": item_similarity_on_engine.item_cf_retail,
    "item-cf-supply": item_similarity_on_engine.item_cf_supply,
    "item-cf-top": item_similarity_on_engine.item_cf_top,
    "item-item": item_similarity_on_engine.item_item,
    "price": purchases_on_engine.price,
    "rfm-table": rfm_table,
    "rows": purchases_on_engine.rows,
    "statistic": statistic,
    "top-items": purchases_on_engine.top_items,
}
