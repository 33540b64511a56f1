"""Attackers who look for rows that agree exactly, on an engine: two group-bys and a join."""

from __future__ import annotations

from typing import Any

from tokumei.attack.history.exact_match import ExactMatch, Named, SameMonthAndItem
from tokumei.core.errors import InputError
from tokumei.core.registry import part_name
from tokumei.counting.engine_history import EngineHistory


def guess_on_engine(attack: Any, knowledge: EngineHistory, published: EngineHistory) -> Any:
    """Give the pseudonym of each customer and month for which a row agrees: customer, period, pseudonym."""
    if isinstance(attack, ExactMatch):
        attack.check_options()
        fields = attack.fields
    elif isinstance(attack, Named):
        fields = attack.FIELDS
    else:
        expected = f"the local engine, which {part_name(attack)} needs; others have s1 to s6, same-… and exact-match"
        raise InputError.of(expected, option="engine")
    known, seen = (
        _cells(side, fields, by_month=isinstance(attack, SameMonthAndItem)) for side in (knowledge, published)
    )
    if "item" in fields:
        longest = knowledge.fetch(known.aggregate(n=known.item.length().max()))["n"][0]
        seen = seen.mutate(item=seen.item.substr(0, int(longest or 0)))
    # Few rows agree with what is known, and only those are sorted out by what they say.
    seen = seen.semi_join(known, list(fields))
    # Where several published rows agree the last one counts, and of several known rows of a month the last.
    last = seen.group_by(list(fields)).aggregate(row=lambda some: some.row.max())
    shown = seen.select(shown_row=seen.row, pseudonym=seen.customer)
    found = last.inner_join(shown, last.row == shown.shown_row).select(
        "pseudonym", **{f"found_{name}": last[name] for name in fields}
    )
    matched = known.inner_join(found, [known[name] == found[f"found_{name}"] for name in fields])
    matched = knowledge.keep(f"matched-{'-'.join(fields)}", matched.select("row", "customer", "period", "pseudonym"))
    lasting = matched.group_by("customer", "period").aggregate(last_row=lambda some: some.row.max())
    return matched.inner_join(lasting.select("last_row"), matched.row == lasting.last_row).select(
        "customer", "period", "pseudonym"
    )


def _cells(side: EngineHistory, fields: tuple[str, ...], *, by_month: bool) -> Any:
    """Give what is compared; numbers as floats, since one side may have fractions where the other has none."""
    rows = side.kept
    cells = {name: rows[name] for name in fields}
    if by_month:
        cells["date"] = rows["first"]
    if "quantity" in cells:
        cells["quantity"] = rows.quantity.cast("float64")
    return rows.select("row", "customer", "period", **cells)
