"""PWSCUP 2016: customers and a year of their purchases; attackers who know all of it look for the customers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import polars as pl

from tokumei.attacks.nearest_rows import judge_rows
from tokumei.contest.checks import read_raw_retail
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
    chosen_part,
    read_once,
)
from tokumei.contest.editions.pwscup2016.files import (
    GUESS_RULES,
    RELEASE_RULES,
    Originals,
    check_guess,
    check_release,
    read_guess,
    read_permutation,
    read_released_history,
    read_released_master,
    write_guess,
    write_history,
    write_master,
    write_permutation,
    write_released_history,
    write_released_master,
)
from tokumei.contest.editions.pwscup2016.players import ANONYMIZERS, ATTACKS, AttackerView, profiles_of
from tokumei.contest.measures import BASELINE, INTERVAL, attack_measure, loss_measure
from tokumei.contest.season import place_teams
from tokumei.contest.yamaoka import detect_yamaoka
from tokumei.core.errors import InputError, UnknownPart
from tokumei.core.progress import step
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.data.history import History
from tokumei.data.history import read_history as read_any_history
from tokumei.data.made_retail import make_master, make_retail
from tokumei.data.online_retail import to_history, with_smallest_customers
from tokumei.measures.utility.customers import Crosstab, RfmTable
from tokumei.measures.utility.itemsets import FrequentItemsets

MEASURES = (
    loss_measure("frequent-itemsets", "frequent-itemsets"),
    loss_measure("rfm-table", "rfm-table"),
    Measure(
        "crosstab",
        "Error of the mean unit price by decade of birth and country: 0 if the same, 1 if every price was lost.",
        "生年代・国別の平均単価の誤差。0 は同じ、1 は単価がすべて失われた状態。",
    ),
    *(attack_measure(name, name) for name in ("same-fields", "master", "jaccard", "linkage")),
    Measure(
        "total",
        "(U + E) / 2: 0 if no use is lost and nobody is found, 1 if all is lost and everybody found.",
        "(U + E) / 2。0 は有用性の損失も再識別もない状態、1 は有用性をすべて失い全員が再識別された状態。",
    ),
    Measure(
        "mean_price_error",
        "The error of the mean unit prices in the currency of the data: 0 if the same; it has no upper end.",
        "平均単価の誤差（データの通貨単位）。0 は同じ。上限はない。",
    ),
    Measure(
        "contradicted",
        "Share of the customers looked at whose number in P disagrees with the data: 0 if none, 1 if all.",
        "調べた顧客のうち P の番号がデータと食い違うものの割合。0 は皆無、1 はすべて。",
    ),
    Measure(
        "random",
        "Estimated share of the numbers in P given at random: 0 if none, 1 if all.",
        "P のうち無作為に付けられた番号の推定割合。0 は皆無、1 はすべて。",
    ),
    BASELINE,
    INTERVAL,
)


# What the papers tell of the contest's set: 38,087 rows of 400 customers.
N_CUSTOMERS, N_ROWS = 400, 38_087
# An itemset is frequent in this share of the invoices, and in no fewer than these.
LEAST_SUPPORT, LEAST_INVOICES = 0.01, 3
# A guess must name a customer even where an attack has found none.
NO_IDEA = 0

DATA = (
    FileRole("M", "the customers: id, sex, birth date, country", "顧客データ：顧客ID、性別、生年月日、国"),
    FileRole(
        "T",
        "the purchases: customer, invoice, date, time, item, price, quantity",
        "購買履歴：顧客ID、伝票ID、購入日、購入時刻、商品ID、単価、数量",
    ),
)
RELEASED = (
    FileRole("M_release", "M′: the customers under pseudonyms", "M′：仮名にした顧客データ"),
    FileRole("T_release", "T′: the purchases under pseudonyms", "T′：仮名にした購買履歴"),
)
PERMUTATION = FileRole("P", "which row of M each row of M_release came from", "M_release の各行の元となった M の行番号")
GUESS = FileRole("Q", "a guess of P", "P の推定")


@dataclass(frozen=True)
class Pwscup2016(Edition):
    """Anonymize customers and purchases; attackers who know both name the customer behind each released one.

    A release is M′, T′ and P, a permutation of the customers: for each row of M′ the row of M it came from. T′ names
    customers by the ids of M′. Attackers have M, T and what is published of M′ and T′, and return Q, which may name a
    customer several times; their success is the share of customers with Q = P. The papers print the parts of the score
    but not how they were joined. Here they are joined as in 2017: U is the worst of three losses, each from 0 to 1 (or
    their mean, by an option), E the best success of the built-in attacks and of all teams', and teams are ranked by
    (U + E) / 2.

    The losses are the share of frequent itemsets lost, those in 1 % of the real invoices and at least three; the error
    of the 10 × 10 × 10 RFM table; and the mean absolute error of the mean unit price by decade of birth and country,
    divided by the mean of those means, so that a release that lost every price has 1, and more counts as 1. Attacks see
    the release sorted by its cells, so that it has the same score in whatever order its rows stand.
    """

    ANONYMIZERS = ANONYMIZERS
    ATTACKS = ATTACKS

    n_customers: int = field(
        default=N_CUSTOMERS, metadata={"help": "Customers of the data: those with the smallest ids, or made up."}
    )
    combine: Literal["max", "mean"] = field(
        default="max", metadata={"help": "How the three losses make U: the worst of them, or their mean."}
    )
    flagged: Literal["last", "shown"] = field(
        default="last",
        metadata={"help": "Whether a release whose P looks false is ranked last, or in its place with a remark."},
    )

    @property
    def terms(self) -> ContestTerms:
        """What the edition says of itself."""
        joined, joined_ja = ("worst", "最大値") if self.combine == "max" else ("mean", "平均")
        return ContestTerms(
            title="PWSCUP 2016",
            title_ja="PWSCUP 2016",
            summary=(
                "Teams anonymize the customers M and their purchases T: they release both under pseudonyms, rows in "
                "any order, and hand in P, which tells the row of M behind each row of M_release. Attackers know M "
                f"and T in full and guess P. Teams are ranked by (U + E) / 2, lower is better: U is the {joined} of "
                "three losses of use, E the share of customers that the best attack finds."
            ),
            summary_ja=(
                "参加者は顧客データ M と購買履歴 T を仮名化・加工して提出し、あわせて加工後の各顧客の元の行番号 P を"
                "提出する。攻撃者は M と T の全体を知り、P を推定する（最大知識攻撃者）。順位は (U + E) / 2 の小さい順"
                f"とする。U は三つの有用性損失の{joined_ja}、E は最も成功した攻撃の再識別率である。"
            ),
            data_files=DATA,
            release_files=(*RELEASED, PERMUTATION),
            published_files=RELEASED,
            truth_files=(PERMUTATION,),
            guess_files=(GUESS,),
            knowledge_files={"": ()},
            release_rules=RELEASE_RULES,
            guess_rules=GUESS_RULES,
            measures=MEASURES,
        )

    def make_data(self, folder: Path, *, seed: int, source: Path | None = None) -> None:
        """Write M and T: the customers with the smallest ids of the source, or made-up ones.

        The source is UCI Online Retail, or any history with a header or in a contest's form. Sex and birth date, which
        no source has, are made up; so is the country where the source has none.
        """
        history, countries = self._make_history(seed) if source is None else self._read_source(source)
        customers = history.frame["customer"].unique().cast(pl.Int64).sort().cast(pl.String)
        master = make_master(customers, seed=seed)
        days = generator(seed, "pwscup2016", "births").integers(0, 3652, master.height)
        decade = pl.col("birth").str.to_date("%Y/%m/%d").cast(pl.Int32)
        master = master.with_columns(birth=(decade + pl.Series(days).cast(pl.Int32)).cast(pl.Date))
        if countries is not None:
            known = master.drop("country").join(countries, on="customer", how="left", maintain_order="left")
            master = known.select("customer", "sex", "birth", "country")
        write_master(master, folder / "M.csv")
        write_history(history, folder / "T.csv")

    def _make_history(self, seed: int) -> tuple[History, None]:
        n_rows = max(self.n_customers, N_ROWS * self.n_customers // N_CUSTOMERS)
        return History(make_retail(self.n_customers, n_rows=n_rows, seed=seed), "T"), None

    def _read_source(self, source: Path) -> tuple[History, pl.DataFrame | None]:
        rows = read_raw_retail(source)
        if rows is not None:
            # A few customers moved; the country they bought from most recently counts.
            countries = rows.select(customer="CustomerID", country="Country").unique("customer", keep="last")
            history = to_history(rows, name=str(source))
        else:
            history, countries = read_any_history(source), None
        if history.frame["invoice"].has_nulls() or history.frame["time"].has_nulls():
            raise InputError.of("a history with invoices and times", file=source)
        is_number = history.frame["customer"].str.contains(r"^[0-9]{1,9}$").fill_null(False)
        if not is_number.all():
            where = int((~is_number).arg_true()[0])
            found = history.frame["customer"][where]
            raise InputError.of(
                "customer ids of 1 to 9 digits", file=source, line=where + 1, column="customer", value=found
            )
        return with_smallest_customers(history, self.n_customers), countries

    def check(self, data: Files, release: Files) -> None:
        """Raise one InputError with every fault of M_release, T_release and P."""
        check_release(read_once(data, Originals.read), release)

    def score(self, data: Files, knowledge: Files, release: Files) -> ReleaseScore:
        """Measure the three losses, try the built-in attacks, and look whether P is a lie."""
        originals = read_once(data, Originals.read)
        master, history = read_released_master(release["M_release"]), read_released_history(release["T_release"])
        rows = read_permutation(release["P"])
        losses, price_error = _losses(originals, master, history)
        utility = max(losses.values()) if self.combine == "max" else sum(losses.values()) / len(losses)
        found = _attack_all(originals, master, history, rows)
        safety = max(found.values())
        profiles = profiles_of(originals.master, originals.history.frame), profiles_of(master, history.frame)
        verdict = detect_yamaoka(*profiles, rows)
        details = {
            "utility": losses,
            "safety": found,
            "total": (utility + safety) / 2,
            "mean_price_error": price_error,
            "row_map": {"contradicted": verdict.share, "random": verdict.random_share},
        }
        return ReleaseScore(details, utility, safety, verdict.evidence if verdict.is_flagged else ())

    def publish(self, data: Files, release: Files, folder: Path, truth_folder: Path, *, seed: int) -> None:
        """Write M′ and T′, each in an order drawn anew, and apart from them P in the order of M′."""
        master, history = read_released_master(release["M_release"]), read_released_history(release["T_release"])
        lines, rows = (
            generator(seed, "publish", what).permutation(frame.height)
            for what, frame in (("customers", master), ("rows", history.frame))
        )
        write_released_master(master[lines], folder / "M_release.csv")
        write_released_history(History(history.frame[rows]), folder / "T_release.csv")
        write_permutation(read_permutation(release["P"])[lines], truth_folder / "P.csv")

    def check_guess(self, data: Files, published: Files, guess: Files) -> None:
        """Raise one InputError with every fault of Q."""
        check_guess(read_once(data, Originals.read), guess["Q"])

    def judge(self, data: Files, published: Files, truth: Files, guess: Files) -> GuessScore:
        """Return the share of customers with Q = P."""
        rows = read_permutation(truth["P"])
        score = judge_rows(read_guess(guess["Q"]), rows, len(rows))
        return GuessScore(score.value, {"interval": list(score.interval or ()), "baseline": score.baseline})

    def rank(self, entries: Sequence[TeamEntry]) -> list[Standing]:
        """Order the teams by (U + E) / 2, lower is better; equals share a place.

        A release whose P looks false is not ranked and comes last, unless the option says to show it only.
        """
        lines = []
        for entry in entries:
            best = max([entry.release.safety or 0.0, *(attempt.score.success for attempt in entry.attempts)])
            is_ranked = not entry.release.flags or self.flagged == "shown"
            value = (entry.release.utility + best) / 2 if is_ranked else None
            losses = {name: float(loss) for name, loss in entry.release.details["utility"].items()}
            reason = "P contradicts the data." if entry.release.flags else ""
            lines.append(Standing(0, entry.team, value, entry.release.utility, best, losses, reason))
        return place_teams(lines)

    def anonymize(self, name: str, data: Files, folder: Path, *, seed: int) -> None:
        """Write M_release, T_release and P."""
        play = chosen_part("anonymizer of PWSCUP 2016", name, ANONYMIZERS)
        originals = read_once(data, Originals.read)
        draft = play(originals.master, originals.history.frame, seed)
        order = generator(seed, "rows").permutation(draft.history.height)
        write_released_master(draft.master, folder / "M_release.csv")
        write_released_history(History(draft.history[order]), folder / "T_release.csv")
        write_permutation(pl.Series("row", draft.rows + 1), folder / "P.csv")

    def attack(self, name: str, data: Files, knowledge: Files, published: Files, folder: Path, *, seed: int) -> None:
        """Write Q."""
        if name not in ATTACKS:
            raise UnknownPart("attack of PWSCUP 2016", name, ATTACKS)
        originals = read_once(data, Originals.read)
        master = read_released_master(published["M_release"])
        history = read_released_history(published["T_release"])
        seen = AttackerView(originals.master, originals.history.frame, master, history.frame)
        write_guess(ATTACKS[name](seen).fill_null(NO_IDEA) + 1, folder / "Q.csv")


def _losses(originals: Originals, master: pl.DataFrame, released: History) -> tuple[dict[str, float], float]:
    """Measure the three losses, and the error of mean prices in the currency of the data."""
    original = originals.history
    crosstab = Crosstab(originals.master, master)
    with step("measuring", 3) as bar:
        # In a small set 1 % of the invoices is one of them, and then every set of items in it would be frequent.
        support = max(LEAST_SUPPORT, LEAST_INVOICES / original.frame["invoice"].n_unique())
        itemsets = FrequentItemsets(min(1.0, support)).measure(_by_invoice(original), _by_invoice(released))
        bar.advance()
        rfm = RfmTable().measure(original, released)
        bar.advance()
        error = crosstab.measure(original, released).value
        # A release without rows has a mean of 0 everywhere.
        worst = crosstab.measure(original, History(released.frame.clear())).value
        bar.advance()
    relative = min(1.0, error / worst) if worst else float(error > 0)
    losses: dict[str, Score | float] = {"frequent-itemsets": itemsets, "rfm-table": rfm, "crosstab": relative}
    return {name: loss.value if isinstance(loss, Score) else loss for name, loss in losses.items()}, error


def _by_invoice(history: History) -> History:
    """Return a history whose baskets are its invoices; the measure takes baskets by customer and day."""
    first = history.frame["date"].min()
    return History(history.frame.with_columns(customer="invoice", date=pl.lit(first, pl.Date)), history.name)


def _attack_all(originals: Originals, master: pl.DataFrame, history: History, rows: pl.Series) -> dict[str, float]:
    """Return the share of customers that each built-in attack finds."""
    order = master.with_row_index("at").sort(master.columns)["at"]
    # Rows that are alike in all but their customer's name stand as the customers do.
    seen = AttackerView(
        originals.master, originals.history.frame, master[order], history.frame.sort(history.frame.columns)
    )
    true = rows.gather(order) - 1
    found = {}
    with step("attacking", len(ATTACKS)) as bar:
        for name, attack in ATTACKS.items():
            found[name] = judge_rows(attack(seen), true, originals.n_customers).value
            bar.advance()
    return found
