"""What every method for histories must keep, on histories made at random: the checks of PWSCUP 2017 and alignment."""

from __future__ import annotations

import datetime
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import CannotAnonymize, PromiseBroken
from tokumei.core.registry import part_name
from tokumei.data.history import History, period_of
from tokumei.data.history_columns import SCHEMA
from tokumei.data.release import Recipe, Release
from tokumei.methods.history.delete import Delete
from tokumei.methods.history.similar_customers import ExchangePseudonyms
from tokumei.methods.history.steps import Changed, release_under_pseudonyms
from tokumei.methods.registry import HISTORY_ANONYMIZERS

METHODS: list[tuple[str, dict[str, Any]]] = [
    ("pseudonyms", {}),
    ("pseudonyms", {"lifetime": 3, "risk_limit": 0.4}),
    ("exchange-pseudonyms", {"share": 1.0}),
    ("perturb", {"days": 10, "quantities": 1.0, "prices": 1.0, "items": 0.5}),
    ("perturb", {"days": 3, "whole_baskets": False}),
    ("delete", {"telling": 0.2, "random": 0.2}),
    ("dummies", {"clusters": 1, "smallest": 1}),
    ("dummies", {"smallest": 1}),
    ("km-anonymity", {"m": 1}),
    ("km-anonymity", {}),
]

row = st.tuples(
    st.sampled_from(["c1", "c2", "c3", "c4", "c5"]),
    st.dates(datetime.date(2010, 12, 1), datetime.date(2011, 3, 31)),
    st.times().map(lambda time: time.replace(second=0, microsecond=0)),
    st.sampled_from(["85123A", "85099", "22423", "22720", "M"]),
    st.integers(1, 9_999_999).map(lambda cents: cents / 100),
    st.integers(1, 999_999),
)
DELETED = (None,) * 6


@st.composite
def histories(draw: st.DrawFn) -> History:
    """A few rows of five customers in four months, some of them deleted before."""
    rows = draw(st.lists(st.one_of(row, row, row, st.just(DELETED)), min_size=1, max_size=25))
    columns = [column for column in SCHEMA if column != "invoice"]
    return History.of(pl.DataFrame(rows, schema={column: SCHEMA[column] for column in columns}, orient="row"))


def released(name: str, options: dict[str, Any], original: History) -> Release | None:
    try:
        return HISTORY_ANONYMIZERS.make(name, **options).anonymize(original, seed=3)
    except CannotAnonymize:
        return None


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), METHODS)
@given(original=histories())
def test_release_of_any_method_keeps_the_rules_and_leads_back_to_the_customer_and_month(
    name: str, options: dict[str, Any], original: History
) -> None:
    release = released(name, options, original)
    if release is not None:
        check_rules_of_the_contest(original, release)
        check_rows_lead_back(original, release)


def check_rules_of_the_contest(original: History, release: Release) -> None:
    assert release.frame.schema == original.frame.schema
    kept = History(release.frame).kept
    assert set(kept["item"]) <= set(original.kept["item"])
    assert kept["price"].is_between(0.01, 99_999.99).all()
    assert ((kept["price"] * 100 - (kept["price"] * 100).round()).abs() < 1e-6).all()
    assert kept["quantity"].is_between(1, 999_999).all()
    assert kept["customer"].str.contains("^[A-Za-z0-9_-]+$").all()
    assert not set(kept["customer"]) & set(original.customers)
    assert release.pseudonyms is not None
    for one_side in (["customer", "period"], ["period", "pseudonym"]):
        assert not release.pseudonyms.select(one_side).is_duplicated().any()


def check_rows_lead_back(original: History, release: Release) -> None:
    assert release.rows is not None
    assert release.pseudonyms is not None
    assert sorted(release.rows.drop_nulls()) == list(range(original.n_rows))
    before = original.frame.with_columns(period=original.period).select(
        "period", original="customer", row=pl.int_range(pl.len(), dtype=pl.Int64)
    )
    after = release.frame.select(pseudonym="customer", month=period_of(pl.col("date")), row=release.rows)
    both = after.filter(pl.col("pseudonym").is_not_null()).join(before, on="row", how="inner")
    assert both["month"].equals(both["period"].rename("month"))
    truth = set(release.pseudonyms.select("customer", "period", "pseudonym").rows())
    assert set(both.select("original", "period", "pseudonym").rows()) <= truth
    # What was deleted before comes back in no release.
    gone = release.frame.filter(release.rows.is_in(original.frame["customer"].is_null().arg_true().cast(pl.Int64)))
    assert gone["customer"].is_null().all()


def test_name_of_a_part_is_that_of_its_file() -> None:
    assert part_name(ExchangePseudonyms()) == "exchange-pseudonyms"
    assert {part_name(HISTORY_ANONYMIZERS.make(name)) for name, _ in METHODS} == {name for name, _ in METHODS}


def test_step_alone_gives_one_pseudonym_a_customer_for_the_whole_time() -> None:
    days = [datetime.date(2010, 12, 1), datetime.date(2011, 11, 30), datetime.date(2011, 1, 1)]
    original = History.of(
        pl.DataFrame({"customer": ["a", "a", "b"], "date": days, "item": "x", "price": 1.0, "quantity": 1})
    )
    names = Delete().anonymize(original, seed=1).frame["customer"].to_list()
    assert names[0] == names[1] != names[2]


def test_changed_history_needs_a_row_before_for_each_row() -> None:
    with pytest.raises(ValueError, match="one row before"):
        Changed(History.of({"customer": ["a"], "date": ["2011-01-05"]}), pl.Series([0, 1]))


def test_pseudonym_shared_in_a_month_is_refused() -> None:
    lives = pl.DataFrame({"customer": ["a", "b"], "period": [1, 1], "life": [0, 0]})
    with pytest.raises(PromiseBroken, match="share a pseudonym"):
        release_under_pseudonyms(History.of({"customer": [], "date": []}), lives, recipe=Recipe("x", {}), seed=1)
