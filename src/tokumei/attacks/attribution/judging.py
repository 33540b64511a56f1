"""How right an attacker is about whose purchases the published rows are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from tokumei.attacks.attribution.sides import VALUES, numbers_of
from tokumei.attacks.judge import wilson_interval
from tokumei.core.score import Score
from tokumei.core.text import Text
from tokumei.data.history import History

ALL_KNOWN = Text("every published purchase was known before")
# A claim is made where a customer is likelier than all others together, and a customer is laid open by so many rows.
CLAIMED, LAID_OPEN = 0.5, 0.8


@dataclass(frozen=True)
class Attributed:
    """How right an attacker is about whose purchases the published rows are; rows known before do not count.

    rows: share of the rows given to their buyer. Baseline: any customer at random.
    shared: the same of rows of customers who share pseudonyms with others, None where nobody does. Baseline: any
        customer at random of those who share pseudonyms, which is what is left to guess where groups are known.
    claims: share of the claims that are right, among rows for which one customer is likelier than all others together.
    customers: share of the customers four fifths of whose rows are given to them.
    """

    rows: Score
    shared: Score | None
    claims: Score
    customers: Score

    @property
    def scores(self) -> dict[str, Score]:
        """The scores by name, those that there are."""
        return {name: score for name, score in vars(self).items() if score is not None}


def judge_attribution(
    said: pl.DataFrame, sources: pl.Series, pseudonyms: pl.Series, knowledge: History, original: History
) -> Attributed:
    """Judge whom each published row was given to.

    said: of each published row, the customer and the chance, as `attribute` returns them.
    sources: the row of the original each purchase came from, missing where a method made it up.
    pseudonyms: the name each row is published under.
    """
    is_known = knowledge.frame["customer"].is_not_null()
    rows = pl.DataFrame(
        {
            "customer": said["customer"],
            "is_claim": said["chance"] >= CLAIMED,
            "owner": original.frame["customer"].gather(sources),
            "is_known": is_known.gather(sources).fill_null(False),
            "pseudonym": pseudonyms,
        }
    ).with_columns(is_right=(pl.col("customer") == pl.col("owner")).fill_null(False))
    rows = rows.join(sizes_of_groups(rows), on="owner", how="left")
    unknown = rows.filter(~pl.col("is_known"))
    asked, claims = unknown.drop_nulls("owner"), unknown.filter(pl.col("is_claim"))
    shared = asked.filter(pl.col("n_group") > 1)
    of_each = asked.group_by("owner").agg(share=pl.col("is_right").mean())
    n_open, n_customers = int((of_each["share"] >= LAID_OPEN).sum()), max(1, len(original.customers))
    in_group = float(shared.select((1 / pl.col("n_group")).mean()).item() or 0.0)
    return Attributed(
        _share_right("rows given to their buyer", asked, 1 / n_customers),
        _share_right("rows in groups given to their buyer", shared, in_group) if shared.height else None,
        _share_right("claims that are right", claims, None),
        Score(
            "customers with four fifths of their rows",
            n_open / max(1, of_each.height),
            best=0,
            worst=1,
            interval=wilson_interval(n_open, of_each.height),
            inputs={"customers": of_each.height, "right": n_open},
        ),
    )


def keeps_places(original: History, released: History) -> bool:
    """Whether a release has the rows of its original in place, as they were but for names, times and deleted rows.

    Where a value differs it cannot be seen whether it was changed or another row's was put there.
    """
    if released.n_rows != original.n_rows:
        return False
    sides = pl.concat([released.frame, original.frame.select(pl.all().name.suffix(" was"))], how="horizontal")
    changed = [pl.col(name).ne_missing(pl.col(f"{name} was")) for name in ("date", *VALUES)]
    is_kept = pl.col("customer").is_not_null()
    return not sides.select((is_kept & pl.any_horizontal(changed)).any()).item()


def sizes_of_groups(rows: pl.DataFrame) -> pl.DataFrame:
    """Count the customers (owner) whose purchases stand under common pseudonyms, directly or by others: n_group."""
    return _groups(rows).select("owner", n_group=pl.len().over("group").cast(pl.Int64))


def _groups(rows: pl.DataFrame) -> pl.DataFrame:
    """Put customers (owner) into one group whose purchases stand under common pseudonyms, directly or by others."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pairs = rows.select("owner", "pseudonym").drop_nulls().unique()
    owners, names = (pairs[column].unique().sort() for column in ("owner", "pseudonym"))
    at = numbers_of(pairs["owner"], owners.to_list()), numbers_of(pairs["pseudonym"], names.to_list()) + len(owners)
    n = len(owners) + len(names)
    _, group = connected_components(coo_array((np.ones(len(pairs)), at), shape=(n, n)), directed=False)
    return pl.DataFrame({"owner": owners, "group": group[: len(owners)]}, schema_overrides={"group": pl.Int64})


def told_by_value(rows: pl.DataFrame) -> tuple[float, float]:
    """Return the share of rows in groups that a value beside them gives to their buyer, and that of blind guessing.

    rows: owner, pseudonym and value of each. A row is given to a customer of its group by how many of the other rows of
    the value are the customer's; where no other row has the value, to any. The values of all others are known.
    """
    grouped = rows.drop_nulls(["owner", "pseudonym"])
    grouped = grouped.join(_groups(grouped), on="owner").with_columns(
        blind=1 / pl.col("owner").n_unique().over("group"),
        n_own=pl.len().over("group", "value", "owner") - 1,
        n_all=pl.len().over("group", "value") - 1,
    )
    grouped = grouped.filter(pl.col("blind") < 1)
    told = pl.when(pl.col("n_all") > 0).then(pl.col("n_own") / pl.col("n_all")).otherwise("blind")
    share, blind = grouped.select(told.mean().fill_null(0.0), pl.col("blind").mean().fill_null(0.0)).row(0)
    return float(share), float(blind)


def _share_right(name: str, rows: pl.DataFrame, baseline: float | None) -> Score:
    """Return the share of rows that are right; whose rows they are is drawn for the interval, customer by customer."""
    n_rows, n_right = rows.height, int(rows["is_right"].sum())
    share = n_right / max(1, n_rows)
    of_each = rows.group_by("owner").agg(n=pl.len(), right=pl.col("is_right").sum())
    # The rows of a customer are found together: as many single rows would be as uncertain. Added up in whole numbers,
    # so that the order of customers changes no digit.
    apart = sum((right * n_rows - n_right * n) ** 2 for n, right in of_each.select("n", "right").iter_rows())
    n_alike = min(n_right * (n_rows - n_right) * n_rows**2 / apart, n_rows) if apart else of_each.height
    inputs = {"rows": n_rows, "right": n_right}
    interval = wilson_interval(share * n_alike, n_alike)
    return Score(name, share, best=0, worst=1, interval=interval, baseline=baseline, inputs=inputs)
