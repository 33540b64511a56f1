"""Which attack wins at each level of knowledge, on releases of the PWSCUP 2017 set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl

from tokumei.attacks.judge import judge, published, truth_of
from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.contest.editions.pwscup2017.files import read_history, read_knowledge
from tokumei.core.progress import step
from tokumei.data.history import History
from tokumei.methods.history.delete import Delete
from tokumei.methods.history.perturb import Perturb
from tokumei.methods.history.steps import Pseudonyms
from tokumei.methods.pipeline import Pipeline
from tokumei_studies.figures import panel_figure
from tokumei_studies.study import Findings, StudyFigure, StudyLine

FOLDER = "pwscup2017"
SHARES = (25, 50, 75, 100)
SEED = 2017
YEAR = 12
MOVED = Perturb(days=31, quantities=1.0, prices=1.0, hides_times=True, whole_baskets=False)
DELETED = Delete(telling=0.25, once=False, price_deviations=0.0)
MONTHLY = "monthly pseudonyms"
RELEASES: Mapping[str, Pipeline] = {
    "one pseudonym": Pipeline((Pseudonyms(YEAR),)),
    MONTHLY: Pipeline((Pseudonyms(1),)),
    "one pseudonym, much changed": Pipeline((MOVED, DELETED, Pseudonyms(YEAR))),
    "monthly pseudonyms, much changed": Pipeline((MOVED, DELETED, Pseudonyms(1))),
}
# What docs/howto/histories.md says of linkage on monthly pseudonyms.
LINKAGE_ON_MONTHLY = (0.912, 0.956, 0.990, 1.000)
STRONG = "linkage"
# The same as S1 unless told otherwise.
LEFT_OUT = ("exact-match",)


@dataclass(frozen=True)
class Tried:
    """What an attack found on a release: the share of customers with every month right."""

    release: str
    attack: str
    known: int
    found: float


@dataclass(frozen=True)
class AttacksByKnowledge:
    """Tries every built-in attack on four releases, with a quarter to all of the rows known.

    In PWSCUP 2017 an attacker knew 25, 50, 75 or all of 100 rows of the original, with items cut to two characters, and
    had to name each customer's pseudonym in every month. The paper judges attacks by the mean over the four levels.
    Which attack should be feared may depend on the level, and on the release.

    Here the contest's data is released in four ways, and all attacks of this package are tried at the contest's own
    four levels. A customer has one pseudonym, or a new one each month; and the rows are as they were, or much changed:
    dates anywhere in their month, quantities and prices up or down by anything, no times, and the quarter of the rows
    deleted that give most away. Nobody has published these numbers but the how-to of this package, which names those of
    linkage on monthly pseudonyms.
    """

    title: ClassVar[str] = "Which attack wins at each level of knowledge"
    source: ClassVar[str] = "Beyond the papers"
    needs: ClassVar[tuple[str, ...]] = (f"{FOLDER}/T.csv.gz", *(f"{FOLDER}/T{share}.csv.gz" for share in SHARES))
    is_quick: ClassVar[bool] = False

    def run(self, data: Path) -> Findings:
        """Release and attack."""
        original = read_history(data / FOLDER / "T.csv.gz")
        knowledge = {share: read_knowledge(data / FOLDER / f"T{share}.csv.gz") for share in SHARES}
        tried: list[Tried] = []
        with step("attacking", len(RELEASES)) as bar:
            for name, pipeline in RELEASES.items():
                released = History(pipeline.anonymize(original, seed=SEED).frame)
                tried += try_attacks(name, original, released, knowledge)
                bar.advance()
        return Findings(_lines(tried), (_figure(tried),), (_table(tried),))


def try_attacks(name: str, original: History, released: History, knowledge: Mapping[int, History]) -> list[Tried]:
    """Try every attack at every level of knowledge on a release that keeps the rows of its original."""
    truth, seen = truth_of(original, released), published(released, seed=SEED)
    tried = []
    for attack in HISTORY_ATTACKS:
        if attack in LEFT_OUT:
            continue
        for share, known in knowledge.items():
            guesses = HISTORY_ATTACKS.make(attack).guess(known, seen)
            verdict = judge(guesses, truth, original.customers, original.periods)
            tried.append(Tried(name, attack, share, verdict.row.value))
    return tried


def winners(tried: list[Tried], release: str, known: int) -> list[Tried]:
    """Order the attacks on a release at one level, the one that finds most first; equals by their names."""
    some = [one for one in tried if (one.release, one.known) == (release, known)]
    return sorted(some, key=lambda one: (-one.found, one.attack))


def _lines(tried: list[Tried]) -> list[StudyLine]:
    found = {(one.release, one.attack, one.known): one.found for one in tried}
    lines = [
        StudyLine.near(
            f"linkage on {MONTHLY}, {share} % known",
            said,
            found[MONTHLY, STRONG, share],
            within=0.005,
            why="The how-to's numbers; which pseudonyms were drawn decides ties, two or three of 500 customers.",
            digits=3,
        )
        for share, said in zip(SHARES, LINKAGE_ON_MONTHLY, strict=True)
    ]
    n_won = sum(
        found[release, STRONG, share] >= winners(tried, release, share)[0].found
        for release in RELEASES
        for share in SHARES
    )
    why = "A count. The package takes linkage for its strongest attack."
    what = "releases and levels, of sixteen, on which none finds more than linkage"
    return [*lines, StudyLine.near(what, len(RELEASES) * len(SHARES), n_won, within=0, why=why, digits=0)]


def _figure(tried: list[Tried]) -> StudyFigure:
    best = {attack: max(one.found for one in tried if one.attack == attack) for attack in {one.attack for one in tried}}
    # As many as there are colors: the strongest somewhere, the strongest of all first.
    shown = sorted(best, key=lambda attack: (-best[attack], attack))[:6]
    rows = [
        (one.release, one.attack, one.known, one.found) for attack in shown for one in tried if one.attack == attack
    ]
    svg = panel_figure(
        pl.DataFrame(rows, schema=["release", "attack", "known", "found"], orient="row").sort(
            pl.col("release").cast(pl.Enum(list(RELEASES))), maintain_order=True
        ),
        x="known",
        y="found",
        panel="release",
        series="attack",
        x_title="rows known, %",
        n_columns=2,
        is_line=True,
    )
    return StudyFigure("found", svg, "The share of customers found in every month, by the six strongest attacks.")


def _table(tried: list[Tried]) -> str:
    rows = ["| release | known | wins | found | second | found |", "|---|--:|---|--:|---|--:|"]
    for release in RELEASES:
        for share in SHARES:
            first, second = winners(tried, release, share)[:2]
            rows.append(
                f"| {release} | {share} % | {first.attack} | {first.found:.3f} | {second.attack} | {second.found:.3f} |"
            )
    return (
        "Who wins, and who comes second:\n\n"
        + "\n".join(rows)
        + "\n\nWithout linkage there would be no single winner: an attack that looks for rows needs few of them and "
        "gains little by more; one that counts rows, or compares all that a customer bought, needs a pseudonym that "
        "lives, and the latter most of the rows, too."
    )
