"""PWSCUP 2025: medical tables with a model; points for use and for anonymity are added up."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.attacks.judge import wilson_interval
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
    read_once,
)
from tokumei.contest.editions.pwscup2025.files import (
    COLUMNS,
    GUESS_RULES,
    RELEASE_RULES,
    Patients,
    check_release,
    read_marks,
    read_model,
    read_patients,
    write_marks,
    write_patients,
)
from tokumei.contest.measures import BASELINE, INTERVAL
from tokumei.contest.season import place_teams
from tokumei.core.errors import InputError, UnknownPart
from tokumei.core.progress import step
from tokumei.core.seeds import generator
from tokumei.core.text import Json, Text

VERSIONS = "NumPy 2.4, scikit-learn 1.9, SciPy 1.17, statsmodels 0.14.6 and XGBoost 3.0.5"
ANONYMIZERS = ("noise", "crossover")
ATTACKS = ("nearest-row", "model-confidence", "mutual")
ROWS = "rows found"
# Points of use and of anonymity, each.
MOST = 100.0
MEASURES: Sequence[Measure] = (
    Measure(
        "statistics",
        "Points for means, deviations, quartiles, shares of codes and correlations: 40 if none moved, 0 if one moved "
        "by its whole range.",
        "平均・標準偏差・四分位・カテゴリー比率・相関の点。40 はすべて同じ、0 はどれか1つが端から端まで動いた状態。",
    ),
    Measure(
        "regression",
        "Points for a logistic regression of asthma: 20 if no number of it moved, 0 if one moved all the way.",
        "喘息のロジスティック回帰の点。20 はすべて同じ、0 はどれか1つが端から端まで動いた状態。",
    ),
    Measure(
        "tests",
        "Points for Kruskal and Wallis's tests by age group and the sizes of effects: 20 if none moved, 0 if one moved "
        "all the way.",
        "年齢層別のクラスカル・ウォリス検定と効果量の点。20 はすべて同じ、0 はどれか1つが端から端まで動いた状態。",
    ),
    Measure(
        "model",
        "Points for the model's right answers about stroke on rows held back: 20 if all are right, 0 if none.",
        "モデルが未使用の行の脳卒中を当てた割合の点。20 は全問正解、0 は正解なし。",
    ),
    Measure(
        "total",
        "1 − (points of use + points of anonymity) / 200: lower is better, 0 if nothing is lost.",
        "1 −（有用性の点 + 匿名性の点）/ 200。小さいほどよい。0 は損失なし。",
    ),
    Measure(
        "anonymity",
        "100 points, less one for each hundredth of B that the best attacker named, less one for each attacker but the "
        "first who named the same row.",
        "100点から、最良の攻撃者が B の 1/100 を当てるごとに1点、同じ行を"
        "当てた攻撃者の2人目以降1人ごとに1点を引いた点。",
    ),
    Measure(
        "match",
        "Share of the rows of B that were marked, as many being marked as B has: 0 if none, 1 if all.",
        "B の行のうち印を付けた割合（印の数は B の行数）。0 は皆無、1 はすべて。",
        title="rows of B found",
        title_ja="特定した B の行",
    ),
    Measure(
        ROWS,
        "Which rows of B were found, packed, so that rows that several attackers found can be counted.",
        "当てた B の行（複数の攻撃者が当てた行を数えるための圧縮表現）。",
    ),
    BASELINE,
    INTERVAL,
)


@dataclass(frozen=True)
class Pwscup2025(Edition):
    """Release a medical table and a model, so that nobody can tell which of many patients were in it.

    Every team has patients of its own, drawn from those whom everybody gets when attacks begin. Use is 100 points for
    statistics, a regression, tests and the model; anonymity is 100 points, which attackers take away.
    """

    ANONYMIZERS = ANONYMIZERS
    ATTACKS = ATTACKS

    n_rows: int = field(default=10_000, metadata={"help": "Patients of a team."})
    n_people: int = field(default=100_000, metadata={"help": "All patients, among whom those of teams are drawn."})

    def __post_init__(self) -> None:
        if self.n_rows < 50:
            raise InputError.of("at least 50 patients", option="n_rows", value=self.n_rows)
        if self.n_people < 2 * self.n_rows:
            expected = Text("at least {n:,}, twice the patients of a team", n=2 * self.n_rows)
            raise InputError.of(expected, option="n_people", value=self.n_people)

    @property
    def terms(self) -> ContestTerms:
        """What the edition says of itself."""
        return ContestTerms(
            title="PWSCUP 2025",
            title_ja="PWSCUP 2025（医療データと機械学習モデルの匿名化）",
            summary=f"Each team has a table B of {self.n_rows:,} patients of its own and releases a table C of as many "
            "rows and D, a model that tells strokes. When attacks begin, everybody gets A, the "
            f"{self.n_people:,} patients among whom all B were drawn, and marks as many rows of A as B has. "
            "Use is worth "
            "100 points, anonymity 100; teams rank by 1 − their sum / 200, lower is better. What the contest left open "
            "or did by hand is decided so: all four parts of use end at 0; a team has one B, not three to choose from, "
            "and one A is for all; the model is tested on half of B's rows and as many others, drawn by what B says; "
            "numbers out of range are refused, not repaired; empty cells are missing, and a regression takes the "
            "median for them; a table on which a regression cannot be fitted has 0 in all its numbers; a "
            "guess is about "
            "one release, with one column. No id.txt or index.txt is asked for; those handed in are not looked at. The "
            f"digits hold for {VERSIONS} (the extra `editions`); regressions agree to 1e-9.",
            summary_ja=f"各チームは自分だけの患者の表 B（{self.n_rows:,}行）を持ち、同じ行数の表 C と脳卒中を予測する"
            "モデル D を公開する。攻撃フェーズでは、すべての B の抽出元である "
            f"{self.n_people:,}人の表 A が全員に配られ、攻撃者は B の行数と同じ数の A の行に印を付ける。"
            "有用性100点と匿名性100点の合計で、1 − 合計/200 の小さい順とする。"
            "原文に曖昧さのある点や手作業の点は次のとおり定める：有用性の4項目はいずれも 0 点を下限とする。"
            "B は3つから選ぶのではなく1つとし、A は全チーム共通とする。モデルは B の半数の行と同数の他の行で試す。"
            "範囲外の数値は修正せず差し戻す。空のセルは欠損とし、回帰では中央値で補う。回帰を推定できない表の値はすべて"
            " 0 とする。推定は1つの加工データについて1列で提出する。id.txt と index.txt は不要で、提出されても見ない。"
            f"桁は {VERSIONS}（追加機能 `editions`）での値で、回帰は 1e-9 まで一致する。",
            data_files=(),
            own_files=(FileRole("B", "the team's patients, 18 columns", "チームの患者の表（18列）"),),
            hidden_files=(FileRole("P", "all patients", "すべての患者"),),
            release_files=(
                FileRole("C", "as many rows as B, the same columns", "B と同じ行数・同じ列の加工データ"),
                FileRole("D", "the model, as XGBoost writes it", "XGBoost 形式のモデル", ".json"),
            ),
            published_files=(
                FileRole("C", "the released rows, sorted", "加工データ（行は整列済み）"),
                FileRole("D", "the model", "モデル", ".json"),
            ),
            truth_files=(FileRole("Z", "for each row of A whether it is in B", "A の各行が B に含まれるか"),),
            guess_files=(
                FileRole("F", "for each row of A 1 if it is guessed to be in B", "A の各行が B に含まれるかの推定"),
            ),
            knowledge_files={"": (FileRole("A", "all patients", "すべての患者"),)},
            release_rules=RELEASE_RULES,
            guess_rules=GUESS_RULES,
            measures=MEASURES,
        )

    def make_data(self, folder: Path, *, seed: int, source: Path | None = None) -> None:
        """Write P: drawn from a file with the 18 columns, or made up without one; no row stands twice."""
        if source is None:
            from tokumei.contest.editions.pwscup2025.players import make_patients

            # Some more, since chance repeats a few.
            found = make_patients(self.n_people + self.n_people // 50 + 20, seed)
        else:
            found = read_patients(source).frame
        found = found.unique(maintain_order=True)
        if found.height < self.n_people:
            expected = Text("at least {n:,} different rows", n=self.n_people)
            raise InputError.of(expected, file=source, value=f"{found.height:,}")
        write_patients(found[generator(seed, "order").permutation(found.height)[: self.n_people]], folder / "P.csv")

    def draw_own(self, data: Files, folder: Path, *, seed: int) -> None:
        """Write B, drawn from P."""
        everybody = read_patients(data["P"]).frame
        write_patients(everybody[generator(seed, "own").permutation(everybody.height)[: self.n_rows]], folder / "B.csv")

    def draw_knowledge(self, data: Files, folder: Path, *, seed: int) -> None:
        """Write A: all of P."""
        (folder / "A.csv").write_bytes(Path(data["P"]).read_bytes())

    def check(self, data: Files, release: Files) -> None:
        """Raise one InputError with every fault of C and D."""
        check_release(len(read_once(data, _read_own)), release["C"], release["D"])

    def score(self, data: Files, knowledge: Files, release: Files) -> ReleaseScore:
        """Score C and D in points of use; the model needs A, without which there are 80 points in all."""
        from tokumei.contest.editions.pwscup2025.utility import POINTS, compare, right_answers, total_points

        own, released = read_once(data, _read_own), read_patients(release["C"])
        with step("measuring"):
            moved = compare(own, released)
        share = None
        if "A" in knowledge:
            share = right_answers(read_model(release["D"]), held_back(own, read_patients(knowledge["A"])))
        points = total_points(moved, share)
        most = sum(POINTS[name] for name in points)
        use = sum(points.values()) / most
        details: Json = {
            "utility": points,
            "worst": {name: one.by for name, one in moved.items()},
            "points": sum(points.values()),
            "total": None if share is None else (1 - use) / 2,
        }
        return ReleaseScore(details, 1 - use)

    def publish(self, data: Files, release: Files, folder: Path, truth_folder: Path, *, seed: int) -> None:
        """Write C sorted, D as it is, and apart from them which rows of A are in B."""
        write_patients(read_patients(release["C"]).frame.sort(COLUMNS), folder / "C.csv")
        (folder / "D.json").write_bytes(_plain(release["D"]))
        everybody = read_patients(data["P"]).frame
        write_marks(_is_in(everybody, read_once(data, _read_own).frame), truth_folder / "Z.csv")

    def check_guess(self, data: Files, published: Files, guess: Files) -> None:
        """Raise one InputError with every fault of F."""
        read_marks(guess["F"], self.n_people, self.n_rows)

    def judge(self, data: Files, published: Files, truth: Files, guess: Files) -> GuessScore:
        """Return the share of B that was marked, and what marking blindly would find."""
        right, marked = read_marks(truth["Z"]), read_marks(guess["F"])
        found = (right & marked)[right]
        n = int(right.sum())
        packed = base64.b85encode(zlib.compress(np.packbits(found).tobytes(), 9)).decode()
        details = {
            "match": int(found.sum()) / n,
            "baseline": n / len(right),
            "interval": list(wilson_interval(int(found.sum()), n)),
            ROWS: packed,
        }
        return GuessScore(int(found.sum()) / n, details)

    def rank(self, entries: Sequence[TeamEntry]) -> list[Standing]:
        """Order the teams by 1 − the sum of their points / 200, the lowest first."""
        lines = []
        for entry in entries:
            match, penalty = self._found_by_others(entry)
            anonymity = max(0.0, MOST * (1 - match) - penalty)
            use = MOST * (1 - entry.release.utility)
            numbers = {"use": use, "anonymity": anonymity, "penalty": float(penalty)}
            value = 1 - (use + anonymity) / (2 * MOST)
            lines.append(Standing(0, entry.team, value, entry.release.utility, 1 - anonymity / MOST, numbers))
        return place_teams(lines)

    def _found_by_others(self, entry: TeamEntry) -> tuple[float, int]:
        """Share that the best attacker found, and how many attackers but one found the same row, at the worst.

        Of several guesses of one attacker its best counts.
        """
        best: dict[str, GuessScore] = {}
        for one in entry.attempts:
            known = best.get(one.attacker)
            if one.attacker != entry.team and (known is None or one.score.success > known.success):
                best[one.attacker] = one.score
        if not best:
            return 0.0, 0
        n_finders = sum(unpacked(one.details[ROWS], self.n_rows).astype(int) for one in best.values())
        return max(one.success for one in best.values()), max(0, int(np.max(n_finders)) - 1)

    def anonymize(self, name: str, data: Files, folder: Path, *, seed: int) -> None:
        """Write C and D as a built-in anonymizer makes them."""
        if name not in ANONYMIZERS:
            raise UnknownPart("anonymizer", name, ANONYMIZERS)
        from tokumei.contest.editions.pwscup2025.players import anonymize

        write_patients(anonymize(name, read_once(data, _read_own), seed, folder / "D.json"), folder / "C.csv")

    def attack(self, name: str, data: Files, knowledge: Files, published: Files, folder: Path, *, seed: int) -> None:
        """Write F as a built-in attack guesses it; none of them needs luck."""
        if name not in ATTACKS:
            raise UnknownPart("attack", name, ATTACKS)
        from tokumei.contest.editions.pwscup2025.players import ATTACKS as PLAYED
        from tokumei.contest.editions.pwscup2025.players import Seen, best_rows

        seen = Seen(read_patients(knowledge["A"]), read_patients(published["C"]), read_model(published["D"]))
        write_marks(best_rows(PLAYED[name](seen), self.n_rows), folder / "F.csv")


def _read_own(data: Files) -> Patients:
    return read_patients(data["B"])


def _plain(path: Path) -> bytes:
    from tokumei.data.files.disk import read_bytes

    return read_bytes(path)


def _is_in(everybody: pl.DataFrame, some: pl.DataFrame) -> npt.NDArray[np.bool_]:
    marked = some.unique().with_columns(pl.lit(True).alias("is_in"))
    joined = everybody.join(marked, on=COLUMNS, how="left", maintain_order="left", nulls_equal=True)
    found: npt.NDArray[np.bool_] = joined["is_in"].fill_null(False).to_numpy()
    return found


def held_back(own: Patients, everybody: Patients) -> Patients:
    """Draw the rows that models are tested on: half of the team's, and as many who are not in it.

    The draw follows from what the rows say, so that it is the same whoever scores.
    """
    ours = own.frame.sort(COLUMNS)
    others = everybody.frame.filter(pl.Series(~_is_in(everybody.frame, own.frame))).sort(COLUMNS)
    digest = hashlib.sha256(ours.write_csv().encode()).digest()
    rng, n = generator(int.from_bytes(digest[:7], "big"), "held back"), ours.height // 2
    drawn = [frame[np.sort(rng.permutation(frame.height)[:n])] for frame in (ours, others)]
    return Patients(pl.concat(drawn))


def unpacked(packed: str, n_rows: int) -> npt.NDArray[np.bool_]:
    """Return which rows of B a guess found."""
    bits = np.frombuffer(zlib.decompress(base64.b85decode(packed)), np.uint8)
    return np.unpackbits(bits, count=n_rows).astype(bool)
