"""How long a pseudonym may live: what PWSCUP 2017 was held to find out."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import polars as pl

from tokumei.contest.editions.pwscup2017.files import read_history, read_knowledge
from tokumei.core.progress import step
from tokumei.data.history import History
from tokumei.methods.history.steps import Pseudonyms
from tokumei.reports.evaluation import SAMPLE_ATTACKS, Evaluation, evaluate
from tokumei_studies.figures import curves_figure
from tokumei_studies.study import Findings, StudyFigure, StudyLine

SHARES = ("25", "50", "75", "100")
LIVES = tuple(range(1, 13))
# The strong attack takes seconds, so it is tried where a life divides the year evenly.
ATTACKED_LIVES = (1, 2, 3, 4, 6, 12)
STRONG = ("linkage",)
# The paper counts customers who are named in every month.
ROW = "row"
LONGER_IS_BETTER = "A longer life loses less use, as the paper says: no exception."
CUTS_MATTER = (
    "The rule holds as far as a longer life means fewer pseudonyms. Five months cut the year in three, as four do, and "
    "seven to eleven in two, as six do. With as many pseudonyms it matters where the cuts fall, and how much of what a "
    "customer bought they part: the last three months have more than two fifths of all rows."
)
LOSSES = {"E1 ItemCF-supply": "item-cf-supply", "E2 ItemCF-retail": "item-cf-retail"}


@dataclass(frozen=True)
class Pwscup2017Lifetimes:
    """Shows the trade-off for which the contest was held: a pseudonym that lives long is useful and dangerous.

    Sections 1 and 2.2 of the paper argue that one pseudonym for the whole year keeps most use and is found most
    easily, that a new one at every chance loses the use, and that the length of a pseudonym's life must be chosen in
    between. They print no numbers: a published 0 below is what these words say.

    Here the contest's 500 customers get pseudonyms that live for 1 to 12 months, and nothing else is changed. Use is
    what the two ItemCF measures lose. Safety is the share of customers whom the best attack finds in every month: the
    six sample attacks and the linkage attack of this package, which compares all that is known of a customer with all
    rows of a pseudonym. The attackers know 25, 50, 75 or 100 % of the rows, from the contest's files, and items by two
    characters.
    """

    title: ClassVar[str] = "How long a pseudonym may live"
    source: ClassVar[str] = "Kikuchi, Oguri et al., PWSCUP2017 (CSS 2017), sections 1 and 2.2"
    needs: ClassVar[tuple[str, ...]] = ("pwscup2017/T.csv.gz", *(f"pwscup2017/T{share}.csv.gz" for share in SHARES))
    is_quick: ClassVar[bool] = False

    seed: int = field(default=2017, metadata={"help": "What pseudonyms and the order of the rows are drawn by."})

    def run(self, data: Path) -> Findings:
        """Measure every life, and attack those that divide the year."""
        folder = data / "pwscup2017"
        original = read_history(folder / "T.csv.gz")
        knowledge = {share: read_knowledge(folder / f"T{share}.csv.gz") for share in SHARES}
        found: dict[int, Evaluation] = {}
        with step("lives of pseudonyms", len(LIVES)) as bar:
            for life in LIVES:
                found[life] = self._evaluate(original, knowledge, life)
                bar.advance()
        return Findings(
            _lines(found), (_figure_by_life(found), _figure_of_trade_off(found)), (_table(found), _remark(found))
        )

    def _evaluate(self, original: History, knowledge: Mapping[str, History], life: int) -> Evaluation:
        released = History(Pseudonyms(life).anonymize(original, seed=self.seed).frame)
        attacks = (*SAMPLE_ATTACKS, *(STRONG if life in ATTACKED_LIVES else ()))
        return evaluate(original, released, knowledge, utilities=tuple(LOSSES.values()), attacks=attacks)


def _lines(found: Mapping[int, Evaluation]) -> list[StudyLine]:
    lines = []
    for what, name in LOSSES.items():
        loss = {life: found[life].utility[name].value for life in LIVES}
        unchanged = "Nothing but ids is changed, and the measure does not look at ids."
        lines += [
            StudyLine.near(f"{what} lost, one pseudonym for the year", 0, loss[12], within=0, why=unchanged),
            _rises_line(
                f"{what}, lives that divide the year", [loss[life] for life in ATTACKED_LIVES], LONGER_IS_BETTER
            ),
            _rises_line(f"{what}, all lives", list(loss.values()), CUTS_MATTER),
        ]
    first, last = ATTACKED_LIVES[0], ATTACKED_LIVES[-1]
    for share in SHARES:
        rise = found[last].best_attack(share, ROW)[1] - found[first].best_attack(share, ROW)[1]
        lines.append(
            StudyLine.at_least(
                f"customers found more with 12 months than with 1, {share} % known",
                0,
                rise,
                why="A longer life is found more easily, as the paper says, or at least no less.",
                digits=3,
            )
        )
    return lines


def _rises_line(what: str, losses: Sequence[float], why: str) -> StudyLine:
    n_rises = sum(after > before for before, after in itertools.pairwise(losses))
    return StudyLine.near(f"{what}: how often a longer one loses more use", 0, n_rises, within=0, why=why, digits=0)


def _figure_by_life(found: Mapping[int, Evaluation]) -> StudyFigure:
    rows = [(f"{what} lost", life, found[life].utility[name].value) for what, name in LOSSES.items() for life in LIVES]
    rows += [
        (f"found, {share} % known", life, found[life].best_attack(share, ROW)[1])
        for share in SHARES
        for life in ATTACKED_LIVES
    ]
    svg = curves_figure(
        pl.DataFrame(rows, schema=["what", "life", "share"], orient="row"),
        x="life",
        y="share",
        series="what",
        x_title="months that a pseudonym lives",
        y_title="use lost, customers found",
    )
    return StudyFigure("by-life", svg, "Use lost and customers found, by how many months a pseudonym lives.")


def _figure_of_trade_off(found: Mapping[int, Evaluation]) -> StudyFigure:
    rows = [
        (f"{share} % known", found[life].utility["item-cf-supply"].value, found[life].best_attack(share, ROW)[1], life)
        for share in reversed(SHARES)
        for life in ATTACKED_LIVES
    ]
    svg = curves_figure(
        pl.DataFrame(rows, schema=["what", "lost", "found", "life"], orient="row"),
        x="lost",
        y="found",
        series="what",
        x_title="use lost (E1 ItemCF-supply); below each point the months that a pseudonym lives",
        y_title="customers found by the best attack",
        label="life",
    )
    return StudyFigure("trade-off", svg, "What safety the loss of use buys: hardly any.")


def _table(found: Mapping[int, Evaluation]) -> str:
    rows = [
        f"| months | {' | '.join(LOSSES)} | {' | '.join(f'found, {share} % known' for share in SHARES)} |",
        "|--:|" + "--:|" * (len(LOSSES) + len(SHARES)),
    ]
    for life in LIVES:
        losses = [f"{found[life].utility[name].value:.4f}" for name in LOSSES.values()]
        shares = [
            f"{found[life].best_attack(share, 'row')[1]:.3f}" if life in ATTACKED_LIVES else "–" for share in SHARES
        ]
        rows.append(f"| {life} | {' | '.join([*losses, *shares])} |")
    return "\n".join(rows)


def _remark(found: Mapping[int, Evaluation]) -> str:
    def sample(life: int) -> float:
        attacks = found[life].attacks.filter((pl.col("known") == "25") & pl.col("attack").is_in(SAMPLE_ATTACKS))
        return float(max(attacks["row"].to_list()))

    monthly = found[1].best_attack("25", ROW)
    return (
        "The trade-off is there, and it is lopsided. Use falls steeply with shorter lives, while against the best "
        f"attack a month's life protects little: with a quarter of the rows known, {monthly[0]} still finds "
        f"{monthly[1]:.1%} of the customers in every month. The contest's sample attacks do not see a trade-off at "
        f"all: the best of them finds {sample(1):.1%} with monthly pseudonyms and {sample(12):.1%} with yearly ones, "
        "since they look at each row on its own and never at a pseudonym's other rows. A short life without a change "
        "of the rows themselves is no protection."
    )
