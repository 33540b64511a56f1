"""Sentences of the library in Japanese, for pages: why a role is suggested, what a hierarchy is, what was left out.

They are put into words by the form that they carry (`core/text.py`). One that has no words here stays as it is: a page
shows it as English.
"""

from __future__ import annotations

from tokumei.core.text import Text
from tokumei.reports.japanese_parts import EDITION_OPTIONS, PARTS

# What columns are, by the words that the kinds have for it.
KINDS = {
    "a yes or no": "はい・いいえ",
    "e-mail addresses": "メールアドレス",
    "IP addresses": "IP アドレス",
    "hardware addresses": "機器のアドレス",
    "web addresses": "ウェブのアドレス",
    "things, not people": "人ではなく物",
    "telephone numbers": "電話番号",
    "card numbers": "カード番号",
    "individual numbers (My Number)": "マイナンバー",
    "passport numbers": "旅券番号",
    "driver's licence numbers": "運転免許証番号",
    "insurance numbers": "保険者番号",
    "account numbers": "口座番号",
    "number plates": "車両番号",
    "user names": "ユーザー名",
    "postal codes": "郵便番号",
    "coordinates": "緯度・経度",
    "prefectures": "都道府県",
    "places": "地名",
    "postal addresses": "住所",
    "countries": "国",
    "dates of birth": "生年月日",
    "dates": "日付",
    "ages": "年齢",
    "sex": "性別",
    "marital status": "婚姻の状況",
    "the household": "世帯",
    "education": "学歴",
    "illnesses": "病気",
    "treatment": "治療",
    "money that people have or owe": "収入・資産・負債",
    "religion or belief": "信条",
    "political views": "政治的な意見",
    "origin, which others see and law protects": "人種・出自（法で保護される）",
    "sexual life": "性生活",
    "crime": "犯罪の経歴",
    "occupations": "職業",
    "employers and other organizations": "勤務先などの組織",
    "what can be seen of a person": "外見から分かること",
    "free text": "自由記述",
    "names of people": "人名",
    "codes of people or records": "個人やレコードの番号",
    "numbers": "数値",
    "a few different words": "少数の語",
    "phrases": "語句",
    "nothing": "値なし",
    "texts of which some hold identifiers": "一部に識別子を含む文字列",
    "texts that nearly every row has for itself": "ほぼ行ごとに異なる文字列",
}
# Forms of sentences; what stands in braces is a name, a number, or a text of its own.
FORMS = {
    "{kind}: {reason}": "{kind}：{reason}",
    "its header says so": "見出しがそう示しています",
    "its header says so; it has no values": "見出しがそう示していますが、値がありません",
    "no values": "値がありません",
    "its header says so, and {reason}": "見出しがそう示し、{reason}",
    "{reason}, as its header says": "{reason}（見出しのとおり）",
    "{reason}, though its header says {kind}": "{reason}（見出しは「{kind}」）",
    "{reason}, with no house among them": "{reason}。番地はありません",
    "its header says {kind}, but it has only {n} values in {m} rows": (
        "見出しは「{kind}」ですが、{m} 行に {n} 種類の値しかありません"
    ),
    "its header says {kind}, but its values are measured numbers": "見出しは「{kind}」ですが、値は測定値です",
    "there is a common name among its values": "値の中によくある名前があります",
    "its values are two words as a surname and a given name are": "値が姓と名のような二語です",
    "its values are true and false": "値が真と偽です",
    "its values are 0 and 1": "値が 0 と 1 です",
    "its values are dates": "値が日付です",
    "its values are long codes at random": "値が長い無作為な符号です",
    "{n} of its values are written as {kind} are": "値の {n} が{kind}の書き方です",
    "{n} of its different values are sentences, which may name anybody": (
        "異なる値の {n} が文で、個人名を含むかもしれません"
    ),
    "{n} of its different values are {kind}": "異なる値の {n} が{kind}です",
    "{n} of its different values hold an e-mail address, a telephone number or a link": (
        "異なる値のうち {n} 個がメールアドレス・電話番号・リンクを含みます"
    ),
    "{n} different phrases, each for several rows": "{n} 種類の語句が、それぞれ複数の行にあります",
    "all have {n} digits, as postal codes do": "すべて郵便番号のような {n} 桁です",
    "{n} different codes written as {form}": "{form} の形の {n} 種類の番号です",
    "{n} of its rows have a text of their own": "行の {n} が固有の文字列を持ちます",
    "its numbers run from {a} to {b}, one a row": "{a} から {b} までの通し番号です",
    "nearly every row has its own number of {n} digits": "ほぼ行ごとに異なる {n} 桁の番号です",
    "{n} or more different numbers, all of {m} digits": "{n} 種類以上の、すべて {m} 桁の番号です",
    "whole numbers from {a} to {b}, as ages are": "{a} から {b} までの整数で、年齢のようです",
    "{n} different numbers that name nobody by themselves": "{n} 種類の数値で、それだけでは誰も指しません",
    "every row has the same value": "すべての行が同じ値です",
    "{n} of {m} rows have a value that no other row has": "{m} 行のうち {n} 行が、ほかの行にない値を持ちます",
    "{n} different words, enough to know somebody by": "{n} 種類の語で、個人が分かるほど多様です",
    "{n} different values, none of a known kind": "{n} 種類の値で、既知の種類ではありません",
    "{n} end as people are addressed": "{n} が敬称で終わります",
    "{n} are two words as a surname and a given name, {m} begin with a common surname": (
        "{n} が姓と名の二語で、{m} がよくある姓で始まります"
    ),
    "{n} begin with a common surname": "{n} がよくある姓で始まります",
    "{n} are written as surname and given name are, {m} of their signs are usual in names": (
        "{n} が姓名の書き方で、文字の {m} が名前によく使われます"
    ),
    "{n} are written as given names are": "{n} が名の書き方です",
    "{n} are common names in kana": "{n} がよくある名前の仮名です",
    "{n} begin with the reading of a common surname": "{n} がよくある姓の読みで始まります",
    "{n} hold a common name, and {m} are two words or more as a full name is": (
        "{n} がよくある名前を含み、{m} が氏名のような二語以上です"
    ),
    "{n} are common names": "{n} がよくある名前です",
    "{n} begin with one of the surnames that most people of China or Korea have": (
        "{n} が中国や韓国に多い姓で始まります"
    ),
    # What hierarchies that were made are.
    "no values at all": "値がありません",
    # Why ranges are taken to be made of the values in a group, or not.
    "told": "指定のとおり",
    "told by the method": "加工手法のとおり",
    "put on a public grid afterwards": "あとから公開された区分に置き換えられています",
    "all labels are of the hierarchy": "ラベルはすべて階層のものです",
    "ranges without an end of their own": "端の値を含まない範囲があります",
    "all ends lie on a grid of {step}": "端がすべて {step} 刻みです",
    "labels overlap without one holding the other": "一方が他方を含まずに重なるラベルがあります",
    "ranges have irregular ends and leave gaps": "範囲の端がそろっておらず、間が空いています",
    "the labels may come from public bands": "公開された区分のラベルかもしれません",
    "intervals of {width}, joined in pairs": "幅 {width} の区間を二つずつまとめます",
    "intervals that grow with the numbers, from 1 to 2, 5, 10, 20 and so on": (
        "数値とともに広がる区間（1、2、5、10、20 …で区切ります）"
    ),
    "days, months, quarters and years": "日・月・四半期・年",
    "days, months, quarters and years, then decades": "日・月・四半期・年・年代",
    "codes: masked from the right": "コード：右から順に伏せます",
    "unordered: the value or nothing": "順序なし：値そのものか、示さないか",
    "labels in the order of the {what} in them, joined in {how}": "ラベルに含まれる{what}の順に並べ、{how}まとめます",
    "labels in the order of the {what} in them, joined in {how}; {apart} apart": (
        "ラベルに含まれる{what}の順に並べ、{how}まとめます（{apart} は別）"
    ),
    "pairs": "二つずつ",
    "groups of {n}": "{n} 個ずつ",
    "ranges of numbers": "数値の範囲",
    "amounts: {told}": "金額：{told}",
    # Ways to protect a history, as a sweep names them.
    "exchanged pseudonyms": "仮名の交換",
    "1 month": "1 か月",
    "{n} months": "{n} か月",
    "pseudonyms of {n}, {m} deleted": "{n}の仮名、{m} を削除",
    "pseudonyms of {n}, all values moved, {m} deleted": "{n}の仮名、すべての値を撹乱、{m} を削除",
    "permuted groups, bound {n}": "グループ内の入れ替え（上限 {n}）",
    "items at level {m}, pseudonyms of {n}": "商品をレベル {m} に、{n}の仮名",
    # Why a measure or an attack was left out.
    "no row of the release is a person's": "加工データのどの行も、一人のものではありません",
    "the history has no rows": "履歴に行がありません",
    "the history has no {column}": "履歴に {column} がありません",
    "the release has no {column}": "加工データに {column} がありません",
    "the release has {n} rows and the original {m}, so that no row stands beside its own": (
        "加工データは {n} 行、元データは {m} 行で、行どうしを対応づけられません"
    ),
    "{column} and no {other}": "{column}と{other}",
    # The law of a prediction.
    "power-law: {law}": "べき乗則：{law}",
    "k = {alpha}·x^{beta} + 1; {at}": "k = {alpha}·x^{beta} + 1、{at}",
    "k = {alpha}·x^{beta} + 1; {at}; R = {r}": "k = {alpha}·x^{beta} + 1、{at}、R = {r}",
    "k = {k} at x = {x}": "x = {x} で k = {k}",
    "k = {k} at no x": "k = {k} となる x はありません",
    # Why an attack claims nothing of a release.
    "nobody said how it was made": "作り方が示されていません",
    "the levels of {column} cross": "{column} のレベルが入れ子になっていません",
    "'{label}' is of no one level of {column}": "「{label}」は {column} の一つのレベルに定まりません",
    "all rows say nothing": "どの行も値を示していません",
    "rows of the smallest class: {n}, fewer than k": "最小のクラスの行数は {n} で、k より少ない数です",
    "classes of one row hold back nobody": "1 行のクラスも許されるので、後に残された行がありません",
    "the release contradicts what is assumed of it": "加工データが、仮定した作り方と矛盾します",
    "it needs values, and the release has ranges and sets: --draws 100 draws values from them": (
        "値が必要ですが、加工データは範囲と集合です（--draws 100 でセルから値を抽出して測れます）"
    ),
    "it needs the customers' attributes (--master)": "顧客の属性（--master）が必要です",
    "the history has a single item, so no two that could be alike": (
        "履歴に商品が一つしかなく、似た二つを比べられません"
    ),
    "no items are bought together often enough for a rule": ("ルールになるほど頻繁に一緒に買われる商品がありません"),
    "it would take about {n} seconds of the {m} that are left (--minutes)": (
        "約 {n} 秒かかり、残りの {m} 秒を超えます（--minutes）"
    ),
}


# What columns of a history are called.
COLUMNS = {"item": "商品", "price": "単価", "quantity": "数量", "time": "時刻", "invoice": "伝票番号"}
WORDS = {**KINDS, **FORMS, **COLUMNS, **PARTS, **EDITION_OPTIONS}


def in_japanese(text: str) -> str | None:
    """Translate a sentence of the library into Japanese by its form, if any; None where words are missing.

    >>> in_japanese(Text("{kind}: {reason}", kind=Text("ages"), reason=Text("its header says so")))
    '年齢：見出しがそう示しています'
    """
    return text.in_words(WORDS) if isinstance(text, Text) else WORDS.get(text)
