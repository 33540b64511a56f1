"""How strong the linkage attack is on the 2017 set, on releases it was not tuned to."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cases import with_many

from tokumei.attacks.judge import Verdict, judge, published
from tokumei.attacks.linkage import attack
from tokumei.attacks.linkage.attack import Linkage
from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.contest.editions.pwscup2017.files import read_history, read_knowledge
from tokumei.core.seeds import generator
from tokumei.data.history import History
from tokumei.methods.history.steps import Pseudonyms
from tokumei.methods.pipeline import pipeline_of

pytestmark = pytest.mark.slow

SEED = 2017


@pytest.fixture(scope="module")
def folder(shared_data: Path) -> Path:
    return shared_data / "pwscup2017"


@pytest.fixture(scope="module")
def original(folder: Path) -> History:
    return read_history(folder / "T.csv.gz")


def publish(original: History, changed: pl.DataFrame, is_kept: pl.Series) -> tuple[History, pl.DataFrame]:
    """Return the kept rows in another order, and the truth."""
    truth = pl.DataFrame(
        {"customer": original.frame["customer"], "period": original.period, "pseudonym": changed["customer"]}
    )
    seen = changed.filter(is_kept).sample(fraction=1, shuffle=True, seed=SEED)
    return History(seen), truth.filter(is_kept).unique()


@pytest.fixture(scope="module")
def monthly(original: History) -> tuple[History, pl.DataFrame]:
    release = Pseudonyms(1).anonymize(original, seed=SEED)
    return publish(original, release.frame, pl.Series(np.ones(original.n_rows, bool)))


@pytest.fixture(scope="module")
def perturbed(original: History) -> tuple[History, pl.DataFrame]:
    """A fifth of the rows gone, days anywhere in the month, quantities and prices up or down by some."""
    rng = generator(SEED, "perturbed")
    frame = Pseudonyms(1).anonymize(original, seed=SEED).frame
    n = original.n_rows
    last_day = frame["date"].dt.month_end().dt.day().to_numpy()
    days = pl.Series(np.floor(rng.random(n) * last_day).astype(np.int64))
    changed = frame.with_columns(
        date=pl.col("date").dt.month_start() + pl.duration(days=pl.lit(days)),
        quantity=pl.Series(np.maximum(1, np.rint(frame["quantity"].to_numpy() * rng.uniform(0.6, 1.6, n)))).cast(
            pl.Int64
        ),
        price=pl.Series(np.maximum(0.01, np.round(frame["price"].to_numpy() * rng.uniform(0.8, 1.25, n), 2))),
    )
    return publish(original, changed, pl.Series(rng.random(n) >= 0.2))


def row_success(
    attack: str, folder: Path, original: History, release: tuple[History, pl.DataFrame], share: int
) -> float:
    seen, truth = release
    guesses = HISTORY_ATTACKS.make(attack).guess(read_knowledge(folder / f"T{share}.csv.gz"), seen)
    return judge(guesses, truth, original.customers, original.periods).row.value


def test_linkage_undoes_monthly_pseudonyms(
    folder: Path, original: History, monthly: tuple[History, pl.DataFrame]
) -> None:
    seen, truth = monthly
    guesses = Linkage().guess(read_knowledge(folder / "T25.csv.gz"), seen)
    verdict = judge(guesses, truth, original.customers, original.periods)
    assert (verdict.row.value, verdict.found.value) == pytest.approx((0.912, 0.972), abs=0.006)
    assert row_success("linkage", folder, original, monthly, 100) >= 0.99


@pytest.mark.parametrize(("share", "least"), [(25, 0.85), (100, 0.98)])
def test_linkage_undoes_deletion_and_perturbation(
    folder: Path, original: History, perturbed: tuple[History, pl.DataFrame], share: int, least: float
) -> None:
    assert row_success("linkage", folder, original, perturbed, share) >= least


def noisy(original: History, seed: int, *, deleted: float, whole_baskets: bool) -> tuple[History, pl.DataFrame]:
    """Return monthly pseudonyms over days, quantities and prices that all moved, without times."""
    moved = {"days": 31, "quantities": 0.5, "prices": 0.25, "hides_times": True, "whole_baskets": whole_baskets}
    gone = {"method": "delete", "random": deleted, "once": False, "price_deviations": 0.0}
    steps = [{"method": "perturb"} | moved, *([gone] if deleted else []), {"method": "pseudonyms", "lifetime": 1}]
    release = pipeline_of({"step": steps}).anonymize(original, seed=seed)
    assert release.pseudonyms is not None
    return published(History(release.frame), seed=seed), release.pseudonyms


@pytest.mark.parametrize(
    ("deleted", "whole_baskets", "least"),
    [(0.0, False, 0.82), (0.2, True, 0.73), *with_many((0.0, True, 0.80), (0.2, False, 0.73))],
)
def test_linkage_undoes_noise_on_all_fields_of_rows_and_of_baskets(
    folder: Path, original: History, deleted: float, whole_baskets: bool, least: float
) -> None:
    release = noisy(original, 1, deleted=deleted, whole_baskets=whole_baskets)
    assert row_success("linkage", folder, original, release, 25) >= least


@pytest.mark.parametrize(("share", "about"), [(25, 0.336), (100, 0.402)])
def test_best_sample_attack_is_as_known(folder: Path, original: History, share: int, about: float) -> None:
    # S6 takes the last row that agrees, so the rows stay in their order here.
    release = Pseudonyms(1).anonymize(original, seed=SEED)
    assert release.pseudonyms is not None
    kept = (History(release.frame), release.pseudonyms)
    assert row_success("s6", folder, original, kept, share) == pytest.approx(about, abs=0.0005)


@pytest.mark.parametrize(("share", "least"), [(25, 0.80), (100, 0.93)])
def test_linkage_is_not_fooled_by_the_blurring_of_the_docs(
    folder: Path, original: History, share: int, least: float
) -> None:
    docs = Path(__file__).resolve().parents[2] / "docs" / "howto" / "histories.md"
    [text] = [
        block for block in re.findall(r"```toml\n(.*?)```", docs.read_text(), re.DOTALL) if "hides_times" in block
    ]
    release = pipeline_of(tomllib.loads(text)).anonymize(original, seed=1)
    assert release.pseudonyms is not None
    seen = published(History(release.frame), seed=1)
    assert row_success("linkage", folder, original, (seen, release.pseudonyms), share) >= least


@pytest.fixture(scope="module")
def by_rows(folder: Path, original: History, monthly: tuple[History, pl.DataFrame]) -> Verdict:
    """What rows alone find where a quarter is known."""
    seen, truth = monthly
    guesses = Linkage(rounds=0).guess(read_knowledge(folder / "T25.csv.gz"), seen)
    return judge(guesses, truth, original.customers, original.periods, seen)


def test_linkage_by_rows_alone_finds_no_month_without_known_rows(by_rows: Verdict) -> None:
    # 65 of 500 customers have a month in which nothing is known of them.
    assert by_rows.row.value == pytest.approx(435 / 500, abs=0.004)
    assert by_rows.row.baseline is not None
    assert by_rows.row.baseline < 0.001


def test_linkage_in_blocks_finds_what_rows_tell(
    folder: Path,
    original: History,
    monthly: tuple[History, pl.DataFrame],
    by_rows: Verdict,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen, truth = monthly
    assert (by_rows.row.value, by_rows.found.value) == pytest.approx((0.870, 0.955), abs=0.006)
    monkeypatch.setattr(attack, "LARGEST_CELLS", 0)
    guesses = Linkage().guess(read_knowledge(folder / "T25.csv.gz"), seen)
    in_blocks = judge(guesses, truth, original.customers, original.periods)
    assert in_blocks.found.value == pytest.approx(by_rows.found.value, abs=0.002)


def test_linkage_undoes_monthly_pseudonyms_over_five_draws(
    original: History, monthly: tuple[History, pl.DataFrame]
) -> None:
    seen, truth = monthly
    found = [
        judge(Linkage().guess(original.known(0.25, seed=seed), seen), truth, original.customers, original.periods)
        for seed in range(1, 6)
    ]
    # The mean that the docs state; draws differ by two hundredths.
    assert np.mean([one.row.value for one in found]) == pytest.approx(0.899, abs=0.005)


@pytest.mark.parametrize(("lifetime", "least"), [(1, 0.27), *with_many((6, 0.63), (3, 0.49))])
def test_blurring_under_shorter_lives_hides_as_few_as_the_docs_say(
    folder: Path, original: History, lifetime: int, least: float
) -> None:
    docs = Path(__file__).resolve().parents[2] / "docs" / "howto" / "histories.md"
    [text] = [
        block for block in re.findall(r"```toml\n(.*?)```", docs.read_text(), re.DOTALL) if "hides_times" in block
    ]
    settings = tomllib.loads(text)
    settings["step"][-1]["lifetime"] = lifetime
    release = pipeline_of(settings).anonymize(original, seed=1)
    assert release.pseudonyms is not None
    seen = published(History(release.frame), seed=1)
    assert row_success("linkage", folder, original, (seen, release.pseudonyms), 25) >= least
