"""Releases of the PWSCUP 2018 set against every built-in attack, by the contest's own test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cases import with_many

from tokumei.attacks.history.fitting import chance_of_proof, judge_guesses
from tokumei.attacks.history.generalized import GENERALIZED_ATTACKS, Generalized, ItemsInCommon
from tokumei.attacks.history.singling_out import singled_out
from tokumei.contest.editions.pwscup2018.files import (
    LONGEST_LINE,
    read_history,
    read_published,
    read_release,
    write_published,
    write_release,
)
from tokumei.data.files.released_histories import CONTEST, cells_of, text_of
from tokumei.data.history import History
from tokumei.data.release import GeneralizedHistory
from tokumei.methods.history.generalize import Generalize

pytestmark = pytest.mark.slow

# Without further rounds of alignment, which save 0.0015 and take most of the time.
LOSS = {2: 0.2195, 3: 0.3095}
GRID_LOSS = {2: 0.2973, 3: 0.3733}


@dataclass(frozen=True)
class Published:
    """A release as its publisher has it and as the attackers get it."""

    cells: GeneralizedHistory
    public: GeneralizedHistory
    truth: pl.DataFrame
    longest_line: int


@pytest.fixture(scope="module")
def original(shared_data: Path) -> History:
    return read_history(shared_data / "pwscup2018" / "T.csv.gz")


@pytest.fixture(scope="module", params=[2, 3])
def k(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def published(original: History, k: int, tmp_path_factory: pytest.TempPathFactory) -> Published:
    release = Generalize(k=k, rounds=0, ranges="tight").anonymize(original, seed=1)
    folder = tmp_path_factory.mktemp("release")
    write_release(cells_of(release.frame, "A"), folder / "A.csv")
    cells = read_release(folder / "A.csv")
    write_published(cells, folder / "A'.csv")
    assert release.pseudonyms is not None
    lengths = text_of(cells, CONTEST).select(pl.concat_str(pl.all(), separator=",").str.len_chars())
    return Published(
        cells=cells,
        public=read_published(folder / "A'.csv"),
        truth=release.pseudonyms.select("pseudonym", "customer").unique(),
        longest_line=int(lengths.to_series().to_numpy().max()),
    )


@pytest.fixture(scope="module")
def guesses(original: History, published: Published) -> Callable[[str], pl.DataFrame]:
    """Return what an attack guesses, which it says once for all tests that ask."""
    return cache(lambda name: GENERALIZED_ATTACKS[name]().guess(original, published.public))


def loss(original: History, cells: GeneralizedHistory) -> float:
    """Compute U of the contest straight from its formula."""
    means = [float((1 - 1 / cells.item.sizes().cast(pl.Float64)).fill_null(1.0).to_numpy().mean())]
    for column, width in (("date", 1.0), ("price", 0.01), ("quantity", 1.0)):
        bounds = getattr(cells, column)
        x, low, high = (
            series.to_physical().cast(pl.Float64).to_numpy()
            for series in (original.frame[column], bounds.low, bounds.high)
        )
        ends = (low - x) ** 2 + (high - x) ** 2 + (high - low) * width
        err = ends / (2 * x.std() * (high - low + width))
        means.append(float(np.where(np.isnan(low), 1.0, err).mean()))
    return sum(means) / 4


def test_release_follows_the_rules(original: History, published: Published) -> None:
    assert published.cells.n_rows == original.n_rows == 81_776
    assert published.cells.contains(original).to_numpy().all()
    assert published.longest_line <= LONGEST_LINE
    assert published.truth.height == 1_000 == published.truth["pseudonym"].n_unique()
    assert published.public.customer.n_unique() == 1_000


def test_release_loses_no_more_than_known(original: History, published: Published, k: int) -> None:
    assert loss(original, published.cells) == pytest.approx(LOSS[k], abs=0.002)


@pytest.mark.parametrize("name", list(GENERALIZED_ATTACKS))
def test_release_in_threes_survives_every_attack(
    published: Published, guesses: Callable[[str], pl.DataFrame], k: int, name: str
) -> None:
    verdict = judge_guesses(guesses(name), published.truth)
    # Blind luck disproves perfect threes once in 108 attacks, but pairs once in 14, as it does with this seed.
    assert k == 2 or not verdict.is_unsafe


def test_strongest_attack_is_sure_of_one_in_k_and_right_so_often(
    original: History, published: Published, k: int
) -> None:
    guesses = Generalized(submit_all=True).guess(original, published.public)
    assert guesses.height == 1_000
    assert guesses["confidence"].to_numpy().max() == pytest.approx(1 / k, abs=1e-6)
    # Three standard deviations of 1,000 guesses.
    assert judge_guesses(guesses, published.truth).n_right / 1_000 == pytest.approx(1 / k, abs=0.05)
    common = ItemsInCommon(n_guesses=1_000).guess(original, published.public)
    assert judge_guesses(common, published.truth).n_right / 1_000 <= 1 / k + 0.05


def test_attack_submits_as_many_as_the_report_reckons_with(guesses: Callable[[str], pl.DataFrame], k: int) -> None:
    # At k = 2 such an attack succeeds with a chance of 0.073, at k = 3 with 1/108.
    assert guesses("generalized").height == {2: 24, 3: 7}[k]


@pytest.mark.parametrize(("k", "unhidden", "aim"), [(2, 1, 0.21), *with_many((3, 2, 0.262))])
def test_unhidden_customers_are_found_and_save_what_was_aimed_at(
    original: History, k: int, unhidden: int, aim: float
) -> None:
    release = Generalize(k=k, unhidden=unhidden, ranges="tight").anonymize(original, seed=1)
    assert release.pseudonyms is not None
    truth = release.pseudonyms.select("pseudonym", "customer").unique()
    cells = cells_of(release.frame, "A")
    assert cells.contains(original).to_numpy().all()
    assert loss(original, cells) < aim
    published = cells_of(release.frame.filter(pl.col("customer") != "*").sort(pl.all()), "A")
    guesses = {name: part().guess(original, published) for name, part in GENERALIZED_ATTACKS.items()}
    # With one or two given away, blind luck disproves threes once in 36 attacks and pairs once in 8.
    assert not any(judge_guesses(mine, truth).is_unsafe for mine in guesses.values())
    # They are named for sure, and after them nobody with a chance above one in k.
    sure = guesses["generalized"]["confidence"].to_numpy()
    assert sure[:unhidden] == pytest.approx(1)
    assert sure[unhidden:].max() == pytest.approx(1 / k, abs=1e-6)
    largest = original.frame.group_by("customer").len().top_k(unhidden, by="len")["customer"].to_list()
    assert set(guesses["generalized"]["customer"][:unhidden]) == set(largest)
    assert judge_guesses(guesses["generalized"][:unhidden], truth).n_right == unhidden


def test_cells_of_a_grid_single_out_no_more_than_their_other_values_at_a_stated_loss(
    original: History, published: Published, k: int
) -> None:
    tight = singled_out(original, published.cells)
    release = Generalize(k=k, rounds=0).anonymize(original, seed=1)
    cells = cells_of(release.frame, "A")
    assert cells.contains(original).to_numpy().all()
    text = text_of(cells, CONTEST)
    # The contest's checker takes no end of 0.
    assert not text["price"].str.starts_with("[0;").any()
    assert not text["quantity"].str.starts_with("[0;").any()
    assert loss(original, cells) == pytest.approx(GRID_LOSS[k], abs=0.002)
    grid = singled_out(original, cells)
    assert tight.end is not None and tight.anywhere is not None and grid.end is not None and grid.anywhere is not None
    assert tight.end > 2.5 * tight.anywhere
    assert grid.end <= grid.anywhere + 0.05
    assert tight.occurs == 1
    assert grid.occurs is not None and grid.occurs < 0.65


def test_history_under_pseudonyms_alone_is_unsafe(original: History) -> None:
    customers = original.customers[:100]
    names = {customer: str(n + 1) for n, customer in enumerate(customers)}
    some = original.frame.filter(pl.col("customer").is_in(customers))
    renamed = History(some.with_columns(pl.col("customer").replace_strict(names)))
    truth = pl.DataFrame({"pseudonym": list(names.values()), "customer": customers})
    for part in (Generalized(), ItemsInCommon()):
        guesses = part.guess(original, GeneralizedHistory.of(renamed))
        assert judge_guesses(guesses, truth).is_unsafe


def test_attack_on_pairs_succeeds_as_often_as_blind_luck(original: History) -> None:
    """Draw the pseudonyms of one release anew many times: a leak would prove it unsafe more often than luck does."""
    n_rows = original.frame.group_by("customer").len().sort("customer")
    some = n_rows.filter(pl.col("len").is_between(10, 40))["customer"][:48].to_list()
    known = History(original.frame.filter(pl.col("customer").is_in(some)))
    release = Generalize(k=2, rounds=0, ranges="tight").anonymize(known, seed=1)
    assert release.pseudonyms is not None
    own = dict(release.pseudonyms.select("pseudonym", "customer").rows())
    cells = cells_of(release.frame.filter(pl.col("customer") != "*"), "A")
    random = np.random.default_rng(1)
    n_proven, n_right, n_draws = 0, 0, 60
    for _ in range(n_draws):
        names = dict(zip(some, map(str, random.permutation(len(some)) + 1), strict=True))
        renamed = cells.customer.replace_strict({pseudonym: names[customer] for pseudonym, customer in own.items()})
        guesses = Generalized().guess(known, replace(cells, customer=renamed))
        truth = pl.DataFrame({"pseudonym": list(names.values()), "customer": some})
        verdict = judge_guesses(guesses, truth)
        n_proven, n_right = n_proven + verdict.is_unsafe, n_right + verdict.n_right
    assert verdict.n_guesses == 24
    # Pairs are right or wrong together: four standard deviations of 60 · 12 tosses.
    assert n_right / (24 * n_draws) == pytest.approx(0.5, abs=0.075)
    assert n_proven <= n_draws * float(chance_of_proof([2] * 12)) + 8
