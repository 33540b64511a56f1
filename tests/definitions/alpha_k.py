"""(α,k)-anonymity (Wong, Li, Fu and Wang 2006), every value protected: none has more than a share α of a class."""

from __future__ import annotations

from collections import Counter

from tests.definitions.cases import Value


def largest_share(values: list[Value]) -> float:
    return max((n / len(values) for n in Counter(values).values()), default=0.0)
