"""Raw files of the shapes that hospitals, statistical offices and shops have: names, preambles, units, sizes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

DAY = np.timedelta64(1, "D")


def write_employment(path: Path, n_rows: int = 221_630) -> None:
    """Write a survey of work as a statistical office does: five lines above the header, BOM, Japanese, 29 columns."""
    rng = np.random.default_rng(1)
    ages = [f"{age}-{age + 4}歳" for age in range(15, 85, 5)]
    columns = {
        "年齢階級": _drawn(rng, ages, n_rows),
        "性別": _drawn(rng, ["男", "女"], n_rows),
        "都道府県": _drawn(rng, [f"都道府県{number:02d}" for number in range(1, 48)], n_rows, skew=2),
        "学歴": _drawn(rng, ["中学", "高校", "短大", "大学", "大学院", ""], n_rows),
        "職業": _drawn(rng, [f"職業{letter}" for letter in "ABCDEFGHIJKL"], n_rows, skew=2),
        "年収": _drawn(rng, ["0-14K", "15-24K", "25-49K", "50-99K", "100-124K", "150-174K", ""], n_rows),
    }
    for number in range(7, 30):
        columns[f"問{number}、回答"] = _drawn(rng, [str(code) for code in range(1, 3 + number % 7)], n_rows)
    body = pl.DataFrame(columns).write_csv()
    head = "就業構造基本調査\n匿名データ\n\n注:空欄は無回答\n\n"
    path.write_text("\ufeff" + head + body, encoding="utf-8")


def write_arx_example(folder: Path, n_rows: int = 30_000) -> None:
    """Write a table and its hierarchies as the examples of ARX are: semicolons, hierarchies without a header."""
    rng = np.random.default_rng(2)
    ages, codes = rng.integers(18, 90, n_rows), rng.integers(81_600, 81_700, n_rows)
    table = {
        "age": ages,
        "gender": _drawn(rng, ["male", "female"], n_rows),
        "zipcode": codes,
        "disease": _drawn(rng, ["flu", "gastritis", "ulcer", "bronchitis"], n_rows),
    }
    folder.mkdir()
    pl.DataFrame(table).write_csv(folder / "data.csv", separator=";")
    (folder / "hierarchies").mkdir()
    known = [str(code) for code in np.unique(codes)]
    trees: dict[str, list[tuple[str, ...]]] = {
        "age": [(str(age), "<50" if age < 50 else ">=50", "*") for age in range(18, 90)],
        "gender": [("male", "*"), ("female", "*")],
        "zipcode": [(code, *(code[:left] + "*" * (5 - left) for left in (4, 3, 2, 1, 0))) for code in known],
    }
    for name, rows in trees.items():
        lines = "".join(";".join(row) + "\n" for row in rows)
        (folder / "hierarchies" / f"data_hierarchy_{name}.csv").write_text(lines, encoding="utf-8")


def write_hospital(path: Path, n_rows: int = 2_000_000) -> None:
    """Write patients: a number each, birth dates, postal codes, wards, weights and illnesses."""
    rng = np.random.default_rng(3)
    born = np.datetime64("1920-01-01") + rng.integers(0, 38_000, n_rows) * DAY
    columns = {
        "patient_id": np.arange(n_rows),
        "birth": pl.Series(born.astype("datetime64[ms]")).cast(pl.Date),
        "sex": _drawn(rng, ["f", "m"], n_rows),
        "zip": pl.Series([f"{code:05d}" for code in range(5_000)]).gather(rng.zipf(1.3, n_rows) % 5_000),
        "ward": _drawn(rng, [f"w{ward}" for ward in range(40)], n_rows),
        "weight": rng.normal(65, 12, n_rows).round(1),
        "illness": _drawn(rng, ["flu", "cold", "ulcer", "asthma", "cancer", ""], n_rows),
    }
    pl.DataFrame(columns).write_csv(path)


def write_patients(path: Path, n_rows: int = 1_000_000) -> None:
    """Write patients under Japanese headers: names, two forms of dates, 60,000 postal codes, costs, some notes."""
    rng = np.random.default_rng(6)
    surnames, given = ["佐藤", "四方田", "鮎沢", "六車", "綿貫"], ["琴葉", "壱成", "汐里", "千紘", "太郎", "花子"]
    area, street = rng.integers(1, 999, 60_000), rng.integers(0, 9_999, 60_000)
    codes = pl.Series([f"{a:03d}-{s:04d}" for a, s in zip(area, street, strict=True)])
    born = np.datetime64("1925-01-01") + rng.integers(0, 36_000, n_rows) * DAY
    admitted = np.datetime64("2019-01-01") + rng.integers(0, 1_800, n_rows) * DAY
    columns = {
        "患者番号": pl.Series(rng.permutation(n_rows)).cast(pl.String).str.zfill(8).str.replace("^", "P"),
        "氏名": _drawn(rng, [f"{first} {second}" for first in surnames for second in given], n_rows),
        "生年月日": pl.Series(born.astype("datetime64[ms]")).dt.strftime("%Y/%m/%d"),
        "性別": _drawn(rng, ["男", "女", ""], n_rows),
        "郵便番号": codes.gather(rng.integers(0, 60_000, n_rows)),
        "都道府県": _drawn(rng, ["東京都", "大阪府", "北海道", "福岡県", "長野県", "沖縄県"], n_rows),
        "入院日": pl.Series(admitted.astype("datetime64[ms]")).dt.strftime("%Y-%m-%d"),
        "体重(kg)": rng.normal(62, 12, n_rows).round(1),
        "病名": _drawn(rng, ["胃炎", "糖尿病", "喘息", "高血圧症", "骨折", "肺炎", ""], n_rows, skew=2),
        "医療費(円)": (rng.lognormal(10, 1, n_rows) // 10 * 10).astype(int),
        "備考": _drawn(rng, ["", "", "特になし", "電話 090-1234-5678", "アレルギーあり"], n_rows),
    }
    pl.DataFrame(columns).write_csv(path)


def write_grocery(path: Path, n_rows: int = 1_470_000, n_households: int = 2_469) -> None:
    """Write purchases as those of Complete Journey: households, baskets, 68,000 products, moments to the second."""
    rng = np.random.default_rng(4)
    # A few households buy much; who buys a product once often buys it again.
    household = rng.choice(n_households, n_rows, p=_shares(rng, n_households, 2))
    favorite = (household * 37 + rng.zipf(1.4, n_rows)) % 68_000
    seconds = rng.integers(0, 365 * 86_400, n_rows)
    moment = np.datetime64("2017-01-01T00:00:00") + seconds.astype("timedelta64[s]")
    frame = pl.DataFrame(
        {
            "household_id": household + 1,
            "store_id": rng.integers(300, 450, n_rows),
            "basket_id": 31_198_570_044 + household * 400 + seconds // 86_400,
            "product_id": 819_000 + favorite,
            "quantity": rng.choice([1, 1, 1, 2, 3], n_rows),
            "sales_value": (rng.lognormal(0.8, 0.7, n_rows)).round(2),
            "transaction_timestamp": pl.Series(moment.astype("datetime64[ms]")).dt.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
    )
    frame.sort("transaction_timestamp").write_csv(path)


def write_cdnow(path: Path, n_rows: int = 70_000, n_customers: int = 23_570) -> None:
    """Write purchases as those of CDNOW: four columns kept apart by blanks, no header, dates as numbers, no items."""
    rng = np.random.default_rng(5)
    others = rng.choice(n_customers, n_rows - n_customers, p=_shares(rng, n_customers, 4))
    customer = np.sort(np.concatenate([np.arange(n_customers), others])) + 1
    day = pl.Series((np.datetime64("1997-01-01") + rng.integers(0, 545, n_rows) * DAY).astype("datetime64[ms]"))
    lines = pl.DataFrame(
        {
            "customer": pl.Series(customer).cast(pl.String).str.zfill(5),
            "day": day.dt.strftime("%Y%m%d"),
            "quantity": pl.Series(rng.integers(1, 5, n_rows)).cast(pl.String).str.pad_start(2),
            "paid": pl.Series([f"{cents / 100:7.2f}" for cents in rng.integers(500, 9_000, n_rows)]),
        }
    )
    text = lines.select(pl.concat_str(pl.all(), separator=" ")).to_series()
    path.write_text("".join(f" {line}\n" for line in text), encoding="ascii")


def _drawn(rng: np.random.Generator, values: Sequence[str], n_rows: int, skew: float = 1) -> pl.Series:
    return pl.Series(list(values)).gather(rng.choice(len(values), n_rows, p=_shares(rng, len(values), skew)))


def _shares(rng: np.random.Generator, n_values: int, skew: float) -> Any:
    weights = rng.random(n_values) ** skew + 1e-3
    return weights / weights.sum()
