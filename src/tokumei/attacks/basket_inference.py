"""What a release tells of the rest of a basket to somebody who knows some of its rows."""

from __future__ import annotations

import polars as pl

from tokumei.attacks.judge import wilson_interval
from tokumei.core.score import Score
from tokumei.data.history import History

COMPARED = ("date", "item", "price", "quantity")


def learn_baskets(knowledge: History, published: History) -> pl.DataFrame:
    """Claim for each customer the rows that stand beside a known one: columns customer, date, item, price, quantity.

    Knowledge: some rows of the original, items whole or cut to their first characters. Aim: what else was in the
    basket, whoever's pseudonym it stands under. A known row tells something where one published row alone agrees with
    it in all that both have; the rest of that pseudonym's day is then claimed.
    """
    known = knowledge.kept
    on = [name for name in COMPARED if name not in knowledge.absent and name not in published.absent]
    rows = published.kept.with_row_index("row").rename({"customer": "pseudonym"})
    seen = rows
    if "item" in on and known.height:
        n_characters = known.select(pl.col("item").str.len_chars().max()).item()
        seen = rows.with_columns(pl.col("item").str.slice(0, n_characters))
    alone = seen.unique(on, keep="none")
    met = known.select("customer", *on).unique().join(alone.select("row", "pseudonym", *on), on=on, how="inner")
    beside = met.select("customer", "date", "pseudonym").unique().join(seen, on=["pseudonym", "date"])
    # What is known already is no claim.
    claims = beside.join(known.select("customer", *on), on=["customer", *on], how="anti").sort("customer", "row")
    return claims.select("customer", "row").join(rows, on="row", maintain_order="left").select("customer", *COMPARED)


def judge_baskets(claims: pl.DataFrame, original: History, knowledge: History) -> Score:
    """Return the share of the unknown rows in partly known baskets that were claimed rightly; 0 if none.

    The inputs have how many claims there were and the share of them that is right (precision). The baseline is what
    as many claims score that are drawn from all rows of their days.
    """
    is_known = knowledge.frame["customer"].is_not_null()
    rows = original.frame.select("customer", *COMPARED).with_columns(is_known=is_known).drop_nulls("customer")
    in_met = rows.filter(pl.col("is_known").any().over("customer", "date"))
    asked = in_met.filter(~pl.col("is_known")).select("customer", *COMPARED)
    # Equal rows are counted one by one, so that a claim is right no more often than the row was bought.
    right = _numbered(claims).join(_numbered(asked), on=["customer", *COMPARED, "copy"], how="semi", nulls_equal=True)
    n_asked, n_right = max(1, asked.height), right.height
    by_day = rows.filter(~pl.col("is_known")).group_by("date").agg(n_day=pl.len())
    own = asked.group_by("customer", "date").agg(n_own=pl.len())
    chances = claims.join(by_day, on="date").join(own, on=["customer", "date"])
    expected = float(chances.select((pl.col("n_own") / pl.col("n_day")).sum()).item())
    return Score(
        "basket inference",
        n_right / n_asked,
        best=0,
        worst=1,
        interval=wilson_interval(n_right, n_asked),
        baseline=min(1.0, expected / n_asked),
        inputs={"claims": claims.height, "right": n_right, "precision": n_right / max(1, claims.height)},
    )


def _numbered(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(copy=pl.int_range(pl.len()).over("customer", *COMPARED))
