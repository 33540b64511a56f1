from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest
from tests.journey.commands import tokumei_here

import tokumei as tk
from tokumei.hierarchies.builders.from_data import FromData
from tokumei.hierarchies.ordered_labels import order_labels

# Each in the order that a reader sees.
IN_ORDER = [
    ["<15K", "15-24K", "25–49K", "100-124K", "150-174K"],
    ["<=50K", ">50K"],
    ["under 5", "5 to 9", "10-14", "15 to 64", "65+"],
    ["Less than 1 year", "1 to 5 years", "More than 5 years"],
    ["1 person", "3-4 persons", "5 or more persons"],
    ["10歳代", "20歳代", "８０歳以上"],
    ["500円未満", "500円以上1,000円未満", "1,000円以上2,000円未満", "2,000円以上"],
    ["100万円未満", "100〜199万円", "200～299万円", "1000万円以上"],
    ["週1-2日", "週3-5日"],
    ["$5", "$12", "$1,200"],
    ["5%", "10%"],
    ["500-1K", "1K-2K", "1M+"],
    ["[0, 5)", "[5, 10)"],
    ["-5 - 0", "0 - 5"],
    ["7", "89", "90+"],
    ["1st-4th", "5th-6th", "9th", "10th"],
    ["2 weeks", "6 months", "1 year"],
    ["30分", "1時間", "2時間以上"],
    ["5 m", "10 km"],
    ["2009年1月", "2010年5月", "平成22年12月", "令和元年"],
    ["Jan 2010", "5 March 2010", "December 1, 2011"],
    ["Q3 2010", "2010-Q4", "Q1 2011"],
    ["2010/01/02 9:05", "2010/01/02 10:05"],
]
WITHOUT = [
    ["150-1043", "160-1022"],
    ["100-0001", "150-0043"],
    ["apple", "banana 2"],
    ["A1", "B2"],
    ["0120", "31", "7"],
    ["5 kg", "7 km"],
    ["5-9", "7-12"],
    ["9-5", "12-10"],
    ["HS-grad", "10th", "11th"],
    ["unknown", "n/a", "5-9"],
    ["2010-13-01", "2010-12-01"],
]


@pytest.mark.parametrize("labels", IN_ORDER, ids=lambda labels: labels[0])
def test_labels_are_in_the_order_of_what_they_say(labels: list[str]) -> None:
    mixed = random.Random(1).sample(labels, len(labels))
    found = order_labels(mixed)
    assert found is not None
    assert found.labels == labels


@pytest.mark.parametrize("labels", WITHOUT, ids=lambda labels: labels[0])
def test_labels_that_say_nothing_in_common_have_no_order(labels: list[str]) -> None:
    assert order_labels(labels) is None


def test_no_answer_is_kept_apart_and_never_joined_with_a_range() -> None:
    values = pl.Series(["不詳", "10-14", "5-9", "65+", "15-64", "0-4", None])
    hierarchy = FromData(fan_out=2).build("age", values)
    assert hierarchy.leaves == ("0-4", "5-9", "10-14", "15-64", "65+", "不詳")
    assert hierarchy.labels_at(1) == ["..5-9", "..5-9", "10-14..15-64", "10-14..15-64", "65+", "不詳"]
    assert FromData(fan_out=2).told("age", values) == (
        "labels in the order of the ranges of numbers in them, joined in pairs; 不詳 apart"
    )


def test_a_word_among_many_amounts_is_kept_apart() -> None:
    amounts = ["50万円未満", "50～99万円", "100～149万円", "150万円以上"]
    found = order_labels(["収入なし", *amounts])
    assert found is not None
    assert (found.labels, found.apart) == (amounts, ["収入なし"])
    assert order_labels(["low", "mid", "high", *amounts]) is None


def test_building_says_what_the_values_were_read_as(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people = tmp_path / "people.csv"
    people.write_text("income,town,rooms\n15-24K,Oslo,1\n100-124K,Rome,2\n150-174K,Bonn,3\n<15K,Oslo,3\n")
    build = ["hierarchy", "build", "from-data", "--data", people, "--set", "fan_out=2"]
    expected = {
        "income": "labels in the order of the ranges of numbers in them, joined in pairs",
        "town": "unordered: the value or nothing",
        "rooms": "numbers, in 8 intervals that are joined in pairs",
    }
    for column, said in expected.items():
        code, found = tokumei_here(capsys, *build, "--column", column, "--out", tmp_path / f"{column}.csv")
        assert (code, found["read_as"]) == (0, said)
    assert (tmp_path / "income.csv").read_text().splitlines()[1] == "15-24K;..15-24K;*"


def test_made_hierarchies_order_labels_and_say_so() -> None:
    ages = ["0-9歳", "10-19歳", "20-29歳", "30歳以上"]
    people = tk.Table({"age": ages * 2, "town": list("abcdefgh")}, qi=["age", "town"])
    made = tk.anonymize(people, k=2)
    assert made.made["age"] == "labels in the order of the ranges of numbers in them, joined in pairs"
    assert made.made["town"] == "unordered: the value or nothing"
    assert made.hierarchies["age"].labels_at(1)[:2] == ["..10-19歳"] * 2


def test_moments_of_a_file_become_days_months_and_years(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    moments = ["2020-01-31 23:59:30.5", "2020-02-01 00:00:00.0", "2021-07-01 12:00:00.0"]
    frame = pl.DataFrame({"seen": moments}).with_columns(pl.col("seen").str.to_datetime())
    frame.write_parquet(tmp_path / "visits.parquet")
    given = ["hierarchy", "build", "calendar", "--data", tmp_path / "visits.parquet", "--column", "seen"]
    code, found = tokumei_here(capsys, *given, "--out", tmp_path / "seen.csv")
    assert (code, found["values_per_level"]) == (0, [3, 3, 3, 2, 2, 1])
    line = (tmp_path / "seen.csv").read_text().splitlines()[0]
    assert line == "2020-01-31 23:59:30.500;2020-01-31;2020-01;2020-Q1;2020;*"
    people = tk.Table(pl.concat([frame, frame]), qi=["seen"])
    released = tk.anonymize(people, k=2, hierarchies={"seen": tmp_path / "seen.csv"})
    assert released.levels == {"seen": 0}
