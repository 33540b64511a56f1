"""PWSCUP 2018: generalized purchases, against attackers who know everything.

Its built-in teams coarsen cells one by one, whoever bought them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from tokumei.attacks.history.fitting import judge_guesses
from tokumei.attacks.history.generalized import GENERALIZED_ATTACKS
from tokumei.contest.checks import sample_purchases
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
from tokumei.contest.editions.pwscup2018 import files
from tokumei.contest.editions.pwscup2018.files import GUESS_RULES, RELEASE_RULES, check_guess, check_release
from tokumei.contest.season import place_teams
from tokumei.core.errors import InputError, UnknownPart
from tokumei.core.seeds import generator
from tokumei.data.cells import Kind, RangeCells, SetCells
from tokumei.data.files.released_histories import cells_of
from tokumei.data.history import History
from tokumei.data.release import GeneralizedHistory
from tokumei.measures.generalized_histories import measure_generalized_error
from tokumei.methods.history.generalize import Generalize

MEASURES = (
    Measure(
        "utility",
        "Mean error of the cells, U: 0 if every cell says the true value, 1 if every row is deleted; ranges too wide "
        "give more.",
        "セルの平均誤差 U。0 は全セルが真の値のまま、1 は全行を削除した状態。範囲が広すぎると 1 を超える。",
    ),
    Measure(
        "guesses",
        "How many pseudonyms the guess names a customer for.",
        "顧客を推定した仮名の数。",
    ),
    Measure(
        "right",
        "How many of the guesses are right.",
        "正しかった推定の数。",
    ),
    Measure(
        "needed",
        "How many must be right to prove the release unsafe; luck explains fewer.",
        "安全でないことの証明に必要な正解数。これより少なければ偶然でも起こりうる。",
    ),
    Measure(
        "attacks",
        "How many guesses of other teams were judged.",
        "判定された他チームの推定の数。",
        title="guesses of others",
        title_ja="他チームの推定の数",
    ),
    Measure(
        "best share right",
        "The best share of right guesses of another team: 0 if none was right, 1 if all.",
        "他チームの推定のうち最も高い正解率。0 は全問不正解、1 は全問正解。",
    ),
)


# Items that follow each other in the shop's list are mostly alike.
ITEMS_A_SET = 10
# A range of prices goes from a whole number to just under the next.
CENTS, CENT = 0.99, 0.01


@dataclass(frozen=True)
class CoarseCells:
    """Write a number for each customer, and cells that say less; a column not chosen stays as it is.

    | original                       | released, all columns                                          |
    |--------------------------------|----------------------------------------------------------------|
    | 12352, 2011/2/16, 22728, 4, 12 | 7, [2011/2/1;2011/2/28], {22720;…;22729}, [4;4.99], [8;15]     |
    """

    dates: bool = False
    items: bool = False
    numbers: bool = False
    hides_items: bool = False

    def anonymize(self, original: History, *, seed: int) -> GeneralizedHistory:
        """Write the rows in their order."""
        frame = original.frame
        customers = pl.Series("customer", original.customers)
        names = pl.Series(generator(seed, "pseudonyms").permutation(len(customers)) + 1).cast(pl.String)
        cells = replace(
            GeneralizedHistory.of(original, name="A"),
            customer=frame["customer"].replace_strict(customers, names, return_dtype=pl.String),
        )
        if self.dates:
            cells = replace(cells, date=_ranges(frame["date"].dt.month_start(), frame["date"].dt.month_end()))
        if self.items:
            cells = replace(cells, item=_neighbors(frame["item"]))
        if self.hides_items:
            cells = replace(cells, item=SetCells.of(pl.repeat(None, frame.height, dtype=pl.String, eager=True)))
        if self.numbers:
            whole = frame["price"].floor()
            cells = replace(
                cells,
                # Nothing costs 0.
                price=_ranges(whole.clip(lower_bound=CENT), (whole + CENTS).round(2)),
                quantity=_doublings(frame["quantity"]),
            )
        return cells


def _ranges(low: pl.Series, high: pl.Series) -> RangeCells:
    kind = pl.repeat(Kind.RANGE.value, len(low), dtype=pl.UInt8, eager=True)
    return RangeCells(kind.alias("kind"), low.alias("low"), high.alias("high"))


def _doublings(quantity: pl.Series) -> RangeCells:
    """Return the range of each quantity from one power of two to the next: 1, 2–3, 4–7, …; 0 is alone."""
    # Exact, where a logarithm may fall a hair short of a whole number.
    exponent = np.frexp(quantity.to_numpy().astype(np.float64))[1].astype(np.int64)
    low = np.where(exponent > 0, 2 ** np.maximum(exponent - 1, 0), 0)
    high = np.minimum(np.where(exponent > 0, 2 * low - 1, 0), 999_999)
    return _ranges(pl.Series(low), pl.Series(high))


def _neighbors(item: pl.Series) -> SetCells:
    """Return each item with its neighbors in alphabetical order, always the same set for the same item."""
    items = item.unique().sort()
    sets = pl.DataFrame({"item": items, "number": np.arange(len(items)) // ITEMS_A_SET}).with_columns(
        members=pl.col("item").implode().over("number", mapping_strategy="join")
    )
    members = item.to_frame("item").join(sets, on="item", how="left", maintain_order="left")["members"]
    kind = pl.repeat(Kind.SET.value, len(item), dtype=pl.UInt8, eager=True)
    return SetCells(kind.alias("kind"), members)


COARSE: Mapping[str, CoarseCells] = {
    "pseudonyms": CoarseCells(),
    "months": CoarseCells(dates=True),
    "no-items": CoarseCells(dates=True, hides_items=True),
    "coarse": CoarseCells(dates=True, items=True, numbers=True),
}
GROUPED: Mapping[str, Generalize] = {f"generalize-{k}": Generalize(k=k, ranges="tight") for k in (2, 3, 4, 5)}
BLIND = "blind"
# Weakest first.
ATTACKS = (BLIND, "sum-of-quantities", "items-in-common", "generalized")


@dataclass(frozen=True)
class Pwscup2018(Edition):
    """Generalize a year of purchases row by row; attackers know all of it.

    A release is scored by the mean error of its cells, U. It is unsafe if some attack has more pseudonyms right than
    luck explains, and then comes after all others.
    """

    ANONYMIZERS = (*COARSE, *GROUPED)
    ATTACKS = ATTACKS

    n_customers: int = field(default=1_000, metadata={"help": "Customers to sample or make up."})

    def __post_init__(self) -> None:
        if self.n_customers < 1:
            raise InputError.of("at least 1 customer", option="n_customers", value=self.n_customers)

    @property
    def terms(self) -> ContestTerms:
        """What the edition says of itself."""
        return ContestTerms(
            title="PWSCUP 2018",
            title_ja="PWSCUP 2018（匿名加工・再識別コンテスト）",
            summary="Teams generalize one year of purchases, T, row by row: each cell stays, or becomes a set of "
            "items, a range or *, and always may stand for the true value; every customer gets one pseudonym. The rows "
            "kept are published sorted as text. Attackers know all of T and name the customers of as many pseudonyms "
            "as they dare. An attack proves a release unsafe when it has so many right that, were each right with a "
            "chance of at most 1/3, the odds of that would be under 0.01/20. Safe releases rank by the mean error of "
            "their cells, U, lower is better; unsafe ones come last.",
            summary_ja="1年分の購買履歴 T を行ごとに一般化する。各セルは真の値のまま、または真の値を含む商品集合・範囲"
            "・* に置き換え、顧客ごとに1つの仮名を付ける。残った行を文字列順に並べて公開する。攻撃者は T の全体を知り、"
            "任意個の仮名について顧客を推定する。各推定の正解確率が 1/3 以下なら 0.01/20 未満の確率でしか起こらない"
            "数の正解が得られたとき、その加工データは安全でないとする。安全なものをセルの平均誤差 U の小さい順に並べ、"
            "安全でないものは最下位とする。",
            data_files=(
                FileRole(
                    "T",
                    "purchases: customer, date, item, price, quantity",
                    "購買履歴（顧客ID、日付、商品ID、単価、数量）",
                ),
            ),
            release_files=(
                FileRole("A", "the generalized T, row by row in its order", "加工データ A（T と同じ行順）"),
            ),
            published_files=(
                FileRole("A_published", "A′: the rows kept, sorted as text", "A′：残った行を文字列順に並べたもの"),
            ),
            truth_files=(FileRole("F", "the customer of each pseudonym", "各仮名の顧客（正解）"),),
            guess_files=(
                FileRole("Fh", "F′: the guessed customer of some pseudonyms", "F′（任意個の仮名についての顧客の推定）"),
            ),
            knowledge_files={"": ()},
            release_rules=RELEASE_RULES,
            guess_rules=GUESS_RULES,
            measures=MEASURES,
            # The level of the test is shared among twenty attacks on a release: one of each team expected.
            n_guesses_allowed=1,
        )

    def make_data(self, folder: Path, *, seed: int, source: Path | None = None) -> None:
        """Write T: sampled from the source, or made up where none is given."""
        history = sample_purchases(source, self.n_customers, seed=seed)
        files.write_history(history, folder / "T.csv")

    def check(self, data: Files, release: Files) -> None:
        """Raise one InputError with every fault of A."""
        check_release(read_once(data, _read_original), release["A"])

    def score(self, data: Files, knowledge: Files, release: Files) -> ReleaseScore:
        """Score A by U; whether it is safe only attacks can tell."""
        loss = measure_generalized_error(read_once(data, _read_original), files.read_release(release["A"]))
        return ReleaseScore({"utility": loss.value}, loss.value)

    def publish(self, data: Files, release: Files, folder: Path, truth_folder: Path, *, seed: int) -> None:
        """Write A′, whose order follows from what the rows say, and F apart from it."""
        original = read_once(data, _read_original)
        released = files.read_release(release["A"])
        truth = pl.DataFrame({"pseudonym": released.customer, "customer": original.frame["customer"]})
        files.write_published(released, folder / "A_published.csv")
        files.write_guess(truth.filter(~released.is_deleted).unique().sort(pl.all()), truth_folder / "F.csv")

    def check_guess(self, data: Files, published: Files, guess: Files) -> None:
        """Raise one InputError with every fault of F′."""
        seen = files.read_published(published["A_published"])
        check_guess(read_once(data, _read_original), seen, guess["Fh"])

    def judge(self, data: Files, published: Files, truth: Files, guess: Files) -> GuessScore:
        """Return the share of right guesses, and whether they prove the release unsafe."""
        verdict = judge_guesses(files.read_guess(guess["Fh"]), files.read_guess(truth["F"]))
        details = {"guesses": verdict.n_guesses, "right": verdict.n_right, "needed": verdict.n_needed}
        return GuessScore(verdict.n_right / max(1, verdict.n_guesses), details, verdict.is_unsafe)

    def rank(self, entries: Sequence[TeamEntry]) -> list[Standing]:
        """Order the safe releases by U; the unsafe ones share the last place."""
        lines = []
        for entry in entries:
            # A team knows its own truth, so what it finds in its own release proves nothing.
            others = [attempt for attempt in entry.attempts if attempt.attacker != entry.team]
            proven_by = sorted({attempt.attacker for attempt in others if attempt.score.is_proof})
            best = max((attempt.score.success for attempt in others), default=0.0)
            lines.append(
                Standing(
                    place=0,
                    team=entry.team,
                    value=None if proven_by else entry.release.utility,
                    utility=entry.release.utility,
                    safety=float(bool(proven_by)),
                    numbers={"attacks": len(others), "best share right": best},
                    reason=f"proven unsafe by {', '.join(proven_by)}" if proven_by else "",
                    proven_by=tuple(proven_by),
                )
            )
        return place_teams(lines)

    def anonymize(self, name: str, data: Files, folder: Path, *, seed: int) -> None:
        """Write A as a built-in anonymizer makes it."""
        if name not in (*COARSE, *GROUPED):
            raise UnknownPart("anonymizer", name, self.anonymizers())
        original = read_once(data, _read_original)
        if name in COARSE:
            cells = COARSE[name].anonymize(original, seed=seed)
        else:
            cells = cells_of(GROUPED[name].anonymize(original, seed=seed).frame, "A")
        files.write_release(cells, folder / "A.csv")

    def attack(self, name: str, data: Files, knowledge: Files, published: Files, folder: Path, *, seed: int) -> None:
        """Write F′ as a built-in attack guesses it."""
        if name not in ATTACKS:
            raise UnknownPart("attack", name, ATTACKS)
        original = read_once(data, _read_original)
        seen = files.read_published(published["A_published"])
        if name == BLIND:
            guesses = _guess_blindly(original, seen, seed)
        else:
            guesses = GENERALIZED_ATTACKS[name]().guess(original, seen)
        files.write_guess(guesses.select("pseudonym", "customer"), folder / "Fh.csv")


def _read_original(data: Files) -> History:
    return files.read_history(data["T"])


def _guess_blindly(original: History, published: GeneralizedHistory, seed: int) -> pl.DataFrame:
    """Assign each pseudonym a random customer, no customer twice."""
    pseudonyms = published.customer.unique().sort()
    drawn = generator(seed, "attack", BLIND).permutation(len(original.customers))[: len(pseudonyms)]
    customers = pl.Series("customer", original.customers).gather(drawn)
    return pl.DataFrame({"pseudonym": pseudonyms, "customer": customers})
