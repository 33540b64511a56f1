"""What a fault of a submission says in Japanese; in English it says it by itself."""

from __future__ import annotations

from collections.abc import Mapping

from tokumei.core.errors import Fault
from tokumei.core.text import Text
from tokumei.reports.japanese_errors import SAID

# By the form of what was expected, as the checks have it, with the same {names}.
JAPANESE: Mapping[str, str] = {
    # Forms of files and cells.
    "UTF-8": "UTF-8 の文字",
    "UTF-8 without a byte order mark": "バイト順マーク（BOM）のない UTF-8",
    "a line end \\r\\n or \\n, not \\r alone": "改行は \\r\\n または \\n（\\r だけは不可）",
    "text without NUL bytes (is it UTF-16?)": "NUL バイトのないテキスト（UTF-16 ではありませんか）",
    "no carriage return inside a line": "行の途中に復帰文字（\\r）を置かない",
    'a quote (") only around a whole cell; inside it is written twice': (
        '引用符（"）はセル全体を囲むときだけ（中では二重に書く）'
    ),
    "a closing quote for the one opened here": "ここで開いた引用符を閉じる引用符",
    "a name for every column": "すべての列の名前",
    "names that differ": "すべて異なる列名",
    "a name other than * or ^…$, which stand for several columns at once": (
        "* や ^…$（複数の列を一度に指す）以外の列名"
    ),
    "a real time HH:MM:SS": "実在する時刻 HH:MM:SS",
    "a whole number": "整数",
    "a number": "数値",
    "a finite number": "数値",
    "a real date YYYY-MM-DD": "実在する日付 YYYY-MM-DD",
    "true or false": "true または false",
    "at least one row": "1行以上",
    "a whole zip file without a password": "パスワードのない、壊れていない zip ファイル",
    "a file that is not empty": "空でないファイル",
    "cells without quotes": "引用符で囲まないセル",
    "data in the first line, not a header": "1行目からデータ（ヘッダーなし）",
    "a file with content, not an empty one": "空でないファイル",
    "an empty cell after DEL": "DEL の後は空のセル",
    "the header {header}": "ヘッダー {header}",
    "a customer id of 1 to 9 digits": "1〜9桁の顧客ID",
    "a pseudonym of letters, digits, _ or -, other than DEL": "英数字、_、- からなる仮名（DEL を除く）",
    "a pseudonym of 1 to {n} letters, digits, _ or -": "英数字、_、- からなる{n}文字以内の仮名",
    "a pseudonym of 1 to 20 letters, digits, _ or -, other than DEL": (
        "英数字、_、- からなる20文字以内の仮名（DEL を除く）"
    ),
    "a pseudonym of 1 to 9 digits, the first not 0, or * in all cells": "先頭が 0 でない1〜9桁の仮名、または全セル *",
    "a real date YYYY/M/D without leading zeros": "実在する日付 YYYY/M/D（先頭の 0 なし）",
    "a real time h:mm, the hour without leading zeros": "実在する時刻 h:mm（時の先頭の 0 なし）",
    "a price above 0 of at most 5 digits and 2 decimals, without leading zeros": (
        "整数部5桁・小数部2桁以内の正の単価（先頭に余分な 0 なし）"
    ),
    "a quantity of 1 to 6 digits, without leading zeros": "1〜6桁の数量（先頭の 0 なし）",
    "a row number, counted from 1": "行番号（1から数える）",
    "the name of a country": "国名",
    "a pseudonym of letters, digits, _ or -": "英数字、_、- からなる仮名",
    "a pseudonym of 1 to 9 digits, the first not 0": "先頭が 0 でない1〜9桁の仮名",
    "an invoice of 1 to 9 upper-case letters or digits": "1〜9文字の英大文字・数字の伝票番号",
    "an item of 1 to 9 upper-case letters or digits": "1〜9文字の英大文字・数字の商品ID",
    "the first 1 or 2 characters of an item": "商品IDの先頭1〜2文字",
    "a birth decade 1930/1/1, 1940/1/1, … 1980/1/1": "生年の年代 1930/1/1、1940/1/1、…、1980/1/1",
    # Generalized cells.
    "a real date YYYY/M/D, a range [lo;hi] of two such with lo ≤ hi, or *": (
        "実在する日付 YYYY/M/D、下限が上限以下の範囲 [lo;hi]、または *"
    ),
    "an item of 1 to 9 upper-case letters or digits, a set {a;b;…} of 1 to 100 different ones, or *": (
        "1〜9文字の英大文字・数字の商品ID、異なる1〜100個の集合 {a;b;…}、または *"
    ),
    "a price above 0 of at most 5 digits and 2 decimals, without leading zeros, a range [lo;hi] of two such with "
    "lo ≤ hi, or *": (
        "整数部5桁・小数部2桁以内の正の単価（先頭に余分な 0 なし）、下限が上限以下の範囲 [lo;hi]、または *"
    ),
    "a quantity of 1 to 6 digits, without leading zeros, a range [lo;hi] of two such with lo ≤ hi, or *": (
        "1〜6桁の数量（先頭の 0 なし）、下限が上限以下の範囲 [lo;hi]、または *"
    ),
    # Rows against the original.
    "{n_rows} rows as in T, in their order": "T と同じ {n_rows} 行（順序も同じ）",
    "at most {n_most} of {n_rows} rows deleted": "削除は {n_rows} 行のうち {n_most} 行まで",
    "at least {n_least} of {n_rows} rows kept": "{n_rows} 行のうち {n_least} 行以上を残す",
    "at most {n_rows} rows, as X has": "X の行数 {n_rows} 行以下",
    "at least {n_least} rows, half of those of X": "X の半数 {n_least} 行以上",
    "{n_rows} row numbers, one for each row of Y": "Y の各行に1つずつ、{n_rows} 個の行番号",
    "a row number from 1 to {n_rows}": "1 から {n_rows} までの行番号",
    "a row of X that no earlier line names": "前の行に現れていない X の行番号",
    "a value of {column_name} in X": "X の列 {column_name} に現れる値",
    "a value that T has in this column": "T の同じ列に現れる値",
    "{truth} as in T": "T と同じ {truth}",
    "a day of {month}, the month in T": "T と同じ月 {month} の日付",
    "an item of T": "T に現れる商品ID",
    "items of T, which {item} is not": "T に現れる商品ID（{item} は現れない）",
    "a cell that may stand for {truth}, as in T": "T の値 {truth} を含むセル",
    "a line of at most {n_most} characters": "{n_most} 文字以内の行",
    "a set of at most {n_most} items": "{n_most} 個以内の商品の集合",
    "a set of different items": "すべて異なる商品の集合",
    "a range [lo;hi] with lo ≤ hi": "下限が上限以下の範囲 [lo;hi]",
    "a range that begins and ends in 2010 or 2011": "両端が2010年または2011年の範囲",
    "a pseudonym, or * in all five cells": "仮名、または5セルすべて *",
    # Pseudonyms and customers.
    "a pseudonym that is no customer id": "顧客IDと異なる仮名",
    "a pseudonym that is no customer of T": "T の顧客IDと異なる仮名",
    "{name} as in line {other_line}, for the same customer": "{other_line} 行目の同じ顧客と同じ仮名 {name}",
    "{name} as in line {other_line}, for the same customer in the month": (
        "{other_line} 行目の同じ顧客・同じ月と同じ仮名 {name}"
    ),
    "another pseudonym than in line {other_line}, where it stands for {customer}": (
        "{other_line} 行目で顧客 {customer} を表す仮名とは別の仮名"
    ),
    "another pseudonym than in line {other_line}, where it stands for {customer} in the month": (
        "{other_line} 行目で同じ月の顧客 {customer} を表す仮名とは別の仮名"
    ),
    "{n_rows} lines, as many as M has customers": "M の顧客数と同じ {n_rows} 行",
    "each pseudonym once": "仮名は一度だけ",
    "a country of M": "M に現れる国名",
    "a pseudonym of M_release": "M_release に現れる仮名",
    "a date from {first} to {last}, as in T": "T と同じ {first} から {last} までの日付",
    "at most {n_most} rows": "{n_most} 行以下",
    "a row of M, from 1 to {n_rows}": "M の行番号（1 から {n_rows}）",
    "each row of M once": "M の各行を一度だけ",
    "{n_rows} row numbers, one for each row of M_release": "M_release の各行に1つずつ、{n_rows} 個の行番号",
    # Guesses.
    "a customer of M": "M の顧客ID",
    "a customer of T": "T の顧客ID",
    "one line for each customer": "顧客ごとに1行",
    "a line for every customer of M, for this one too": "M の全顧客に1行ずつ（この顧客の行がない）",
    "a line for every customer of T, for this one too": "T の全顧客に1行ずつ（この顧客の行がない）",
    "a pseudonym of S or DEL": "S に現れる仮名または DEL",
    "a pseudonym of S, or nothing": "S に現れる仮名、または空",
    "a pseudonym of the published release": "公開された加工データに現れる仮名",
    "one line for each pseudonym": "仮名ごとに1行",
    "a row of T, from 1 to {n_rows}": "T の行番号（1 から {n_rows}）",
    "{n_rows} lines, one for each row of S": "S の各行に1行ずつ、{n_rows} 行",
}

WORDS = {**SAID, **JAPANESE}


def in_japanese(fault: Fault) -> str | None:
    """Describe what was expected in Japanese; None where no words are known."""
    return Text(fault.form, **fault.values).in_words(WORDS)


def found_in_japanese(fault: Fault) -> str | None:
    """Describe what was found, in Japanese where it comes from the check and not from a cell."""
    return (fault.value.in_words(WORDS) if isinstance(fault.value, Text) else None) or fault.value


def sentence_in_japanese(fault: Fault) -> str:
    """Describe a whole fault in Japanese, as `str` does in English."""
    where = {"": fault.file, "オプション ": fault.option, "行 ": fault.line, "列 ": fault.column}
    place = "、".join(f"{what}{one}" for what, one in where.items() if one)
    found = found_in_japanese(fault)
    there = f"「{found}」があります。" if found else ""
    rule = f"（ルール {fault.rule}）" if fault.rule else ""
    said = f"{there}必要なもの：{in_japanese(fault) or fault.wanted}{rule}"
    return f"{place}：{said}" if place else said
