"""PWSCUP 2022: severe cases of an infection; teams hide which of their acquaintances are among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from tokumei.contest.checks import FILE_FORM
from tokumei.contest.edition import (
    ContestTerms,
    Edition,
    FileRole,
    Files,
    GuessScore,
    Measure,
    ReleaseScore,
    Rule,
    Standing,
    TeamEntry,
    check_at_least,
    chosen_part,
    read_once,
)
from tokumei.contest.editions.pwscup2022 import players
from tokumei.contest.editions.pwscup2022.players import COLUMNS, by_decade, make_people
from tokumei.contest.measures import BASELINE
from tokumei.contest.record_matching import Floats
from tokumei.contest.season import place_teams
from tokumei.contest.tables import (
    CELLS,
    Ints,
    number_in,
    read_numbers,
    read_table,
    sampled_rows,
    write_numbers,
    write_table,
)
from tokumei.core.errors import InputError
from tokumei.core.seeds import generator
from tokumei.measures.table.logistic import fit_logistic

# The tools of the contest put noise on cells and 99 in place of some.
TYPES = dict.fromkeys(COLUMNS, number_in(-999, 999, whole=True))
# Odds ratios that are off by so much have nothing left.
FAR_ODDS = 20
ROWS = Rule(
    "fewer-rows", "C has the columns of B, and from 2 to as many rows.", "C の列は B と同じ、行数は B 以下とする。"
)
ACQUAINTANCES = Rule(
    "acquaintances", "E has one line for each row of R, 0 or 1.", "E は R の行ごとに1行とし、0 または 1 を書く。"
)
MEASURES: Sequence[Measure] = (
    Measure(
        "A", "Share of the counts of values that is kept: 1 if all, 0 if none.", "値の度数が保たれた割合。0 は皆無。"
    ),
    Measure("B", "How near correlations stay: 1 if the same, 0 if all turned round.", "相関係数の近さ。1 は同じ。"),
    Measure(
        "C",
        "How near the worst odds ratio of severe illness stays: 1 if the same, 0 if 20 off.",
        "重症化のオッズ比の最大のずれ。1 は同じ、0 は 20 以上のずれ。",
    ),
    Measure("D", "The same for the mean of all odds ratios.", "全オッズ比の平均のずれ。1 は同じ、0 は 20 以上のずれ。"),
    Measure(
        "told",
        "Share of acquaintances who are told right beyond the half that luck tells: 0 if none, 1 if all.",
        "偶然に当たる半数を超えて在否を当てた割合。0 は皆無、1 はすべて。",
        title="acquaintances told",
        title_ja="在否を当てた知人",
    ),
    BASELINE,
)


@dataclass(frozen=True)
class Pwscup2022(Edition):
    """Release severe cases so that nobody tells which of their acquaintances are among them."""

    ANONYMIZERS = players.ANONYMIZERS
    ATTACKS = players.ATTACKS

    n_rows: int = field(default=300, metadata={"help": "Severe cases of a team."})
    n_people: int = field(default=3000, metadata={"help": "All severe cases, and as many others."})
    n_known: int = field(default=50, metadata={"help": "Acquaintances, half of whom are among the cases."})

    def __post_init__(self) -> None:
        check_at_least(self, n_rows=20, n_people=self.n_rows, n_known=2)
        if self.n_known > self.n_rows:
            raise InputError.of("at most all people", option="n_known", value=self.n_known)

    @property
    def terms(self) -> ContestTerms:
        """What the edition says of itself."""
        return ContestTerms(
            title="PWSCUP 2022",
            title_ja="PWSCUP 2022（重症患者データの匿名化）",
            summary=f"Each team has {self.n_rows:,} severe cases of its own (B) and releases them changed (C). "
            f"Attackers "
            f"know {self.n_known} acquaintances, half of them among the cases and half not severely ill, and say "
            f"who is "
            "in. Use is the mean of four scores, safety 1 less what is told beyond luck by the best attacker; "
            "teams rank "
            "by 1 − the mean of both, lower is better. What the contest left open is decided so: safety is that "
            "against "
            "the best attacker, not the mean; people are made up, and so is U, the others beside whom severe "
            "illness is "
            "explained; any table of whole numbers is taken, not only what the organizers' tools make, without a "
            "log; the "
            "constant counts among the odds ratios; a column with one value correlates with nothing.",
            summary_ja=f"各チームは自分だけの重症患者の表 B（{self.n_rows:,}人）を加工して C を提出する。攻撃者は知人"
            f"{self.n_known}人（半数は B の患者、半数は重症でない人）の在否を推定する。有用性は4つのスコアの平均、"
            f"安全性は 1 から"
            "最良の攻撃者が偶然を超えて当てた割合を引いた値で、1 − 両者の平均の小さい順とする。原文に曖昧さのある"
            "点は次のとおり"
            "定める：安全性は平均ではなく最良の攻撃者に対する値とする。人々と、重症化を説明する際の比較対象 U は架"
            "空のものとする。"
            "運営のツールによるものに限らず、整数の表であれば受け付け、コマンドの記録は求めない。オッズ比には定数"
            "項を含める。"
            "値が1種類の列の相関は 0 とする。",
            data_files=(FileRole("U", "people who are not severely ill", "重症でない人々"),),
            hidden_files=(FileRole("P", "all severe cases", "すべての重症患者"),),
            own_files=(FileRole("B", "the team's severe cases", "チームの重症患者"),),
            release_files=(FileRole("C", "the cases, changed", "加工データ"),),
            published_files=(
                FileRole("C", "the released cases", "加工データ"),
                FileRole("R", "acquaintances", "知人"),
            ),
            truth_files=(FileRole("x", "for each row of R whether it is in B", "R の各行が B に含まれるか"),),
            guess_files=(FileRole("E", "for each row of R 1 if it is guessed to be in B", "R の各行の在否の推定"),),
            knowledge_files={"": ()},
            release_rules=(FILE_FORM, CELLS, ROWS),
            guess_rules=(FILE_FORM, ACQUAINTANCES),
            measures=MEASURES,
        )

    def make_data(self, folder: Path, *, seed: int, source: Path | None = None) -> None:
        """Write P and U, as many people each: of a file its rows as severe cases, or made up without one."""
        others, cases = make_people(self.n_people, seed)
        write_table(others, folder / "U.csv")
        known = cases if source is None else _read(source)
        write_table(sampled_rows(known, self.n_people, seed, source), folder / "P.csv")

    def draw_own(self, data: Files, folder: Path, *, seed: int) -> None:
        """Write B, drawn from P."""
        write_table(sampled_rows(_read(data["P"]), self.n_rows, seed, data["P"]), folder / "B.csv")

    def check(self, data: Files, release: Files) -> None:
        """Raise one InputError with every fault of C."""
        n = _read(release["C"]).height
        if not 2 <= n <= self.n_rows:
            raise InputError.of(f"from 2 to {self.n_rows} rows", file=release["C"], value=n).under(ROWS.name)

    def score(self, data: Files, knowledge: Files, release: Files) -> ReleaseScore:
        """Return the four scores of use; only attacks of other teams tell how safe C is."""
        scores = use_of(read_once(data, _read_own), _read(release["C"]), read_once(data, _read_others))
        use = sum(scores.values()) / len(scores)
        return ReleaseScore({"utility": scores, "use": use}, 1 - use)

    def publish(self, data: Files, release: Files, folder: Path, truth_folder: Path, *, seed: int) -> None:
        """Write C in a random order, and acquaintances; apart from them who is in."""
        rng, half = generator(seed, "published"), self.n_known // 2
        people, others, released = read_once(data, _read_own), read_once(data, _read_others), _read(release["C"])
        write_table(released[rng.permutation(released.height)], folder / "C.csv")
        inside = people[rng.permutation(people.height)[:half]]
        outside = others[rng.permutation(others.height)[: self.n_known - half]]
        order = rng.permutation(self.n_known)
        write_table(pl.concat([inside, outside])[order], folder / "R.csv")
        write_numbers((order < half).astype(np.int64), truth_folder / "x.csv")

    def check_guess(self, data: Files, published: Files, guess: Files) -> None:
        """Raise one InputError with every fault of E."""
        try:
            read_numbers(guess["E"], 1, self.n_known, most=1)
        except InputError as error:
            raise error.under(ACQUAINTANCES.name) from None

    def judge(self, data: Files, published: Files, truth: Files, guess: Files) -> GuessScore:
        """Return how many are told right beyond half."""
        n_right = int((read_numbers(truth["x"]) == read_numbers(guess["E"])).sum())
        told = max(0.0, 2 * n_right / self.n_known - 1)
        return GuessScore(told, {"told": told, "right": n_right, "baseline": 0.0})

    def rank(self, entries: Sequence[TeamEntry]) -> list[Standing]:
        """Order the teams by the mean of use lost and of what the best attacker told."""
        lines = []
        for entry in entries:
            found = self.terms.attack_rule.found_by_others(entry)
            value = (entry.release.utility + found) / 2
            lines.append(Standing(0, entry.team, value, entry.release.utility, found))
        return place_teams(lines)

    def anonymize(self, name: str, data: Files, folder: Path, *, seed: int) -> None:
        """Write C as a built-in anonymizer makes it."""
        play = chosen_part("anonymizer", name, players.ANONYMIZERS)
        write_table(play(read_once(data, _read_own), seed), folder / "C.csv")

    def attack(self, name: str, data: Files, knowledge: Files, published: Files, folder: Path, *, seed: int) -> None:
        """Write E as a built-in attack guesses it; none of them needs luck."""
        play = chosen_part("attack", name, players.ATTACKS)
        told = play(_read(published["R"]), _read(published["C"]), read_once(data, _read_others))
        write_numbers((told >= np.median(told)).astype(np.int64), folder / "E.csv")


def _read(path: Path) -> pl.DataFrame:
    return read_table(path, TYPES)


def _read_own(data: Files) -> pl.DataFrame:
    return _read(data["B"])


def _read_others(data: Files) -> pl.DataFrame:
    return _read(data["U"])


def use_of(people: pl.DataFrame, released: pl.DataFrame, others: pl.DataFrame) -> dict[str, float]:
    """Return the four scores of a release, 1 is best."""
    sides = [by_decade(frame) for frame in (people, released)]
    n_off = sum(int(np.abs(np.subtract(*_counts(*(frame[name] for frame in sides)))).sum()) for name in COLUMNS)
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = (np.nan_to_num(np.asarray(np.corrcoef(frame.to_numpy().T))) for frame in sides)
    odds = [_odds(frame, by_decade(others)) for frame in sides]
    off = np.abs(odds[0] - odds[1]) / FAR_ODDS
    return {
        "A": 1 - n_off / (people.height * len(COLUMNS)),
        "B": 1 - float(np.abs(one - other).sum()) / (2 * len(COLUMNS) ** 2),
        "C": max(0.0, 1 - float(off.max())),
        "D": max(0.0, 1 - float(off.mean())),
    }


def _counts(one: pl.Series, other: pl.Series) -> tuple[Ints, Ints]:
    values, place = np.unique(np.concatenate([one.to_numpy(), other.to_numpy()]), return_inverse=True)
    first, second = (np.bincount(side, minlength=len(values)) for side in np.split(place, [len(one)]))
    return first, second


def _odds(cases: pl.DataFrame, others: pl.DataFrame) -> Floats:
    """Return the odds ratios of severe illness, the constant's first."""
    columns = np.vstack([cases.to_numpy(), others.to_numpy()]).astype(np.float64)
    is_case = np.repeat([1.0, 0.0], [cases.height, others.height])
    return fit_logistic(np.column_stack([np.ones(len(columns)), columns]), is_case).odds
