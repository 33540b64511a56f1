"""Whether published knowledge can be that of a table: an offer comes from somebody else, and may be made to mislead."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokumei.core.wording import choice_of
from tokumei.exchange.documents import Fields
from tokumei.hierarchies.lattice import Lattice
from tokumei.predictors.methods.margins import SPREADS

KNOWN_PREDICTORS = ("margins", "power-law")


def check_knowledge(lattice: Lattice, fields: Fields) -> None:
    """Refuse knowledge that no table has: numbers that are none, groups without rows, tables that do not add up."""
    method = fields.text("method", most=100)
    if method not in KNOWN_PREDICTORS:
        raise fields.fault(f"a predictor whose publication can be checked: {', '.join(KNOWN_PREDICTORS)}", "method")
    fields.number("caution", least=1e-9, most=0.5)
    if method == "margins":
        _check_margins(lattice, fields)
    else:
        fields.number("alpha", least=1e-9, most=1e15)
        fields.number("beta", least=-100, most=100)
        fields.number("spread", least=0, most=100)
        fields.number("middle", least=-100, most=100)
        fields.number("extent", least=1e-9, most=1e12)
        fields.whole("n_sampled", least=2)
        fields.number("epsilon", least=1e-6, most=100)
    fields.done()


def _check_margins(lattice: Lattice, fields: Fields) -> None:
    fields.whole("k_p", least=1)
    if fields.number("spread", least=0, most=max(SPREADS)) not in SPREADS:
        raise fields.fault(choice_of(f"{each:g}" for each in SPREADS), "spread")
    attributes = fields.inside("attributes")
    sizes = {name: _group_sizes(attributes, name) for name in lattice.attributes}
    attributes.done()
    if len({sum(each) for each in sizes.values()}) > 1:
        raise fields.fault("equally many rows for each attribute", "attributes")
    for table in fields.objects("tables"):
        _check_table(table, sizes)


def _group_sizes(attributes: Fields, name: str) -> list[int]:
    """Return the rows of each group of an attribute's values; the values are looked up when they are used."""
    groups = attributes.items(name)
    is_sound = bool(groups) and all(
        isinstance(group, list)
        and len(group) == 2
        and isinstance(group[0], list)
        and bool(group[0])
        and all(leaf is None or isinstance(leaf, str) for leaf in group[0])
        and _is_count(group[1], 0)
        for group in groups
    )
    if not is_sound:
        raise attributes.fault("groups of values, each with the number of its rows", name)
    return [group[1] for group in groups]


def _check_table(table: Fields, sizes: dict[str, list[int]]) -> None:
    names, parts, rows = table.texts("attributes"), table.items("parts"), table.items("rows")
    if len(set(names)) != 2 or not set(names) <= set(sizes) or len(parts) != 2:
        raise table.fault("two attributes, and parts for each", "attributes")
    is_grid = bool(rows) and all(isinstance(row, list) and len(row) == len(rows[0]) for row in rows)
    if not is_grid or not all(_is_count(each, 0) for row in rows for each in row):
        raise table.fault("rows of counts, equally long", "rows")
    counts = np.array(rows, np.int64)
    for axis, (name, part) in enumerate(zip(names, parts, strict=True)):
        if not (isinstance(part, list) and len(part) == len(sizes[name]) and all(_is_count(each, 0) for each in part)):
            raise table.fault(f"a part for each of the {len(sizes[name])} groups of {name}", "parts")
        if set(part) != set(range(counts.shape[axis])):
            raise table.fault(f"the {counts.shape[axis]} parts of {name}, numbered from 0", "parts")
        if not np.array_equal(np.bincount(part, sizes[name]), counts.sum(axis=1 - axis)):
            raise table.fault(f"counts that add up to those of {name}", "rows")
    table.done()


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= 10**12
