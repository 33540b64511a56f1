from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest

from tokumei.attacks.judge import judge
from tokumei.attacks.linkage.attack import Linkage, guesses_of, weigh
from tokumei.attacks.linkage.fields import PRIOR, find_epochs
from tokumei.attacks.linkage.joining import join_epochs
from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.methods.history.delete import Delete
from tokumei.methods.history.perturb import Perturb
from tokumei.methods.history.steps import Pseudonyms
from tokumei.methods.pipeline import Pipeline

JANUARY, FEBRUARY = 24132, 24133


def history(*rows: tuple[str, str, str, float, int]) -> History:
    frame = pl.DataFrame(list(rows), schema=["customer", "date", "item", "price", "quantity"], orient="row")
    return History.of(frame.with_columns(pl.col("date").str.to_date()))


@pytest.fixture(scope="module")
def original() -> History:
    return History.of(make_retail(60, seed=5))


def test_linkage_finds_each_customer_and_leaves_out_absent_months() -> None:
    january = [("a", "P", "22728", 3.75, 6), ("b", "Q", "84029", 1.25, 24), ("c", "R", "15036", 0.5, 100)]
    february = [("a", "S", "21212", 9.5, 1), ("c", "U", "15036", 0.5, 120)]
    rows = [(*row, f"2011-01-{day:02}") for day, row in enumerate(january, start=3)]
    rows += [(*row, f"2011-02-{day:02}") for day, row in enumerate(february, start=3)]
    known = history(*((who, date, item[:2], price, n) for who, _, item, price, n, date in rows))
    published = history(*((alias, date, item, price, n) for _, alias, item, price, n, date in reversed(rows)))
    assert Linkage().guess(known, published).rows() == [
        ("a", JANUARY, "P"),
        ("a", FEBRUARY, "S"),
        ("b", JANUARY, "Q"),
        ("c", JANUARY, "R"),
        ("c", FEBRUARY, "U"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("lifetime", [1, 12])
def test_linkage_with_full_knowledge_finds_nearly_everybody(original: History, lifetime: int) -> None:
    release = Pseudonyms(lifetime).anonymize(original, seed=1)
    assert release.pseudonyms is not None
    guesses = Linkage().guess(original.known(1, seed=1), History(release.frame))
    verdict = judge(guesses, release.pseudonyms, original.customers, original.periods)
    assert verdict.row.value >= 0.95


def test_linkage_does_not_depend_on_the_order_of_rows(original: History) -> None:
    published = Pseudonyms().anonymize(original, seed=1).frame
    knowledge = original.known(0.3, seed=1)
    guesses = Linkage().guess(knowledge, History(published))
    assert guesses.equals(Linkage().guess(knowledge, History(published.sample(fraction=1, shuffle=True, seed=1))))


def test_linkage_joins_months_by_habits(original: History) -> None:
    release = Pseudonyms(1).anonymize(original, seed=1)
    assert release.pseudonyms is not None
    knowledge = original.known(0.1, seed=1)
    by_rows, by_habits = (
        judge(
            Linkage(rounds).guess(knowledge, History(release.frame)),
            release.pseudonyms,
            original.customers,
            original.periods,
        )
        for rounds in (0, 2)
    )
    assert by_habits.month.value > by_rows.month.value


def test_linkage_without_knowledge_or_release_guesses_nothing() -> None:
    some = history(("a", "2011-01-01", "22", 1.0, 1))
    none = History(some.frame.clear())
    for knowledge, published in ((some, none), (none, some)):
        guesses = Linkage().guess(knowledge, published)
        assert guesses.columns == ["customer", "period", "pseudonym"]
        assert guesses.is_empty()


def test_linkage_takes_whoever_is_unknown_in_a_month_for_absent_in_it() -> None:
    known = history(("a", "2011-01-01", "22", 1.0, 1))
    in_may = ("P", "2011-05-01", "84", 9.0, 7)
    assert Linkage().guess(known, history(in_may)).rows() == []
    both = history(in_may, ("Q", "2011-01-01", "22", 1.0, 1))
    assert Linkage().guess(known, both).rows() == [("a", JANUARY, "Q")]


def test_linkage_reads_times_only_where_both_sides_have_them() -> None:
    known = history(("a", "2011-01-01", "22", 1.0, 1), ("b", "2011-01-02", "84", 2.0, 5))
    timed = History(known.frame.with_columns(time=pl.lit(datetime.time(9)), customer="P" + pl.col("customer")))
    assert Linkage().guess(known, timed)["pseudonym"].to_list() == ["Pa", "Pb"]


def test_linkage_refuses_a_negative_number_of_rounds() -> None:
    some = history(("a", "2011-01-01", "22", 1.0, 1))
    with pytest.raises(InputError, match="0 or more"):
        Linkage(-1).guess(some, some)


def test_linkage_of_visits_compares_dates_and_times_alone(original: History) -> None:
    visits = History(original.frame.select("customer", "date", "time"))
    release = Pseudonyms(1).anonymize(visits, seed=1)
    assert release.pseudonyms is not None
    guesses = Linkage().guess(visits.known(0.5, seed=1), History(release.frame))
    assert judge(guesses, release.pseudonyms, visits.customers, visits.periods).month.value > 0.05


@pytest.mark.slow
def test_linkage_that_is_told_how_fields_agree_is_no_stronger_than_noise_over_what_it_learns(original: History) -> None:
    release = Pipeline(
        (Perturb(days=10, quantities=0.5, prices=0.3), Delete(random=0.2, once=False), Pseudonyms(12))
    ).anonymize(original, seed=1)
    assert release.pseudonyms is not None
    knowledge, seen = original.known(0.25, seed=1), History(release.frame)
    evidence, counts = weigh(knowledge, seen)
    # The truth: how far the fields of each row agree with what they were.
    compared, told = evidence.compared, {}
    back = {place: at for at, place in enumerate(compared.known.place.tolist())}
    rows = original.frame.with_row_index("place").with_columns(released=release.frame["customer"])
    order = seen.frame.with_row_index("place").filter(pl.col("customer").is_not_null()).sort(pl.exclude("place"))
    where = {place: at for at, place in enumerate(order["place"].to_list())}
    theirs = {place: at for at, place in enumerate(compared.released.place.tolist())}
    kept = [place for place, name in rows.select("place", "released").iter_rows() if name is not None and place in back]
    for name, field in compared.fields.items():
        shares = field.usual() * PRIOR
        ours = np.array([back[place] for place in kept])
        there = np.array([theirs[where[place]] for place in kept])
        levels = field.levels_of(compared.known.codes[name][ours], compared.released.codes[name][there])
        bands = field.bands[compared.released.cases[name][there]]
        is_told = levels >= 0
        np.add.at(shares, (bands[is_told], levels[is_told].astype(np.int64)), 1.0)
        told[name] = shares / shares.sum(axis=1, keepdims=True)
    epochs = find_epochs(evidence.n_rows, len(compared.customers))
    success = [
        judge(
            guesses_of(compared, join_epochs(evidence, counts, epochs, n_rounds=2, agreement=agreement)),
            release.pseudonyms,
            original.customers,
            original.periods,
        ).row.value
        for agreement in (told, None)
    ]
    # Three customers of sixty either way.
    assert success[0] >= success[1] - 0.05
    assert success[1] >= success[0] - 0.05
