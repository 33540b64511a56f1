from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.core.progress import Bar, listening
from tokumei.data import made_retail
from tokumei.data.history import History, read_history
from tokumei.data.made_retail import SCHEMA, make_master, make_retail, write_retail

SEEDS = (0, 1, 2)


@pytest.fixture(scope="module", params=SEEDS)
def purchases(request: pytest.FixtureRequest) -> pl.DataFrame:
    return make_retail(seed=request.param)


def item_sets(purchases: pl.DataFrame) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return customers × items with 1 where the customer bought the item."""
    bought = purchases.select(pl.col("customer", "item").rank("dense")).unique().to_numpy().astype(np.int64) - 1
    sets = np.zeros((bought[:, 0].max() + 1, bought[:, 1].max() + 1), np.float32)
    sets[bought[:, 0], bought[:, 1]] = 1
    return sets


def rows_by(purchases: pl.DataFrame, *columns: str) -> pl.Series:
    return purchases.group_by(columns).len()["len"]


def month_shares(purchases: pl.DataFrame) -> list[float]:
    """Return the shares of rows in January … December."""
    counts = dict(purchases["date"].dt.month().value_counts().iter_rows())
    return [counts.get(month, 0) / purchases.height for month in range(1, 13)]


def test_retail_columns_as_named_and_typed(purchases: pl.DataFrame) -> None:
    assert dict(purchases.schema) == SCHEMA
    assert purchases.null_count().sum_horizontal().item() == 0


def test_retail_cells_have_the_form_of_the_contest(purchases: pl.DataFrame) -> None:
    assert purchases["customer"].str.contains(r"^[1-9][0-9]{4}$").all()
    assert purchases["invoice"].str.contains(r"^[1-9][0-9]+$").all()
    assert purchases["item"].str.contains(r"^[1-9][0-9]{4}[A-Z]?$").all()
    assert purchases["price"].min() > 0  # type: ignore[operator]
    assert purchases["price"].round(2).equals(purchases["price"])
    assert purchases["quantity"].is_between(1, 999_999).all()
    assert purchases["time"].dt.second().max() == 0


def test_retail_rows_are_in_order_of_time(purchases: pl.DataFrame) -> None:
    assert purchases.equals(purchases.sort("date", "time", "invoice", maintain_order=True))


def test_retail_invoice_belongs_to_one_customer_at_one_time(purchases: pl.DataFrame) -> None:
    heads = purchases.select("invoice", "customer", "date", "time").unique()
    assert heads.height == purchases["invoice"].n_unique()


def test_retail_days_lie_in_the_year_and_not_on_saturdays(purchases: pl.DataFrame) -> None:
    assert purchases["date"].is_between(datetime.date(2010, 12, 1), datetime.date(2011, 11, 30)).all()
    assert not (purchases["date"].dt.weekday() == 6).any()
    assert purchases["time"].dt.hour().is_between(8, 18).all()


def test_retail_season_peaks_before_christmas(purchases: pl.DataFrame) -> None:
    shares = month_shares(purchases)
    assert min(shares) > 0.02
    assert 0.3 < sum(shares[8:11]) < 0.55
    assert max(shares) in shares[8:11]
    assert shares[10] > 1.2 / 12


def test_retail_customers_share_few_items(purchases: pl.DataFrame) -> None:
    sets = item_sets(purchases)
    sizes = sets.sum(axis=1)
    both = sets @ sets.T
    pairs = np.triu_indices(len(sets), 1)
    jaccard = (both / (sizes[:, None] + sizes - both))[pairs]
    assert 55 < sizes.mean() < 75
    assert 0.02 < jaccard.mean() < 0.04
    assert 3 < both[pairs].mean() < 6


def test_retail_customers_are_heavy_tailed(purchases: pl.DataFrame) -> None:
    rows = rows_by(purchases, "customer").to_numpy()
    assert len(rows) == 400
    assert rows.mean() == pytest.approx(95)
    assert 30 < np.median(rows) < 60
    assert rows.max() > 800
    assert np.quantile(rows, 0.05) < 15


def test_retail_items_are_heavy_tailed(purchases: pl.DataFrame) -> None:
    sets = item_sets(purchases)
    buyers = np.sort(sets.sum(axis=0))[::-1]
    assert 2_400 < len(buyers) < 3_200
    assert 80 < buyers[0] < 200
    assert 25 < buyers[99] < 60
    assert buyers[1_999] <= 4


def test_retail_baskets_have_about_twenty_lines(purchases: pl.DataFrame) -> None:
    lines = rows_by(purchases, "invoice").to_numpy()
    assert 17 < lines.mean() < 28
    assert 10 < np.median(lines) < 22
    doubles = purchases.height - purchases.select("invoice", "item").unique().height
    assert doubles / purchases.height < 0.05


def test_retail_customers_come_back_and_buy_again(purchases: pl.DataFrame) -> None:
    months = purchases.group_by("customer").agg(pl.col("date").dt.month().n_unique())["date"]
    assert 2.2 < float(months.to_numpy().mean()) < 3.6
    again = (rows_by(purchases, "customer", "item") > 1).sum()
    assert 0.15 < again / rows_by(purchases, "customer", "item").len() < 0.35


def test_retail_quantities_favor_packs_and_have_a_long_tail(purchases: pl.DataFrame) -> None:
    most = purchases["quantity"].value_counts(sort=True)["quantity"].head(7).to_list()
    assert {1, 2, 6, 12, 24} <= set(most)
    assert np.quantile(purchases["quantity"].to_numpy(), 0.5) <= 10
    assert purchases["quantity"].max() > 500  # type: ignore[operator]


def test_retail_large_quantities_are_cheaper(purchases: pl.DataFrame) -> None:
    points = purchases.group_by("item").agg(pl.col("price").n_unique(), pl.len()).filter(pl.col("len") >= 10)
    assert 1.4 < float(points["price"].to_numpy().mean()) < 2.5
    ends = purchases.group_by("item").agg(
        few=pl.col("price").get(pl.col("quantity").arg_min()), many=pl.col("price").get(pl.col("quantity").arg_max())
    )
    assert (ends["many"] <= ends["few"]).all()
    assert (ends["many"] < ends["few"]).mean() > 0.2  # type: ignore[operator]


def test_retail_same_seed_gives_the_same_rows() -> None:
    assert make_retail(40, seed=7).equals(make_retail(40, seed=7))


def test_retail_other_seed_gives_other_rows() -> None:
    assert not make_retail(40, seed=7).equals(make_retail(40, seed=8))


@pytest.mark.parametrize(("n_customers", "n_rows"), [(1, 1), (1, 500), (7, 7), (30, 1_001), (400, 38_087)])
def test_retail_given_rows_and_customers_are_met_exactly(n_customers: int, n_rows: int) -> None:
    made = make_retail(n_customers, n_rows=n_rows, seed=3)
    assert made.height == n_rows
    assert made["customer"].n_unique() == n_customers


def test_retail_ids_past_five_digits_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made_retail, "FIRST_CUSTOMER", 99_999)
    assert sorted(make_retail(2, n_rows=2, seed=3)["customer"]) == ["100000", "99999"]


@pytest.mark.parametrize(("n_customers", "n_rows"), [(0, None), (-1, None), (10, 9)])
def test_retail_impossible_size_is_refused(n_customers: int, n_rows: int | None) -> None:
    with pytest.raises(InputError, match="at least"):
        make_retail(n_customers, n_rows=n_rows, seed=3)


def test_retail_first_block_does_not_depend_on_those_after(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made_retail, "BLOCK_CUSTOMERS", 20)
    few, many = make_retail(20, seed=5), make_retail(70, seed=5)
    assert many.filter(pl.col("customer").is_in(few["customer"].unique().to_list())).equals(few)
    assert many["customer"].n_unique() == 70
    assert many.height == 70 * 95


def test_write_retail_several_blocks_gives_the_rows_of_make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made_retail, "BLOCK_CUSTOMERS", 20)
    write_retail(tmp_path / "T.parquet", 50, n_rows=4_001, seed=5)
    assert pl.read_parquet(tmp_path / "T.parquet").equals(make_retail(50, n_rows=4_001, seed=5))
    assert [path.name for path in tmp_path.iterdir()] == ["T.parquet"]


def test_write_retail_as_csv_gives_the_same_history(tmp_path: Path) -> None:
    write_retail(tmp_path / "T.csv", 8, n_rows=90, seed=5)
    assert read_history(tmp_path / "T.csv").frame.equals(History(make_retail(8, n_rows=90, seed=5)).frame)


def test_write_retail_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.parquet", "b.parquet"):
        write_retail(tmp_path / name, 30, seed=5)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_write_retail_one_row_leaves_weeks_empty(tmp_path: Path) -> None:
    write_retail(tmp_path / "T.parquet", 1, n_rows=1, seed=5)
    assert pl.read_parquet(tmp_path / "T.parquet").height == 1


def test_write_retail_failing_half_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> pl.DataFrame:
        raise OSError("the disk is full")

    monkeypatch.setattr(made_retail, "_make_block", fail)
    with pytest.raises(OSError, match="full"):
        write_retail(tmp_path / "T.parquet", 30, seed=5)
    assert not list(tmp_path.iterdir())


def test_write_retail_progress_reaches_its_total(tmp_path: Path) -> None:
    class Counting:
        total: float | None = 0.0
        done = 0.0

        def step(self, label: str, total: float | None) -> AbstractContextManager[Bar]:
            self.total = total
            return self.open()

        @contextmanager
        def open(self) -> Iterator[Bar]:
            yield self

        def advance(self, amount: float = 1) -> None:
            self.done += amount

    counting = Counting()
    with listening(counting):
        write_retail(tmp_path / "T.parquet", 30, seed=5)
    assert counting.done == counting.total == 1 + 53


def test_master_customers_of_a_history_get_one_row_each(purchases: pl.DataFrame) -> None:
    master = make_master(purchases["customer"], seed=4)
    assert master.columns == ["customer", "sex", "birth", "country"]
    assert master["customer"].to_list() == purchases["customer"].unique(maintain_order=True).to_list()
    assert set(master["sex"]) == {"f", "m"}
    assert set(master["birth"]) <= {f"{decade}/1/1" for decade in range(1930, 1990, 10)}
    assert set(master["country"]) <= {"United Kingdom", "France", "Germany", "Others"}
    assert (master["country"] == "United Kingdom").sum() > master.height / 2


def test_master_same_seed_gives_the_same_people() -> None:
    ids = [str(number) for number in range(10_001, 10_101)]
    assert make_master(ids, seed=4).equals(make_master(ids, seed=4))
    assert not make_master(ids, seed=4).equals(make_master(ids, seed=5))


def test_master_without_customers_is_empty() -> None:
    assert make_master([], seed=4).shape == (0, 4)


@pytest.mark.parametrize("n_customers", [2, 3, 12, 100, 500])
def test_nobody_of_a_made_master_is_alone_with_sex_decade_and_country(n_customers: int) -> None:
    for seed in range(5):
        master = make_master([str(number) for number in range(n_customers)], seed=seed)
        assert master["customer"].to_list() == [str(number) for number in range(n_customers)]
        assert master.select(pl.len().over("sex", "birth", "country")).min().item() >= 2
