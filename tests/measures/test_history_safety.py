from __future__ import annotations

import datetime
import itertools
from typing import Literal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.measures.safety.known_items import HkpCoherence, KmAnonymity, LkcPrivacy

Sets = list[set[str]]


def history(sets: Sets, *, by: str = "customer") -> History:
    """Customers, or invoices of one customer, 1, 2, … with one row for each item."""
    rows = [(str(number), item) for number, items in enumerate(sets, 1) for item in sorted(items)]
    frame = pl.DataFrame(rows, schema={by: pl.String, "item": pl.String}, orient="row")
    if by == "invoice":
        frame = frame.with_columns(customer=pl.lit("1"))
    return History.of(frame.with_columns(date=datetime.date(2011, 1, 1), price=1.0, quantity=1))


def items(text: str) -> Sets:
    return [set(one.split()) for one in text.split(",")]


def plain(sets: Sets, n_known: int, secret: set[str]) -> tuple[int, float]:
    """Fewest who share a combination, and the largest share of them with one secret."""
    fewest, confidence = [], [0.0]
    # Where something is secret, knowing nothing is a combination too.
    for size in range(0 if secret else 1, n_known + 1):
        for known in itertools.combinations(sorted(set().union(*sets) - secret), size):
            buyers = [one for one in sets if one >= set(known)]
            if buyers:
                fewest.append(len(buyers))
                confidence += [sum(item in one for one in buyers) / len(buyers) for item in secret]
    return min(fewest, default=0), max(confidence)


BASKETS = items("a b c, a b, a c")
TESTS = items("a c, a test, c test, a b test")
WINE = items("a b wine, a b wine, a b c, c wine, a")


def test_km_anonymity_is_the_fewest_who_share_a_combination() -> None:
    assert KmAnonymity(2, 1).measure(history(BASKETS)).value == 2
    score = KmAnonymity(2, 2).measure(history(BASKETS))
    assert score.value == 1
    assert score.inputs == {"m": 2, "rarest": ("b", "c")}
    assert KmAnonymity(2, 1).holds(history(BASKETS))
    assert not KmAnonymity(2, 2).holds(history(BASKETS))


def test_lkc_privacy_is_the_largest_confidence_in_a_secret_item() -> None:
    score = LkcPrivacy(1, 2, 0.5, ("test",)).measure(history(TESTS))
    assert score.value == 1
    assert score.inputs == {"l": 1, "k": 1, "rarest": ("b",), "telling": ("b",), "told": "test"}
    without = LkcPrivacy(1, 2, 0.5, ("test",)).measure(history(TESTS[:3]))
    assert (without.value, without.inputs["k"], without.inputs["telling"]) == (2 / 3, 2, ())
    assert LkcPrivacy(1, 2, 0.7, ("test",)).holds(history(TESTS[:3]))
    assert not LkcPrivacy(1, 2, 0.5, ("test",)).holds(history(TESTS[:3]))
    assert not LkcPrivacy(1, 3, 0.5, ("test",)).holds(history(TESTS[:3]))
    assert not LkcPrivacy(1, 2, 0.4, ("test",)).holds(history(TESTS[:3]))


def test_lkc_privacy_of_an_attribute_knows_all_items() -> None:
    # Buyers of a are 1, 2 and 4, of whom 1 and 4 have the flu; customer 3 has nothing known.
    illness = {"1": "flu", "2": "cold", "4": "flu"}
    score = LkcPrivacy(1, 1, 1, attribute=illness).measure(history(items("a, a, c, a")))
    assert score.value == pytest.approx(2 / 3)
    assert score.inputs["told"] == "flu"
    both = LkcPrivacy(1, 1, 1, ("c",), illness).measure(history(items("a, a, c, a c")))
    assert both.value == pytest.approx(2 / 3)


def test_hkp_coherence_is_the_largest_share_with_a_private_item() -> None:
    transactions: list[Literal["customer", "invoice"]] = ["customer", "invoice"]
    for transaction in transactions:
        released = history(WINE, by=transaction)
        score = HkpCoherence(0.7, 2, 2, ("wine",), transaction).measure(released)
        assert score.value == pytest.approx(2 / 3)
        assert score.inputs["k"] == 1
        assert score.inputs["told"] == "wine"
        single = HkpCoherence(0.7, 2, 1, ("wine",), transaction)
        assert single.measure(released).inputs["k"] == 2
        assert single.measure(released).inputs["telling"] == ("b",)
        assert single.holds(released)
    assert not HkpCoherence(0.6, 2, 1, ("wine",)).holds(history(WINE))
    assert not HkpCoherence(0.7, 2, 2, ("wine",)).holds(history(WINE))


def test_private_items_that_nobody_bought_tell_nothing() -> None:
    assert HkpCoherence(0, 1, 2, ("beer",)).measure(history(BASKETS)).value == 0
    assert HkpCoherence(0, 1, 2, ("beer",)).holds(history(BASKETS))


def test_no_purchases_break_no_promise() -> None:
    nothing = history([])
    assert KmAnonymity(2).measure(nothing).value == 0
    assert KmAnonymity(2).holds(nothing)
    assert LkcPrivacy(2, 2, 0.1, ("a",)).holds(nothing)
    assert HkpCoherence(0.1, 2, 2, ("a",)).holds(nothing)


@given(st.lists(st.sets(st.sampled_from("abcdxy")), max_size=8), st.integers(1, 3))
def test_history_measures_are_those_of_the_plain_definition(sets: Sets, n_known: int) -> None:
    released = history(sets)
    # Who bought nothing is not in a history.
    fewest, confidence = plain([one for one in sets if one], n_known, {"x", "y"})
    assert KmAnonymity(1, n_known).measure(released).value == plain(sets, n_known, set())[0]
    for part in (LkcPrivacy(n_known, 1, 1, ("x", "y")), HkpCoherence(1, 1, n_known, ("x", "y"))):
        score = part.measure(released)
        assert score.inputs["k"] == fewest
        assert score.value == pytest.approx(confidence)


def test_invoice_that_is_missing_is_an_input_error() -> None:
    with pytest.raises(InputError, match="column invoice: expected an invoice in every row"):
        HkpCoherence(1, 1, 1, ("a",), "invoice").measure(history(BASKETS))


def test_options_out_of_range_are_input_errors() -> None:
    with pytest.raises(InputError, match="option m: found '4', expected from 1 to 3 items"):
        KmAnonymity(2, 4)
    with pytest.raises(InputError, match="option k: found '0', expected at least 1"):
        KmAnonymity(0)
    with pytest.raises(InputError, match="option c: found '2', expected a share from 0 to 1"):
        LkcPrivacy(1, 1, 2, ("a",))
    with pytest.raises(InputError, match="secret items or a secret attribute"):
        LkcPrivacy(1, 1, 1)
    with pytest.raises(InputError, match="option h"):
        HkpCoherence(-1, 1, 1, ("a",))
    with pytest.raises(InputError, match="option p"):
        HkpCoherence(1, 1, 0, ("a",))


def test_what_everybody_bought_is_learned_by_knowing_nothing() -> None:
    only = history(items("wine, wine"))
    for part in (LkcPrivacy(1, 2, 0.5, ("wine",)), HkpCoherence(0.5, 2, 1, ("wine",))):
        score = part.measure(only)
        assert (score.value, score.inputs["k"], score.inputs["told"]) == (1, 2, "wine")
        assert not part.holds(only)
