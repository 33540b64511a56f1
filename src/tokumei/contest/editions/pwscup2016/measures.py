"""What the numbers of PWSCUP 2016 say."""

from __future__ import annotations

from tokumei.contest.edition import Measure
from tokumei.contest.measures import BASELINE, INTERVAL, attack_measure, loss_measure

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
