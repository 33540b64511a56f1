"""What the numbers of PWSCUP 2018 say."""

from __future__ import annotations

from tokumei.contest.edition import Measure

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
