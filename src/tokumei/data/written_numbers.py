"""Amounts as people write them: $48,123, 1,200円 or 25.123,45 €, which no program takes for numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

# So many texts are tried before all are: most columns of text hold no amounts.
TRIED_FIRST = 20
# A sign of money before, or it or a unit after the number. Letters before a number make a code of it.
_AMOUNT = re.compile(
    r"(?P<before>(?:[A-Z]{0,3}[$€£¥￥₩₹]|USD|EUR|GBP|JPY)?)\s?(?P<number>[+-]?[0-9][0-9.,]*)\s?(?P<after>[^\d\s.,]{0,6})"
)
_POINT = re.compile(r"[+-]?(0|[1-9][0-9]{0,2}(,[0-9]{3})+|[1-9][0-9]*)(\.[0-9]+)?")
_COMMA = re.compile(r"[+-]?(0|[1-9][0-9]{0,2}(\.[0-9]{3})+|[1-9][0-9]*)(,[0-9]+)?")


def read_amounts(texts: Sequence[str], *, is_sure: bool = False) -> list[float] | None:
    """Read every text of a column as an amount with one sign or unit; None where they are none, or could be two.

    Whether a comma parts thousands or decimals is told by all texts together. Where they do not tell, as 1,250 alone,
    it parts thousands, or they are none if one is to be sure.

    >>> read_amounts(["$48,123", "$1,200.50"]), read_amounts(["25.123,45 €", "900,00 €"]), read_amounts(["1,200円"])
    ([48123.0, 1200.5], [25123.45, 900.0], [1200.0])
    >>> read_amounts(["$5", "€5"]), read_amounts(["007 kg"]), read_amounts(["A1", "A2"])
    (None, None, None)
    >>> read_amounts(["1,250", "2,500"]), read_amounts(["1,250", "2,500"], is_sure=True)
    ([1250.0, 2500.0], None)
    """
    if not texts or _read(texts[:TRIED_FIRST], is_sure=False) is None:
        return None
    return _read(texts, is_sure=is_sure)


def _read(texts: Sequence[str], *, is_sure: bool) -> list[float] | None:
    found = [_AMOUNT.fullmatch(text.strip()) for text in texts]
    parts = [one for one in found if one is not None]
    if len(parts) < len(texts) or len({(one["before"], one["after"]) for one in parts}) > 1:
        return None
    numbers = [one["number"] for one in parts]
    by_point, by_comma = (all(form.fullmatch(number) for number in numbers) for form in (_POINT, _COMMA))
    if is_sure and by_point and by_comma and not all(number.lstrip("+-").isdigit() for number in numbers):
        return None
    if by_point:
        return [float(number.replace(",", "")) for number in numbers]
    if by_comma:
        return [float(number.replace(".", "").replace(",", ".")) for number in numbers]
    return None
