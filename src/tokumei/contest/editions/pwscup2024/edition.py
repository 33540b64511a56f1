"""PWSCUP 2024: ratings of films in ten subsets of the columns; teams hide whose ratings are whose, and single ones."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from tokumei.contest.checks import FILE_FORM, Together
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
from tokumei.contest.editions.pwscup2024 import players
from tokumei.contest.editions.pwscup2024.files import (
    ATTRIBUTES,
    FILMS,
    KINDS,
    N_RATINGS,
    OWN,
    RELEASED,
    columns_of,
    make_people,
    subset,
    worst_pair,
)
from tokumei.contest.measures import BASELINE
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
from tokumei.core.errors import FaultList, InputError
from tokumei.core.progress import step
from tokumei.core.seeds import generator
from tokumei.data.files.strict import add_value_faults

HIDDEN = "*"
# Below so many points each missing one costs two more.
LEAST = 50.0
KNOWN_VALUES = Rule(
    "known-values", "An attribute has values that B has in that column.", "属性の値は B の同じ列にあるものに限る。"
)
MEASURES: Sequence[Measure] = (
    Measure(
        "utility",
        "100 less the share of people that counts by the worst two columns misplace, of each file: 100 if none, 0 "
        "if all.",
        "2列ごとの度数で誤った区分に入る人の割合（最悪の組）を 100 から引いた点（ファイルごと）。100 は皆無、0 は"
        "全員。",
    ),
    Measure("worst", "The two columns that are worst, of each file.", "ファイルごとの最悪の2列。"),
    Measure(
        "sample anonymity",
        "100 less what the sample attack finds of people and of ratings, fifty each: 100 if nothing.",
        "例の攻撃が当てた対応と評価（各50）を 100 から引いた点。100 は皆無。",
    ),
    Measure(
        "total",
        "Points of both, less two for each below 50: 200 at most, 0 at least; with the sample attack.",
        "両方の点の合計から、50 に満たない分の2倍を引いた点（例の攻撃による）。最大 200、最小 0。",
    ),
    Measure("index", "Share of people found: 0 if none, 1 if all.", "対応を当てた割合。0 は皆無、1 はすべて。"),
    Measure(
        "rating",
        "Share of hidden ratings found: 0 if none, 1 if all.",
        "伏せた評価を当てた割合。0 は皆無、1 はすべて。",
    ),
    BASELINE,
)


@dataclass(frozen=True)
class Pwscup2024(Edition):
    """Release ten subsets of the columns of ratings so that nobody pairs people and ratings, or tells a hidden one.

    Every team has people of its own. Attackers get some of them without ratings, and their ratings in another order.
    """

    ANONYMIZERS = players.ANONYMIZERS
    ATTACKS = players.ATTACKS

    n_rows: int = field(default=10_000, metadata={"help": "People of a team."})
    n_targets: int = field(default=50, metadata={"help": "People whom attackers look for."})

    def __post_init__(self) -> None:
        check_at_least(self, n_rows=20, n_targets=2)
        if self.n_targets > self.n_rows:
            raise InputError.of("at most all people", option="n_targets", value=self.n_targets)

    @property
    def terms(self) -> ContestTerms:
        """What the edition says of itself."""
        return ContestTerms(
            title="PWSCUP 2024",
            title_ja="PWSCUP 2024（映画評価データの匿名化）",
            summary=f"Each team has {self.n_rows:,} people of its own, their ratings of 46 films among them, and "
            f"releases "
            "ten files: subsets of the columns, each with as many rows in any order. Attackers get "
            f"{self.n_targets} of the people without ratings, and their ratings in another order with one hidden "
            f"in each "
            "row; they pair both and tell the hidden ones. Use is worth 100 points, the worst file's; anonymity is 100 "
            "less what the best attacker found. Teams rank by 1 − their sum / 200, each point below 50 costing "
            "two more. "
            "What the contest left open is decided so: people are made up for each team, as the contest's own may "
            "not be "
            "passed on; which ratings are hidden is drawn for each release; of equals the first pair is the worst; "
            "ratings such as 3.0 are 3; a guess is about one release; the sample attack is shown and does not count.",
            summary_ja=f"各チームは自分だけの{self.n_rows:,}人の属性と映画46本の評価を持ち、列の部分集合である10個"
            f"のファイルを"
            f"提出する（行数は同じ、行順は自由）。攻撃者には{self.n_targets}人の属性と、順序を変え各行1つを伏せた"
            f"評価が渡され、"
            "両者の対応と伏せた評価を推定する。有用性は最悪のファイルの点（100点）、匿名性は 100 から最良の攻撃者"
            "が当てた数を"
            "引いた点とし、1 − 合計/200 の小さい順とする。50点に満たない分は2倍を引く。原文に曖昧さのある点は次の"
            "とおり定める："
            "元データは再配布できないため、チームごとに架空の人々を用いる。伏せる評価は加工データごとに抽出する。"
            "同点の組は"
            "先のものとする。3.0 のような評価は 3 とみなす。推定は1つの加工データについて提出する。例の攻撃は参考"
            "値とする。",
            data_files=(),
            own_files=(FileRole("B", "the team's people, 51 columns", "チームの人々の表（51列）"),),
            release_files=tuple(
                FileRole(name, f"subset {number}, changed", f"部分集合 {number} の加工データ")
                for number, name in enumerate(RELEASED)
            ),
            published_files=(
                *(FileRole(name, f"subset {number}", f"部分集合 {number}") for number, name in enumerate(RELEASED)),
                FileRole("a", "people, with name and attributes", "対象者の名前と属性"),
                FileRole(
                    "b",
                    "their ratings in another order, * where one is hidden",
                    "対象者の評価（別の順序、* は伏せた評価）",
                ),
            ),
            truth_files=(
                FileRole("x", "for each row of b its row of a, and the hidden rating", "b の各行の a の行番号と評価"),
            ),
            guess_files=(
                FileRole("E", "for each row of b a row of a, and the rating", "b の各行の a の行番号と評価の推定"),
            ),
            knowledge_files={"": ()},
            release_rules=(FILE_FORM, CELLS, SAME_NUMBER, KNOWN_VALUES),
            guess_rules=(FILE_FORM, ROW_NUMBERS),
            measures=MEASURES,
        )

    def make_data(self, folder: Path, *, seed: int, source: Path | None = None) -> None:
        """Nothing is for everybody: each team's people are made up for it."""
        if source is not None:
            raise InputError.of("no source: people are made up for each team", file=source)

    def draw_own(self, data: Files, folder: Path, *, seed: int) -> None:
        """Write B."""
        write_table(make_people(self.n_rows, seed), folder / "B.csv", has_header=True)

    def check(self, data: Files, release: Files) -> None:
        """Raise one InputError with every fault of the ten files."""
        people, together = read_once(data, _read_own), Together()
        for number, name in enumerate(RELEASED):
            together.try_to(partial(_check_file, people, release[name], number))
        together.raise_if_any()

    def score(self, data: Files, knowledge: Files, release: Files) -> ReleaseScore:
        """Return the points of use of each file, and what the sample attack takes from anonymity."""
        people, released = read_once(data, _read_own), _read_release(release)
        worst = [worst_pair(subset(people, number), frame) for number, frame in enumerate(released)]
        # As the contest's program prints them.
        points = [round((1 - off) * 100, 3) for off, _ in worst]
        with step("attacking"):
            digest = hashlib.sha256(people.write_csv().encode()).digest()
            a, b, truth = drawn_targets(people, self.n_targets, int.from_bytes(digest[:4], "big"))
            share = _hits(truth, players.joined_rows(a, b, released)).mean()
        use, anonymity = min(points), 100 * (1 - float(share))
        details = {
            "utility": dict(zip(RELEASED, points, strict=True)),
            "worst": {name: by for name, (_, by) in zip(RELEASED, worst, strict=True)},
            "sample anonymity": anonymity,
            "total": total_points(anonymity, use),
        }
        return ReleaseScore(details, 1 - use / 100)

    def publish(self, data: Files, release: Files, folder: Path, truth_folder: Path, *, seed: int) -> None:
        """Write the ten files as they are, people and ratings, and apart from them whose they are."""
        people = read_once(data, _read_own)
        for number, name in enumerate(RELEASED):
            write_table(_read_subset(release[name], number), folder / f"{name}.csv", has_header=True)
        a, b, truth = drawn_targets(people, self.n_targets, int(generator(seed, "asked").integers(2**32)))
        write_table(a, folder / "a.csv", has_header=True)
        hidden = (
            pl.DataFrame(b, schema=list(FILMS))
            .cast(pl.String)
            .with_columns(pl.all().replace(str(players.HIDDEN), HIDDEN))
        )
        write_table(hidden, folder / "b.csv", has_header=True)
        write_numbers(truth, truth_folder / "x.csv")

    def check_guess(self, data: Files, published: Files, guess: Files) -> None:
        """Raise one InputError with every fault of E."""
        read_numbers(guess["E"], 2, self.n_targets, most=max(self.n_targets, N_RATINGS) - 1)

    def judge(self, data: Files, published: Files, truth: Files, guess: Files) -> GuessScore:
        """Return the share of people and ratings that were found."""
        hits = _hits(read_numbers(truth["x"], 2), tuple(read_numbers(guess["E"], 2).T))
        index, rating = hits.mean(axis=0).tolist()
        baseline = (1 / self.n_targets + 1 / N_RATINGS) / 2
        return GuessScore((index + rating) / 2, {"index": index, "rating": rating, "baseline": baseline})

    def rank(self, entries: Sequence[TeamEntry]) -> list[Standing]:
        """Order the teams by 1 − their points / 200."""
        lines = []
        for entry in entries:
            found = self.terms.attack_rule.found_by_others(entry)
            points = total_points(100 * (1 - found), 100 * (1 - entry.release.utility))
            lines.append(Standing(0, entry.team, 1 - points / 200, entry.release.utility, found, {"points": points}))
        return place_teams(lines)

    def anonymize(self, name: str, data: Files, folder: Path, *, seed: int) -> None:
        """Write the ten files, each made by a built-in anonymizer for itself."""
        play = chosen_part("anonymizer", name, self.ANONYMIZERS)
        for number, file in enumerate(RELEASED):
            own_seed = int(generator(seed, file).integers(2**32))
            write_table(
                play(subset(read_once(data, _read_own), number), own_seed), folder / f"{file}.csv", has_header=True
            )

    def attack(self, name: str, data: Files, knowledge: Files, published: Files, folder: Path, *, seed: int) -> None:
        """Write E as a built-in attack guesses it; none of them needs luck."""
        play = chosen_part("attack", name, players.ATTACKS)
        people = read_table(published["a"], {name: KINDS[name] for name in OWN[:5]}, has_header=True)
        kinds = {name: KINDS[name].optional() for name in FILMS}
        text = published["b"].read_text(encoding="utf-8").replace(HIDDEN, "")
        ratings = pl.read_csv(text.encode(), schema=dict.fromkeys(kinds, pl.Int64)).fill_null(players.HIDDEN)
        guess = play(people, ratings.to_numpy().astype(np.int64), _read_release(published))
        write_numbers(np.column_stack(guess), folder / "E.csv")


def _read_own(data: Files) -> pl.DataFrame:
    return _whole(read_table(data["B"], {name: KINDS[name] for name in OWN}, has_header=True))


def _read_subset(path: Path, number: int, n_rows: int | None = None) -> pl.DataFrame:
    return _whole(read_table(path, {name: KINDS[name] for name in columns_of(number)}, n_rows, has_header=True))


def _read_release(release: Files) -> list[pl.DataFrame]:
    return [_read_subset(release[name], number) for number, name in enumerate(RELEASED)]


def _whole(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.selectors.float().cast(pl.Int64))


def _check_file(people: pl.DataFrame, path: Path, number: int) -> None:
    found, faults = _read_subset(path, number, people.height), FaultList(str(path))
    for name in ATTRIBUTES:
        is_new = ~found[name].is_in(people[name].unique().implode())
        add_value_faults(found[name], is_new, "a value that B has in this column", faults, line_of=lambda row: row + 2)
    if faults.n_faults:
        try:
            faults.raise_if_any()
        except InputError as error:
            raise error.under(KNOWN_VALUES.name) from None


def drawn_targets(people: pl.DataFrame, n: int, seed: int) -> tuple[pl.DataFrame, Ints, Ints]:
    """Draw people, their ratings in another order with one hidden in each row, and the truth (`maketest`).

    Seeds of Python's generator give what the contest's program drew.
    """
    stream = random.Random(seed)  # noqa: S311 - The contest's own stream.
    rows = stream.sample(range(people.height), n)
    stream.shuffle(rows)
    order = list(range(n))
    stream.shuffle(order)
    asked = people[rows]
    ratings = asked.select(FILMS).to_numpy().astype(np.int64)[order]
    hidden = [stream.randint(0, len(FILMS) - 1) for _ in range(n)]
    truth = np.column_stack([order, ratings[np.arange(n), hidden]])
    ratings[np.arange(n), hidden] = players.HIDDEN
    return asked.select(OWN[:5]), ratings, truth


def _hits(truth: Ints, guess: Sequence[Ints]) -> Ints:
    found: Ints = (truth == np.column_stack(guess)).astype(np.int64)
    return found


def total_points(anonymity: float, use: float) -> float:
    """Add both up; each point that one lacks of 50 costs two more."""
    return max(0.0, anonymity + use - 2 * max(0.0, LEAST - anonymity) - 2 * max(0.0, LEAST - use))
