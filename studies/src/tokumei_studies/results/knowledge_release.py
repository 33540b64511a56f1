"""The ten attackers of the slides on background knowledge, against releases made here."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import polars as pl

from tokumei.attacks.history.attackers import measure_risks
from tokumei.contest.editions.pwscup2016.files import read_history
from tokumei.data.history import History
from tokumei.methods.history.perturb import Perturb
from tokumei.methods.history.steps import Pseudonyms
from tokumei.methods.pipeline import Pipeline
from tokumei_studies.figures import grouped_bars_figure
from tokumei_studies.results._knowledge import MEASURED, PAPER, measured_line
from tokumei_studies.study import Findings, StudyFigure, StudyLine

# The data has thirteen months, of which the last is nine days long.
RELEASES = {
    "one pseudonym": Pipeline((Pseudonyms(lifetime=13),)),
    "monthly pseudonyms": Pipeline((Pseudonyms(lifetime=1),)),
    "monthly pseudonyms, values moved a little": Pipeline((Perturb(), Pseudonyms(lifetime=1))),
    "monthly pseudonyms, dates and items moved much": Pipeline((Perturb(days=31, items=1.0), Pseudonyms(lifetime=1))),
}
KNOW_THE_DAY = (5, 6, 7, 8, 9)


@dataclass(frozen=True)
class KnowledgeRelease:
    """Measures the ten attackers on releases, where the slides measured them on the original.

    What is known is true of the original, and the attacker picks one of the released pseudonyms that fit it; that is
    right where it is any pseudonym of the customer. Four releases are made of the slides' data: one pseudonym for the
    whole time, a new one each month, and the same with cells moved at random, by up to three days and some per cent of
    prices and quantities, or with dates anywhere in the month and items exchanged for one of the same kind.

    Two things follow from the definitions, and are held against the printed risks. Names alone protect nobody: under
    one pseudonym every risk is that of the original. And new names each month do not protect against whoever knows
    the day, since a customer has one name on one day.
    """

    title: ClassVar[str] = "Ten attackers by background knowledge, on releases"
    source: ClassVar[str] = f"{PAPER}, table of results, on releases made here"
    needs: ClassVar[tuple[str, ...]] = ("pwscup2016/T.csv.gz",)
    is_quick: ClassVar[bool] = True

    seed: int = field(default=2017, metadata={"help": "What pseudonyms and changes are drawn by."})

    def run(self, data: Path) -> Findings:
        """Make the releases and measure."""
        history = read_history(data / "pwscup2016" / "T.csv.gz")
        risks = {"original": [score.value for score in measure_risks(history)]}
        for name, pipeline in RELEASES.items():
            released = History(pipeline.anonymize(history, seed=self.seed).frame)
            risks[name] = [score.value for score in measure_risks(history, released)]
        _, yearly, monthly, moved, moved_much = risks.values()
        lines = [measured_line("one pseudonym: attacker", number, yearly[number]) for number in range(len(yearly))]
        lines += [measured_line("monthly: attacker", number, monthly[number]) for number in KNOW_THE_DAY]
        lines += [_moved_line("moved a little", number, moved[number]) for number in KNOW_THE_DAY]
        lines += [_moved_line("moved much", number, moved_much[number]) for number in KNOW_THE_DAY]
        return Findings(lines, (_figure(risks),), _remarks(risks))


def _moved_line(what: str, number: int, computed: float) -> StudyLine:
    why = (
        "A date that moved may lead nowhere or astray, but tells no more than it did: the printed risk is an upper end."
    )
    return StudyLine.at_most(f"monthly, {what}: attacker {number}", MEASURED[number], computed, why=why)


def _figure(risks: dict[str, list[float]]) -> StudyFigure:
    rows = [(name, str(number), risk) for name, found in risks.items() for number, risk in enumerate(found)]
    svg = grouped_bars_figure(
        pl.DataFrame(rows, schema=["release", "attacker", "risk"], orient="row"),
        group="attacker",
        y="risk",
        series="release",
        x_title="attacker",
        y_title="chance to find the customer",
    )
    return StudyFigure("risks", svg, "What each attacker's knowledge is worth against the original and four releases.")


def _remarks(risks: dict[str, list[float]]) -> tuple[str, ...]:
    names = list(risks)
    rows = [f"| attacker | {' | '.join(names)} |", "|---|" + "--:|" * len(names)]
    rows += [
        f"| {number} | {' | '.join(f'{risks[name][number]:.4f}' for name in names)} |"
        for number in range(len(MEASURED))
    ]
    original, monthly = risks["original"], risks["monthly pseudonyms"]
    return (
        "\n".join(rows),
        "New names each month even help attackers 0 to 4, who do not know the day: attacker 1 rises from "
        f"{original[1]:.4f} to {monthly[1]:.4f}. A customer who buys often has many pseudonyms, is met often, and any "
        "of them counts as found. What protects is to move what is known: the day by three days already takes "
        f"attacker 9 from {monthly[9]:.4f} to {risks[names[3]][9]:.4f}.",
    )
