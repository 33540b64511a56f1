from __future__ import annotations

import polars as pl
import pytest

from tokumei.anonymize.perturbation import Original
from tokumei.anonymize.perturbing.unchanged import check_enough, fewest_alike
from tokumei.core.errors import CannotAnonymize

PEOPLE = pl.DataFrame(
    {"age": [30, None, 30, None, None], "city": ["a", "a", "b", "b", "b"], "illness": ["v", "w", "x", "y", "z"]}
)


@pytest.mark.parametrize(
    ("changed", "missing_stays", "n"),
    [
        # Two in a, three in b; who has an illness is not known to whoever looks for a person.
        (["age"], False, 2),
        # Of those in a one has an age.
        (["age"], True, 1),
        (["age", "city"], False, 5),
        (["age", "city"], True, 2),
        (["city"], False, 2),
        ([], False, 1),
    ],
)
def test_fewest_rows_agree_on_what_is_not_changed(changed: list[str], missing_stays: bool, n: int) -> None:
    assert fewest_alike(Original(PEOPLE, ("age", "city")), changed, missing_stays=missing_stays) == n


def test_of_no_rows_none_agree() -> None:
    assert fewest_alike(Original(PEOPLE[:0], ("age", "city")), ["age"], missing_stays=True) == 0


def test_fewer_rows_than_k_are_too_few() -> None:
    check_enough(5, 5)
    with pytest.raises(CannotAnonymize, match="k = 5 needs as many rows that agree on what is not changed; the fewest"):
        check_enough(5, 4)
