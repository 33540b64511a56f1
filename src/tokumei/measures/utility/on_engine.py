"""Which measures of histories engines have, each to the digits of the one in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokumei.core.score import Score
from tokumei.engines.engine_history import EngineHistory
from tokumei.measures.utility import item_similarity_on_engine
from tokumei.measures.utility.itemsets_on_engine import association_rules, frequent_itemsets

def _alike(part, before, after):
    return part.measure(before, after)


MEASURES: dict[str, Callable[[Any, EngineHistory, EngineHistory], Score]] = {
    "association-rules": association_rules,
    "buyers": _alike,
    "crosstab": _alike,
    "date": _alike,
    "frequent-itemsets": frequent_itemsets,
    "item-cf": item_similarity_on_engine.item_cf,
    "item-cf-retail": item_similarity_on_engine.item_cf_retail,
    "item-cf-supply": item_similarity_on_engine.item_cf_supply,
    "item-cf-top": item_similarity_on_engine.item_cf_top,
    "item-item": item_similarity_on_engine.item_item,
    "price": _alike,
    "rfm-table": _alike,
    "rows": _alike,
    "statistic": _alike,
    "top-items": _alike,
}
