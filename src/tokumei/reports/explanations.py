"""What each number that is shown is called and what it says, in a sentence and in both languages.

Pages, reports and notebooks take their words from here, so that a number says the same wherever it stands.
"""

from __future__ import annotations

from dataclasses import dataclass

from tokumei.reports.explained_parts import ATTACKS, LOSSES
from tokumei.reports.japanese import MEASURES_AND_ATTACKS


@dataclass(frozen=True)
class Explanation:
    """A number's name, and what it says in one sentence."""

    title: str
    says: str


# English title, English sentence, Japanese sentence; the Japanese title is that of dossiers unless it is given here.
RISKS: dict[str, tuple[str, ...]] = {
    "k-anonymity": (
        "Smallest class (k)",
        "So many rows at least look alike by the quasi-identifiers; 1 means that somebody stands alone.",
        "準識別子が同じに見える行が少なくともこれだけあります。1 なら一人だけの行があります。",
    ),
    "uniques": (
        "Rows that are alone",
        "The share of rows that no other row looks like.",
        "ほかのどの行とも準識別子が一致しない行の割合です。",
    ),
    "mean-class-size": (
        "Mean class",
        "How many rows look alike on average.",
        "同じに見える行の数の平均です。",
    ),
    "prosecutor-risk": (
        "Highest risk (prosecutor)",
        "The chance that somebody who knows one person's quasi-identifiers, and that they are in the file, picks their "
        "row: for the person who is worst off.",
        "ある人の準識別子と、その人がデータにいることを知る攻撃者が行を当てる確率です（最も危険な人の場合）。",
    ),
    "prosecutor-risk-mean": (
        "Mean risk (prosecutor)",
        "The same chance for a person drawn at random.",
        "同じ確率の、無作為に選んだ人での値です。",
    ),
    "prosecutor-risk-least": (
        "Lowest risk (prosecutor)",
        "The same chance for the person who is hidden best.",
        "同じ確率の、最もよく隠れている人での値です。",
    ),
    "prosecutor-risk-share-above": (
        "Rows at high risk",
        "The share of rows whose chance to be picked is above 20 %.",
        "当てられる確率が 20 % を超える行の割合です。",
    ),
    "journalist-risk": (
        "Highest risk (journalist)",
        "The chance that somebody who does not know who is in the file picks the right person of the population.",
        "誰がデータにいるかを知らない攻撃者が、母集団の中から正しい人を当てる確率です。",
    ),
    "breach-risk": (
        "Highest risk after a breach",
        "The chance that a recipient loses the data, and the person hidden worst is then picked right.",
        "受領者からデータが漏えいし、かつ最も隠れていない人が当てられる確率です。",
    ),
    "marketer-risk": (
        "People found (marketer)",
        "The share of all people whom somebody finds who knows everybody and links all of them.",
        "全員の準識別子を知る攻撃者が全員を照合したとき、当てられる人の割合です。",
    ),
    "l-diversity-distinct": (
        "Different sensitive values in a class (ℓ)",
        "In the class with the fewest; 1 means that who finds the class knows the value.",
        "機微な値の種類が最も少ない同値類での値です。1 なら同値類が分かれば値も分かります。",
        "同値類の中の機微な値の種類（ℓ）",
    ),
    "l-diversity-entropy": (
        "Sensitive values by entropy (ℓ)",
        "As many values as would be as uncertain if they were equally frequent, in the most certain class.",
        "最も確かな同値類での不確かさを、等しく現れる値の個数に直したものです。",
        "エントロピーによる ℓ",
    ),
    "l-diversity-recursive": (
        "Sensitive values without the commonest (ℓ)",
        "The largest ℓ with which the commonest value of every class is not much more frequent than the rarer ones.",
        "どの同値類でも、最も多い値がほかの値より極端に多くならない最大の ℓ です。",
        "再帰的 (c,ℓ)-多様性",
    ),
    "t-closeness-equal": (
        "Distance from all rows (t)",
        "How far the sensitive values of the most unusual class are from those of all rows; 0 tells nothing, 1 tells "
        "all.",
        "最も偏った同値類の機微な値の分布が全体からどれだけ離れているかです。0 なら何も分からず、"
        "1 ならすべて分かります。",
        "全体の分布との距離（t）",
    ),
    "t-closeness-ordered": (
        "Distance from all rows, in order (t)",
        "The same where values have an order: near values count as near.",
        "値に順序がある場合の同じ距離です。近い値は近いものとして数えます。",
        "全体の分布との距離（順序あり）",
    ),
    "t-closeness-hierarchical": (
        "Distance from all rows, by the hierarchy (t)",
        "The same where values under one label of the hierarchy count as near.",
        "階層で同じラベルに入る値を近いものとして数えた同じ距離です。",
        "全体の分布との距離（階層）",
    ),
    "alpha-k": (
        "Commonest sensitive value (α)",
        "The largest share that one sensitive value has in a class: who finds the class guesses right so often.",
        "一つの同値類の中で一つの機微な値が占める最大の割合です。同値類が分かればこの割合で当たります。",
        "最も多い機微な値の割合（α）",
    ),
    "beta-likeness-basic": (
        "Gain about a value (β)",
        "By how much a value is more frequent in a class than in all rows, at most; 1 means twice as frequent.",
        "ある値が同値類の中で全体より最大どれだけ多いかです。1 なら 2 倍です。",
        "値についての利得（β）",
    ),
    "beta-likeness-enhanced": (
        "Gain about a value, bounded (β)",
        "The same with rare values bounded by how rare they are.",
        "まれな値の利得を、そのまれさで抑えた同じ値です。",
        "値についての利得（拡張 β）",
    ),
    "delta-disclosure": (
        "Surprise about a value (δ)",
        "The largest ratio, as a logarithm, between a value's share in a class and in all rows; 0 tells nothing.",
        "同値類の中と全体での値の割合の比（対数）の最大です。0 なら何も分かりません。",
        "値についての驚き（δ）",
    ),
    "x-y-anonymity": (
        "Different values in a class",
        "The fewest different sensitive values that a class has, counted as (X,Y)-anonymity does.",
        "(X,Y)-匿名性の数え方で、同値類の中の異なる機微な値の最小個数です。",
        "同値類の中の異なる値",
    ),
    "k-map": (
        "People who fit a row (k-map)",
        "The fewest people of the population whom a row fits.",
        "一つの行に当てはまる母集団の人数の最小です。",
        "行に当てはまる人（k-map）",
    ),
    "delta-presence": (
        "Being in the file (δ)",
        "How surely somebody of the population can be told to be in the file, at most.",
        "母集団のある人がデータにいると、最大どれだけ確かに言えるかです。",
        "データにいること（δ-存在性）",
    ),
}
# What attacks count.
SCORES: dict[str, tuple[str, ...]] = {
    "certain": (
        "known for certain",
        "One record alone fits, or all that fit say the same, and it is right.",
        "当てはまるものが一つだけ、またはすべて同じで、それが正しい人の割合です。",
    ),
    "success": (
        "guessed right",
        "The best guess among all that fit is right.",
        "当てはまるものの中からの推定が当たる人の割合です。",
    ),
    "claimed": (
        "claimed, and rightly",
        "One record is likelier theirs than all others together, and it is theirs.",
        "ある一行が他のすべての行より本人らしく、実際に本人の行である人の割合です。",
        "断定して正解",
    ),
    "one-to-one": (
        "found one to one",
        "Found where each record is given to one person only.",
        "一行を一人だけに割り当てたときに見つかる人の割合です。",
        "一対一の割り当てで正解",
    ),
    "linked-rightly": (
        "linked to their own row",
        "Both halves of what is known lead to the person's own row.",
        "二つの情報がどちらも本人の行に行き着く人の割合です。",
        "本人の行に到達",
    ),
    "one-column": (
        "by one column",
        "Descriptions by one column alone that fit one row.",
        "一つの列だけでただ一行に当てはまる記述の割合です。",
        "一つの列による",
    ),
    "neighbours": (
        "by the nearest rows",
        "Guessed by the rows most like the person.",
        "本人に最も似た行による推定が当たる人の割合です。",
        "最も似た行による",
    ),
    "all-rows": (
        "by all rows",
        "Guessed by all rows, each as far as it is like the person.",
        "すべての行を似ている度合いで重み付けした推定が当たる人の割合です。",
        "すべての行による",
    ),
    "anonymity-loss": (
        "anonymity loss coefficient",
        "How far claims about people in the release exceed those about others (Francis and Wagner).",
        "加工データの人についての断定が、それ以外の人についてのものをどれだけ上回るかです。",
        "匿名性損失係数",
    ),
    "auc": (
        "area under the curve",
        "How often somebody in the data comes before somebody outside; a half is chance.",
        "データの人がそれ以外の人より上位に来る割合です。偶然なら半分です。",
        "曲線下面積",
    ),
    "at-0.1%": (
        "told, with .1 % of others",
        "Told to be in the data at one false alarm in a thousand.",
        "誤報を千人に一人に抑えたときに、データに含まれると当てられる人の割合です。",
        "誤報 0.1 % で的中",
    ),
    "linked-certain": (
        "known for certain across releases",
        "The same where the records of one person can be linked.",
        "一人のレコードを加工データ間で結び付けられる場合の同じ割合です。",
    ),
    "linked-success": (
        "guessed right across releases",
        "The same where the records of one person can be linked.",
        "一人のレコードを加工データ間で結び付けられる場合の同じ割合です。",
    ),
    "singled-out": (
        "singled out by an end of a range",
        "The value at the end of a range, with the other labels, fits exactly one row of all.",
        "範囲の端の値と他の列のラベルに当てはまる行が、全体で一つだけである割合です。",
    ),
    "singled-out-estimate": (
        "singled out by an end of a range, estimated",
        "The same from the release alone, as if values lay evenly within their ranges.",
        "値が範囲の中に均等にあるとした、加工データだけからの推定です。",
    ),
    "cells-certain": (
        "generalized cells known exactly",
        "Cells whose value follows from the labels, up to the order of rows that say the same.",
        "ラベルから元の値が分かるセルの割合です。同じラベルの行の間の順序は問いません。",
    ),
    "narrowed": (
        "rows narrowed",
        "Rows of whose class the labels say more than they should.",
        "ラベルから元の値の候補がさらに絞られる行の割合です。",
    ),
    "found": (
        "customers found",
        "The share of a customer's months that are named rightly, averaged over all customers.",
        "顧客ごとの正しく当てられた月の割合の、全顧客での平均です。",
    ),
    "row": (
        "customers found in every month",
        "Customers whose pseudonyms are named rightly in every month.",
        "全期間の仮名を正しく当てられた顧客の割合です。",
    ),
    "cell": (
        "cells of the table of pseudonyms found",
        "Of the months of all customers, those whose pseudonym is named rightly; months without one count against it.",
        "全顧客×全月のうち、仮名を正しく当てられた割合です。仮名のない月は当たりに数えません。",
    ),
    "month": (
        "customers found, month by month",
        "Of the months in which customers have a pseudonym, those in which it is named rightly.",
        "顧客に仮名がある月のうち、仮名を正しく当てられた割合です。",
    ),
    "pseudonym": (
        "pseudonyms found",
        "Pseudonyms whose customer is named rightly.",
        "顧客を正しく当てられた仮名の割合です。",
    ),
    "transaction": (
        "purchases found",
        "Published purchases whose customer is named rightly; a pseudonym that several customers are given is shared.",
        "顧客を正しく当てられた購買の割合です。複数の顧客に推定された仮名は等分して数えます。",
    ),
    "attributed": (
        "purchases given to their buyers",
        "Published purchases that were not known before and are given to their buyer, whatever pseudonym they have.",
        "攻撃者が知らなかった購買のうち、仮名によらず購入者を正しく当てられた割合です。",
    ),
}
ATTACKERS: dict[str, tuple[str, ...]] = {
    "prosecutor": (
        "Prosecutor",
        "Knows one person's quasi-identifiers, and that the person is in the file.",
        "ある人の準識別子と、その人がデータにいることを知っています。",
        "検察官",
    ),
    "journalist": (
        "Journalist",
        "Knows a person's quasi-identifiers, but not whether the person is in the file: at most as sure as the "
        "prosecutor.",
        "ある人の準識別子を知っていますが、データにいるかは知りません。確かさは検察官以下です。",
        "ジャーナリスト",
    ),
    "marketer": (
        "Marketer",
        "Knows everybody's quasi-identifiers and links as many people as possible, whoever they are.",
        "全員の準識別子を知り、誰であれできるだけ多くの人を照合します。",
        "マーケター",
    ),
}
_ALL = RISKS | LOSSES | ATTACKS | SCORES | ATTACKERS


def explain(name: str, language: str = "en") -> Explanation | None:
    """Return the title and explanation of a measure, attack or attacker; None if there is none.

    >>> explain("uniques").title, explain("uniques", "ja").title
    ('Rows that are alone', '一意な行の割合')
    """
    found = _ALL.get(name)
    if found is None:
        return None
    title, says, says_ja, *title_ja = found
    if language != "ja":
        return Explanation(title, says)
    return Explanation((title_ja or [MEASURES_AND_ATTACKS.get(name, title)])[0], says_ja)
