from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import polars as pl
import pytest

from tokumei.attacks.judge import judge, published, truth_of
from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.seeds import generator
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.methods.history import similar_customers
from tokumei.methods.history.permute_groups import PermuteGroups, deal, draw_holders, hand_out
from tokumei.methods.history.similar_customers import group_like_months
from tokumei.methods.pipeline import pipeline_of
from tokumei.tasks.anonymize_history import anonymize_history


def history(*rows: tuple[str, str, str]) -> History:
    frame = pl.DataFrame(list(rows), schema=["customer", "date", "item"], orient="row")
    return History.of(frame.with_columns(price=1.0, quantity=1))


# The example of the docstring, and c, who buys in another month and can only be left open.
SHOP = history(
    ("a", "2011-05-02", "tea"),
    ("a", "2011-05-09", "jam"),
    ("a", "2011-05-09", "oil"),
    ("b", "2011-05-03", "soap"),
    ("b", "2011-05-03", "rice"),
    ("c", "2011-06-01", "nails"),
)


def test_groups_are_cut_to_equal_rows_and_the_bound_is_open_and_groups_by_customers() -> None:
    release = PermuteGroups(bound=0.7).anonymize(SHOP, seed=1)
    # One group of two and one customer left open: (1 + 1) / 3.
    assert release.recipe.found["bound"] == pytest.approx(2 / 3)
    assert (release.recipe.found["open"], release.recipe.found["groups"], release.recipe.found["rows_cut"]) == (1, 1, 1)
    assert release.recipe.found["bound_deviation"] == pytest.approx(1 / 3)
    counts = release.frame.drop_nulls("customer").group_by("customer").len()["len"]
    assert sorted(counts) == [1, 2, 2]
    assert release.frame.row(5)[4:] == SHOP.frame.row(5)[4:]
    # A purchase of a and one of b under each of the two pseudonyms.
    whose = dict(SHOP.frame.select("item", "customer").iter_rows())
    for pseudonym in release.frame["customer"].head(5).drop_nulls().unique():
        items = release.frame.filter(pl.col("customer") == pseudonym)["item"]
        assert sorted(whose[item] for item in items) == ["a", "b"]


@pytest.mark.parametrize("deals", ["rows", "baskets"])
def test_published_rows_are_the_same_for_every_permutation_so_that_no_guess_beats_the_bound(deals: str) -> None:
    rng = np.random.default_rng(3)
    days = [
        f"2011-{month:02}-{day:02}" for month, day in zip(rng.integers(1, 3, 40), rng.integers(1, 9, 40), strict=True)
    ]
    who, what = rng.choice(list("abcde"), 40), rng.choice(["tea", "jam", "oil"], 40)
    tiny = history(*zip(who.tolist(), days, what.tolist(), strict=True))
    groups = PermuteGroups(bound=0.6, smallest=2, deals=deals).group(tiny)  # type: ignore[arg-type]
    dealt = deal(tiny, groups, deals, generator(1, "deal"))
    seen, truths = [], []
    for holders in itertools.product(*(itertools.permutations(one) for one in groups.members)):
        order = [np.array(one) for one in holders]
        release = hand_out(tiny, groups, dealt, order, hides_baskets=deals == "rows", seed=1)
        seen.append(release.frame.drop_nulls("customer").sort(pl.all()))
        truths.append(truth_of(tiny, History(release.frame)))
    assert len(seen) == math.prod(math.factorial(len(one)) for one in groups.members) > 1
    assert all(one.equals(seen[0]) for one in seen)
    # Every guess is a choice among what the truths name; the best one, customer by customer, is expected to find:
    names: Counter[tuple[str, str]] = Counter()
    for truth in truths:
        rows = truth.group_by("customer", maintain_order=True).agg(pl.struct("period", "pseudonym"))
        names.update((who, str(what)) for who, what in rows.iter_rows())
    best = {who: max(n for (other, _), n in names.items() if other == who) for who, _ in names}
    expected = sum(best.values()) / len(truths) / len(tiny.customers)
    assert expected == pytest.approx(groups.promise["bound"])


@pytest.mark.slow
@pytest.mark.parametrize("deals", ["rows", "baskets"])
def test_every_attack_stays_under_the_bound_within_noise(deals: str) -> None:
    for seed in range(2):
        shop = History.of(make_retail(40, n_rows=900, seed=seed))
        release = PermuteGroups(bound=0.3, deals=deals).anonymize(shop, seed=seed)  # type: ignore[arg-type]
        found = release.recipe.found
        truth = truth_of(shop, History(release.frame))
        rows = published(History(release.frame), seed=seed)
        for name, share in itertools.product(HISTORY_ATTACKS, (0.25, 1.0)):
            guesses = HISTORY_ATTACKS.make(name).guess(shop.known(share, seed=seed), rows)
            verdict = judge(guesses, truth, shop.customers, shop.periods)
            assert verdict.row.value <= found["bound"] + 3 * found["bound_deviation"], name


@pytest.mark.parametrize("deals", ["rows", "baskets"])
def test_bundles_have_the_least_rows_of_their_group_and_purchases_evenly_of_all(deals: str) -> None:
    shop = History.of(make_retail(30, n_rows=700, seed=8))
    groups = PermuteGroups(bound=0.4).group(shop)
    dealt = deal(shop, groups, deals, generator(1, "deal"))
    assert dealt["row"].is_unique().all()
    owner = shop.frame["customer"].gather(dealt["row"])
    number = dict(zip(groups.customers, range(len(groups.customers)), strict=True))
    for label, members in enumerate(groups.members):
        for month in range(len(shop.periods)):
            least = int(groups.n_rows[members, month].min())
            is_here = (dealt["group"] == label) & (dealt["period"] == month)
            here = dealt.filter(is_here)
            expected = dict.fromkeys(range(len(members)), least) if least else {}
            assert dict(here["bundle"].value_counts().iter_rows()) == expected
            given = Counter(number[who] for who in owner.filter(is_here))
            assert given == (dict.fromkeys(members.tolist(), least) if least else {})
            if deals == "rows" and least:
                # No bundle has more than one turn more of a customer than another.
                pairs = here.with_columns(owner=owner.filter(is_here)).group_by("bundle", "owner").len()
                assert max(pairs["len"]) <= math.ceil(least / len(members))


def plain_grouping(n_rows: np.ndarray, most_found: int) -> int:
    """Merge by the same rule without keeping any costs, and give the rows that are left."""
    groups = [[at] for at in range(len(n_rows))]

    def left(group: list[int]) -> int:
        return len(group) * int(n_rows[group].min(axis=0).sum())

    while len(groups) > most_found:
        pairs = [
            (left(one) + left(two) - left(one + two), at, to)
            for (at, one), (to, two) in itertools.combinations(enumerate(groups), 2)
            if left(one + two)
        ]
        _, at, to = min(pairs)
        groups[at] = groups[at] + groups.pop(to)
    return sum(left(group) for group in groups)


@pytest.mark.parametrize("seed", range(8))
def test_grouping_keeps_about_as_many_rows_as_plain_merging(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows = rng.integers(1, 9, (14, 3))
    labels = group_like_months(n_rows, most_found=5, smallest=2, most_open=14)
    groups = [np.flatnonzero(labels == one) for one in range(labels.max() + 1)]
    kept = sum(len(one) * int(n_rows[one].min(axis=0).sum()) for one in groups) + int(n_rows[labels < 0].sum())
    assert (labels < 0).sum() + len(groups) == 5
    # Of equal merges another may be first, which may end a little elsewhere.
    assert kept == pytest.approx(plain_grouping(n_rows, 5), rel=0.1)


def test_grouping_in_blocks_holds_the_same_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similar_customers, "BLOCK", 16)
    shop = History.of(make_retail(60, seed=4))
    assert PermuteGroups(bound=0.4).group(shop).promise["bound"] <= 0.4


def test_smallest_and_most_open_are_kept() -> None:
    shop = History.of(make_retail(60, seed=4))
    found = PermuteGroups(bound=0.5, smallest=3, most_open=0.2).anonymize(shop, seed=1).recipe.found
    assert found["smallest_group"] >= 3
    assert found["open"] <= 12


def test_a_bound_of_one_leaves_everybody_open_and_every_row_as_it_is() -> None:
    release = PermuteGroups(bound=1).anonymize(SHOP, seed=1)
    assert release.recipe.found["open"] == 3
    assert release.frame.drop("customer").equals(SHOP.frame.drop("customer"))


def test_a_bound_that_no_grouping_keeps_is_refused() -> None:
    with pytest.raises(CannotAnonymize, match="1 of 3 customers left open and 1 groups remain"):
        PermuteGroups(bound=0.5).anonymize(SHOP, seed=1)


@pytest.mark.parametrize("option", [{"bound": 1.5}, {"most_open": -0.1}, {"smallest": 1}, {"deals": "days"}])
def test_wrong_options_are_refused(option: dict[str, object]) -> None:
    with pytest.raises(InputError):
        PermuteGroups(**option).anonymize(SHOP, seed=1)  # type: ignore[arg-type]


def test_a_history_without_rows_or_with_deleted_ones_is_taken() -> None:
    assert PermuteGroups().anonymize(History(SHOP.frame.clear()), seed=1).frame.is_empty()
    holey = History(SHOP.frame.with_columns(pl.when(pl.col("item") != "oil").then(pl.all())))
    release = PermuteGroups(bound=0.7).anonymize(holey, seed=1)
    assert release.frame.row(2) == (None,) * len(SHOP.frame.columns)
    assert release.recipe.found["rows_cut"] == 0


def test_visits_are_permuted_too_and_invoices_and_times_hidden() -> None:
    shop = History.of(make_retail(30, seed=1))
    visits = History(shop.frame.select("customer", "date", "time"))
    release = PermuteGroups(bound=0.4).anonymize(visits, seed=1)
    assert release.recipe.found["bound"] <= 0.4
    groups = PermuteGroups(bound=0.4).group(visits)
    grouped = visits.frame["customer"].is_in(groups.customers.filter(pl.Series(groups.labels >= 0)).to_list())
    assert set(release.frame.filter(grouped)["time"].drop_nulls().dt.hour()) <= {0}


def test_bound_is_among_the_facts_and_in_the_recipe_of_a_pipeline() -> None:
    shop = History.of(make_retail(30, seed=1))
    done = anonymize_history(shop, method="permute-groups", bound=0.4, seed=1)
    assert done.facts["bound"] == done.recipe.as_dict()["found"]["bound"] <= 0.4
    steps = {"step": [{"method": "perturb", "days": 3}, {"method": "permute-groups", "bound": 0.4}]}
    assert pipeline_of(steps).anonymize(shop, seed=1).recipe.found["bound"] <= 0.4


def test_holders_are_drawn_uniformly() -> None:
    groups = PermuteGroups(bound=0.7).group(SHOP)
    drawn = Counter(tuple(draw_holders(groups, generator(seed, "hand out"))[0].tolist()) for seed in range(400))
    assert set(drawn) == {(0, 1), (1, 0)}
    assert abs(drawn[0, 1] - 200) < 50
