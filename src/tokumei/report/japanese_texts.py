"""Sentences of the library in Japanese, for pages: why a role is suggested, what a hierarchy is, what a file lacks.

The library says them in English with names and numbers in them; here they are recognized by their form. What is not
recognized stays as it is: a page shows it as English.
"""

from __future__ import annotations

import re
from functools import cache

from tokumei.report.japanese_errors import EDITION_OPTIONS, ERRORS
from tokumei.report.japanese_parts import PARTS

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
# Forms of sentences; what stands in braces is put into Japanese by itself, where there are words for it.
FORMS = {
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
    "intervals of {width}, joined in pairs": "幅 {width} の区間を二つずつまとめます",
    "days, months, quarters and years": "日・月・四半期・年",
    "days, months, quarters and years, then decades": "日・月・四半期・年・年代",
    "unordered: the value or nothing": "順序なし：値そのものか、示さないか",
    "labels in the order of the {what} in them, joined in {how}": (
        "ラベルに含まれる {what} の順に並べ、{how} でまとめます"
    ),
    # Ways to protect a history, as a sweep names them.
    "exchanged pseudonyms": "仮名の交換",
    "pseudonyms of {n} months, {m} deleted": "{n} か月の仮名、{m} を削除",
    "pseudonyms of {n} months, all values moved, {m} deleted": "{n} か月の仮名、すべての値を撹乱、{m} を削除",
    "permuted groups, bound {n}": "グループ内の入れ替え（上限 {n}）",
    # What files and forms lack, where the words of contests have nothing for it.
    "a file with a header and at least one row below it": "見出しと、その下に少なくとも 1 行があるファイル",
    "at most {n} columns": "{n} 列以下",
    "UTF-8{advice}": "UTF-8 の文字{advice}",
    "text in {encoding}": "{encoding} の文字",
    "a whole Parquet file, which ends with PAR1": "途中で切れていない Parquet ファイル",
    "a Parquet file, which starts with PAR1": "Parquet ファイル",
    "an Excel workbook (.xlsx), which is a zip file ({why})": "Excel ブック（.xlsx）",
    "a column named {role}, or {how}": "「{role}」の列",
    "a {role} in every row": "すべての行に {role}",
    "a customer in every row that holds anything": "内容のあるすべての行に顧客",
    'a column that is a "quasi-identifier"': "準識別子の列が少なくとも一つ",
    "a label for it": "この値のラベル",
    "a value of the hierarchy": "階層にある値",
}


WHOLE = {**KINDS, **FORMS, **ERRORS, **PARTS, **EDITION_OPTIONS}


def in_japanese(text: str) -> str | None:
    """Say a sentence of the library in Japanese; None where no form of it is known.

    >>> in_japanese("ages: its header says so, and whole numbers from 18 to 89, as ages are")
    '年齢：見出しがそう示し、18 から 89 までの整数で、年齢のようです'
    """
    known = WHOLE.get(text)
    if known is not None:
        return known
    kind, mark, reason = text.partition(": ")
    if mark and kind in KINDS and (said := in_japanese(reason)) is not None:
        return f"{KINDS[kind]}：{said}"
    for form, found in _forms():
        if match := form.fullmatch(text):
            parts = {name: _within(name, part) for name, part in match.groupdict().items()}
            if None not in parts.values():
                return found.format(**parts)
    return None


def _within(name: str, part: str) -> str | None:
    """Put a part of a sentence into Japanese; reasons and kinds have to be known, names and numbers stay."""
    said = in_japanese(part)
    return said if name in ("reason", "kind") else said or part


@cache
def _forms() -> list[tuple[re.Pattern[str], str]]:
    """Give the forms as patterns, those with more of their own words first."""
    found = []
    for english, japanese in (FORMS | ERRORS).items():
        if "{" in english:
            # Names of one letter stand for numbers.
            pattern = re.sub(r"\\{(\w)\\}", r"(?P<\1>[0-9.,%-]+)", re.escape(english))
            # One row is a row.
            pattern = re.sub(r"(\]\+\)\\ \w+)s\b", r"\1s?", pattern)
            # A form of codes is one word, so that what follows it is not taken for a part of it.
            pattern = pattern.replace(r"\{form\}", r"(?P<form>[^ ,]+)")
            pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+)", pattern)
            found.append((len(re.sub(r"\{\w+\}", "", english)), re.compile(pattern, re.DOTALL), japanese))
    return [(pattern, japanese) for _, pattern, japanese in sorted(found, key=lambda one: -one[0])]
