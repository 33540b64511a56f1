"""PWSCUP 2015: microdata of households, thirteen indices, and ranks that are added up.

The built-in players come first: simple ways to anonymize microdata, and one to cheat.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from tokumei.attacks import nearest_rows
from tokumei.attacks.nearest_rows import judge_rows, sensitive_index
from tokumei.attacks.registry import TABLE_ATTACKS, TableAttack
from tokumei.contest.edition import (
    AttackRule,
    ContestTerms,
    Edition,
    FileRole,
    Files,
    GuessScore,
    ReleaseScore,
    Standing,
    TeamEntry,
    chosen_part,
    read_once,
)
from tokumei.contest.editions.pwscup2015.files import (
    GUESS_RULES,
    RELEASE_RULES,
    SURVEY,
    Microdata,
    check_guess,
    check_release,
)
from tokumei.contest.editions.pwscup2015.indices import (
    ATTACKS,
    UTILITIES,
    NumberedRelease,
    find_flags,
    measures_of,
    score_indices,
)
from tokumei.contest.season import DIGITS, place_teams
from tokumei.core.errors import InputError, UnknownPart
from tokumei.core.seeds import generator
from tokumei.core.text import JsonView, Text, counted
from tokumei.data.files.strict import read_rows, write_rows
from tokumei.data.made_survey import N_ROWS, make_survey
from tokumei.data.table import Table

# The spread of the logarithm of what amounts are multiplied by.
NOISE = 0.2
# How many people share their values in a group, and how many exchange theirs.
GROUP = 5
BLOCK = 50
# The share of people dropped because their traits are rare.
DROPPED = 0.2
# Amounts are written with two decimals, or none where the original has none, and have at most nine digits before.
LARGEST = 999_999_999.0
# Where rows come from, next to columns that may have any other name.
ROW = "\0row"


@dataclass(frozen=True)
class PlayedRelease:
    """The rows of Y, and the row of X that each is declared to be, counted from 0."""

    frame: pl.DataFrame
    rows: pl.Series


def shuffle(original: Table, seed: int) -> PlayedRelease:
    """Change nothing but the order of rows."""
    rows = pl.Series("row", generator(seed, "shuffle").permutation(original.n_rows))
    return PlayedRelease(original.frame[rows], rows)


def noise(original: Table, seed: int) -> PlayedRelease:
    """Multiply every amount by a number near 1."""
    moved = shuffle(original, seed)
    rng = generator(seed, "noise")
    factors = np.exp(NOISE * rng.standard_normal((len(original.sensitive), original.n_rows)))
    noisy = [
        _as_written(moved.frame[name] * pl.Series(by), original.frame[name])
        for name, by in zip(original.sensitive, factors, strict=True)
    ]
    return PlayedRelease(moved.frame.with_columns(noisy), moved.rows)


def swap(original: Table, seed: int) -> PlayedRelease:
    """Swap traits among people of similar amounts, each trait on its own, and add noise."""
    moved = noise(original, seed)
    rng = generator(seed, "swap")
    total = moved.frame.select(pl.sum_horizontal(original.sensitive)).to_series()
    order = total.arg_sort().to_numpy()
    swapped = []
    for name in original.quasi_identifiers:
        # A random number within each block of neighbors: sorting by it exchanges them among themselves.
        places = np.argsort(np.arange(len(order)) // BLOCK + rng.random(len(order)), kind="stable")
        taken = np.empty_like(order)
        taken[order] = order[places]
        swapped.append(moved.frame[name].gather(taken))
    return PlayedRelease(moved.frame.with_columns(swapped), moved.rows)


def average(original: Table, seed: int) -> PlayedRelease:
    """Put people of like traits in groups, and give all of a group its commonest traits and its mean amounts."""
    moved = shuffle(original, seed)
    # Traits with few values first: neighbors then agree in as many as can be.
    by = sorted(original.quasi_identifiers, key=lambda name: original.frame[name].n_unique())
    order = moved.frame.with_row_index(ROW).sort(*by, *original.sensitive, ROW)[ROW]
    n_groups = max(1, original.n_rows // GROUP)
    group = np.empty(original.n_rows, np.int64)
    group[order.to_numpy()] = np.minimum(np.arange(original.n_rows) // GROUP, n_groups - 1)
    grouped = moved.frame.with_columns(pl.Series(ROW, group))
    # Of values as common the least, so that the order of rows decides nothing.
    traits = [pl.col(name).mode().min().over(ROW) for name in original.quasi_identifiers]
    means = [pl.col(name).mean().over(ROW).round(2) for name in original.sensitive]
    return PlayedRelease(grouped.with_columns(*traits, *means).drop(ROW), moved.rows)


def drop(original: Table, seed: int) -> PlayedRelease:
    """Leave out the people whose traits are rarest, and add noise to the others."""
    moved = noise(original, seed)
    rarity = moved.frame.select(
        pl.sum_horizontal(-(pl.len().over(name) / pl.len()).log() for name in original.quasi_identifiers)
    ).to_series()
    n_kept = original.n_rows - int(DROPPED * original.n_rows)
    kept = rarity.arg_sort()[:n_kept].sort()
    return PlayedRelease(moved.frame[kept], moved.rows[kept])


def yamaoka(original: Table, seed: int) -> PlayedRelease:
    """Cheat: add noise, and declare the rows in an order that has nothing to do with the data."""
    moved = noise(original, seed)
    return PlayedRelease(moved.frame, moved.rows[generator(seed, "yamaoka").permutation(len(moved.rows))])


ANONYMIZERS: Mapping[str, Callable[[Table, int], PlayedRelease]] = {
    "shuffle": shuffle,
    "noise": noise,
    "drop": drop,
    "swap": swap,
    "average": average,
    "yamaoka": yamaoka,
}


def _as_written(amounts: pl.Series, like: pl.Series) -> pl.Series:
    """Round amounts as the original's are, and keep them in bounds."""
    decimals = 0 if (like == like.round()).all() else 2
    return amounts.round(decimals).clip(-LARGEST, LARGEST).alias(like.name)


# Of these more is better, of all the others less.
CLASS_SIZES = ("S1", "S2")
SUBMITTED = "attacks"


@dataclass(frozen=True)
class Pwscup2015(Edition):
    """Anonymize microdata whose quasi-identifiers and amounts attackers know in full.

    A release is judged by thirteen indices: six losses of use, two sizes of classes, four attacks and one search for
    false row numbers. Teams rank by the sum of their ranks in all thirteen. What teams find in each other's releases
    has a board of its own and changes no rank.
    """

    ANONYMIZERS = ANONYMIZERS
    ATTACKS = tuple(ATTACKS.values())

    n_rows: int = field(default=N_ROWS, metadata={"help": "Rows to sample or make up."})
    quasi_identifiers: tuple[str, ...] = field(
        default=SURVEY.quasi_identifiers,
        metadata={"help": "Columns that attackers know people by, first in the files."},
    )
    sensitive: tuple[str, ...] = field(
        default=SURVEY.sensitive, metadata={"help": "Columns of numbers, after the quasi-identifiers."}
    )
    e2_column: str = field(default="", metadata={"help": "Sensitive column of E2; the 15th column if none is named."})
    e4_column: str = field(default="", metadata={"help": "Sensitive column of E4; the 21st column if none is named."})
    are_flagged_last: bool = field(
        default=True,
        metadata={
            "help": "Whether a release with suspicious row numbers comes last; else it is ranked like the others."
        },
    )

    def __post_init__(self) -> None:
        if self.n_rows < 2:
            raise InputError.of("at least 2 rows", option="n_rows", value=self.n_rows)
        if not (self.quasi_identifiers and self.sensitive):
            raise InputError.of("a quasi-identifier and a sensitive column or more")
        # What cannot be scored later is refused now.
        nobody = self.form.table(pl.DataFrame(schema=dict.fromkeys(self.form.columns, pl.Float64)), "the columns")
        sensitive_index(nobody, self.e2_column, nearest_rows.ID_SA_COLUMN)
        sensitive_index(nobody, self.e4_column, nearest_rows.SA21_COLUMN)

    @property
    def form(self) -> Microdata:
        """The columns of X and Y."""
        return Microdata(self.quasi_identifiers, self.sensitive)

    @property
    def terms(self) -> ContestTerms:
        """What the edition says of itself."""
        return ContestTerms(
            title="PWSCUP 2015",
            title_ja="PWSCUP 2015（匿名加工・再識別コンテスト Ice & Fire）",
            summary=f"Teams anonymize microdata X, one row a household, with {len(self.quasi_identifiers)} "
            f"quasi-identifiers and {len(self.sensitive)} amounts. They may change any cell and leave out up to half "
            "of the rows, and hand in the rows Y with the number of the row of X that each came from. Y is published "
            "in an order that tells nothing. Attackers know all of X and name the row of X behind every row of Y. "
            "Teams are ranked in each of thirteen indices; the lowest sum of ranks wins. Attackers have a board of "
            "their own. Row numbers that disagree with the data are flagged.",
            summary_ja=f"1行が1世帯のミクロデータ X（準識別子 {len(self.quasi_identifiers)} 列、数値属性 "
            f"{len(self.sensitive)} 列）を加工する。セルの変更と半数までの行の削除ができ、加工データ Y と各行の元の"
            "行番号 I を提出する。Y は行をシャッフルして公開する。攻撃者は X をすべて知り、Y の各行の元の行番号を"
            "推定する。13の指標のそれぞれで順位を付け、その合計が小さいチームを上位とする。攻撃の成績は別の順位表とする。"
            "データと食い違う行番号（山岡匿名化）には注意が付く。",
            data_files=(FileRole("X", "the microdata, with a header", "ミクロデータ（ヘッダー付き）"),),
            release_files=(
                FileRole("Y", "the anonymized rows, with the header of X", "加工データ（X と同じヘッダー付き）"),
                FileRole("I", "for each row of Y its row number in X", "Y の各行に対応する X の行番号"),
            ),
            published_files=(FileRole("Y", "the anonymized rows, shuffled", "シャッフルした加工データ"),),
            truth_files=(
                FileRole(
                    "I",
                    "for each row published its row number in X",
                    "公開された加工データの各行に対応する X の行番号（正解）",
                ),
            ),
            guess_files=(
                FileRole(
                    "Q",
                    "for each row published the guessed row number in X",
                    "公開された加工データの各行の行番号の推定",
                ),
            ),
            knowledge_files={"": ()},
            release_rules=RELEASE_RULES,
            guess_rules=GUESS_RULES,
            measures=measures_of(UTILITIES, ATTACKS),
        )

    def make_data(self, folder: Path, *, seed: int, source: Path | None = None) -> None:
        """Write X: rows drawn from a CSV file that has the columns, all if it has fewer, or else made up.

        Without a source the columns must be those of the made-up survey.
        """
        if source is None:
            if self.form != SURVEY:
                raise InputError.of("a source that has the declared columns", option="source")
            frame = make_survey(self.n_rows, seed=seed)
        else:
            found = self.form.read_source(source)
            if found.height < 2:
                raise InputError.of("at least 2 rows", file=source, value=counted(found.height, "row"))
            # In an order of its own, so that the source's says nothing.
            frame = found[generator(seed, "sample").permutation(found.height)[: self.n_rows]]
        self.form.write(frame, folder / "X.csv")

    def check(self, data: Files, release: Files) -> None:
        """Raise one InputError with every fault of Y and I."""
        check_release(self._read_original(data), self.form, release)

    def score(self, data: Files, knowledge: Files, release: Files) -> ReleaseScore:
        """Score Y and I by the thirteen indices; sums them up as the mean of U1 to U6 and the best of E1 to E4."""
        original = self._read_original(data)
        submitted = self._read_release(release)
        attacks = {name: self._make_attack(part) for name, part in ATTACKS.items()}
        scores = score_indices(original, submitted, attacks)
        details = {
            kind: {name: score.value for name, score in scores.items() if name.startswith(letter)}
            for kind, letter in (("utility", "U"), ("safety", "S"), ("reidentification", "E"))
        }
        utility = math.fsum(details["utility"].values()) / len(UTILITIES)
        safety = max(scores[name].value for name in ATTACKS)
        return ReleaseScore(details, utility, safety, find_flags(scores, original, submitted))

    def publish(self, data: Files, release: Files, folder: Path, truth_folder: Path, *, seed: int) -> None:
        """Write Y, shuffled by the seed, and the row numbers in that order apart from it.

        Numbers are written anew, so that no team can mark rows by 1.5 and 1.50.
        """
        played = self._read_release(release).sorted().shuffled(generator(seed, "publish"))
        self.form.write(played.table.frame, folder / "Y.csv")
        write_rows(played.rows + 1, truth_folder / "I.csv")

    def check_guess(self, data: Files, published: Files, guess: Files) -> None:
        """Raise one InputError with every fault of Q."""
        n_published = self.form.read(published["Y"], "Y").n_rows
        check_guess(self._read_original(data).n_rows, n_published, guess["Q"])

    def judge(self, data: Files, published: Files, truth: Files, guess: Files) -> GuessScore:
        """Return the share of rows that are right, with what blind guessing would score."""
        score = judge_rows(read_rows(guess["Q"]), read_rows(truth["I"]), self._read_original(data).n_rows)
        details = {"row": score.value, "baseline": score.baseline, "interval": list(score.interval or ())}
        return GuessScore(score.value, details)

    def rank(self, entries: Sequence[TeamEntry]) -> list[Standing]:
        """Order the teams by the sum of their ranks over the thirteen indices; equals share the mean rank.

        Releases with suspicious row numbers are not among those ranked, unless the options say so.
        """
        numbers = {entry.team: _numbers_of(entry) for entry in entries}
        ranked = [entry for entry in entries if not (self.are_flagged_last and entry.release.flags)]
        sums = _rank_sums({entry.team: numbers[entry.team] for entry in ranked})
        lines = []
        for entry in entries:
            line = numbers[entry.team] | {SUBMITTED: AttackRule().found_by_others(entry)}
            safety = entry.release.safety
            # The first flag names no rows, which must stay secret while attacks go on.
            reason = next(iter(entry.release.flags), "")
            value = sums.get(entry.team)
            lines.append(Standing(0, entry.team, value, entry.release.utility, safety, line, reason))
        return place_teams(lines)

    def anonymize(self, name: str, data: Files, folder: Path, *, seed: int) -> None:
        """Write Y and I as a built-in anonymizer makes them."""
        release = chosen_part("anonymizer", name, ANONYMIZERS)(self._read_original(data), seed)
        self.form.write(release.frame, folder / "Y.csv")
        write_rows(release.rows + 1, folder / "I.csv")

    def attack(self, name: str, data: Files, knowledge: Files, published: Files, folder: Path, *, seed: int) -> None:
        """Write Q as a built-in attack guesses it; where it has no guess any row is drawn."""
        if name not in ATTACKS.values():
            raise UnknownPart("attack", name, ATTACKS.values())
        original = self._read_original(data)
        guess = self._make_attack(name).guess(original, self.form.read(published["Y"], "Y"), seed=seed)
        drawn = pl.Series(generator(seed, "no guess").integers(0, original.n_rows, len(guess)))
        write_rows(guess.zip_with(guess.is_not_null(), drawn) + 1, folder / "Q.csv")

    def _read_original(self, data: Files) -> Table:
        return read_once(data, self._read_x)

    def _read_x(self, data: Files) -> Table:
        return self.form.read(data["X"], "X")

    def _read_release(self, release: Files) -> NumberedRelease:
        table, rows = self.form.read(release["Y"], "Y"), read_rows(release["I"]) - 1
        if len(rows) != table.n_rows:
            expected = Text("{n_rows:,} row numbers, one for each row of Y", n_rows=table.n_rows)
            raise InputError.of(expected, file=release["I"], value=f"{len(rows):,}")
        return NumberedRelease(table, rows)

    def _make_attack(self, name: str) -> TableAttack:
        columns = {"id-sa": self.e2_column, "sa21": self.e4_column}
        return TABLE_ATTACKS.make(name, **({"column": columns[name]} if name in columns else {}))


def _numbers_of(entry: TeamEntry) -> dict[str, float]:
    """Return the thirteen indices of a release."""
    details: Mapping[str, JsonView] = entry.release.details
    return {name: float(value) for kind in details.values() for name, value in kind.items()}


def _rank_sums(numbers: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Rank the teams in each number, the best 1 and equals alike, and give each team the sum of its ranks."""
    sums = np.zeros(len(numbers))
    for name in next(iter(numbers.values()), {}):
        column = pl.Series([round(line[name], DIGITS) for line in numbers.values()])
        sums += column.rank("average", descending=name in CLASS_SIZES).to_numpy()
    return dict(zip(numbers, sums.tolist(), strict=True))
