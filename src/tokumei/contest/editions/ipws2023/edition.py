"""iPWS Cup 2023: a health survey, changed row by row, of which a sample is published; teams hide whose each row is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from tokumei.attacks.judge import wilson_interval
from tokumei.contest.checks import FILE_FORM
from tokumei.contest.edition import (
    ContestTerms,
    Edition,
    FileRole,
    Files,
    GuessScore,
    Measure,
    ReleaseScore,
    Standing,
    TeamEntry,
    check_at_least,
    chosen_part,
    read_once,
)
from tokumei.contest.editions import nhanes
from tokumei.contest.measures import BASELINE, INTERVAL, ROWS_FOUND
from tokumei.contest.record_matching import likely, nearest, one_each
from tokumei.contest.season import place_teams
from tokumei.contest.tables import (
    CELLS,
    ROW_NUMBERS,
    SAME_NUMBER,
    Ints,
    read_numbers,
    read_table,
    write_numbers,
    write_table,
)
from tokumei.core.errors import InputError
from tokumei.core.seeds import generator

TYPES = nhanes.column_types(age=(13, 87), bmi=(8, 91))
FAR, N_CELLS = 20, len(nhanes.COMPARED)
MEASURES: Sequence[Measure] = (
    Measure(
        "use",
        "Geometric mean of what is left by six numbers, the worst of each: 1 if nothing moved, 0 if one moved all "
        "the way.",
        "6つの指標（最悪値）の残りの幾何平均。1 は変化なし、0 はどれか1つがすべて失われた状態。",
    ),
    Measure("rate", "How far shares of values moved, the worst.", "値の比率のずれの最大値。"),
    Measure(
        "OR", "How far odds ratios of a regression moved, the worst.", "ロジスティック回帰のオッズ比のずれの最大値。"
    ),
    Measure("cor", "How far correlations moved, the worst.", "相関係数のずれの最大値。"),
    Measure(
        "age", "How far a row's age moved, 20 years and more being 1.", "行ごとの年齢のずれの最大値（20歳以上は 1）。"
    ),
    Measure("bmi", "How far a row's bmi moved, 20 and more being 1.", "行ごとの BMI のずれの最大値（20 以上は 1）。"),
    Measure(
        "cat", "Share of a row's other cells that changed, the worst.", "行ごとに変更された他のセルの割合の最大値。"
    ),
    ROWS_FOUND,
    BASELINE,
    INTERVAL,
)


def nearest_person(people: pl.DataFrame, rows: pl.DataFrame) -> Ints:
    """Return the nearest person of each row: the contest's sample."""
    found: Ints = nearest(people.drop("gh", "mets"), rows.drop("gh", "mets"))[1][:, 0]
    return found


def likely_people(people: pl.DataFrame, rows: pl.DataFrame) -> Ints:
    """Return whose rows all are likeliest to be, nobody twice, having learned from them how they were changed."""
    return one_each(likely(people, rows))


def noise(people: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Change one value in ten, and add noise to age and bmi: the contest's samples one after the other."""
    return nhanes.noised(people, 0.9, {"age": 1.0, "bmi": 0.5}, seed)


def exchange_groups(people: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Exchange age, bmi and three other columns within groups of like people."""
    return nhanes.exchanged_in_groups(people, {"age": 4, "bmi": 4}, 3, seed)


ANONYMIZERS = {"noise": noise, "exchange-groups": exchange_groups}
ATTACKS = {"nearest-person": nearest_person, "likely-people": likely_people}


@dataclass(frozen=True)
class Ipws2023(Edition):
    """Change the rows of a health survey so that nobody tells whose those of a sample are, and it says the same."""

    ANONYMIZERS = ANONYMIZERS
    ATTACKS = ATTACKS

    n_rows: int = field(default=4190, metadata={"help": "People in the survey."})
    n_published: int = field(default=300, metadata={"help": "Rows that are published: 100 first, 300 in the end."})

    def __post_init__(self) -> None:
        check_at_least(self, n_rows=20, n_published=2)
        if self.n_published > self.n_rows:
            raise InputError.of("at most all rows", option="n_published", value=self.n_published)

    @property
    def terms(self) -> ContestTerms:
        """What the edition says of itself."""
        return ContestTerms(
            title="iPWS Cup 2023",
            title_ja="iPWS Cup 2023（健康調査データの匿名化・国際大会）",
            summary=f"B has {self.n_rows:,} people of a health survey. A team changes its cells, row by row (C). Of C "
            f"{self.n_published:,} rows are drawn and published in a random order (D); attackers know B and name "
            f"the row "
            "of B behind each. Use is the geometric mean of what six numbers leave, safety 1 less the share that "
            "the best "
            "attacker found; teams rank by 1 − the harmonic mean of both, lower is better. What the contest left "
            "open is "
            "decided so: all teams have one B; a number beyond 1 leaves nothing; a guess is about one release; which "
            "rows are published is drawn for each release.",
            summary_ja=f"B は健康調査の{self.n_rows:,}人の表である。チームは行ごとにセルを加工する（C）。C から抽出した"
            f"{self.n_published:,}行が無作為な順序で公開され（D）、攻撃者は B を知ったうえで各行の元の行を推定する"
            f"。有用性は"
            "6つの指標の残りの幾何平均、安全性は 1 から最良の攻撃者が当てた割合を引いた値で、1 − 両者の調和平均の"
            "小さい順とする。"
            "原文に曖昧さのある点は次のとおり定める：B は全チーム共通とする。1 を超えた指標の残りは 0 とする。推定"
            "は1つの加工データに"
            "ついて提出する。公開する行は加工データごとに抽出する。",
            data_files=(FileRole("B", "the survey, 12 columns", "健康調査の表（12列）"),),
            release_files=(FileRole("C", "the rows of B, changed", "B の各行を加工したデータ"),),
            published_files=(FileRole("D", "some rows of C, in a random order", "C から抽出した行（順序は無作為）"),),
            truth_files=(FileRole("X", "the row of B behind each", "各行の B の行番号"),),
            guess_files=(FileRole("E", "the guessed row of B behind each", "各行の B の行番号の推定"),),
            knowledge_files={"": ()},
            release_rules=(FILE_FORM, CELLS, SAME_NUMBER),
            guess_rules=(FILE_FORM, ROW_NUMBERS),
            measures=MEASURES,
        )

    def make_data(self, folder: Path, *, seed: int, source: Path | None = None) -> None:
        """Write B: drawn from a file of its form, or made up without one."""
        write_table(nhanes.survey(self.n_rows, seed, source), folder / "B.csv")

    def check(self, data: Files, release: Files) -> None:
        """Raise one InputError with every fault of C."""
        read_table(release["C"], TYPES, read_once(data, nhanes.read_survey).height)

    def score(self, data: Files, knowledge: Files, release: Files) -> ReleaseScore:
        """Return the use that is left by the worst numbers; only attacks of other teams tell how safe C is."""
        moved = use_of(read_once(data, nhanes.read_survey), read_table(release["C"], TYPES))
        worst = {name: one.worst for name, one in moved.items()}
        use = mean_left(worst)
        return ReleaseScore({"utility": worst, "use": use}, 1 - use)

    def publish(self, data: Files, release: Files, folder: Path, truth_folder: Path, *, seed: int) -> None:
        """Write some rows of C in a random order, and apart from them whose they are."""
        rows = drawn_rows(self.n_rows, self.n_published, int(generator(seed, "published").integers(2**32)))
        write_table(read_table(release["C"], TYPES)[rows], folder / "D.csv")
        write_numbers(rows, truth_folder / "X.csv")

    def check_guess(self, data: Files, published: Files, guess: Files) -> None:
        """Raise one InputError with every fault of E."""
        read_numbers(guess["E"], 1, self.n_published, most=self.n_rows - 1)

    def judge(self, data: Files, published: Files, truth: Files, guess: Files) -> GuessScore:
        """Return the share of the published rows that were found."""
        n_right = int((read_numbers(truth["X"]) == read_numbers(guess["E"])).sum())
        share, interval = n_right / self.n_published, list(wilson_interval(n_right, self.n_published))
        return GuessScore(share, {"row": share, "baseline": 1 / self.n_rows, "interval": interval})

    def rank(self, entries: Sequence[TeamEntry]) -> list[Standing]:
        """Order the teams by 1 − the harmonic mean of use and safety."""
        lines = []
        for entry in entries:
            use, found = 1 - entry.release.utility, self.terms.attack_rule.found_by_others(entry)
            both = 2 * use * (1 - found) / (use + 1 - found) if use > 0 and found < 1 else 0.0
            lines.append(Standing(0, entry.team, 1 - both, entry.release.utility, found))
        return place_teams(lines)

    def anonymize(self, name: str, data: Files, folder: Path, *, seed: int) -> None:
        """Write C as a built-in anonymizer makes it."""
        play = chosen_part("anonymizer", name, ANONYMIZERS)
        write_table(play(read_once(data, nhanes.read_survey), seed), folder / "C.csv")

    def attack(self, name: str, data: Files, knowledge: Files, published: Files, folder: Path, *, seed: int) -> None:
        """Write E as a built-in attack guesses it; none of them needs luck."""
        play = chosen_part("attack", name, ATTACKS)
        guess = play(read_once(data, nhanes.read_survey), read_table(published["D"], nhanes.PEOPLE))
        write_numbers(guess, folder / "E.csv")


def use_of(people: pl.DataFrame, changed: pl.DataFrame) -> dict[str, nhanes.Shift]:
    """Return the six numbers, the worst of each and the mean, from 0 for unchanged."""
    moved, cells = nhanes.shifts(people, changed), nhanes.cell_shifts(people, changed)
    scales = {"age": FAR, "bmi": FAR, "cat": N_CELLS}
    lost = {name: nhanes.Shift.of(np.minimum(cells[name], scale) / scale) for name, scale in scales.items()}
    return {name: moved[name] for name in ("rate", "OR", "cor")} | lost


def mean_left(lost: dict[str, float]) -> float:
    """Return the geometric mean of what losses leave."""
    return float(np.prod([max(0.0, 1 - one) for one in lost.values()]) ** (1 / len(lost)))


def drawn_rows(n_rows: int, n: int, seed: int) -> Ints:
    """Draw rows without putting any back, as the contest's program did."""
    return np.random.RandomState(seed).permutation(n_rows)[:n]
