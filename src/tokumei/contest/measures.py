"""What the numbers of a contest's scores say.

That is one sentence for each measure and attack, in both languages, with what 0 and 1 mean. Editions call their
numbers by names of their own, such as E1; what a number says belongs to the part that gives it. A part of another
package, which nothing is said of here, is explained by the first line of its docstring.
"""

from __future__ import annotations

from collections.abc import Mapping

from tokumei.contest.edition import AttackRule, Measure

Said = tuple[str, str]

LOSSES: Mapping[str, Said] = {
    # Of purchase histories.
    "item-cf": (
        "How far the similarities of items moved that a shop recommends by: 0 if they are the same, 1 if lost.",
        "推薦に使う商品間類似度のずれ。0 は同じ、1 はすべて失われた状態。",
    ),
    "item-cf-supply": (
        "How far the similarities of items moved that a wholesaler recommends by: 0 if they are the same, 1 if lost.",
        "卸売業者の推薦に使う商品間類似度のずれ。0 は同じ、1 はすべて失われた状態。",
    ),
    "item-cf-retail": (
        "How far the similarities of items moved that a retailer recommends by: 0 if they are the same, 1 if lost.",
        "小売業者の推薦に使う商品間類似度のずれ。0 は同じ、1 はすべて失われた状態。",
    ),
    "top-items": (
        "Share of the most bought items that are no longer among the most bought: 0 if none, 1 if all.",
        "売れ筋商品のうち、加工後に売れ筋でなくなったものの割合。0 は皆無、1 はすべて。",
    ),
    "item-cf-top": (
        "How far the similarities among the most bought items moved: 0 if they are the same, 1 if lost.",
        "売れ筋商品どうしの類似度のずれ。0 は同じ、1 はすべて失われた状態。",
    ),
    "item-item": (
        "How far the similarities of items moved in a use case of 2018: 0 if they are the same, 1 if lost.",
        "2018年のユースケースにおける商品間類似度のずれ。0 は同じ、1 はすべて失われた状態。",
    ),
    "date": (
        "Mean days by which purchases were moved, as a share of a month: 0 if none was, 1 if all by a month.",
        "購入日の平均のずれ（1か月に対する割合）。0 は変更なし、1 は1か月分のずれ。",
    ),
    "price": (
        "Mean relative change of prices: 0 if none was changed, 1 if all were changed beyond bounds.",
        "単価の平均相対変化。0 は変更なし、1 はすべてが限度を超えて変化した状態。",
    ),
    "rows": ("Share of rows that were deleted: 0 if none, 1 if all.", "削除した行の割合。0 は削除なし、1 は全行削除。"),
    "frequent-itemsets": (
        "Share of the sets of items often bought together that were lost: 0 if none, 1 if all.",
        "よく一緒に買われる商品の組のうち失われた割合。0 は皆無、1 はすべて。",
    ),
    "rfm-table": (
        "Error of the customer counts by recency, frequency and money: 0 if the same, 1 if no segment is shared.",
        "RFM（最終購入日・頻度・金額）別顧客数の誤差。0 は同じ、1 は一致する区分がない状態。",
    ),
    "crosstab": (
        "Error of the mean unit price by decade of birth and country: 0 if the same; it has no upper end.",
        "生年代・国別の平均単価の誤差。0 は同じ。上限はない。",
    ),
    "association-rules": (
        "Error of support, confidence and lift of the best rules of joint purchases: 0 if the same, 1 if lost.",
        "併売の相関ルール（支持度・確信度・リフト）の誤差。0 は同じ、1 はすべて失われた状態。",
    ),
    "buyers": (
        "Error of the buyers of items by sex and age: 0 if the same, 1 if none is in its place.",
        "商品ごとの購入者の性別・年代構成の誤差。0 は同じ、1 はすべて食い違う状態。",
    ),
    "statistic": (
        "Absolute error of a statistic of a column: 0 if the same; it has no upper end.",
        "列の統計量の絶対誤差。0 は同じ。上限はない。",
    ),
    # Of tables.
    "mean-mae": (
        "Error of the means of sensitive columns: 0 if none moved, 1 if all moved by a standard deviation.",
        "数値属性の平均値の誤差。0 は変化なし、1 はすべてが標準偏差1つ分動いた状態。",
    ),
    "cross-mean": (
        "Error of cross-tabulated means: 0 if every cell keeps its means, 1 if all are far off or empty.",
        "クロス集計した平均値の誤差。0 は全セルが同じ、1 はすべて外れたか空になった状態。",
    ),
    "cross-count": (
        "Error of cross-tabulated counts: 0 if every count is the same, 1 if no cell has rows in both.",
        "クロス集計した度数の誤差。0 は全セルが同じ、1 は共通するセルがない状態。",
    ),
    "correlation-mae": (
        "Error of the correlations of sensitive columns: 0 if all are the same, 1 if all are turned round.",
        "数値属性間の相関係数の誤差。0 は同じ、1 はすべて逆転した状態。",
    ),
    "statistics": (
        "Shift of mean, variance, median and ends of columns of numbers: 0 if none moved, 1 if all moved far.",
        "数値列の平均・分散・中央値・最小・最大のずれ。0 は変化なし、1 はすべて大きくずれた状態。",
    ),
    "crosstab-error": (
        "Share of rows in the wrong cell of two-way tables, labels spread over their values: 0 if none, 1 if all.",
        "2列のクロス集計で別のセルに入る行の割合（ラベルは値に等分）。0 は皆無、1 はすべて。",
    ),
    "correlation-error": (
        "Error of the correlations of all columns of numbers: 0 if all are the same, 1 if all are turned round.",
        "すべての数値列間の相関係数の誤差。0 は同じ、1 はすべて逆転した状態。",
    ),
    "model": (
        "How much worse a classifier is that learned from the release: 0 if as good as from the original, 1 if lost.",
        "加工データで学習した分類器の性能低下。0 は元データと同等、1 はすべて失われた状態。",
    ),
    "information-loss": (
        "Mean change of the cells, row by row: 0 if no cell was changed, 1 if every one is far off.",
        "行ごとに比べたセルの平均変化量。0 は変更なし、1 はすべてが大きく外れた状態。",
    ),
    "row-count": (
        "Share of rows that are gone: 0 if all are released, 1 if none is.",
        "失われた行の割合。0 は全行を公開、1 は1行も残らない状態。",
    ),
    "aya": (
        "About the share of declared row numbers that are false: 0 if all look true, 1 if chance is as near.",
        "申告された行番号のうち虚偽とみられる割合の目安。0 はすべて正しく見え、1 は無作為と変わらない状態。",
    ),
}

ATTACKS: Mapping[str, Said] = {
    # On purchase histories; s1 to s6 are the contest's own.
    "s1": ("Looks for the same quantity on the same day", "同じ日に同じ数量を買った仮名を探す攻撃"),
    "s2": ("Looks for an item of the same kind at the same price", "同じ種類の商品を同じ単価で買った仮名を探す攻撃"),
    "s3": ("Looks for an item of the same kind in the same quantity", "同じ種類の商品を同じ数量買った仮名を探す攻撃"),
    "s4": ("Looks for an item of the same kind on the same day", "同じ種類の商品を同じ日に買った仮名を探す攻撃"),
    "s5": (
        "Looks for an item of the same kind at the same price in the same quantity",
        "同じ種類の商品を同じ単価・同じ数量で買った仮名を探す攻撃",
    ),
    "s6": (
        "Looks for an item of the same kind on the same day in the same quantity",
        "同じ種類の商品を同じ日に同じ数量買った仮名を探す攻撃",
    ),
    "same-day": ("Looks for purchases on the same day", "同じ日の購買を探す攻撃"),
    "same-item": ("Looks for the same item in whatever month", "月を問わず同じ商品の購買を探す攻撃"),
    "same-month-and-item": ("Looks for the same item in the same month", "同じ月の同じ商品の購買を探す攻撃"),
    "exact-match": ("Looks for rows that agree on some fields", "いくつかの項目が一致する行を探す攻撃"),
    "jaccard": ("Compares the sets of items that were bought", "購入した商品の集合を比べる攻撃"),
    "tfidf": ("Compares the items bought, rare ones above all", "まれな商品を重く見て購入商品を比べる攻撃"),
    "linkage": (
        "Weighs everything that still agrees, month by month",
        "残っている一致をすべて重み付けして照合する攻撃",
    ),
    "row-counts": ("Compares the numbers of rows in each month", "月ごとの行数だけを比べる攻撃"),
    # On tables.
    "id-rand": ("Draws among the rows with the same quasi-identifiers", "準識別子が同じ行から無作為に選ぶ攻撃"),
    "id-sa": (
        "Takes the nearest amount among the rows with the same quasi-identifiers",
        "準識別子が同じ行のうち数値属性が最も近い行を選ぶ攻撃",
    ),
    "sort": ("Sorts both tables by the sum of amounts", "数値属性の合計で両方の表を並べて対応させる攻撃"),
    "sa21": ("Takes the row that is nearest in one amount", "1つの数値属性が最も近い行を選ぶ攻撃"),
    # On customers with their purchases.
    "same-fields": (
        "Looks for rows with the same date, item, price and quantity",
        "日付・商品・単価・数量が同じ行を探す攻撃",
    ),
    "master": ("Looks for customers of the same sex, birth date and country", "性別・生年月日・国が同じ顧客を探す攻撃"),
}


def loss_measure(name: str, part: str, docstring: str | None = None) -> Measure:
    """Explain a loss of use by the part that it is."""
    english, japanese = LOSSES.get(part) or _first_line(docstring)
    return Measure(name, english, japanese)


def attack_measure(name: str, part: str, docstring: str | None = None) -> Measure:
    """Explain the success of a built-in attack by the part that it is."""
    if part not in ATTACKS:
        return Measure(name, *_first_line(docstring))
    english, japanese = ATTACKS[part]
    return Measure(
        name, f"{english}: 0 if it finds nobody, 1 if everybody.", f"{japanese}。0 は発見なし、1 は全員発見。"
    )


def _first_line(docstring: str | None) -> Said:
    said = (docstring or "").strip().partition("\n")[0]
    return said, said


ROWS_FOUND = Measure(
    "row",
    "Share of the published rows whose original row was named: 0 if none, 1 if all.",
    "元の行を言い当てた公開行の割合。0 は皆無、1 は全行。",
    title="rows found",
    title_ja="特定した行",
)
CUSTOMERS_FOUND = Measure(
    "row",
    "Share of the customers whose pseudonyms are right in every month: 0 if none, 1 if all.",
    "全月の仮名を正しく推定した顧客の割合。0 は皆無、1 は全員。",
    title="customers found in every month",
    title_ja="全月で特定した顧客",
)
TRANSACTIONS_FOUND = Measure(
    "transaction",
    "Share of the published rows whose customer is named: 0 if none, 1 if all. Of n customers who are given one "
    "pseudonym in a month, each counts as named for one n-th of its rows.",
    "公開された行のうち、顧客を言い当てたものの割合。0 は皆無、1 はすべて。同じ月の同じ仮名に n 人の顧客を"
    "推定したときは、各顧客にその行の n 分の 1 ずつを数える。",
    title="published rows found",
    title_ja="特定した公開行",
)
MONTHS_FOUND = Measure(
    "month",
    "Share of the months in which customers have a pseudonym that are right: 0 if none, 1 if all.",
    "顧客に仮名がある月のうち仮名が正しいものの割合。0 は皆無、1 はすべて。",
    title="single months found",
    title_ja="特定した月",
)
BASELINE = Measure(
    "baseline",
    "What guessing blindly would score: a success near it, be it 0 or 1, tells nothing of the release.",
    "当てずっぽうの成功率。これに近い成功率からは、加工データの安全性について何も言えない。",
)
INTERVAL = Measure(
    "interval",
    "Where the success lies with 95 % confidence, between 0 for nobody and 1 for everybody.",
    "成功率の95%信頼区間。0 は皆無、1 はすべて。",
)
SAMPLES_FOUND = Measure(
    "sample attacks",
    "The best built-in attack, averaged over the levels of knowledge: 0 if it finds nobody, 1 if everybody.",
    "組み込みの攻撃のうち最良のもの（知識レベルの平均）。0 は発見なし、1 は全員発見。",
)
CELLS_FOUND = Measure(
    "cell",
    "Share of all cells of F, one for each customer and month, in which the right pseudonym was named: 0 if in none. A "
    "month without purchases has no pseudonym and counts against it, so that even who finds everybody stays below 1.",
    "F の全セル（顧客×月）のうち仮名を正しく推定した割合。0 は皆無。購入のない月には仮名がなく正解に数えないため、"
    "全員を特定しても 1 に届かないことがある。",
    title="share of all cells of F",
    title_ja="F の全セルに占める割合",
)


def submitted_attacks(rule: AttackRule, name: str = "submitted attacks") -> Measure:
    """Explain what guesses of other teams come to, in the words of the rule."""
    whole = " at every level" if len(rule.levels) > 1 else ""
    whole_ja = "全レベルで" if len(rule.levels) > 1 else ""
    return Measure(
        name,
        f"Of the guesses of other teams, {rule.says}: 0 if nobody is found, 1 if everybody is{whole}.",
        f"他チームの推定。{rule.says_ja}。0 は発見なし、1 は{whole_ja}全員発見。",
        title="teams' attacks",
        title_ja="他チームの攻撃",
    )
