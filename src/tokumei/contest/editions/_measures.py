"""What the numbers of each edition's scores and scoreboard say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tokumei.contest.edition import Measure
from tokumei.contest.measures import (
    BASELINE,
    CUSTOMERS_FOUND,
    INTERVAL,
    MONTHS_FOUND,
    ROWS_FOUND,
    SAMPLES_FOUND,
    SUBMITTED_ATTACKS,
    attack_measure,
    loss_measure,
)

CLASS_SIZE_MEASURES = (
    Measure(
        "S1",
        "Rows in the smallest class of equal quasi-identifiers, k: 1 if somebody is unique; more is better.",
        "準識別子が同じ行のまとまりの最小行数(k)。1 は唯一の行がある状態で、大きいほどよい。",
    ),
    Measure(
        "S2",
        "Mean rows in a class of equal quasi-identifiers: 1 if everybody is unique; more is better.",
        "準識別子が同じ行のまとまりの平均行数。1 は全行が唯一の状態で、大きいほどよい。",
    ),
)

MEASURES_2016 = (
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
        "(U + E) / 2: 0 if no use is lost and no row is found, 1 if all is lost and every row found.",
        "(U + E) / 2。0 は有用性の損失も再識別もない状態、1 は有用性をすべて失い全行が再識別された状態。",
    ),
    Measure(
        "mean_price_error",
        "The error of the mean unit prices in the currency of the data: 0 if the same; it has no upper end.",
        "平均単価の誤差(データの通貨単位)。0 は同じ。上限はない。",
    ),
    Measure(
        "contradicted",
        "Share of the rows looked at whose row number disagrees with the data: 0 if none, 1 if all.",
        "調べた行のうち行番号がデータと食い違うものの割合。0 は皆無、1 はすべて。",
    ),
    Measure(
        "random",
        "Estimated share of row numbers given at random: 0 if none, 1 if all.",
        "無作為に付けられた行番号の推定割合。0 は皆無、1 はすべて。",
    ),
    BASELINE,
    INTERVAL,
)

MEASURES_2018 = (
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
    ),
    Measure(
        "best share right",
        "The best share of right guesses of another team: 0 if none was right, 1 if all.",
        "他チームの推定のうち最も高い正解率。0 は全問不正解、1 は全問正解。",
    ),
)


def measures_2015(utilities: Mapping[str, str], attacks: Mapping[str, str]) -> Sequence[Measure]:
    """Explain the thirteen indices by the parts that they are, and what guesses are judged by."""
    losses = [loss_measure(name, part) for name, part in utilities.items()]
    tried = [attack_measure(name, part) for name, part in attacks.items()]
    detection = loss_measure("E5", "aya")
    submitted = replace(SUBMITTED_ATTACKS, name="attacks")
    found = (ROWS_FOUND, BASELINE, INTERVAL, submitted)
    return (*losses, *CLASS_SIZE_MEASURES, *tried, detection, *found)


def measures_2017(
    utilities: Mapping[str, Sequence[str]], attacks: Iterable[str], weights: tuple[float, float]
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
    found = (CUSTOMERS_FOUND, MONTHS_FOUND, BASELINE, INTERVAL)
    named = sorted([*losses, both], key=lambda measure: measure.name)
    return (*named, *tried, total, *found, SAMPLES_FOUND, SUBMITTED_ATTACKS)
