"""What registered measures of use and attacks say: English title, English sentence, Japanese sentence and title.

The Japanese title is that of dossiers unless one is given.
"""

from __future__ import annotations

LOSSES: dict[str, tuple[str, ...]] = {
    "aya": (
        "False row numbers",
        "About the share of rows that are not where they are said to be.",
        "申告された行番号が誤っている行のおよその割合です。",
    ),
    "correlation-error": (
        "Change of correlations",
        "How far correlations of numbers moved; 0: not at all, 1: all turned round.",
        "数値の列どうしの相関がどれだけ変わったかです。0 なら変化なし、1 ならすべて逆転です。",
    ),
    "correlation-mae": (
        "Change of correlations of sensitive columns",
        "The same for sensitive columns alone.",
        "機微な列だけでの同じ値です。",
    ),
    "cross-count": (
        "Change of counts",
        "How far counts by two quasi-identifiers moved; 0: none, 1: no cell has rows in both.",
        "二つの準識別子によるクロス集計の件数の変化です。0 なら変化なし、1 なら重なりがありません。",
    ),
    "cross-mean": (
        "Change of means",
        "How far means of sensitive columns by two quasi-identifiers moved; 0: none, 1: all are off.",
        "二つの準識別子ごとの機微な列の平均の変化です。0 なら変化なし、1 ならすべて外れています。",
    ),
    "crosstab-error": (
        "Rows in a wrong cell",
        "The share of rows that lie in the wrong cell of two-way tables; 0: none, 1: all.",
        "二元表で誤ったセルに入る行の割合です。0 ならなし、1 ならすべてです。",
    ),
    "information-loss": (
        "Cells changed",
        "How far cells are from what they were, row by row; 0: unchanged, 1: all far off.",
        "セルが元の値からどれだけ離れたかです。0 なら変化なし、1 ならすべて大きく外れています。",
    ),
    "mean-mae": (
        "Shift of means",
        "How far means of sensitive columns moved, in standard deviations; 0: not at all.",
        "機微な列の平均が標準偏差の何倍動いたかです。0 なら変化なしです。",
    ),
    "model": (
        "Prediction lost",
        "How much worse a model predicts that learned from the release; 0: no worse, 1: it learned nothing.",
        "加工データで学習したモデルの予測がどれだけ悪くなるかです。0 なら同じ、1 なら何も学べません。",
    ),
    "row-count": (
        "Rows gone",
        "The share of rows that are not released.",
        "公開されない行の割合です。",
    ),
    "statistics": (
        "Shift of statistics",
        "How far mean, variance, median and ends of numbers moved; 0: not at all, 1: far.",
        "数値の列の平均・分散・中央値・両端がどれだけ動いたかです。0 なら変化なし、1 なら大きな変化です。",
    ),
    "association-rules": (
        "Change of rules",
        "How far the best rules of what is bought together moved; 0: not at all, 1: at worst.",
        "同時購買の主なルールがどれだけ変わったかです。0 なら変化なし、1 なら最悪です。",
    ),
    "buyers": (
        "Change of who buys",
        "How far the buyers of an item by sex and age moved; 0: the same, 1: no group is shared.",
        "商品ごとの性別・年齢別の購買者の変化です。0 なら同じ、1 なら重なりがありません。",
    ),
    "crosstab": (
        "Change of mean prices",
        "How far mean prices by decade of birth and country moved, in money.",
        "生年の年代と国ごとの平均単価の変化です（金額）。",
    ),
    "date": (
        "Days moved",
        "How far purchases were moved in time, as a share of a month.",
        "購買日が動いた日数の平均を、1 か月に対する割合で表したものです。",
    ),
    "frequent-itemsets": (
        "Sets of items lost",
        "The share of sets that are often bought together and no longer seen; 0: none, 1: all.",
        "よく一緒に買われる組のうち、見えなくなった割合です。0 ならなし、1 ならすべてです。",
    ),
    "item-cf": (
        "Recommendations lost",
        "How far likenesses of items moved, every purchase counting alike; 0: the same, 1: lost.",
        "すべての購買を同じように数えたときの商品どうしの類似の変化です。0 なら同じ、1 なら失われています。",
    ),
    "item-cf-retail": (
        "Recommendations lost (retail)",
        "How far likenesses of items moved as a retailer counts them; 0: the same, 1: lost.",
        "小売の数え方での商品どうしの類似の変化です。0 なら同じ、1 なら失われています。",
    ),
    "item-cf-supply": (
        "Recommendations lost (wholesale)",
        "How far likenesses of items moved as a wholesaler counts them; 0: the same, 1: lost.",
        "卸売の数え方での商品どうしの類似の変化です。0 なら同じ、1 なら失われています。",
    ),
    "item-cf-top": (
        "Recommendations lost (most bought)",
        "How far likenesses of the most bought items moved; 0: the same, 1: lost.",
        "売れ筋商品どうしの類似の変化です。0 なら同じ、1 なら失われています。",
    ),
    "item-item": (
        "Likenesses of items lost",
        "How far likenesses of items moved; 0: the same, 1: lost.",
        "商品どうしの類似の変化です。0 なら同じ、1 なら失われています。",
    ),
    "price": (
        "Change of prices",
        "By which part prices changed on average; 0: not at all.",
        "価格が平均してどれだけの割合で変わったかです。0 なら変化なしです。",
    ),
    "rfm-table": (
        "Change of customer segments",
        "How far counts of customers by recency, frequency and money moved; 0: the same, 1: none shared.",
        "最終購買日・頻度・金額ごとの顧客数の変化です。0 なら同じ、1 なら重なりがありません。",
    ),
    "rows": (
        "Rows deleted",
        "The share of purchases that are not released.",
        "公開されない購買の割合です。",
    ),
    "statistic": (
        "Shift of a statistic",
        "How far one statistic of a column moved, in its own unit.",
        "列の統計量がどれだけ動いたかです（列の単位）。",
    ),
    "top-items": (
        "Best sellers lost",
        "The share of the most bought items that are no longer among them; 0: none, 1: all.",
        "売れ筋商品のうち、上位に見えなくなった割合です。0 ならなし、1 ならすべてです。",
    ),
}
ATTACKS: dict[str, tuple[str, ...]] = {
    "record-linkage": (
        "record-linkage",
        "Links people to rows by what is known of them.",
        "知っている値をもとに、人と行を結び付けます。",
    ),
    "distance-linkage": (
        "distance-linkage",
        "Looks for the record most like each person, whatever was done to the values.",
        "値がどう変えられていても、各人に最も似た行を探します。",
    ),
    "singling-out": (
        "singling-out",
        "Looks for descriptions that fit one person alone.",
        "ただ一人だけに当てはまる条件を探します。",
    ),
    "linkability": (
        "linkability",
        "Tells whether two halves of what is known are of one person.",
        "別々に知られている二つの情報が同じ人のものかを見分けます。",
    ),
    "inference": (
        "inference",
        "Guesses the sensitive value by the records that are like the person.",
        "本人に似た行から、機微な値を推定します。",
    ),
    "membership": (
        "membership",
        "Tells who is in the data at all, by the strongest of seven attackers.",
        "七つの攻撃のうち最も強いものにより、データに含まれる人を当てます。",
    ),
    "homogeneity": (
        "homogeneity",
        "Learns the sensitive value where all rows that fit have the same.",
        "当てはまる行の機微な値がすべて同じとき、その値を知ります。",
    ),
    "downcoding": (
        "downcoding",
        "Reads from the labels alone which values must have stood there, and singles people out by them.",
        "ラベルだけから、元にあったはずの値を読み取り、それで個人を一人に絞り込みます。",
    ),
    "minimality": (
        "minimality",
        "Learns the sensitive value from knowing that the method would have made finer groups if it could.",
        "手法がより細かいグループを作れなかったことから、機微な値を推定します。",
    ),
    "reconstruction": (
        "reconstruction",
        "Works out rows from published counts, and proves groups of few people by integer programs.",
        "公表された集計値から元の行を推定し、整数計画により少人数のグループの存在を証明します。",
    ),
    "refine": (
        "refine",
        "Proves by linear programs how many rows of each class have which values.",
        "線形計画により、各クラスで各値を持つ行が何行あるかの範囲を証明します。",
    ),
    "background-knowledge": (
        "background-knowledge",
        "Learns the sensitive value by ruling out what it is known not to be.",
        "ありえないと分かっている値を除いて、機微な値を知ります。",
    ),
    "linked-rows": (
        "linked-rows",
        "Finds all rows of a person by a few of them, where a released column is the same in all.",
        "同じ人の行で値が変わらない列を手がかりに、数行の知識からその人のすべての行を見つけます。",
    ),
    "presence": (
        "presence",
        "Tells who of a population is in the file.",
        "母集団の誰がデータにいるかを当てます。",
    ),
    "population-linkage": (
        "population-linkage",
        "Looks a released record up in a list of everybody who might be in the file.",
        "データに含まれうる人の一覧から、各行が誰のものかを探します。",
    ),
    "intersection": (
        "intersection",
        "Holds several releases of the same people together.",
        "同じ人々の複数の加工データを突き合わせます。",
    ),
    "tfidf": (
        "tfidf",
        "Compares what each customer bought, rare things counting more.",
        "顧客ごとの購買を、珍しいものほど重く見て比べます。",
    ),
    "jaccard": (
        "jaccard",
        "Compares the sets of what each customer bought.",
        "顧客ごとに買った物の集合を比べます。",
    ),
    "exact-match": (
        "exact-match",
        "Looks for rows that are the same.",
        "同じ内容の行を探します。",
    ),
    "row-counts": (
        "row-counts",
        "Compares how often customers bought.",
        "顧客が何回買ったかを比べます。",
    ),
    "linkage": (
        "linkage",
        "Weighs all columns together and assigns everybody at once.",
        "すべての列を合わせて重み付けし、全員を一度に対応させます。",
    ),
    "s1": ("s1", "Same quantity on the same day.", "同じ日・同じ数量の行を探します。", "S1"),
    "s2": ("s2", "Same kind of item at the same price.", "同じ種類・同じ価格の行を探します。", "S2"),
    "s3": ("s3", "Same kind of item in the same quantity.", "同じ種類・同じ数量の行を探します。", "S3"),
    "s4": ("s4", "Same kind of item on the same day.", "同じ種類・同じ日の行を探します。", "S4"),
    "s5": ("s5", "Same kind, price and quantity.", "同じ種類・価格・数量の行を探します。", "S5"),
    "s6": ("s6", "Same kind and quantity on the same day.", "同じ日・種類・数量の行を探します。", "S6"),
    "same-day": ("same-day", "Whoever bought on the same day.", "同じ日に買った人を探します。"),
    "same-item": (
        "same-item",
        "Whoever bought the same item, in any month.",
        "月を問わず同じ商品を買った人を探します。",
    ),
    "same-month-and-item": (
        "same-month-and-item",
        "Whoever bought the same item in the same month.",
        "同じ月に同じ商品を買った人を探します。",
    ),
}
