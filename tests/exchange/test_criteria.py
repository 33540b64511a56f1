"""Criteria by recipient."""

from __future__ import annotations

import pytest

from tokumei.core.errors import InputError, UnknownPart
from tokumei.exchange.documents import Criterion, check_distinct, read_criterion


@pytest.mark.parametrize(
    ("text", "k"),
    [("cheo-trusted-recipient", 3), ("cheo-public-release", 20), ("own=7", 7), ("own=0.1", 10), ("own=0.33", 4)],
)
def test_criterion_is_read_as_typed(text: str, k: int) -> None:
    assert read_criterion(text).k == k


def test_unknown_criterion_tells_the_nearest() -> None:
    with pytest.raises(UnknownPart, match="cheo-public-release"):
        read_criterion("cheo-public-releas")


@pytest.mark.parametrize("text", ["own=1", "own=0", "own=0.9", "own=x", "=3"])
def test_criterion_that_protects_nobody_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_criterion(text)


def test_criteria_are_strictest_first_and_each_once() -> None:
    assert [one.k for one in check_distinct([Criterion("a", 3), Criterion("b", 20)])] == [20, 3]
    with pytest.raises(InputError, match="each name once"):
        check_distinct([Criterion("a", 3), Criterion("a", 4)])
