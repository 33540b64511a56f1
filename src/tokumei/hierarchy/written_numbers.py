"""Amounts as people write them: $48,123, 1,200円 or 25.123,45 €, which no program takes for numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tokumei.hierarchy.leaves import TRIED_FIRST

# A sign of money before, or it or a unit after the number. Letters before a number make a code of it.
_AMOUNT = re.compile(
    r"(?P<before>(?:[A-Z]{0,3}[$€£¥￥₩₹]|USD|EUR|GBP|JPY)?)\s?(?P<number>[+-]?[0-9][0-9.,]*)\s?(?P<after>[^\d\s.,]{0,6})"
)
_POINT = re.compile(r"[+-]?(0|[1-9][0-9]{0,2}(,[0-9]{3})+|[1-9][0-9]*)(\.[0-9]+)?")
_COMMA = re.compile(r"[+-]?(0|[1-9][0-9]{0,2}(\.[0-9]{3})+|[1-9][0-9]*)(,[0-9]+)?")


def read_amounts(texts: Sequence[str]) -> list[float] | None:
    """Read every text of a column as an amount with one sign or unit; None where they are none, or could be two.

    Whether a comma parts thousands or decimals is told by all texts together.

    >>> read_amounts(["$48,123", "$1,200.50"]), read_amounts(["25.123,45 €", "900,00 €"]), read_amounts(["1,200円"])
    ([48123.0, 1200.5], [25123.45, 900.0], [1200.0])
    >>> read_amounts(["$5", "€5"]), read_amounts(["007 kg"]), read_amounts(["A1", "A2"])
    (None, None, None)
    """
    if not texts or _read(texts[:TRIED_FIRST]) is None:
        return None
    return _read(texts)


def _read(texts: Sequence[str]) -> list[float] | None:
    found = [_AMOUNT.fullmatch(text.strip()) for text in texts]
    parts = [one for one in found if one is not None]
    if len(parts) < len(texts) or len({(one["before"], one["after"]) for one in parts}) > 1:
        return None
    numbers = [one["number"] for one in parts]
    if all(_POINT.fullmatch(number) for number in numbers):
        return [float(number.replace(",", "")) for number in numbers]
    if all(_COMMA.fullmatch(number) for number in numbers):
        return [float(number.replace(".", "").replace(",", ".")) for number in numbers]
    return None
