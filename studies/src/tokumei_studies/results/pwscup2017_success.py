"""The example of how an attack is judged: section 3.5.1 of the paper of PWSCUP 2017."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl

from tokumei.attacks.judge import judge
from tokumei_studies.study import Findings, StudyLine

CUSTOMERS = ("Alice", "Bob", "Carol")
PERIODS = (1, 2)
# The third customer's name and the wrong guesses are ours: the text gives only what was right.
TRUTH = (("Alice", 1, "A1"), ("Alice", 2, "A2"), ("Bob", 1, "B1"), ("Bob", 2, "B2"), ("Carol", 1, "C1"))
GUESSES = (("Alice", 1, "A1"), ("Alice", 2, "A2"), ("Bob", 1, "C1"), ("Bob", 2, "B2"), ("Carol", 1, "B1"))
SCHEMA = {"customer": pl.String, "period": pl.Int32, "pseudonym": pl.String}


@dataclass(frozen=True)
class Pwscup2017Success:
    """Judges the guess of the paper's example.

    Section 3.5.1 takes the attack of figure 2, on three customers in two months, of which the pairs (1, A1), (2, A2)
    and (2, B2) are right, and counts 3 of 2 × 3. Here a guess with these three right and the others wrong is judged by
    the same function as every attack.
    """

    title: ClassVar[str] = "How an attack of PWSCUP 2017 is judged"
    source: ClassVar[str] = "Kikuchi, Oguri et al., PWSCUP2017 (CSS 2017), section 3.5.1"
    needs: ClassVar[tuple[str, ...]] = ()
    is_quick: ClassVar[bool] = True

    def run(self, data: Path) -> Findings:  # noqa: ARG002
        """Judge the guess."""
        truth = pl.DataFrame(list(TRUTH), schema=SCHEMA, orient="row")
        guesses = pl.DataFrame(list(GUESSES), schema=SCHEMA, orient="row")
        verdict = judge(guesses, truth, CUSTOMERS, PERIODS)
        why = "A share of six is the same or it is not."
        return Findings(
            (StudyLine.near("reid of the pseudonyms, 3/6", 3 / 6, verdict.cell.value, within=0, why=why),),
            remarks=(
                "The contest itself ranked by a stricter share, of customers who are right in every month. In this "
                f"example that is {verdict.row.value:.4f}: only Alice is right in both.",
                "The paper's share is `cell` wherever Tokumei judges guesses: of all customers × months, those without "
                f"a pseudonym too. Of the five months in which a customer has one, {verdict.month.value:.4f} are "
                "found, which is `month`.",
            ),
        )
