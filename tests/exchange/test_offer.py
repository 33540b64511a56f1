"""Offers as files: the same for provider and user, and refused where they are not sound."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.exchange.people import LATTICE, node, offer_of, people

from tokumei.core.errors import InputError, NotAllowed, NotFound
from tokumei.data.files.keys import PrivateKey
from tokumei.exchange.documents import sign
from tokumei.exchange.joint import sentence
from tokumei.exchange.offer import KIND, VERSION, Offer, read_offer
from tokumei.exchange.offer import offer_of as read_back
from tokumei.exchange.request import connections, make_request, try_all, try_node
from tokumei.predictors.predictor import Prediction


@pytest.fixture(scope="module")
def offer() -> Offer:
    return offer_of(people(200, 1), 3, has_discretion=True)[0]


def test_a_user_predicts_the_same_digits_from_the_file(offer: Offer, key: PrivateKey, tmp_path: Path) -> None:
    offer.signed(key).write(tmp_path / "offer.json")
    read, signed = read_offer(tmp_path / "offer.json")
    assert signed.digest == offer.signed(key).digest
    assert all(read.predict(at) == offer.predict(at) for at in LATTICE)
    assert all(read.zone(at, 3) == offer.zone(at, 3) for at in LATTICE)


Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda body: body.pop("purpose"), "purpose"),
        (lambda body: body.update(more=1), "more"),
        (lambda body: body["criteria"][0].update(k=1), "criteria"),
        (lambda body: body["lots"].update(allowed=0), "lots.allowed"),
        (lambda body: body.update(discretion="yes"), "discretion"),
        (lambda body: body["attributes"][0]["levels"][0]["codes"].append(99), "codes"),
        (lambda body: body["attributes"][0]["levels"].pop(), "a last level of one label"),
        (lambda body: body["predictor"].update(method="magic"), "predictor"),
        (lambda body: body["predictor"].update(attributes={}), "predictor.attributes.age"),
        (lambda body: body["predictor"].update(spread=-1e308), "predictor.spread"),
        (lambda body: body["predictor"].update(spread=0.3), "one of 0, 0.1"),
        (lambda body: body["predictor"]["attributes"]["age"][0].append(1), "predictor.attributes.age"),
        (lambda body: body["predictor"]["attributes"]["sex"][0].__setitem__(1, 10**6), "equally many rows"),
        (lambda body: body["predictor"]["tables"].append({"attributes": ["age", "x"], "parts": [], "rows": []}), "two"),
        (lambda body: body["first_release"]["levels"].pop("age"), "first_release"),
        (lambda body: body["first_release"]["levels"].update(age=9), "age"),
        (lambda body: body["approvals"].update(needed=1), "approvers"),
        (lambda body: body.update(slope=-1), "slope"),
        (lambda body: body.update(attributes=[]), "attribute"),
    ],
)
def test_an_offer_that_is_not_sound_is_refused_by_name(
    offer: Offer, key: PrivateKey, change: Change, named: str
) -> None:
    body = copy.deepcopy(offer.body())
    change(body)
    with pytest.raises(InputError, match=named):
        read_back(sign(KIND, VERSION, body, key))


def test_an_offer_that_publishes_a_small_count_is_refused_by_its_own_standard(offer: Offer, key: PrivateKey) -> None:
    body = copy.deepcopy(offer.body())
    body["criteria"][0]["k"] = 50
    with pytest.raises(NotAllowed, match="publishes a count of"):
        read_back(sign(KIND, VERSION, body, key))


def test_published_counts_hold_k(offer: Offer) -> None:
    groups = offer.knowledge["attributes"].values()
    assert min(n_rows for each in groups for _, n_rows in each) >= 3


def test_trying_tells_zone_and_reason(offer: Offer) -> None:
    tried = {each.node: each for each in try_all(offer)}
    assert len(tried) == LATTICE.n_nodes
    assert tried[LATTICE.top].zone == "allowed"
    assert tried[LATTICE.bottom].zone == "refused"
    assert tried[LATTICE.bottom].why
    assert next(iter(tried)) == LATTICE.top
    with pytest.raises(NotFound, match="no criterion 'x'"):
        try_node(offer, LATTICE.top, criterion="x")


def test_a_refusal_names_the_number_that_decided(offer: Offer) -> None:
    for tried in try_all(offer):
        if tried.reason == "small":
            low, k = math.floor(tried.judged.low), math.floor(tried.judged.k)
            assert tried.why == f"predicted {k:,}, its low end {low:,} is below 3"
            assert low < 3
    assert sentence("small", Prediction(95.7, 9.9, 1000), 10, "low") == "predicted 95, its low end 9 is below 10"
    assert sentence("small", Prediction(9.9, 1, 12), 10, "k") == "predicted 9, which is below 10"
    assert sentence("discretion", Prediction(12, 9, 20), 10, "low").endswith("is below 10: the provider decides")


def test_an_offer_by_the_rule_of_the_thesis_serves_where_the_predicted_k_holds(key: PrivateKey) -> None:
    frame = people(200, 1)
    low, _ = offer_of(frame, predictor="power-law", is_vetted=False, epsilon=1.0)
    by_k, _ = offer_of(frame, predictor="power-law", is_vetted=False, epsilon=1.0, rule="k")
    assert low.fitted.knowledge == by_k.fitted.knowledge
    served = [{at for at in LATTICE if one.zone(at, 3).zone == "allowed"} for one in (low, by_k)]
    assert served[0] < served[1]
    assert served[1] == {at for at in LATTICE if by_k.predict(at).k >= 3}
    # It is published; that the low end decides goes without saying, as in every earlier offer.
    assert read_back(by_k.signed(key)).rule == "k"
    assert "rule" not in low.body()
    body = by_k.body() | {"rule": "x"}
    with pytest.raises(InputError, match="one of low, k"):
        read_back(sign(KIND, VERSION, body, key))


def test_what_a_law_is_fitted_on_can_be_chosen() -> None:
    frame = people(400, 1)
    usual, few, wide, cautious = (
        offer_of(frame, predictor="power-law", is_vetted=False, **chosen)[0].knowledge
        for chosen in ({}, {"n_nodes": 4}, {"largest": 24}, {"caution": 0.01})
    )
    assert few["n_sampled"] <= 4 < usual["n_sampled"] <= 12 < wide["n_sampled"]
    assert (usual["caution"], cautious["caution"]) == (0.1, 0.01)
    assert offer_of(frame, caution=0.2)[0].knowledge["caution"] == 0.2
    with pytest.raises(InputError, match="an option of the power law"):
        offer_of(frame, n_nodes=4)
    with pytest.raises(InputError, match="one of low, k"):
        offer_of(frame, rule="x")


def test_the_law_of_an_offer_is_shown_as_it_is_turned() -> None:
    offer, _ = offer_of(people(200, 1), predictor="power-law", is_vetted=False)
    turned = replace(offer, slope=0.5)
    law = turned.law(3)
    assert law is not None
    assert law["beta"] == pytest.approx(offer.knowledge["beta"] - 0.5)
    # k − 1 = α x^β at the x that is told.
    alpha, beta, x_for_k, r = (law[name] or math.nan for name in ("alpha", "beta", "x_for_k", "r"))
    assert alpha * x_for_k**beta == pytest.approx(2)
    assert 0 < r <= 1
    assert offer_of(people(200, 1))[0].law(3) is None


def test_trying_with_what_is_known_to_be_out_joins_it(offer: Offer) -> None:
    alone = try_node(offer, node({"age": 2}))
    beside = try_node(offer, node({"age": 2}), given=[node({"age": 1})])
    assert alone.joint == node({"age": 2})
    assert beside.joint == node({"age": 0})


def test_a_request_is_made_only_where_the_formula_allows_it(offer: Offer) -> None:
    with pytest.raises(NotAllowed, match="predicted 1, its low end 1 is below 3"):
        make_request(offer, "digest", LATTICE.levels(LATTICE.bottom), signer="key", user="me", purpose="study")
    made = make_request(offer, "digest", LATTICE.levels(LATTICE.top), signer="key", user="me", purpose="study")
    assert made.criterion == "own"


def test_a_level_connects_where_every_value_has_a_label(offer: Offer) -> None:
    by_level = connections(offer, "age", pl.Series("alter", ["a", "b", "c", None]))
    assert [each.connects for each in by_level] == [False, True, False, True]
    by_value = connections(offer, "age", pl.Series("alter", [1, 2, 9]))
    assert [each.n_connected for each in by_value] == [2, 2, 2, 2]
    assert by_value[0].coverage == pytest.approx(2 / 3)


def test_a_column_connects_to_an_attribute_of_the_offer_alone(offer: Offer) -> None:
    with pytest.raises(InputError, match="an attribute"):
        connections(offer, "x", pl.Series(["a"]))
