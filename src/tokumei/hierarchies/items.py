"""Items of a history in categories: purchases rolled up to a level of an item hierarchy, on one side or on both.

A release may name categories where the original names articles, and who attacks may know no more of a purchase than
its category. Two sides are compared at the coarser of their levels.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.hierarchies.files import read_hierarchy
from tokumei.hierarchies.hierarchy import Hierarchy

ITEM = "item"


def item_hierarchy(given: Any) -> Hierarchy | None:
    """Return the item hierarchy that was given: one, its file, or either by the column item; None if none."""
    if isinstance(given, Mapping):
        for column in given:
            if column != ITEM:
                expected = "item=FILE, the one column of a history that has categories"
                raise InputError.of(expected, option="hierarchy", value=column)
        given = given.get(ITEM)
    if given is None or isinstance(given, Hierarchy):
        return given
    if not isinstance(given, (str, Path)):
        raise InputError.of("a hierarchy or its file", option="hierarchy", value=type(given).__name__)
    return read_hierarchy(given, ITEM)


def level_of(history: History, hierarchy: Hierarchy) -> int:
    """Return the level at which the items of a history stand: the finest that has them all."""
    items = set(history.kept[ITEM].drop_nulls())
    levels = [set(level.labels) for level in hierarchy.levels]
    for number, labels in enumerate(levels):
        if items <= labels:
            return number
    most = max(levels, key=lambda labels: len(items & labels))
    raise InputError.of(
        "an item that the hierarchy has, all items of a file at one level",
        file=history.name,
        column=ITEM,
        value=min(items - most),
    )


def roll_up(history: History, hierarchy: Hierarchy, level: int) -> History:
    """Put the label of a level in the place of each item, which may be a label of a finer level already."""
    hierarchy.check_level(level)
    if ITEM in history.absent or not history.kept.height:
        return history
    now = level_of(history, hierarchy)
    if now >= level:
        return history
    labels = dict(zip(hierarchy.labels_at(now), hierarchy.labels_at(level), strict=True))
    rolled = history.frame.with_columns(pl.col(ITEM).replace_strict(labels, return_dtype=pl.String))
    return History(rolled, history.name).with_more(history.carried, history.left_out)


def roll_together(known: History, seen: History, hierarchy: Hierarchy | None) -> tuple[History, History]:
    """Roll the finer of two histories up to the level of the other, so that their items can be compared."""
    if hierarchy is None or any(ITEM in one.absent or not one.kept.height for one in (known, seen)):
        return known, seen
    level = max(level_of(known, hierarchy), level_of(seen, hierarchy))
    return roll_up(known, hierarchy, level), roll_up(seen, hierarchy, level)
