"""What the organizers' sample release of PWSCUP 2017 keeps and gives away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl

from tokumei.attacks.judge import judge, truth_of
from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.contest.editions.pwscup2017.files import read_history, read_knowledge, read_release
from tokumei.data.history import History
from tokumei.measures.registry import HISTORY_UTILITIES
from tokumei.reports.figures import line_figure
from tokumei_studies.study import Findings, StudyFigure, StudyLine

SHARES = (25, 50, 75, 100)
UTILITY = (
    ("E1 ItemCF-supply", "item-cf-supply", 0.946782),
    ("E2 ItemCF-retail", "item-cf-retail", 0.947189),
    ("E3 top 100, the items", "top-items", 0.21),
    ("E3 top 100, their ItemCF", "item-cf-top", 0.657265),
    ("E4 date", "date", 0.0),
    ("E5 price", "price", 0.0),
    ("E6 rows", "rows", 0.5),
)
SAFETY = {
    "s1": (0.166, 0.18, 0.178, 0.174),
    "s2": (0.006, 0.016, 0.014, 0.016),
    "s3": (0.01, 0.016, 0.012, 0.016),
    "s4": (0.134, 0.154, 0.136, 0.142),
}
# Only the ids changed, one pseudonym for the year.
SAFETY_OF_ORIGINAL = (0.166, 0.174, 0.188, 0.192)
SIX_DIGITS = "The contest's own programs, to the six digits they print."
OF_500 = "A share of 500 customers: half of one customer is rounding."


@dataclass(frozen=True)
class Pwscup2017Sample:
    """Measures and attacks the release that the organizers gave to the teams as an example.

    Section 3.7 of the paper promises a sample program that gives every customer a new pseudonym each month, and at
    least three sample attacks. The release that came with the contest's data does that and deletes half of the rows.
    The contest's own programs say what it loses (E1 to E6) and how many customers the sample attacks find, who know
    25, 50, 75 or all of 100 rows, items by two characters; the paper defines these measures and prints no values.

    Here the same is computed from the files by the measures and attacks of this package. The attacks read the
    release in the order of the original, as the contest's programs did: where several rows match, the last one counts.
    """

    title: ClassVar[str] = "Utility and safety of the sample release of PWSCUP 2017"
    source: ClassVar[str] = "Kikuchi, Oguri et al., PWSCUP2017 (CSS 2017), sections 3.5 to 3.7"
    needs: ClassVar[tuple[str, ...]] = (
        "pwscup2017/T.csv.gz",
        "pwscup2017/AT_sample.csv.gz",
        *(f"pwscup2017/T{share}.csv.gz" for share in SHARES),
    )
    is_quick: ClassVar[bool] = True

    def run(self, data: Path) -> Findings:
        """Measure and attack."""
        folder = data / "pwscup2017"
        original, released = read_history(folder / "T.csv.gz"), read_release(folder / "AT_sample.csv.gz")
        knowledge = {share: read_knowledge(folder / f"T{share}.csv.gz") for share in SHARES}
        lines = [
            StudyLine.near(
                f"{what} of the sample",
                published,
                HISTORY_UTILITIES.make(name).measure(original, released).value,
                within=5e-7,
                why=SIX_DIGITS,
                digits=6,
            )
            for what, name, published in UTILITY
        ]
        found = {name: tuple(_success(name, original, released, knowledge)) for name in (*SAFETY, "s5", "s6")}
        for name, published_shares in SAFETY.items():
            lines += _safety_lines(f"{name.upper()} on the sample", published_shares, found[name])
        renamed = History(original.frame.with_columns(customer="P" + pl.col("customer")))
        ids_only = tuple(_success("s1", original, renamed, knowledge))
        lines += _safety_lines("S1 on T with nothing but ids changed", SAFETY_OF_ORIGINAL, ids_only)
        remark = _remark(found, *_found_by_best(found, original, released, knowledge[100]))
        return Findings(lines, (_figure(found),), (remark,))


def _success(name: str, original: History, released: History, knowledge: dict[int, History]) -> Iterator[float]:
    """Yield the share of customers found in every month, for each share of known rows."""
    truth, attack = truth_of(original, released), HISTORY_ATTACKS.make(name)
    for known in knowledge.values():
        yield judge(attack.guess(known, released), truth, original.customers, original.periods).row.value


def _safety_lines(what: str, published: tuple[float, ...], computed: tuple[float, ...]) -> list[StudyLine]:
    return [
        StudyLine.near(f"{what}, {share} % known", one, other, within=0.001, why=OF_500, digits=3)
        for share, one, other in zip(SHARES, published, computed, strict=True)
    ]


def _figure(found: dict[str, tuple[float, ...]]) -> StudyFigure:
    rows = [
        (name.upper(), share / 100, value)
        for name, shares in found.items()
        for share, value in zip(SHARES, shares, strict=True)
    ]
    svg = line_figure(
        pl.DataFrame(rows, schema=["attack", "known", "found"], orient="row"),
        x="known",
        y="found",
        series="attack",
        x_title="rows that the attacker knows",
        y_title="customers found in every month",
        series_title="attack",
    )
    return StudyFigure("attacks", svg, "The six sample attacks on the sample release, by how many rows are known.")


def _best(found: dict[str, tuple[float, ...]]) -> str:
    return max(found, key=lambda name: sum(found[name]))


def _found_by_best(
    found: dict[str, tuple[float, ...]], original: History, released: History, known: History
) -> tuple[int, int]:
    """Count the customers whom the best attack finds in every month, and those of them who bought in one month only."""
    truth = truth_of(original, released)
    guesses = HISTORY_ATTACKS.make(_best(found)).guess(known, released)
    keys = ["customer", "period", "pseudonym"]
    wrong = truth.join(guesses, on=keys, how="anti")["customer"].to_list()
    too_many = guesses.join(truth, on=keys, how="anti")["customer"].to_list()
    months = truth.filter(~pl.col("customer").is_in(wrong + too_many)).group_by("customer").len()
    return months.height, months.filter(pl.col("len") == 1).height


def _remark(found: dict[str, tuple[float, ...]], n_found: int, n_of_one_month: int) -> str:
    best = _best(found)
    mean = sum(found[best]) / len(SHARES)
    return (
        f"Of the six sample attacks {best.upper()} finds most, {mean:.3f} on average over what is known. That half of "
        "the rows are gone hurts use far more than safety: both ItemCF measures lose nearly everything, while S1 finds "
        "about as many customers as in data of which nothing but the ids was changed. A customer counts as found only "
        f"if all twelve months are right, and of the {n_found} whom {best.upper()} finds with all rows known "
        f"{n_of_one_month} have rows in one month only, so that a new pseudonym each month changes nothing for them. "
        "[How long a pseudonym may live](pwscup2017-lifetimes.md) takes this up."
    )
