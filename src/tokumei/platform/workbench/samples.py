"""Files to try the workbench on: made-up people and made-up purchases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from tokumei.core.seeds import generator

N_PEOPLE, N_CUSTOMERS, SEED = 3_000, 200, 1
FAMILY = ("佐藤", "鈴木", "高橋", "田中", "伊藤", "渡辺", "山本", "中村", "小林", "加藤")
GIVEN = ("陽菜", "蓮", "結衣", "湊", "葵", "大翔", "凛", "樹", "美咲", "悠真", "さくら", "健太")
ILLNESSES = ("cold", "flu", "asthma", "diabetes", "hypertension", "cancer", "depression")


@dataclass(frozen=True)
class Sample:
    """A file that is made when somebody takes it."""

    file: str
    kind: str
    make: Callable[[], pl.DataFrame]


def make_people() -> pl.DataFrame:
    """Make patients: a name, sex, age, prefecture, postal code, and an illness."""
    from tokumei.data.made.services import make_service

    people = make_service(N_PEOPLE, service=1, seed=SEED)
    rng = generator(SEED, "workbench", "people")
    names = [f"{rng.choice(FAMILY)} {rng.choice(GIVEN)}" for _ in range(N_PEOPLE)]
    codes = [f"{100 + number % 47 * 19:03d}{rng.integers(0, 40) * 10:04d}" for number in range(N_PEOPLE)]
    # Older people are ill with other things.
    older = people["age"].to_numpy() >= 50
    weights = {False: (8, 6, 3, 1, 1, 0.4, 2), True: (4, 4, 1, 4, 6, 2, 1)}
    shares = {is_old: [w / sum(given) for w in given] for is_old, given in weights.items()}
    illness = [str(rng.choice(ILLNESSES, p=shares[bool(is_old)])) for is_old in older]
    days = rng.integers(1, 15, N_PEOPLE)
    return people.with_columns(
        pl.Series("name", names),
        pl.Series("postal_code", codes),
        pl.Series("nights", days),
        pl.Series("illness", illness),
    ).select("name", "sex", "age", "prefecture", "postal_code", "nights", "illness")


def make_purchases() -> pl.DataFrame:
    """Make a year of purchases."""
    from tokumei.data.made.retail import make_retail

    made = make_retail(N_CUSTOMERS, n_rows=40 * N_CUSTOMERS, seed=SEED)
    # As a shop would write it, not with nine decimals.
    return made.with_columns(pl.col("time").dt.strftime("%H:%M:%S"))


SAMPLES = {
    "people": Sample("patients.csv", "table", make_people),
    "purchases": Sample("purchases.csv", "history", make_purchases),
}
