"""What is served and refused, on tables small enough to follow by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.exchange.people import LATTICE, WORDS, node, offer_of, people

from tokumei.core.errors import CannotAnonymize
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.engines.class_counts import Recoding
from tokumei.engines.engine import WritePlan
from tokumei.engines.local import LocalEngine, LocalRelation
from tokumei.exchange.answer import Answered, Desk, Joint, answer, judge, lot
from tokumei.exchange.counted_table import CountedTable
from tokumei.exchange.documents import Criterion
from tokumei.exchange.offer import Lots, Offer
from tokumei.exchange.offering import OfferTerms, make_offer, read_release

# Almost no lots: these tests are about the rule and the count.
RARE = Lots(1e-9, 1e-9)
SECRET = b"secret"


def ages(*counts: int) -> pl.DataFrame:
    """Make women of town p, so many of each age."""
    rows = [(age, "f", "p") for age, n in zip("123456", counts, strict=True) for _ in range(n)]
    return pl.DataFrame(rows, schema=["age", "sex", "town"], orient="row")


def ask(
    offer: Offer, table: CountedTable, levels: dict[str, int], desk: Desk | None = None, k: int = 3, **more: Any
) -> Answered:
    return answer(offer, node(levels), k, desk=desk or Desk(), table=table, secret=SECRET, **more)


@pytest.fixture
def law() -> tuple[Offer, CountedTable]:
    """A power law through two points, the whole table of 48 and eight of each age: the ages are promised."""
    frame = pl.concat([ages(8, 8, 8, 8, 8, 8), ages(8, 8, 8, 8, 8, 8).with_columns(sex=pl.lit("m"))])
    return offer_of(frame, 3, predictor="power-law", first_levels={"sex": 0}, lots=RARE, is_vetted=False)


def test_what_is_promised_and_holds_is_served_with_its_classes(law: tuple[Offer, CountedTable]) -> None:
    offer, table = law
    found = ask(offer, table, {"age": 1, "sex": 0})
    assert (found.outcome, found.quadrant) == ("served", "alpha")
    assert found.release is not None
    lines = found.release.splitlines()
    assert lines[:3] == ["age,sex,town,n_rows", "a,f,*,16", "a,m,*,16"]
    assert found.desk.given[0].node == node({"age": 1, "sex": 0})


def test_the_second_of_two_releases_that_cross_is_refused_to_whoever_asks() -> None:
    # Women by pairs and by triples of ages tell the third age: 17 − 16 = 1, though each alone has classes of 8.
    frame = ages(8, 8, 1, 15, 8, 8)
    offer, table = offer_of(
        frame, 3, predictor="power-law", first_levels={"age": 2}, lots=RARE, is_vetted=False, has_discretion=True
    )
    triples = node({"age": 2})
    assert offer.first_node == triples
    assert table.k(node({"age": 1})) == 16
    found = ask(offer, table, {"age": 1}, user="one")
    # The joint node is that of single ages: whatever the formula says, the count is 1.
    assert found.joints == (Joint(node({"age": 0}), 3),)
    assert found.outcome == "refused"
    assert found.release is None


def test_a_chain_of_releases_adds_nothing(law: tuple[Offer, CountedTable]) -> None:
    offer, table = law
    first = ask(offer, table, {"age": 1, "sex": 0})
    second = ask(offer, table, {"age": 1}, first.desk)
    assert second.outcome == "served"
    assert second.joints == ()


def test_a_promise_that_fails_is_refused_like_any_other_and_so_is_all_that_is_finer() -> None:
    frame = pl.concat([ages(8, 8, 2, 14, 8, 8), ages(8, 8, 8, 8, 8, 8).with_columns(sex=pl.lit("m"))])
    offer, table = offer_of(frame, 3, predictor="power-law", first_levels={"sex": 0}, lots=RARE, is_vetted=False)
    assert offer.zone(offer.joint(node({"age": 0})), 3).zone == "allowed"
    found = ask(offer, table, {"age": 0, "sex": 0})
    assert (found.outcome, found.quadrant, found.reason) == ("refused", "gamma", "count")
    again = ask(offer, table, {"age": 0, "sex": 0}, found.desk)
    assert (again.outcome, again.reason) == ("refused", "before")
    assert ask(offer, table, {"age": 0, "sex": 0, "town": 1}, found.desk).outcome == "refused"
    coarser = ask(offer, table, {"age": 1, "sex": 0}, found.desk)
    assert coarser.outcome == "served"


def test_vetting_makes_the_formula_steep_enough_to_promise_nothing_that_fails() -> None:
    frame = pl.concat([ages(8, 8, 2, 14, 8, 8), ages(8, 8, 8, 8, 8, 8).with_columns(sex=pl.lit("m"))])
    loose, _ = offer_of(frame, 3, predictor="power-law", first_levels={"sex": 0}, is_vetted=False)
    vetted, table = offer_of(frame, 3, predictor="power-law", first_levels={"sex": 0})
    assert vetted.slope > loose.slope == 0
    allowed = [at for at in LATTICE if vetted.zone(vetted.joint(at), 3).zone == "allowed"]
    assert allowed
    assert all(table.k(vetted.joint(at)) >= 3 for at in allowed)


def test_a_public_release_binds_the_trusted_too() -> None:
    criteria = [Criterion("trusted", 3), Criterion("public", 8)]
    frame = pl.concat([ages(8, 8, 8, 8, 8, 8), ages(8, 8, 8, 8, 8, 8).with_columns(sex=pl.lit("m"))])
    offer, table = offer_of(
        frame, criteria=criteria, predictor="power-law", first_levels={"sex": 0}, lots=RARE, is_vetted=False
    )
    for_public = ask(offer, table, {"age": 1}, k=8)
    # Given to everybody, it is known in both circles, and each joint node is checked at its own k.
    assert {each.k for each in for_public.joints} == {3, 8}
    for_trusted = ask(offer, table, {"age": 1}, k=3)
    assert {each.k for each in for_trusted.joints} == {3}


def test_lots_are_the_same_under_one_secret_and_fall_as_often_as_said() -> None:
    joints = [Joint((number,), 3) for number in range(2_000)]
    drawn = [lot(SECRET, each) for each in joints]
    assert drawn == [lot(SECRET, each) for each in joints]
    assert drawn != [lot(b"other", each) for each in joints]
    assert 0.15 < sum(each < 0.2 for each in drawn) / len(drawn) < 0.25


def test_a_request_waits_for_people_and_a_lot_does_not_show(law: tuple[Offer, CountedTable]) -> None:
    offer, table = law
    for lots in (RARE, Lots(0.9, 0.9)):
        careful = Offer(**{**vars_of(offer), "approvals_needed": 1, "approvers": ("key",), "lots": lots})
        waiting = ask(careful, table, {"age": 1})
        assert (waiting.outcome, waiting.quadrant, waiting.ks) == ("waiting", None, {})
    careful = Offer(**{**vars_of(offer), "approvals_needed": 1, "approvers": ("key",)})
    assert ask(careful, table, {"age": 1}, n_approved=1).outcome == "served"
    denied = ask(careful, table, {"age": 1}, is_denied=True)
    assert (denied.outcome, denied.quadrant, denied.reason) == ("refused", "beta", "person")


def vars_of(offer: Offer) -> dict[str, Any]:
    return {each.name: getattr(offer, each.name) for each in fields(offer)}


def test_judging_counts_nothing(law: tuple[Offer, CountedTable]) -> None:
    offer, _ = law
    judged = judge(offer, node({"age": 1}), 3, Desk(), SECRET)
    assert judged.is_served


@dataclass(frozen=True)
class WatchedRelation:
    """Rows that tell their engine when they are gone through."""

    inside: LocalRelation
    engine: CountingEngine

    @property
    def name(self) -> str:
        return self.inside.name

    @property
    def schema(self) -> Mapping[str, pl.DataType]:
        return self.inside.schema

    @property
    def writes_there(self) -> bool:
        return self.inside.writes_there

    def group_sizes(
        self, columns: Sequence[str], recodings: Mapping[str, Recoding], most: int | None = None
    ) -> pl.DataFrame:
        self.engine.n_passes += 1
        return self.inside.group_sizes(columns, recodings, most)

    def distinct(self, column: str) -> pl.Series:
        self.engine.n_passes += 1
        return self.inside.distinct(column)

    def within(self, column: str, values: pl.Series) -> WatchedRelation:
        return replace(self, inside=self.inside.within(column, values))

    def write(self, plan: WritePlan, out: Path) -> None:
        self.engine.n_passes += 1
        self.inside.write(plan, out)

    def write_made(self, combinations: pl.DataFrame, out: Path) -> None:
        self.inside.write_made(combinations, out)


class CountingEngine(AbstractContextManager["CountingEngine"]):
    """The local engine, counting how often rows are gone through."""

    def __init__(self) -> None:
        self.n_passes = 0

    def open(self, source: Any, reading: Reading = AS_IT_IS) -> WatchedRelation:
        return WatchedRelation(LocalEngine().open(source, reading), self)

    def __exit__(self, *error: object) -> None:
        pass


def test_an_offer_takes_one_pass_an_answer_at_most_one_and_a_try_none() -> None:
    engine = CountingEngine()
    frame = people(200, 1)
    offer, _ = make_offer(
        *("people", WORDS, CountedTable(LATTICE, frame, engine=engine)),
        *(OfferTerms([Criterion("own", 3)], lots=RARE, predictor="margins"), SECRET),
    )
    assert engine.n_passes == 1
    for at in LATTICE:
        offer.zone(offer.joint(at), 3)
    assert engine.n_passes == 1
    # A provider that starts anew for each request.
    for at in [node({"age": 1}), node({"age": 2, "sex": 0}), LATTICE.bottom]:
        fresh = CountingEngine()
        table = CountedTable(LATTICE, frame, engine=fresh)
        answer(offer, at, 3, desk=Desk(), table=table, secret=SECRET)
        assert fresh.n_passes <= 1
    # One that goes on: what follows from what was counted takes no pass.
    kept = CountingEngine()
    table = CountedTable(LATTICE, frame, engine=kept)
    desk = Desk()
    for at in [LATTICE.bottom, *LATTICE]:
        desk = answer(offer, at, 3, desk=desk, table=table, secret=SECRET).desk
    assert kept.n_passes == table.n_passes == 1


def test_columns_that_are_carried_go_along_and_classes_are_counted_without_them() -> None:
    frame = ages(8, 8, 8, 8, 8, 8).with_columns(ill=pl.Series(["yes", "no"] * 24))
    table = CountedTable(LATTICE, frame, carried=["ill"])
    terms = OfferTerms([Criterion("own", 8)], first_levels={"age": 1}, lots=RARE)
    offer, text = make_offer("people", WORDS, table, terms, SECRET)
    # Everybody gets the first release: the columns that are carried along are not in it.
    assert text.splitlines() == ["age,sex,town,n_rows", "a,*,*,16", "b,*,*,16", "c,*,*,16"]
    assert offer.carried == ("ill",)
    released = answer(offer, node({"age": 1}), 8, desk=Desk(), table=table, secret=SECRET).release
    assert released is not None
    assert released.splitlines()[:3] == ["age,sex,town,ill,n_rows", "a,*,*,no,8", "a,*,*,yes,8"]
    assert sorted(read_release(released, LATTICE.attributes)["n_rows"]) == [16, 16, 16]


def test_a_first_release_that_does_not_hold_is_refused() -> None:
    with pytest.raises(CannotAnonymize, match="coarser levels"):
        offer_of(ages(8, 8, 1, 15, 8, 8), 3, predictor="power-law", first_levels={"age": 0})
