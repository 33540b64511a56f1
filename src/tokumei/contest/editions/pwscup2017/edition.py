"""PWSCUP 2017: purchases under pseudonyms that change, against attackers who know a part of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import polars as pl

from tokumei.attacks.judge import Verdict, judge, truth_of
from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.contest.checks import for_a_table, sample_purchases
from tokumei.contest.edition import (
    AttackRule,
    ContestTerms,
    Edition,
    FileRole,
    Files,
    GuessScore,
    Measure,
    ReleaseScore,
    Standing,
    TeamEntry,
    chosen_part,
    read_once,
)
from tokumei.contest.editions.pwscup2017 import files
from tokumei.contest.editions.pwscup2017.files import (
    FIRST_PERIOD,
    GUESS_RULES,
    LAST_PERIOD,
    RELEASE_RULES,
    Originals,
    check_guess,
    check_release,
    check_two_anonymous,
)
from tokumei.contest.measures import (
    BASELINE,
    CELLS_FOUND,
    CUSTOMERS_FOUND,
    INTERVAL,
    MONTHS_FOUND,
    SAMPLES_FOUND,
    TRANSACTIONS_FOUND,
    attack_measure,
    loss_measure,
    submitted_attacks,
)
from tokumei.contest.season import place_teams
from tokumei.core.errors import InputError, UnknownPart
from tokumei.core.progress import step
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.core.text import Json, Text, choice_of
from tokumei.data.files.released_histories import read_pseudonyms, write_pseudonyms
from tokumei.data.history import History
from tokumei.data.made_retail import make_master
from tokumei.measures.registry import HISTORY_UTILITIES
from tokumei.methods.history.delete import Delete
from tokumei.methods.history.perturb import Perturb
from tokumei.methods.history.similar_customers import ExchangePseudonyms
from tokumei.methods.history.steps import Pseudonyms
from tokumei.methods.pipeline import Pipeline
from tokumei.reports.evaluation import SAMPLE_ATTACKS, try_attacks

# What may be counted of guesses.
FOUND = {one.name: one for one in (CUSTOMERS_FOUND, CELLS_FOUND, MONTHS_FOUND, TRANSACTIONS_FOUND)}


def measures_of(
    utilities: Mapping[str, Sequence[str]], attacks: Iterable[str], weights: tuple[float, float], rule: AttackRule
) -> Sequence[Measure]:
    """Explain E1 to E6, the sample attacks and what guesses are judged by; E3 has two values."""
    formula = f"{weights[0]:g}·U + {weights[1]:g}·S"
    losses = [loss_measure(name, parts[0]) for name, parts in utilities.items() if len(parts) == 1]
    both = Measure(
        "E3",
        "Of the most bought items, the share that no longer are, and how far their similarities moved: 0 if "
        "nothing was lost, 1 if all.",
        "売れ筋商品のうち売れ筋でなくなったものの割合と、売れ筋商品どうしの類似度のずれ。0 は損失なし、1 はすべて"
        "失われた状態。",
    )
    total = Measure(
        "total",
        f"{formula}: 0 if no use is lost and nobody is found, {sum(weights):g} if all use is lost and everybody found.",
        f"{formula}。0 は有用性の損失も発見もない状態、{sum(weights):g} は有用性をすべて失い全員が発見された状態。",
    )
    tried = [attack_measure(name.upper(), name) for name in attacks]
    named = sorted([*losses, both], key=lambda measure: measure.name)
    return (*named, *tried, total, *FOUND.values(), BASELINE, INTERVAL, SAMPLES_FOUND, submitted_attacks(rule))


PERIODS = range(FIRST_PERIOD, LAST_PERIOD + 1)
# E1 to E6 of the contest, by the measures that they are; E3 has two values.
UTILITIES: Mapping[str, tuple[str, ...]] = {
    "E1": ("item-cf-supply",),
    "E2": ("item-cf-retail",),
    "E3": ("top-items", "item-cf-top"),
    "E4": ("date",),
    "E5": ("price",),
    "E6": ("rows",),
}
MOVE_A_LITTLE = Perturb(days=3, quantities=0.1, prices=0.05)
MOVE_FAR = Perturb(days=31, quantities=1.0, prices=1.0, hides_times=True, whole_baskets=False)
ANONYMIZERS: Mapping[str, Pipeline] = {
    "yearly-pseudonyms": Pipeline((Pseudonyms(lifetime=12),)),
    "half-yearly-pseudonyms": Pipeline((Pseudonyms(lifetime=6),)),
    "monthly-pseudonyms": Pipeline((Pseudonyms(lifetime=1),)),
    "exchange-pseudonyms": Pipeline((ExchangePseudonyms(),)),
    "perturb": Pipeline((MOVE_A_LITTLE, Pseudonyms(lifetime=12))),
    "delete": Pipeline((Delete(telling=0.3), Pseudonyms(lifetime=12))),
    "perturb-and-delete": Pipeline((MOVE_A_LITTLE, Delete(telling=0.25, once=False), Pseudonyms(lifetime=1))),
    # It fools the sample attacks, not `linkage`, which finds four fifths of the customers with 25 % known.
    "blur": Pipeline(
        (MOVE_FAR, Delete(telling=0.25, once=False, price_deviations=0.0), Pseudonyms(lifetime=12)),
    ),
}
ATTACKS = (*SAMPLE_ATTACKS, "same-day", "same-item", "same-month-and-item", "jaccard", "tfidf", "linkage")


@dataclass(frozen=True)
class Pwscup2017(Edition):
    """Anonymize a year of purchases row by row; attackers know 25, 50, 75 or 100 % of the rows.

    A release is scored by the worst of seven losses of use, U, and by what attacks find on average over the levels of
    knowledge, S; teams rank by their weighted sum.
    """

    ANONYMIZERS = ANONYMIZERS
    ATTACKS = ATTACKS

    n_customers: int = field(default=500, metadata={"help": "Customers to sample or make up."})
    known: tuple[int, ...] = field(
        default=(25, 50, 75, 100), metadata={"help": "Per cent of the rows known to attackers, one level each."}
    )
    utility_weight: float = field(default=0.5, metadata={"help": "Weight of U in the score."})
    safety_weight: float = field(default=0.5, metadata={"help": "Weight of S in the score."})
    success: Literal["row", "cell", "month", "transaction"] = field(
        default="row", metadata={"help": "What counts as found: row, as in the contest, cell, month or transaction."}
    )

    def __post_init__(self) -> None:
        if self.n_customers < 1:
            raise InputError.of("at least 1 customer", option="n_customers", value=self.n_customers)
        if not self.known or len(set(self.known)) < len(self.known) or not all(0 < one <= 100 for one in self.known):
            raise InputError.of("different shares from 1 to 100 per cent", option="known", value=self.known)
        for name in ("utility_weight", "safety_weight"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) >= 0):
                raise InputError.of("a weight of 0 or more", option=name, value=getattr(self, name))
        if self.success not in FOUND:
            raise InputError.of(choice_of(FOUND), option="success", value=self.success)

    @property
    def terms(self) -> ContestTerms:
        """What the edition says of itself."""
        levels = ", ".join(f"{share} %" for share in self.known)
        return ContestTerms(
            title="PWSCUP 2017",
            title_ja="PWSCUP 2017（匿名加工・再識別コンテスト）",
            summary="Teams anonymize one year of purchases, T, row by row: they replace customers by pseudonyms that "
            "may change from month to month, and may change or delete up to half of the rows. What is left is shuffled "
            f"and published. Attackers know {levels} of the rows of T, items cut to two characters, and name the "
            "pseudonym of every customer in every month. Teams rank by "
            f"{self.utility_weight:g}·U + {self.safety_weight:g}·S, lower is better: U is the worst of seven "
            f"losses of use, S what attacks find ({FOUND[self.success].title}): the built-in attack that is best on "
            "average over the levels of knowledge, or the guesses of other teams, whichever is more; of guesses, "
            f"{self.attack_rule.says}.",
            summary_ja="1年分の購買履歴 T を行ごとに加工する。顧客IDを月ごとに変えてもよい仮名に置き換え、値の変更や"
            f"半数までの行の削除ができる。残った行をシャッフルして公開する。攻撃者は T の {levels} の行"
            "（商品IDは先頭2文字）を知り、全顧客の各月の仮名を推定する。順位は "
            f"{self.utility_weight:g}·U + {self.safety_weight:g}·S の小さい順で、U は7つの有用性指標の最悪値、"
            f"S は攻撃の成功率（{FOUND[self.success].title_ja}）で、全知識レベルでの平均が最大の組み込み攻撃と、"
            "他チームの推定の、大きい方とする。"
            f"他チームの推定は、{self.attack_rule.says_ja}。",
            data_files=(
                FileRole(
                    "M",
                    "customers: id, sex, birth decade, country; nobody is alone with these three",
                    "顧客マスター（ID、性別、生年代、国。2-匿名性を満たす）",
                ),
                FileRole(
                    "T",
                    "purchases: customer, invoice, date, time, item, price, quantity",
                    "購買履歴（顧客ID、伝票ID、日付、時刻、商品ID、単価、数量）",
                ),
            ),
            release_files=(
                FileRole("AT", "the anonymized T, row by row in its order", "加工データ A(T)（T と同じ行順）"),
            ),
            published_files=(FileRole("S", "the rows kept, shuffled", "加工データの残った行をシャッフルしたもの"),),
            truth_files=(FileRole("F", "the pseudonym of each customer in each month", "各顧客の各月の仮名（正解）"),),
            guess_files=(
                FileRole("Fh", "the guessed pseudonym of each customer in each month", "各顧客の各月の仮名の推定"),
            ),
            knowledge_files={str(share): (self._knowledge_role(share),) for share in self.known},
            release_rules=RELEASE_RULES,
            guess_rules=GUESS_RULES,
            measures=measures_of(
                UTILITIES, SAMPLE_ATTACKS, (self.utility_weight, self.safety_weight), self.attack_rule
            ),
            attack_rule=self.attack_rule,
        )

    def _knowledge_role(self, share: int) -> FileRole:
        return FileRole(
            f"T{share}", f"{share} % of T, items cut to two characters", f"T の {share} % の行（商品IDは先頭2文字）"
        )

    def make_data(self, folder: Path, *, seed: int, source: Path | None = None) -> None:
        """Write M and T: sampled from the source, or made up where none is given."""
        history = sample_purchases(source, self.n_customers, seed=seed)
        # The contest has no invoices, and the source may have no times.
        frame = history.frame.with_columns(invoice=pl.lit("0"), time=pl.col("time").fill_null(pl.time(0, 0)))
        files.write_history(History(frame, "T"), folder / "T.csv")
        master = make_master(history.customers, seed=seed)
        check_two_anonymous(master)
        files.write_master(master, folder / "M.csv")

    def draw_knowledge(self, data: Files, folder: Path, *, seed: int) -> None:
        """Write T_α for each level, drawn independently of each other."""
        history = read_once(data, Originals.read).history
        for share in self.known:
            part = history.known(share / 100, seed=seed)
            files.write_knowledge(part, folder / self._knowledge_role(share).file_name)

    def check(self, data: Files, release: Files) -> None:
        """Raise one InputError with every fault of A(T)."""
        check_release(read_once(data, Originals.read), release["AT"])

    def score(self, data: Files, knowledge: Files, release: Files) -> ReleaseScore:
        """Score A(T): E1 to E6, and S1 to S6 at each level with S taken in the order of A(T).

        Without any knowledge, as a team is before attacks begin, only the utility is scored.
        """
        originals = read_once(data, Originals.read)
        released = files.read_release(release["AT"])
        parts = self._read_knowledge(knowledge)
        with step("scoring", len(UTILITIES) + len(SAMPLE_ATTACKS) * len(parts)) as bar:
            utility: Json = {}
            for name, measures in UTILITIES.items():
                values = [HISTORY_UTILITIES.make(one).measure(originals.history, released).value for one in measures]
                utility[name] = values if len(values) > 1 else values[0]
                bar.advance()
            safety: dict[str, dict[str, dict[str, float]]] = {name.upper(): {} for name in SAMPLE_ATTACKS if parts}
            judged: Json = {"customers": originals.customers, "periods": PERIODS}
            for trial in try_attacks(originals.history, released, parts, SAMPLE_ATTACKS, **judged):
                safety[trial.attack.upper()][trial.known] = _shares_found(trial.verdict)
                bar.advance()
        worst_loss = max(max(value) if isinstance(value, list) else value for value in utility.values())
        means = [
            math.fsum(one[self.success] for one in by_level.values()) / len(by_level) for by_level in safety.values()
        ]
        worst_attack = max(means) if means else None
        total = None if worst_attack is None else self._total(worst_loss, worst_attack)
        return ReleaseScore({"utility": utility, "safety": safety, "total": total}, worst_loss, worst_attack)

    def _read_knowledge(self, knowledge: Files) -> dict[str, History]:
        """Read the knowledge of all levels, or none."""
        names = {str(share): self._knowledge_role(share).name for share in self.known}
        missing = [name for name in names.values() if name not in knowledge]
        if knowledge and missing:
            raise InputError.of(
                Text("the knowledge of all levels: {names}", names=", ".join(names.values())),
                value=", ".join(knowledge),
            )
        return {level: files.read_knowledge(knowledge[name]) for level, name in names.items() if knowledge}

    def _total(self, utility: float, safety: float) -> float:
        return self.utility_weight * utility + self.safety_weight * safety

    def publish(self, data: Files, release: Files, folder: Path, truth_folder: Path, *, seed: int) -> None:
        """Write S, shuffled by the seed, and F apart from it.

        The rows are sorted before they are shuffled, so that S depends on what they say and never on where they stood.
        """
        originals = read_once(data, Originals.read)
        released = files.read_release(release["AT"])
        truth = truth_of(originals.history, released)
        rows = released.kept.sort(pl.all())
        shuffled = rows[generator(seed, "publish").permutation(rows.height)]
        files.write_published(History(shuffled, "S"), folder / "S.csv")
        write_pseudonyms(truth, originals.customers, truth_folder / "F.csv", "pwscup2017")

    def check_guess(self, data: Files, published: Files, guess: Files) -> None:
        """Raise one InputError with every fault of Fh."""
        check_guess(read_once(data, Originals.read), files.read_published(published["S"]), guess["Fh"])

    def judge(self, data: Files, published: Files, truth: Files, guess: Files) -> GuessScore:
        """Return the counted share, of customers whose twelve cells are all right, and that of blind guessing."""
        right, customers, periods = read_pseudonyms(truth["F"])
        guessed, _, _ = read_pseudonyms(guess["Fh"])
        verdict = judge(guessed, right, customers, periods, files.read_published(published["S"]))
        found: Score = getattr(verdict, self.success)
        details: dict[str, object] = {**_shares_found(verdict), "baseline": found.baseline}
        if found.interval is not None:
            details["interval"] = list(found.interval)
        return GuessScore(found.value, details)

    def rank(self, entries: Sequence[TeamEntry]) -> list[Standing]:
        """Order the teams by their weighted sum of U and S, the lowest first."""
        lines = []
        for entry in entries:
            sample, attacked = entry.release.safety or 0.0, self.attack_rule.found_by_others(entry)
            safety = max(sample, attacked)
            value = self._total(entry.release.utility, safety)
            numbers = {"sample attacks": sample, "submitted attacks": attacked}
            lines.append(Standing(0, entry.team, value, entry.release.utility, safety, numbers))
        return place_teams(lines)

    @property
    def attack_rule(self) -> AttackRule:
        """How guesses of other teams count."""
        return AttackRule(tuple(map(str, self.known)))

    def anonymize(self, name: str, data: Files, folder: Path, *, seed: int) -> None:
        """Write A(T) as a built-in anonymizer makes it."""
        release = chosen_part("anonymizer", name, ANONYMIZERS).anonymize(
            read_once(data, Originals.read).history, seed=seed
        )
        files.write_release(History(release.frame, "A(T)"), folder / "AT.csv")

    def attack(self, name: str, data: Files, knowledge: Files, published: Files, folder: Path, *, seed: int) -> None:
        """Write Fh as a built-in attack guesses it; of the data it looks at M alone, and none of them needs luck."""
        if name not in ATTACKS:
            raise UnknownPart("attack", name, ATTACKS)
        if len(knowledge) != 1:
            raise InputError.of("the knowledge of one level", value=", ".join(knowledge))
        known = files.read_knowledge(next(iter(knowledge.values())))
        seen = files.read_published(published["S"])
        customers = files.read_master(data["M"])["customer"].to_list()
        guesses = for_a_table(HISTORY_ATTACKS.make(name)).guess(known, seen)
        write_pseudonyms(guesses, customers, folder / "Fh.csv", "pwscup2017")


def _shares_found(verdict: Verdict) -> dict[str, float]:
    """Return the shares found of customers, cells, customers' months and published rows."""
    transaction = 0.0 if verdict.transaction is None else verdict.transaction.value
    return {
        "row": verdict.row.value,
        "cell": verdict.cell.value,
        "month": verdict.month.value,
        "transaction": transaction,
    }
