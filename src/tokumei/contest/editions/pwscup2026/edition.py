"""PWSCUP 2026: cohorts of a health check; the least of use and anonymity counts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

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
from tokumei.contest.editions.pwscup2026 import files
from tokumei.contest.editions.pwscup2026.files import (
    COLUMNS,
    GUESS_RULES,
    KNOWN,
    RARE,
    RECORD,
    RELEASE_RULES,
    ROW,
    TARGET,
    TIME_HAT,
    Challenge,
    Cohort,
    Reference,
    check_release,
    read_cohort,
    write_frame,
)
from tokumei.contest.season import place_teams
from tokumei.core.errors import InputError, UnknownPart
from tokumei.core.progress import step
from tokumei.core.seeds import generator
from tokumei.core.text import Text

if TYPE_CHECKING:
    from tokumei.contest.editions.pwscup2026.utility import Utility

VERSIONS = "lifelines 0.30.3, pandas 2.3.3, scikit-learn 1.9, SciPy 1.17 and statsmodels 0.14.6"
# A release stands under this number in the files of its attackers, one season's targets having files of their own.
NUMBER = "1"
MEMBER = "is_member"
# 95th percentile of the time score between pairs of bootstraps of a cohort.
N_BOOTSTRAPS = 200
ANONYMIZERS = ("copula", "copula-survival", "perturb", "crossover")
ATTACKS = ("density-ratio", "near-record")
SCORES: Sequence[Measure] = (
    Measure(
        "gen",
        "How alike columns, rank correlations, onset curves and tails are, and how hard it is to tell C from B: the "
        "least of five, 1 if the same, 0 if lost.",
        "列の分布・順位相関・発症曲線・裾の近さと、C と B の見分けにくさの5つの最小値。1 は同じ、0 は"
        "すべて失われた状態。",
    ),
    Measure(
        "spec",
        "How far a Cox regression of onset draws the same conclusions and orders the people of B as well, "
        "the lesser of "
        "both: 1 if as B itself, 0 if it does not settle.",
        "発症の Cox 回帰の結論の一致と、B の人々の順位付けの良さの小さい方。1 は B そのものと同等、0 は"
        "推定が収束しない状態。",
    ),
    Measure(
        "rare",
        "Whether people far from all others are as many, have the profile and onsets of the true rare people "
        "and cannot "
        "be told from them: the least of four, each beside that of B, 1 if as in B.",
        "外れた人々の人数、真の希少例との特徴・発症率の近さ、見分けにくさの最小値（いずれも B での値に対する比）。"
        "1 は B と同等。",
    ),
    Measure(
        "valid",
        "Whether censoring is kept, no region is made up, no row copied and nobody nearer to people of the background: "
        "the mean of four, 1 if all hold.",
        "打ち切りの保持、地域差の捏造がないこと、行の重複がないこと、背景の人々に近づいていないことの平均。1 "
        "はすべて満たす状態。",
    ),
    Measure(
        "total",
        "1 − min(use, anonymity): lower is better. Use is the least of the four above; anonymity is 1 less what "
        "attackers find.",
        "1 − min（有用性、匿名性）。小さいほどよい。有用性は上の4つの最小値、匿名性は 1 から攻撃者の発見分を引いた値。",
    ),
    Measure(
        "membership",
        "Share of members told at 1 % of false alarms, of all or of the rare ones alone, whichever is more: 0.01 if by "
        "luck, 1 if all.",
        "誤警報1%でのメンバー的中率（全員と希少例のみの大きい方）。0.01 は偶然、1 は全員。",
    ),
    Measure(
        "anonymity lost",
        "What membership costs: 0 at luck, 1 at twelve times that. What luck reaches in 5 % of 20,000 permutations "
        "above 0.01 is taken off before.",
        "メンバー推定による匿名性の損失。0 は偶然、1 は偶然の12倍。2万回の並べ替えの95パーセンタイルが 0.01 "
        "を超える分は"
        "先に差し引く。",
    ),
    Measure(
        "attribute",
        "Share of times told within half a year beyond that of controls, of all members or of the rare ones: 0 if no "
        "more than of controls, 1 if all.",
        "半年以内に当てた time の割合が対照群を上回る分（全メンバーと希少例の大きい方）。0 は対照群と同じ、1 は全員。",
    ),
)


@dataclass(frozen=True)
class Pwscup2026(Edition):
    """Release a table like a cohort of a health check, in which nobody can tell who is in it or what became of them.

    Every team has a cohort of its own. The score is the lesser of use, which is the least of four families, and of
    anonymity, which membership and attribute inference by other teams take away.
    """

    ANONYMIZERS = ANONYMIZERS
    ATTACKS = ATTACKS

    n_rows: int = field(default=1049, metadata={"help": "People in a cohort."})
    n_rare: int = field(default=24, metadata={"help": "Of them, people with a rare kind of diabetes."})
    n_people: int = field(default=10_000, metadata={"help": "People among whom cohorts are drawn."})
    n_background: int = field(default=5_100, metadata={"help": "People in no cohort, whom everybody has."})
    n_challenge: int = field(default=326, metadata={"help": "People whose time attackers are asked for; half are in."})

    def __post_init__(self) -> None:
        if not 20 <= self.n_rows <= self.n_people:
            expected = Text("from 20 to the {n:,} people there are", n=self.n_people)
            raise InputError.of(expected, option="n_rows", value=self.n_rows)
        if not 0 <= 2 * self.n_rare <= min(self.n_rows, self.n_people):
            raise InputError.of("at most half of the cohort", option="n_rare", value=self.n_rare)
        if self.n_background < 20:
            raise InputError.of("at least 20 people", option="n_background", value=self.n_background)
        if not 2 <= self.n_challenge <= 2 * min(self.n_rows, self.n_people - self.n_rows):
            raise InputError.of(
                "at least 2 people, half of them members and half not", option="n_challenge", value=self.n_challenge
            )

    @property
    def terms(self) -> ContestTerms:
        """What the edition says of itself."""
        return ContestTerms(
            title="PWSCUP 2026",
            title_ja="PWSCUP 2026（健診コホートの合成データとメンバーシップ推定）",
            summary=f"Each team has a cohort B of {self.n_rows:,} people of its own: a health check, and in the "
            "ten years after it diabetes, death or neither. It releases C, as many made-up rows. Attackers have C and "
            "their own cohort, and say how sure they are of each of their people being in B too; of other people they "
            "know the check-up and tell the time. Teams rank by 1 − min(use, anonymity), lower is better. Use is the "
            "least of four families of scores. Anonymity is 1 less what is found: membership, averaged over the teams "
            "that attacked, or attributes by the best of them, whichever is more. What the contest's text "
            "leaves open is "
            "decided so: chance is taken off membership by permutations before it is scaled; no floor is taken off "
            "attributes; a team that hands in no guess counts for nothing; cohorts are drawn for each team, so that "
            "pairs share people by chance; the built-in attacks are shown and count for nothing. No token.txt is asked "
            "for; one that is handed in is not looked at. In `utility_ref`, mean and covariance are those of A_bg. The "
            f"digits hold for {VERSIONS} (the extra `editions`).",
            summary_ja=f"各チームは自分だけのコホート B（{self.n_rows:,}人の健診結果と、"
            "その後10年の発症・死亡・打ち切り）を"
            "持ち、同じ行数の合成データ C を公開する。攻撃者は C と自分のコホートを使い、自分の各レコードが "
            "B にも含まれる"
            "確信度を答え、さらに健診結果だけを知る人々の time を推定する。順位は 1 − min（有用性、匿名性） "
            "の小さい順とする。"
            "有用性は4系統の最小値、匿名性は 1 "
            "から「攻撃したチームの平均によるメンバー推定」と「最良のチームの属性推定」の"
            "大きい方を引いた値とする。原文に曖昧さのある点は次のとおり定める：メンバー推定は"
            "並べ替えによる偶然分を引いてから"
            "換算する。属性推定からは下限を引かない。推定を提出しないチームは数えない。コホートは"
            "チームごとに抽出し、共通の"
            "人数は偶然に任せる。組み込みの攻撃は参考値とする。token.txt は不要で、提出されても見ない。"
            "`utility_ref` の平均と"
            f"共分散は A_bg のものとする。桁は {VERSIONS}（追加機能 `editions`）での値とする。",
            data_files=(FileRole("A_bg", "people who are in no cohort", "どのコホートにも含まれない人々"),),
            own_files=(
                FileRole(
                    "B",
                    "the team's cohort, with record_id and is_rare",
                    "チームのコホート（record_id と is_rare 付き）",
                ),
                FileRole(
                    "utility_ref",
                    "mean and covariance of A_bg, scale and floor of the time score",
                    "A_bg の平均・共分散と time スコアの尺度・下限",
                    ".json",
                ),
            ),
            hidden_files=(FileRole("P", "everybody who may be in a cohort", "コホートに含まれうる全員"),),
            release_files=(
                FileRole("C", "as many rows as B, without record_id", "B と同じ行数の加工データ（record_id なし）"),
            ),
            published_files=(
                FileRole("C", "the release, its rows sorted", "加工データ（行は整列済み）"),
                FileRole(
                    "aia_challenge",
                    f"people whose time is asked for: challenge_row_id, {', '.join(KNOWN)}",
                    f"time を推定する対象（challenge_row_id、{'、'.join(KNOWN)}）",
                ),
                FileRole("mia_columns", "the column of the target in F_mia", "F_mia における対象の列名", ".json"),
            ),
            truth_files=(
                FileRole("members", "the people of B", "B の人々"),
                FileRole(
                    "times", "the times of the challenge, and who is a member", "チャレンジの time とメンバーの別"
                ),
            ),
            guess_files=(
                FileRole(
                    "F_mia",
                    "record_id of the attacker's own cohort, and a confidence from 0 to 1",
                    "攻撃者自身のコホートの record_id と 0〜1 の確信度",
                ),
                FileRole("F_aia", "target_k, challenge_row_id and time_hat", "target_k、challenge_row_id、time_hat"),
            ),
            knowledge_files={"": ()},
            release_rules=RELEASE_RULES,
            guess_rules=GUESS_RULES,
            measures=SCORES,
        )

    def make_data(self, folder: Path, *, seed: int, source: Path | None = None) -> None:
        """Write A_bg and P: drawn from a file with the columns and `is_rare`, or made up without one."""
        n_rare = 2 * self.n_rare
        if source is None:
            from tokumei.contest.editions.pwscup2026.players import make_people

            people = make_people(self.n_background + self.n_people, n_rare, generator(seed, "people"))
        else:
            people = read_cohort(source, [RARE]).frame.sort(RARE)
            n_found = int((people[RARE] != 0).sum())
            if people.height < self.n_background + self.n_people or n_found < n_rare:
                expected = Text(
                    "at least {n:,} people, of them {rare:,} rare", n=self.n_background + self.n_people, rare=n_rare
                )
                raise InputError.of(expected, file=source, value=f"{people.height:,}, {n_found:,}")
        # The rare come last; nobody of them is in the background.
        common, rare = people.head(people.height - n_rare), people.tail(n_rare)
        mixed = common[generator(seed, "order").permutation(common.height)]
        background = mixed.head(self.n_background).select(COLUMNS).with_row_index(RECORD)
        write_frame(background, folder / "A_bg.csv")
        everybody = pl.concat([mixed.slice(self.n_background, self.n_people - n_rare), rare])
        write_frame(everybody.select(*COLUMNS, RARE), folder / "P.csv")

    def draw_own(self, data: Files, folder: Path, *, seed: int) -> None:
        """Write a cohort drawn from P, and what its releases are measured by."""
        from tokumei.contest.editions.pwscup2026.utility import km_scale

        people, background = read_cohort(data["P"], [RARE]).frame, read_once(data, _read_background)
        rng = generator(seed, "cohort")
        is_rare = people[RARE].to_numpy() != 0
        rare, common = np.flatnonzero(is_rare), np.flatnonzero(~is_rare)
        drawn = [rng.permutation(rare)[: self.n_rare], rng.permutation(common)[: self.n_rows - self.n_rare]]
        cohort = people[rng.permutation(np.concatenate(drawn))]
        write_frame(cohort.with_row_index(RECORD), folder / "B.csv")
        own = Cohort(cohort)
        middle, spread = background.continuous.mean(axis=0), np.cov(background.continuous.T)
        Reference(middle, spread, _time_floor(own, rng), km_scale(own)).write(folder / "utility_ref.json")

    def check(self, data: Files, release: Files) -> None:
        """Raise one InputError with every fault of C."""
        check_release(len(read_once(data, _read_own)), release["C"])

    def score(self, data: Files, knowledge: Files, release: Files) -> ReleaseScore:
        """Score C by the four families; the built-in attack is told beside them, as an indication."""
        with step("measuring"):
            families = self._utility(data, release).families()
        with step("attacking"):
            found = _indication(
                read_once(data, _read_own), read_cohort(release["C"]), read_once(data, _read_background)
            )
        scores = {name: one["score"] for name, one in families.items()}
        use = min(scores.values())
        parts = {name: {key: part for key, part in one.items() if key != "score"} for name, one in families.items()}
        details = {"utility": scores, "parts": parts, "indication": found, "total": 1 - use}
        return ReleaseScore(details, 1 - use)

    def _utility(self, data: Files, release: Files) -> Utility:
        from tokumei.contest.editions.pwscup2026.utility import Utility

        own = read_once(data, _read_own)
        return Utility(
            own,
            read_cohort(release["C"]).sorted(),
            read_once(data, _read_background),
            Reference.read(data["utility_ref"]),
            own.of(RARE) != 0,
        )

    def publish(self, data: Files, release: Files, folder: Path, truth_folder: Path, *, seed: int) -> None:
        """Write C sorted, a challenge of members and others, and apart from them who is in and the times."""
        own, people = read_once(data, _read_own).frame, read_cohort(data["P"], [RARE]).frame
        write_frame(read_cohort(release["C"]).sorted().frame.select(COLUMNS), folder / "C.csv")
        (folder / "mia_columns.json").write_text(json.dumps({"target_columns": [NUMBER]}), encoding="utf-8")
        write_frame(own.select(*COLUMNS, RARE).sort(COLUMNS), truth_folder / "members.csv")
        rng, half = generator(seed, "challenge"), self.n_challenge // 2
        members = own.select(*COLUMNS, RARE)[rng.permutation(own.height)[:half]]
        others = people.join(own, on=COLUMNS, how="anti", maintain_order="left").select(*COLUMNS, RARE)
        controls = _matched(members, others, self.n_challenge - half, rng)
        asked = pl.concat(
            [members.with_columns(pl.lit(1.0).alias(MEMBER)), controls.with_columns(pl.lit(0.0).alias(MEMBER))],
            how="vertical_relaxed",
        )
        asked = asked[rng.permutation(asked.height)].with_row_index(ROW)
        write_frame(asked.select(ROW, *KNOWN), folder / "aia_challenge.csv")
        write_frame(asked.select(ROW, "time", RARE, MEMBER), truth_folder / "times.csv")

    def check_guess(self, data: Files, published: Files, guess: Files) -> None:
        """Raise one InputError with every fault of F_mia and F_aia."""
        from tokumei.contest.checks import Together

        target = files.read_target(published["mia_columns"])
        own, challenge = read_once(data, _read_own).frame, Challenge.read(published["aia_challenge"]).frame
        together = Together()
        together.try_to(lambda: files.read_membership(guess["F_mia"], target, own[RECORD]))
        together.try_to(lambda: files.read_times(guess["F_aia"], target, challenge[ROW]))
        together.raise_if_any()

    def judge(self, data: Files, published: Files, truth: Files, guess: Files) -> GuessScore:
        """Judge both guesses; the success is their mean, half of the contest's attack power."""
        from tokumei.contest.editions.pwscup2026 import attacks

        target = files.read_target(published["mia_columns"])
        own = read_once(data, _read_own).frame
        told = files.read_membership(guess["F_mia"], target, own[RECORD])["confidence"].to_numpy()
        people = own.sort(RECORD)
        members = read_cohort(truth["members"], [RARE]).frame.select(COLUMNS).with_columns(pl.lit(True).alias(MEMBER))
        joined = people.join(members.unique(COLUMNS), on=COLUMNS, how="left", maintain_order="left")
        is_member = joined[MEMBER].fill_null(False).to_numpy()
        is_rare = people[RARE].to_numpy() != 0
        found = attacks.membership_score(told, is_member, is_rare)
        beta = found - max(0.0, attacks.chance_floor(told, is_member, is_rare) - attacks.FALSE_ALARMS)
        times = files.read_times(guess["F_aia"], target, None)[TIME_HAT].to_numpy()
        right = _read_times(truth["times"])
        sides = (right[name].to_numpy() != 0 for name in (MEMBER, RARE))
        attribute = attacks.attribute_score(times, right["time"].to_numpy(), *sides)
        details = {
            "membership": found,
            "anonymity lost": attacks.anonymity_lost(beta),
            "attribute": attribute,
            "members": int(is_member.sum()),
            "baseline": attacks.FALSE_ALARMS,
        }
        return GuessScore((found + attribute) / 2, details)

    def rank(self, entries: Sequence[TeamEntry]) -> list[Standing]:
        """Order the teams by 1 − min(use, anonymity), the lowest first."""
        lines = []
        for entry in entries:
            lost, attribute = _found_by_others(entry)
            safety = max(lost, attribute)
            value = 1 - min(1 - entry.release.utility, 1 - safety)
            numbers = {"anonymity lost": lost, "attribute": attribute}
            lines.append(Standing(0, entry.team, value, entry.release.utility, safety, numbers))
        return place_teams(lines)

    def anonymize(self, name: str, data: Files, folder: Path, *, seed: int) -> None:
        """Write C as a built-in anonymizer makes it."""
        if name not in ANONYMIZERS:
            raise UnknownPart("anonymizer", name, ANONYMIZERS)
        from tokumei.contest.editions.pwscup2026.players import anonymize

        write_frame(anonymize(name, read_once(data, _read_own), seed), folder / "C.csv")

    def attack(self, name: str, data: Files, knowledge: Files, published: Files, folder: Path, *, seed: int) -> None:
        """Write F_mia and F_aia as a built-in attack guesses; none of them needs luck."""
        if name not in ATTACKS:
            raise UnknownPart("attack", name, ATTACKS)
        from tokumei.contest.editions.pwscup2026.attacks import ATTACKS as PLAYED
        from tokumei.contest.editions.pwscup2026.attacks import Seen

        own, target = read_once(data, _read_own), files.read_target(published["mia_columns"])
        challenge = Challenge.read(published["aia_challenge"])
        seen = Seen(read_cohort(published["C"]), read_once(data, _read_background), own, challenge)
        confidence, times = PLAYED[name](seen)
        write_frame(pl.DataFrame({RECORD: own.frame[RECORD], target: confidence}), folder / "F_mia.csv")
        asked = challenge.frame.select(pl.lit(int(target)).alias(TARGET), ROW)
        write_frame(asked.with_columns(pl.Series(TIME_HAT, times)), folder / "F_aia.csv")


def _read_own(data: Files) -> Cohort:
    return read_cohort(data["B"], [RECORD, RARE])


def _read_background(data: Files) -> Cohort:
    return read_cohort(data["A_bg"])


def _read_times(path: Path) -> pl.DataFrame:
    kinds = dict.fromkeys(("time", RARE, MEMBER), pl.Float64)
    return pl.read_csv(path, schema_overrides=kinds).sort(ROW)


def _time_floor(cohort: Cohort, rng: np.random.Generator) -> float:
    """How far the onset curves of two bootstraps of a cohort are apart, in all but one pair of twenty."""
    from tokumei.measures.table.survival import survival_gap

    n, (times, events) = len(cohort), cohort.watched
    gaps = []
    for _ in range(N_BOOTSTRAPS):
        one, other = rng.integers(0, n, (2, n))
        gaps.append(survival_gap((times[one], events[one]), (times[other], events[other]), files.LONGEST))
    return float(np.quantile(gaps, 0.95))


def _matched(members: pl.DataFrame, others: pl.DataFrame, n: int, rng: np.random.Generator) -> pl.DataFrame:
    """Draw people who are no members, of the sexes and decades of age that members have, as far as there are such."""
    strata = [[(row[0], row[1] // 10) for row in frame.select("sex", "age").iter_rows()] for frame in (members, others)]
    left: dict[Any, list[int]] = {}
    for place in rng.permutation(others.height).tolist():
        left.setdefault(strata[1][place], []).append(place)
    taken = [left[one].pop() for one in strata[0][:n] if left.get(one)]
    rest = [place for places in left.values() for place in places]
    return others[taken + rest[: n - len(taken)]]


def _indication(own: Cohort, release: Cohort, background: Cohort) -> Mapping[str, float]:
    """Try the contest's sample attack on B, among people of the background whom it does not know."""
    from tokumei.contest.editions.pwscup2026 import attacks

    known = np.arange(len(background)) % 2 == 0
    outside, reference = background.rows(~known), background.rows(known)
    asked = Cohort(pl.concat([own.frame.select(COLUMNS), outside.frame.select(COLUMNS)]))
    is_member = np.arange(len(asked)) < len(own)
    told = attacks.density_ratio(release, reference, asked)
    times = attacks.nearest_time(release, reference, asked.frame)
    nobody = np.zeros(len(asked), bool)
    return {
        "membership": attacks.true_positives(told, is_member),
        "attribute": attacks.attribute_score(times, asked.of("time"), is_member, nobody),
    }


def _found_by_others(entry: TeamEntry) -> tuple[float, float]:
    """Sum up what others found of a release: membership on average, and attributes by the best of them.

    Of several guesses of one attacker its best counts, of each kind.
    """
    lost: dict[str, float] = {}
    attribute = 0.0
    for one in entry.attempts:
        if one.attacker != entry.team:
            lost[one.attacker] = max(lost.get(one.attacker, 0.0), float(one.score.details["anonymity lost"]))
            attribute = max(attribute, float(one.score.details["attribute"]))
    return (math.fsum(lost.values()) / len(lost) if lost else 0.0), attribute
