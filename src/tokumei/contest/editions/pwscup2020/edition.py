"""PWSCUP 2020: census records of a team's own; attackers name records that are among them."""

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
    Rule,
    Standing,
    TeamEntry,
    check_at_least,
    chosen_part,
)
from tokumei.contest.editions.pwscup2020 import players
from tokumei.contest.editions.pwscup2020.players import COLUMNS, NUMBERS, TYPES, make_people
from tokumei.contest.measures import BASELINE, INTERVAL
from tokumei.contest.record_matching import one_hot
from tokumei.contest.season import place_teams
from tokumei.contest.tables import (
    CELLS,
    ROW_NUMBERS,
    read_numbers,
    read_table,
    sampled_rows,
    write_numbers,
    write_table,
)
from tokumei.core.errors import InputError
from tokumei.core.seeds import generator

# What is told by trees, the value that counts as yes, and how deep the tree is.
TOLD = {"income": (">50K", 5), "relationship": ("Husband", 3)}
LIMITS = {"histogram": 0.99, "covariance": 0.4, "income": 0.85, "relationship": 0.85}
# Released rows that built-in attacks look at, per guess.
LOOKED_AT = 3
SIZE = Rule(
    "size", "D has the columns of C, and at least a tenth of its rows.", "D の列は C と同じ、行数は C の1割以上とする。"
)
NAMED = Rule("named", "E names different rows of B.", "E には B の重複のない行番号を書く。")
MEASURES: Sequence[Measure] = (
    Measure(
        "histogram",
        "Share of the counts of values that is kept: at least .99.",
        "値の度数が保たれた割合（0.99 以上）。",
    ),
    Measure(
        "covariance",
        "One over the largest sum of differences of a column's covariances: at least .4.",
        "列ごとの共分散の差の合計の最大値の逆数（0.4 以上）。",
    ),
    Measure(
        "income",
        "How alike trees of income decide that learned from D and C: F1 of at least .85.",
        "D と C で学習した所得の決定木の一致度（F1、0.85 以上）。",
    ),
    Measure(
        "relationship", "The same for who is a husband: at least .85.", "夫かどうかの決定木の一致度（F1、0.85 以上）。"
    ),
    Measure(
        "hit",
        "Share of the named rows that are the team's: 1 if all; luck finds as many as it has of all.",
        "挙げた行のうちチームのものの割合。1 はすべて。偶然なら全体に占める割合。",
        title="rows found",
        title_ja="特定した行",
    ),
    BASELINE,
    INTERVAL,
)


@dataclass(frozen=True)
class Pwscup2020(Edition):
    """Release census records so that nobody can name some of those that were drawn among many."""

    ANONYMIZERS = players.ANONYMIZERS
    ATTACKS = players.ATTACKS

    n_rows: int = field(default=10_000, metadata={"help": "Records of a team."})
    n_people: int = field(default=100_000, metadata={"help": "All records, among which those of teams are drawn."})
    n_named: int = field(default=100, metadata={"help": "Records that attackers name."})

    def __post_init__(self) -> None:
        check_at_least(self, n_rows=50, n_people=self.n_rows, n_named=1)
        if self.n_named > self.n_rows:
            raise InputError.of("at most all rows", option="n_named", value=self.n_named)

    @property
    def terms(self) -> ContestTerms:
        """What the edition says of itself."""
        limits = ", ".join(f"{name} {limit:g}" for name, limit in LIMITS.items())
        return ContestTerms(
            title="PWSCUP 2020",
            title_ja="PWSCUP 2020（国勢調査データの匿名化）",
            summary=f"Each team has {self.n_rows:,} census records of its own (C), drawn among {self.n_people:,} "
            f"(B), and "
            f"releases D. When attacks begin, everybody gets B and names {self.n_named} rows of it that are in C. "
            f"Teams "
            "rank by the share that the best attacker names rightly; a release below a limit "
            f"({limits}) counts as found altogether. What the contest left open is decided so: trees see numbers "
            f"as they "
            "are and a column for each value of the others; who earns more than 50K is yes; records are made up "
            "unless a "
            "file is given, and trees are compared on B; what methods were used is not told.",
            summary_ja=f"各チームは {self.n_people:,} 件の記録 B から抽出された自分だけの {self.n_rows:,} 件 C を"
            f"加工して D を提出する。"
            f"攻撃フェーズでは B が全員に配られ、攻撃者は C に含まれる行を{self.n_named}件挙げる。最良の攻撃者の正"
            f"解率の小さい順とし、"
            f"下限（{limits}）に満たない加工データはすべて特定されたものとする。原文に曖昧さのある点は次のとおり定"
            f"める：決定木には数値は"
            "そのまま、他の列は値ごとの列として与える。所得は 50K 超を正とする。ファイルの指定がなければ記録は架空"
            "のものとし、"
            "決定木は B 上で比べる。使用した手法は公開しない。",
            data_files=(),
            hidden_files=(FileRole("P", "all records", "すべての記録"),),
            own_files=(
                FileRole("C", "the team's records", "チームの記録"),
                FileRole("T", "records on which trees are compared", "決定木を比べる記録"),
            ),
            release_files=(FileRole("D", "records, changed", "加工データ"),),
            published_files=(FileRole("D", "the release, sorted", "加工データ（整列済み）"),),
            truth_files=(FileRole("x", "the rows of B that are in C", "C に含まれる B の行番号"),),
            guess_files=(FileRole("E", "rows of B that are guessed to be in C", "C に含まれると推定する B の行番号"),),
            knowledge_files={"": (FileRole("B", "all records", "すべての記録"),)},
            release_rules=(FILE_FORM, CELLS, SIZE),
            guess_rules=(FILE_FORM, ROW_NUMBERS, NAMED),
            measures=MEASURES,
        )

    def make_data(self, folder: Path, *, seed: int, source: Path | None = None) -> None:
        """Write P: drawn from a file of its form, or made up without one; no record stands twice."""
        found = make_people(2 * self.n_people, seed) if source is None else _read(source)
        different = found.unique(maintain_order=True)
        write_table(sampled_rows(different, self.n_people, seed, source), folder / "P.csv")

    def draw_own(self, data: Files, folder: Path, *, seed: int) -> None:
        """Write C, drawn from P, and T, a part of P for trees."""
        everybody = _read(data["P"])
        write_table(sampled_rows(everybody, self.n_rows, seed, data["P"]), folder / "C.csv")
        write_table(everybody[: 2 * self.n_rows], folder / "T.csv")

    def draw_knowledge(self, data: Files, folder: Path, *, seed: int) -> None:
        """Write B: all of P."""
        write_table(_read(data["P"]), folder / "B.csv")

    def check(self, data: Files, release: Files) -> None:
        """Raise one InputError with every fault of D."""
        n = _read(release["D"]).height
        if 10 * n < self.n_rows:
            raise InputError.of(f"at least {self.n_rows // 10} rows", file=release["D"], value=n).under(SIZE.name)

    def score(self, data: Files, knowledge: Files, release: Files) -> ReleaseScore:
        """Return the four numbers of use; only attacks of other teams tell how safe a release within limits is."""
        scores = use_of(_read(data["C"]), _read(release["D"]), _read(data["T"]))
        is_out = any(scores[name] < limit for name, limit in LIMITS.items())
        return ReleaseScore({"utility": scores}, 1 - min(1.0, *scores.values()), 1.0 if is_out else None)

    def publish(self, data: Files, release: Files, folder: Path, truth_folder: Path, *, seed: int) -> None:
        """Write D sorted, and apart from it which rows of B are in C."""
        write_table(_read(release["D"]).sort(pl.all()), folder / "D.csv")
        own = _read(data["C"]).with_columns(pl.lit(True).alias("is_in"))
        joined = _read(data["P"]).join(own, on=COLUMNS, how="left", maintain_order="left")
        write_numbers(np.flatnonzero(joined["is_in"].fill_null(False).to_numpy()), truth_folder / "x.csv")

    def check_guess(self, data: Files, published: Files, guess: Files) -> None:
        """Raise one InputError with every fault of E."""
        rows = read_numbers(guess["E"], 1, self.n_named, most=self.n_people - 1)
        if len(np.unique(rows)) < len(rows):
            raise InputError.of("different rows", file=guess["E"]).under(NAMED.name)

    def judge(self, data: Files, published: Files, truth: Files, guess: Files) -> GuessScore:
        """Return the share of the named rows that are in C."""
        n_right = int(np.isin(read_numbers(guess["E"]), read_numbers(truth["x"])).sum())
        share, interval = n_right / self.n_named, list(wilson_interval(n_right, self.n_named))
        return GuessScore(share, {"hit": share, "baseline": self.n_rows / self.n_people, "interval": interval})

    def rank(self, entries: Sequence[TeamEntry]) -> list[Standing]:
        """Order the teams by what the best attacker named rightly; below a limit that is all."""
        lines = []
        for entry in entries:
            is_out = entry.release.safety is not None
            found = 1.0 if is_out else self.terms.attack_rule.found_by_others(entry)
            reason = "its use is beyond a limit" if is_out else ""
            lines.append(Standing(0, entry.team, found, entry.release.utility, found, reason=reason))
        return place_teams(lines)

    def anonymize(self, name: str, data: Files, folder: Path, *, seed: int) -> None:
        """Write D as a built-in anonymizer makes it."""
        write_table(chosen_part("anonymizer", name, players.ANONYMIZERS)(_read(data["C"]), seed), folder / "D.csv")

    def attack(self, name: str, data: Files, knowledge: Files, published: Files, folder: Path, *, seed: int) -> None:
        """Write E as a built-in attack guesses it."""
        play = chosen_part("attack", name, players.ATTACKS)
        released, rng = _read(published["D"]), generator(seed, "looked at")
        some = released[rng.permutation(released.height)[: LOOKED_AT * self.n_named]]
        rows, worth = play(_read(knowledge["B"]), some)
        # Each row once, the worthiest first; what is missing is made up for by others.
        order = rows[np.argsort(-worth, kind="stable")]
        filled = np.concatenate([order, np.arange(self.n_named)])
        _, first = np.unique(filled, return_index=True)
        write_numbers(filled[np.sort(first)][: self.n_named], folder / "E.csv")


def _read(path: Path) -> pl.DataFrame:
    return read_table(path, TYPES).with_columns(pl.col(list(NUMBERS)).cast(pl.Float64))


def use_of(people: pl.DataFrame, released: pl.DataFrame, tried: pl.DataFrame) -> dict[str, float]:
    """Return the four numbers that have a limit; the more the better."""
    n_off = 0
    for name in COLUMNS:
        one, other = (frame[name].value_counts() for frame in (people, released))
        counts = one.join(other, on=name, how="full", coalesce=True).fill_null(0)
        n_off += int((counts["count"].cast(pl.Int64) - counts["count_right"].cast(pl.Int64)).abs().sum())
    matrices = one_hot(people, released, tried)
    spreads = [np.asarray(np.cov(matrix.T)) for matrix in matrices[:2]]
    off = float(np.abs(spreads[0] - spreads[1]).sum(axis=1).max())
    scores = {
        "histogram": 1 - n_off / (2 * people.height * len(COLUMNS)),
        "covariance": 1 / off if off > 0 else float("inf"),
    }
    return scores | {name: _agreement(name, people, released, tried) for name in TOLD}


def _agreement(target: str, people: pl.DataFrame, released: pl.DataFrame, tried: pl.DataFrame) -> float:
    """Return F1 of what a tree of the release says, what one of the original says being right."""
    from sklearn.tree import DecisionTreeClassifier

    yes, depth = TOLD[target]
    seen = one_hot(*(frame.drop(target) for frame in (people, released, tried)))
    right, told = (
        DecisionTreeClassifier(max_depth=depth, random_state=0)
        .fit(matrix, (frame[target] == yes).to_numpy())
        .predict(seen[2])
        for matrix, frame in zip(seen[:2], (people, released), strict=True)
    )
    n_either = int(right.sum() + told.sum())
    return 2 * int((right & told).sum()) / n_either if n_either else 1.0
