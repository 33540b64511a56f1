"""Whose purchases are known of a release in a contest of one's own.

Guesses are at pseudonyms; what people fear is that purchases are known to be theirs, under whatever pseudonym these
stand. The organizer knows whose purchase each row is where the rows of T are in their places and as they were. Where
values were changed or purchases moved the team may say it, in one more column of A.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import polars as pl

from tokumei.attacks.attribution.judging import keeps_places
from tokumei.attacks.attribution.sides import VALUES
from tokumei.attacks.history.attribution import attribute_release
from tokumei.attacks.registry import HISTORY_ATTACKS, HistoryAttack
from tokumei.contest.checks import RowFaults
from tokumei.contest.custom.kinds import ATTRIBUTION, ROW
from tokumei.contest.edition import Measure, Rule
from tokumei.core.score import Score
from tokumei.core.text import JsonView
from tokumei.data.history import History, period_of
from tokumei.reports.needs import REPORT_ROWS, within_time

# The strongest attack on pseudonyms is weighed, too, where it takes so long at most for all levels of knowledge.
LINKER, MINUTES = "linkage", 1
SOURCES = Rule(
    "row-of-purchase",
    f"A may have one more column, {ROW}: the row of T, counted from 1, whose purchase stands in this row. Each row of "
    "T is named once at most, and a purchase that was moved has the item, price and quantity of the row it was in.",
    f"A は最後に列 {ROW} を加えてもよい。その行にある購買が T のどの行（1から数える）のものかを書く。"
    "T の同じ行は一度しか書けず、移動した購買の商品・単価・数量は元の行と同じとする。",
)
# Of more rows it is not measured, since a submission should be scored in minutes.
MOST_ROWS = REPORT_ROWS
TOO_MANY = "T has more rows than are given to their buyers in minutes (200,000)."
NOT_TOLD = "Values differ from T, and A has no column 'row' that says whose purchases they are."
ATTRIBUTED = Measure(
    "attributed",
    "Share of the published purchases, not known before, that are given to their buyer whatever pseudonym they stand "
    "under: 0 if none, 1 if all. Where the formula names it, a release that leaves open whose purchases its rows are "
    "counts as 1.",
    "攻撃者が知らなかった公開購買のうち、仮名によらず購入者を当てられたものの割合。0 は皆無、1 はすべて。"
    "順位の式に使う場合、誰の購買か分からない加工データは 1 とする。",
    title="purchases given to their buyers",
    title_ja="購入者を当てられた購買",
)
COUNTED = "the share of the unknown purchases that are given to their buyers, 1 where a release leaves these open"
COUNTED_JA = "未知の購買のうち購入者を当てられた割合（誰の購買か分からない加工データは 1）"
NONE_MOVED = "Most of the changed rows hold purchases of each other, though A says that none of these moved."


def check_sources(original: pl.DataFrame, cells: pl.DataFrame, faults: RowFaults) -> None:
    """Refuse rows that T does not have, rows that are named twice, and moved purchases with other values."""
    named, n_rows = cells[ROW], original.height
    is_beyond = (named > n_rows).fill_null(False)
    faults.add_cells(SOURCES.name, ROW, is_beyond, "a row of T, from 1 to {n_rows:,}", {"n_rows": n_rows})
    is_again = ~named.is_first_distinct() & named.is_not_null()
    faults.add_cells(SOURCES.name, ROW, is_again, "a row of T that no row above names")
    own = pl.int_range(1, n_rows + 1, eager=True)
    at = pl.select(pl.when(~is_beyond).then(named - 1)).to_series()
    is_other = pl.zeros(n_rows, pl.Int8, eager=True).cast(pl.Boolean)
    for name in VALUES:
        is_other |= (cells[name] != original[name].gather(at)).fill_null(False)
    is_moved = (named != own).fill_null(False)
    expected = "a row of T with the same item, price and quantity, or {own}, if the purchase was not moved"
    faults.add_cells(SOURCES.name, ROW, is_moved & is_other, expected, lambda row: {"own": str(own[row])})


def attribute(
    original: History, released: History, sources: pl.Series | None, known: Mapping[str, History]
) -> dict[str, Score] | str:
    """Return the share of the unknown purchases given to their buyers at each level, or why that is not measured.

    sources: the row of T of each row, from 0, if A says it.
    """
    if original.n_rows > MOST_ROWS:
        return TOO_MANY
    if sources is None:
        if not keeps_places(original, released):
            return NOT_TOLD
        sources = pl.Series(ROW, np.arange(original.n_rows))
    linker, seen, found = _linker(original, known), History(released.kept, released.name), {}
    for level, knowledge in known.items():
        guesses = None if linker is None else linker.guess(knowledge, seen)
        judged, _ = attribute_release(original, released, sources, knowledge, guesses)
        found[level] = judged.rows
    return found


def _linker(original: History, known: Mapping[str, History]) -> HistoryAttack | None:
    """Return the attack whose guesses at pseudonyms are weighed with the rest, if it takes little time.

    What it takes is estimated by T and knowledge alone, with a pseudonym for every month, so that all releases of a
    contest meet the same attack.
    """
    named = pl.concat_str("customer", period_of(pl.col("date")).cast(pl.String), separator=" ")
    monthly = History(original.frame.with_columns(customer=named), original.name)
    fitting, _ = within_time([LINKER], monthly, known, MINUTES)
    return HISTORY_ATTACKS.make(LINKER) if fitting else None


def in_details(found: Mapping[str, Score] | str) -> dict[str, object] | str:
    """Return what the details of a score say: by levels the share, its interval and its chance, or the reason."""
    if isinstance(found, str):
        return found
    shares = {level: score.value for level, score in found.items()}
    mean = {"mean": math.fsum(shares.values()) / len(shares)} if len(shares) > 1 else {}
    return {
        ATTRIBUTED.name: shares | mean,
        "interval": {level: list(score.interval or ()) for level, score in found.items()},
        "baseline": {level: score.baseline for level, score in found.items()},
    }


def mean_of(details: JsonView) -> float | None:
    """Return the mean over the levels from the details of a score; None where it cannot be told."""
    found = details[ATTRIBUTION]
    if isinstance(found, str):
        return None
    shares = found[ATTRIBUTED.name]
    # Of a single level there is no mean beside it.
    return float(shares.get("mean", min(shares.values())))


def suspicions(original: History, released: History, sources: pl.Series | None) -> tuple[str, ...]:
    """Return what is suspicious in the rows of T that a release names.

    Where purchases were dealt out among customers and each is said to be the customer's own, the changed rows hold the
    same purchases as before, in another order.
    """
    if sources is None:
        return ()
    month, values = period_of(pl.col("date")).alias("month"), [pl.col(name) for name in VALUES]
    is_own = pl.Series(sources == pl.int_range(len(sources), eager=True)).fill_null(False)
    before, after = (one.frame.select(month, *values).filter(is_own) for one in (original, released))
    was = pl.concat([after, before.select(pl.all().name.suffix(" was"))], how="horizontal")
    changed = was.select(pl.any_horizontal(pl.col(name).ne_missing(pl.col(f"{name} was")) for name in VALUES))
    is_changed = changed.to_series()
    counts = [side.filter(is_changed).group_by("month", *VALUES).len() for side in (before, after)]
    both = counts[0].join(counts[1], on=["month", *VALUES], nulls_equal=True)
    n_same = int(both.select(pl.min_horizontal("len", "len_right").sum()).item() or 0)
    return (NONE_MOVED,) if 2 * n_same > is_changed.sum() else ()
