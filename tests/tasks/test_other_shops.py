"""Histories unlike the contests': weighed goods, visits, ratings, places, several releases a year."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tokumei as tk
from tokumei.attacks.history.generalized import Generalized
from tokumei.attacks.judge import judge, published
from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.core.errors import InputError
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.files.released_histories import cells_of
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.engines.staging import stage_history
from tokumei.methods.pipeline import pipeline_of
from tokumei.reports.evaluation import default_grid, possible_ways
from tokumei.tasks.anonymize_history import write_history_on_engine
from tokumei.tasks.measure_history import measure_history


@pytest.fixture(scope="module")
def greengrocer() -> History:
    """Return a shop that sells by weight."""
    rows = make_retail(30, n_rows=900, seed=3)
    weighed = pl.col("quantity") * 0.125 + 0.003 * pl.col("price").round(0)
    return History.of(rows.with_columns(quantity=weighed.round(3)))


@pytest.mark.parametrize("attack", list(HISTORY_ATTACKS))
def test_every_attack_takes_quantities_with_decimals(greengrocer: History, attack: str) -> None:
    release = tk.anonymize(greengrocer, method="pseudonyms", lifetime=12, seed=1)
    known = greengrocer.known(1.0, seed=1, item_characters=None)
    done = tk.attack(known, release, attack)
    assert done.success is not None
    assert 0 <= done.success["row"]["value"] <= 1
    if attack in ("linkage", "tfidf", "jaccard"):
        assert done.success["row"]["value"] >= 0.9


@pytest.mark.parametrize("method", ["perturb", "delete", "permute-groups", "pseudonyms", "roll-up"])
def test_methods_leave_quantities_with_decimals_what_they_are(greengrocer: History, method: str) -> None:
    options: dict[str, Any] = {"bound": 0.6} if method == "permute-groups" else {}
    release = tk.anonymize(greengrocer, method=method, seed=1, **options)
    assert release.frame.schema["quantity"] == pl.Float64
    left = release.frame["quantity"].drop_nulls()
    assert (left != left.round(0)).any()


def test_several_releases_of_a_year_are_attacked_as_one(greengrocer: History) -> None:
    first, second = greengrocer.periods[:6], greengrocer.periods[6:]
    seen, truth = [], []
    for number, months in enumerate((first, second), 1):
        half = History(greengrocer.frame.filter(greengrocer.period.is_in(months)))
        release = tk.anonymize(half, method="pseudonyms", lifetime=12, seed=number)
        # Pseudonyms of one release say nothing in the other, so they must differ.
        rows = published(release.history, seed=1).frame
        seen.append(rows.with_columns(customer=f"{number}/" + pl.col("customer")))
        truth.append(release.truth.with_columns(pseudonym=f"{number}/" + pl.col("pseudonym")))
    guesses = HISTORY_ATTACKS.make("linkage").guess(greengrocer.known(0.5, seed=1), History(pl.concat(seen)))
    found = judge(guesses, pl.concat(truth), greengrocer.customers, greengrocer.periods)
    assert found.row.value >= 0.9


@pytest.fixture(scope="module")
def gym() -> History:
    """Return visits: who came when to which course, without prices and quantities."""
    rows = make_retail(30, n_rows=900, seed=4)
    return History(rows.select("customer", "date", "item"))


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_rows_that_give_most_away_are_deleted_of_visits_by_what_they_have(
    gym: History, engine: str, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"telling": 0.2, "once": False, "price_deviations": 0.0}
    if engine == "local":
        released = tk.anonymize(gym, method="delete", seed=1, **options).history.frame
    else:
        gym.frame.select("customer", "date", "item").write_parquet(tmp_path / "T.parquet")
        steps = pipeline_of({"step": [{"method": "delete", **options}, {"method": "pseudonyms", "lifetime": 12}]})
        out = tmp_path / "A.parquet"
        write_history_on_engine(
            tmp_path / "T.parquet", steps, {"out": out}, out=out, engine=engine, reading=AS_IT_IS, seed=1
        )
        released = pl.read_parquet(out)
    group = pl.col("item").str.slice(0, 2)
    alike = gym.frame.select(pl.col("customer").n_unique().over("date", group)).to_series()
    is_gone = released["customer"].is_null()
    assert is_gone.sum() == round(0.2 * gym.n_rows)
    # Those deleted share day and kind of course with no more customers than any that stays.
    assert alike.filter(is_gone).max() <= alike.filter(~is_gone).min()  # type: ignore[operator]


def test_every_usual_way_is_tried_on_visits(gym: History) -> None:
    ways, left_out = possible_ways(default_grid(gym.absent), gym)
    assert len(ways) > 30
    assert not left_out


def test_deleting_by_price_says_that_visits_have_none(gym: History) -> None:
    without = "column price, which delete needs; --set price_deviations=0 does without"
    with pytest.raises(InputError, match=without):
        tk.anonymize(gym, method="delete", seed=1, price_deviations=3.0)
    with pytest.raises(InputError, match="column quantity, which perturb needs; --set quantities=0 does without"):
        tk.anonymize(gym, method="perturb", seed=1, quantities=0.2)


@pytest.mark.parametrize("method", ["delete", "perturb", "generalize"])
def test_visits_are_anonymized_as_they_are_here_and_on_an_engine(gym: History, method: str, tmp_path: Path) -> None:
    """What changes prices and quantities has none to change; days and courses are changed as those of purchases."""
    release = tk.anonymize(gym, method=method, seed=1)
    gym.frame.select("customer", "date", "item").write_parquet(tmp_path / "T.parquet")
    out = tmp_path / "A.parquet"
    steps = pipeline_of({"step": [{"method": method}]})
    write_history_on_engine(
        tmp_path / "T.parquet",
        steps,
        {"out": out},
        out=out,
        engine="duckdb",
        reading=AS_IT_IS,
        seed=release.recipe.seed,
    )
    there = pl.read_parquet(out)
    if method == "generalize":
        assert release.frame.equals(there)
        assert there.filter(pl.col("customer") != "*").select("price", "quantity").unique().rows() == [("*", "*")]
        told = tk.measure(gym, release)
        assert set(told.scores["generalized-error"].inputs) == {"date", "item"}
        assert 0 < told.scores["generalized-error"].value < 1
        assert "the history has no price" in str(tk.measure(gym, release, draws=2).left_out["price"])
        guesses = attack_generalized(gym, release.frame)
        assert set(guesses["customer"]) <= set(gym.customers)
    else:
        changed = release.history.frame
        assert changed["price"].null_count() == changed.height == changed["quantity"].null_count()
        assert there["date"].equals(changed["date"])
        assert not changed["date"].equals(gym.frame["date"])
        assert there["item"].equals(changed["item"])


def attack_generalized(original: History, text: pl.DataFrame) -> pl.DataFrame:
    published = cells_of(text.filter(pl.col("customer") != "*"), "S")
    return Generalized().guess(original, published)


def test_ratings_have_seconds_since_1970(tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text(
        "userId,movieId,rating,timestamp\n1,31,2.5,1260759144\n1,1029,3.0,1260759179\n2,31,4.5,835355493\n"
    )
    columns = {"customer": "userId", "item": "movieId", "price": "rating", "date": "timestamp"}
    with pytest.raises(InputError, match="read by --date-format '%s' as seconds since 1970"):
        tk.History(tmp_path / "ratings.csv", **columns)
    found = tk.History(tmp_path / "ratings.csv", **columns, date_format="%s").frame
    assert found["date"].to_list() == [dt.date(2009, 12, 14), dt.date(2009, 12, 14), dt.date(1996, 6, 21)]
    assert found["time"].to_list()[0] == dt.time(2, 52, 24)
    in_milliseconds = pl.DataFrame({"customer": ["1"], "date": [1_260_759_144_500], "item": ["31"]})
    with pytest.raises(InputError, match="read by --date-format '%Q' as milliseconds since 1970"):
        tk.History(in_milliseconds)
    assert tk.History(in_milliseconds, date_format="%Q").frame["time"].to_list() == [dt.time(2, 52, 24, 500_000)]


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_places_are_cells_of_a_grid(engine: str, tmp_path: Path) -> None:
    """A cell is named by its corner in the south-west: 39.9842 lies in 39.98 to 39.99, and −0.001 in −0.01 to 0."""
    (tmp_path / "trips.csv").write_text(
        "user,lat,lon,time\n000,39.9842,116.3181,2008-10-23 02:53:04\n000,39.99,116.29,2008-10-23 02:53:10\n"
        "001,-0.001,0.0,2008-10-24 02:53:10\n"
    )
    columns = {"customer": "user", "date": "time", "item": "lat+lon@0.01"}
    if engine == "local":
        found = tk.History(tmp_path / "trips.csv", **columns)
        assert found.left_out == ()
        rows = found.frame
        frame = pl.read_csv(tmp_path / "trips.csv")
        assert tk.History(frame, **columns).frame["item"].equals(rows["item"])
        coarse = tk.History(frame, **{**columns, "item": "lat+lon@20"}).frame["item"]
        assert coarse.to_list() == ["20 100", "20 100", "-20 0"]
    else:
        staged = stage_history(tmp_path / "trips.csv", Reading(columns=columns), tmp_path / "work")
        assert staged.left_out == ()
        rows = pl.concat([pl.read_parquet(one) for one in (tmp_path / "work").glob("*.parquet")])
    assert rows["item"].to_list() == ["39.98 116.31", "39.99 116.29", "-0.01 0.00"]


def test_a_grid_names_what_is_no_place(tmp_path: Path) -> None:
    frame = {"customer": ["a", "a"], "date": ["2008-10-23"] * 2, "lat": ["39.9", "north"], "lon": [116.3, 116.4]}
    with pytest.raises(InputError, match="a coordinate") as raised:
        tk.History(frame, item="lat+lon@0.01")
    assert (raised.value.faults[0].column, raised.value.faults[0].value) == ("lat", "north")
    with pytest.raises(InputError, match="such as lon"):
        tk.History(frame, item="lat+long@0.01")
    with pytest.raises(InputError, match="item in every row"):
        tk.History({**frame, "lat": [39.9, None]}, item="lat+lon@0.01")


@pytest.fixture(scope="module")
def bank() -> History:
    """Return bookings of accounts: debits are below 0, some are huge, and nothing has a quantity."""
    rows = make_retail(12, n_rows=300, seed=5).with_row_index("row")
    amount = pl.when(pl.col("row") % 3 == 0).then(pl.col("price")).otherwise(-pl.col("price"))
    amount = pl.when(pl.col("row") % 50 == 0).then(250_000.5).when(pl.col("row") % 49 == 0).then(0.0).otherwise(amount)
    return tk.History(rows.select("customer", "date", "item", price=amount))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["perturb", "dummies", "pseudonyms"])
def test_bookings_below_0_are_measured_alike_here_and_on_an_engine(bank: History, method: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"quantities": 0} if method == "perturb" else {}
    release = tk.anonymize(bank, method=method, seed=1, **options)
    release.save(tmp_path / "A.parquet")
    bank.frame.select("customer", "date", "item", "price").write_parquet(tmp_path / "T.parquet")
    here = tk.measure(bank, release).to_dict()
    there = measure_history(tmp_path / "T.parquet", tmp_path / "A.parquet", engine="duckdb").to_dict()
    assert here["left_out"] == there["left_out"]
    assert here["scores"].keys() == there["scores"].keys()
    for name, score in here["scores"].items():
        assert there["scores"][name]["value"] == pytest.approx(score["value"], abs=1e-9), name
    # What needs a quantity is not measured, and what needs its own row only where there is one.
    assert here["left_out"]["item-item"] == "the history has no quantity"
    assert ("so that no row stands beside its own" in here["left_out"].get("price", "")) == (method == "dummies")
    if method == "pseudonyms":
        # Of what was published it can still be told how many rows are gone.
        gone = measure_history(bank, History(release.frame.head(225)))
        assert gone.scores["rows"].value == 0.25
        assert "price" in gone.left_out
    if method == "perturb":
        assert 0 < here["scores"]["price"]["value"] < 0.05
        assert (release.frame["price"].sign() == bank.frame["price"].sign()).all()
