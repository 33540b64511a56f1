"""What errors of the library say in Japanese, by the forms that they carry (`core/text.py`)."""

from __future__ import annotations

from tokumei.reports.japanese_texts import WORDS

# Where a fault stands, what is there and what was expected.
FRAMES = {
    "{above}\n{below}": "{above}\n{below}",
    "… and {n} more": "…ほか {n} 件",
    "{place}: {said}": "{place}：{said}",
    "{place}, {inner}": "{place}、{inner}",
    "{file}": "{file}",
    "option {name}": "オプション {name}",
    "line {name}": "行 {name}",
    "column {name}": "列 {name}",
    "{said} (rule {rule})": "{said}（ルール {rule}）",
    "found {value}, {said}": "{value}があります。{said}",
    "'{value}'": "「{value}」",
    "{cells}: {text}": "{cells}：{text}",
    "an empty line": "空の行",
    "{rows} deleted": "{rows}を削除",
    "{bytes} so far": "ここまでで {bytes}",
    "{columns} and {rows}": "{columns}、{rows}",
    "{customers} and {pseudonyms}": "{customers}と{pseudonyms}",
    "expected {wanted}": "必要なもの：{wanted}",
}
ERRORS = {
    # Why a measure of a table could not be taken.
    "columns of numbers, {n} or more": "数値の列を {n} 列以上",
    "a row or more": "1 行以上",
    "the columns of the original": "元の表の列",
    "a column to learn and others to learn from, of {names}": "学習する列と、学習に使う列（{names} のうち）",
    "at most the original's {n} rows": "元の表の {n} 行以下",
    "the {role} of the original: {names}": "元の表と同じ {role}：{names}",
    "quasi-identifiers": "準識別子",
    "sensitive columns": "機微な列",
    # Files.
    "a file that exists": "存在するファイル",
    "a file, not a folder": "フォルダーではなくファイル",
    "a regular file": "通常のファイル",
    "a plain file": "通常のファイル",
    "a file that may be read": "読み取りが許可されたファイル",
    "a file that can be opened ({why})": "開くことができるファイル",
    "a file that does not change while it is read": "読んでいる間に変わらないファイル",
    "a whole gzip file ({why})": "壊れていない gzip ファイル",
    "a whole Parquet file ({why})": "壊れていない Parquet ファイル",
    "a name that ends in {texts} (or so with .gz), {others}": "{texts}（.gz も可）、{others} で終わる名前",
    "a folder that exists": "存在するフォルダー",
    "one ASCII character that is no quote or line end": "引用符でも改行でもない ASCII 文字 1 字",
    "more than the {lines} to skip": "読み飛ばす {lines}より多くの行",
    "how many lines to skip, at least 0": "読み飛ばす行数（0 以上）",
    "a column of the file: {names}": "ファイルの列：{names}",
    "an encoding that Python knows": "Python が扱える文字コード",
    "an encoding of text": "文字コードの名前",
    "text in {encoding} ({why})": "{encoding} の文字",
    "text in UTF-8": "UTF-8 の文字",
    "sheets of at most {n} cells": "{n} セル以内のシート",
    "the name of one sheet: {names}": "シートの名前：{names}",
    "the columns of {file}: {names}": "{file} と同じ列：{names}",
    "columns of single values, which a CSV file can hold": "CSV に書ける、一つの値だけの列",
    "one of {names}, each once, then = and a value": "「{names}」のいずれかを一度ずつ、続けて「=値」",
    "an option of {what}: {names}": "{what} のオプション：{names}",
    "a name of at most {n} bytes on this engine": "このエンジンでは {n} バイト以下の列名",
    "names that differ by more than large and small letters: {name}": "大文字と小文字以外でも異なる列名：{name}",
    "ROLE=NAME, separated by commas": "「役割=列名」をコンマで区切ったもの",
    "a file, which is read so": "この読み方をするファイル",
    "a source, which is read so": "この読み方をする元のファイル",
    "months written YYYY-MM as column names": "YYYY-MM の形の列名",
    "names of columns": "列名",
    "each column once": "各列を一度だけ",
    "each name once": "各名前を一度だけ",
    "a column of the table as {what}: {names}": "表の列（{what}）：{names}",
    "one role a column, not quasi-identifier and sensitive": "列ごとに一つの役割（準識別子と機微の両方にはできません）",
    "no empty cells in this column": "この列は空欄にできません",
    "a history with rows": "行のある履歴",
    "a history with the column {column}, which {who} needs": "列「{column}」のある履歴（{who} に必要）",
    "a history with the column {column}, which {who} needs; --set {option} does without": (
        "列「{column}」のある履歴（{who} に必要。--set {option} なら不要）"
    ),
    "a table with a row or more": "1 行以上ある表",
    # Settings written in TOML, and contests of one's own.
    "a TOML file of at most {n} bytes": "{n} バイト以内の TOML ファイル",
    "TOML ({why})": "正しい TOML",
    "TOML that is not nested so deep": "入れ子がこれほど深くない TOML",
    "keys of at most {n} parts": "{n} 個以内の部分からなるキー",
    'edition = "NAME" and a table [options]': 'edition = "大会名" と [options] の表',
    "a formula of at most {n} characters": "{n} 文字以内の式",
    "a formula of at most {n} levels": "入れ子が {n} 段以内の式",
    "a formula with a finite value for {given}": "{given} に対して有限の値になる式",
    "at most {n} parentheses and signs": "{n} 個以内の括弧と符号",
    "numbers of at most {n} digits": "{n} 桁以内の数",
    "a name of the formula: {names}": "式で使える名前：{names}",
    "numbers, names, + - * /, parentheses, {functions}": "数、名前、+ - * /、括弧、{functions}",
    "only {these}": "{these} だけ",
    "a formula of {these}": "{these} からなる式",
    "a column of the data: {names}": "データの列：{names}",
    "a {name} such as {example}": "{example} のような {name}",
    "at least 2 rows": "2 行以上",
    "at least 1 customer": "1 人以上の顧客",
    "at least 2 customers": "2 人以上の顧客",
    "a quasi-identifier and a sensitive column or more": "準識別子と機微の列をそれぞれ一つ以上",
    "a source that has the declared columns": "宣言した列がある元データ",
    "a history with invoices and times": "伝票番号と時刻のある履歴",
    "customer ids of 1 to 9 digits": "1〜9 桁の顧客 ID",
    "different shares from 1 to 100 per cent": "1〜100 パーセントの、互いに異なる割合",
    "a weight of 0 or more": "0 以上の重み",
    "the knowledge of one level": "一つの知識レベルの知識",
    "the knowledge of all levels: {names}": "すべての知識レベルの知識：{names}",
    "M is not 2-anonymous: {n} of {m} customers are unlike all others.": (
        "M は 2-匿名ではありません。{m} 人のうち {n} 人の顧客が、ほかの誰とも異なります。"
    ),
    "an option of the {sort} '{name}': {names}": "「{name}」のオプション：{names}",
    "the option '{option}' of the {sort} '{name}'": "「{name}」のオプション「{option}」",
    "There is no {sort} named '{name}'.{hint}": "「{name}」という名前のものはありません。{hint}",
    " Did you mean '{near}'?": "「{near}」のことですか。",
    " Known: {names}.": "使えるもの：{names}",
    "{what} needs the extra '{extra}': pip install 'tokumei[{again}]'": (
        "{what} には追加の部品「{extra}」が必要です：pip install 'tokumei[{again}]'"
    ),
    "The team '{team}' has used all of its {releases}.": "チーム「{team}」は {releases}の提出をすべて使いました。",
    "The team '{team}' cannot attack itself.": "チーム「{team}」は自分のチームを攻撃できません。",
    "No team named '{team}' has published a release.": "「{team}」というチームの公開された加工データはありません。",
    "There is nothing to publish: no team has a release that passed the check.": (
        "公開するものがありません。検査に通った加工データのあるチームがありません。"
    ),
    # Numbers and options.
    "list of {type}": "{type}の並び",
    "whole number": "整数",
    "number": "数値",
    "text": "文字列",
    "yes or no": "はい・いいえ",
    "a whole number from 1 on": "1 以上の整数",
    "a number in row {n}": "{n} 行目に数値",
    "a date in row {n}": "{n} 行目に日付",
    "a person in row {n}, whose dates are shifted": "日付をずらす人（{n} 行目）",
    "nothing after the number": "数値の後には何も書かない",
    "a share of rows from 0 to 1": "0 から 1 までの行の割合",
    "a share from 0 to 1": "0 から 1 までの割合",
    "a share from 0 to less than 1": "0 以上 1 未満の割合",
    "a release that promises nothing of a population": "母集団についての約束がない加工データ",
    "a recipe of a release that was not hardened: apply its own recipe, and harden what that gives": (
        "追加の加工（harden）をしていない加工データのレシピ（適用したあとで harden を行ってください）"
    ),
    "A safe cut with a margin of {margin} left a group that does not meet what was asked. Choose a larger margin.": (
        "余裕（margin）{margin} の安全な分割で、求められた条件を満たさないグループができました。"
        "より大きい余裕を指定してください。"
    ),
    "0 with safe cuts, which leave nobody out": "0（安全な分割では誰も除きません）",
    "k-anonymity, ℓ-diversity or (α,k)-anonymity with safe cuts": "安全な分割では k-匿名性、ℓ-多様性、(α,k)-匿名性",
    "no missing sensitive values with safe cuts": "安全な分割では欠損のない機微な値",
    "strict, with safe cuts": "安全な分割では strict",
    "checked or safe": "checked または safe",
    "No further change keeps every attack under {bound}; nearest comes {n} changes with {found} by {attack} ({score})."
    "{why}": (
        "どの追加の変更でも、すべての攻撃を {bound} 以下にはできません。最も近いのは {n} 件の変更で、"
        "{attack}（{score}）が {found} です。{why}"
    ),
    " The time was up.": "制限時間に達しました。",
    "one k; the method was given {k}": "一つの k（手法には {k} が指定されています）",
    "a share above 0 and up to 1": "0 より大きく 1 以下の割合",
    "a share above 0 and at most 0.9": "0 より大きく 0.9 以下の割合",
    "a number from 0 to 1": "0 から 1 までの数",
    "1 or more": "1 以上",
    "at least {n}": "{n} 以上",
    "at least 1": "1 以上",
    "at least 2": "2 以上",
    "at least 1 row": "1 行以上",
    "at least 2 different values": "2 種類以上の値",
    "{n} or more": "{n} 以上",
    "a number from {n} to {m}": "{n} から {m} までの数",
    "a population, which k-map and δ-presence need": "母集団（k-map と δ-存在性に必要）",
    "k-map or δ-presence, which a population is for": "母集団を使う k-map または δ-存在性",
    "a method for tables by its name": "表の手法の名前",
    "an attack on tables by its name": "表への攻撃の名前",
    "one attack on histories by its name": "履歴への攻撃の名前",
    "no identifier among the columns to keep": "残す列に識別子を含めない",
    "the local engine, which {what} needs": "このプロセス内での計算（{what} に必要）",
    "the local engine, which {what} needs; others have {names}": (
        "このプロセス内での計算（{what} に必要。ほかのエンジンにあるもの：{names}）"
    ),
    "{lack}, which {name} needs": "{lack}（{name} に必要）",
    # What cannot be anonymized.
    "k = {k} is more than the {rows} of the table: no class can hold it.": (
        "k = {k} は表の {rows}より大きく、満たせるクラスはありません。"
    ),
    "Every row would have to be left out: nothing is released.": (
        "すべての行を除外しなければならず、提供できるものが残りません。"
    ),
    "At the recipe's levels {n} of {m} records would have to be suppressed, more than the share of {p} that the "
    "recipe allows: decide anew for this table.": (
        "レシピのレベルでは {m} 行のうち {n} 行を除外しなければならず、レシピが許す割合 {p} を超えます。"
        "この表のために決め直してください。"
    ),
    "No node of the lattice holds: even fully generalized, {n} of {m} records would have to be suppressed, and at most "
    "{p} may be.": (
        "どの粗さでも条件を満たせません。最も粗くしても {m} 行のうち {n} 行を除外する必要がありますが、"
        "除外できるのは {p} 行までです。"
    ),
    "{n} of {m} rows would have to be left out, {allowed}.": (
        "{m} 行のうち {n} 行を除外しなければなりません（{allowed}）。"
    ),
    "of which {n} may be": "除外できるのは {n} 行まで",
    "Not even all {n} rows in one class hold what is asked.": (
        "{n} 行すべてを一つのクラスにしても、求めた条件を満たせません。"
    ),
    "There are {n} rows, fewer than k = {k}.": "{n} 行しかなく、k = {k} に足りません。",
    "In classes of fewer than {k} rows would stay {rows}: {hint}.": "{rows}が {k} 行未満のクラスに残ります：{hint}。",
    "generalize the other quasi-identifiers first, or name them in the option within": (
        "ほかの準識別子を先に一般化するか、オプション within に挙げてください"
    ),
    "Among fewer than {k} that agree on {alike}: {rows}.": ("{alike} が同じ行が {k} 行に満たない行が {rows}あります。"),
    "Column {column} has {n} numbers, and {k} must be written alike.": (
        "列「{column}」には数値が {n} 個しかなく、{k} 個を同じに書く必要があります。"
    ),
    "Column {column} has not {k} numbers at each end: its ends would overlap.": (
        "列「{column}」の両端に {k} 個ずつの数値がなく、両端が重なります。"
    ),
    "The bounds are so wide that no noise up to scale {n} gives k = {k}.": (
        "範囲が広すぎて、尺度 {n} までのノイズでは k = {k} になりません。"
    ),
    "{customers} cannot be put into groups of {k}.": "{customers}を {k} 人ずつのグループにできません。",
    "No item is bought by at least {customers}.": "{customers}以上が購入した商品がありません。",
    "No grouping of customers by common months was found under the bound: {n} of {m} customers left open and {g} "
    "groups remain, where {a} in all and {b} open are allowed.": (
        "上限に収まる、共通の月による顧客のグループ分けが見つかりません。"
        "{m} 人のうち {n} 人が残り、グループは {g} 個です"
        "（許されるのは全部で {a}、残りは {b}）。"
    ),
    "ε = {e} on top of {s} spent exceeds the budget of {b}.": (
        "ε = {e} を加えると、使用済みの {s} と合わせて予算 {b} を超えます。"
    ),
    "{n} rows are fewer than k_p = {k}: nothing may be published.": (
        "{n} 行では k_p = {k} に足りず、何も公開できません。"
    ),
    "A table of {names} cannot be published with {k} rows in each class.": (
        "{names} の表は、各クラス {k} 行では公開できません。"
    ),
    "{option}: the row of the original behind each released row (in the shell 'anonymize table --rows FILE' writes it, "
    "and --rows FILE reads it), or in_order (--in-order) where both are in one order": (
        "{option}：加工データの各行が元データの何行目か（シェルでは anonymize table --rows FILE で書き、--rows FILE で"
        "読みます）。両方が同じ順序なら in_order（--in-order）"
    ),
    "a hierarchy (--hierarchies): one that is made here is published, and would tell of {n} values that occur in fewer "
    "than {k} rows": (
        "階層（--hierarchies）。ここで作ると公開され、{k} 行未満にしか現れない {n} 個の値があることがわかってしまいます"
    ),
    # Hierarchies.
    "a width above 0": "0 より大きい幅",
    "a top above the bottom {n}": "下端 {n} より大きい上端",
    "factors of at least 2": "2 以上の倍数",
    "a finite number": "有限の数",
    "some of 9, 5 and 3, in this order": "9・5・3 のいくつかを、この順で",
    "a tree with at least one value": "値が一つ以上ある木",
    "a group as name=value|value|…": "「名前=値|値|…」の形のグループ",
    "sizes of at least 2": "2 以上の大きさ",
    "a value of one of the groups": "いずれかのグループにある値",
    "a step of at least 1": "1 以上の刻み",
    "one character": "1 文字",
    "two or more values that differ": "異なる二つ以上の値",
    "a label at every level": "すべてのレベルのラベル",
    "a level from 0 to {n}": "0 から {n} までのレベル",
    "a hierarchy or its file": "階層またはそのファイル",
    "an attribute: {names}": "属性：{names}",
    "at least one value that is not missing": "欠損でない値を一つ以上",
    "a column of numbers": "数値の列",
    "a column of dates": "日付の列",
    "a column of text, numbers, dates or true and false": "文字・数値・日付・真偽の列",
    "a cell with a value; its formula was never computed: open the file in Excel or LibreOffice, and save it": (
        "値のあるセル（数式がまだ計算されていません。Excel か LibreOffice で開き、保存してください）"
    ),
    # The exchange.
    "at least one criterion, each name once": "一つ以上の基準（名前は重複なし）",
    "at least one criterion": "一つ以上の基準",
    "a k of 2 or more": "2 以上の k",
    "a name of 1 to 100 letters": "1〜100 文字の名前",
    "a risk above 0 and at most 0.5": "0 より大きく 0.5 以下のリスク",
    "NAME=K or NAME=RISK": "「名前=k」または「名前=リスク」",
    "at least one attribute, each column once": "一つ以上の属性（列は重複なし）",
    "a level for each attribute": "属性ごとのレベル",
    "a level for each of {names}": "{names} のそれぞれのレベル",
    "as many different approvers as approvals are needed": "必要な承認の数だけの、異なる承認者",
    "a name that can be read": "読める名前",
    "each key and each name once": "鍵も名前も一度だけ",
    "a node of the offer": "オファーにあるレベルの組",
    "a column of another name, since releases count rows in it": (
        "別の名前の列（加工データでは、この列で行を数えます）"
    ),
    "at most {n} combinations of values": "{n} 通り以内の値の組み合わせ",
    "at most {n} nodes to vet": "調べるレベルの組は {n} 個以内",
    "no two-way tables, which go with margins": "二元表なし（二元表は周辺度数の予測と使います）",
    "The offer has no criterion '{name}'. Known: {names}.": "オファーに基準「{name}」はありません。あるもの：{names}",
    "The offer does not allow these levels: {why}.": "オファーはこのレベルを許していません：{why}。",
    "predicted {predicted}, its low end {low} is below {k}": "予測は {predicted}、その下端 {low} が {k} を下回ります",
    "predicted {predicted}, which is below {k}": "予測は {predicted} で、{k} を下回ります",
    "{decided}: the provider decides": "{decided}（提供者が判断します）",
    "together with what is out it tells more classes: {decided}": (
        "すでに公開されたものと合わせると区分が増えます（{decided}）"
    ),
    "with what the offer publishes it could show small classes": (
        "オファーが公開しているものと合わせると、小さな区分がわかってしまう可能性があります"
    ),
    "A law is drawn anew through the releases that everybody may have, and so far they tell the number of rows alone: "
    "answer requests first.": (
        "法則は、だれもが得られる加工データから引き直します。今のところそこからは行数しかわかりません。先にリクエストに答えてください。"
    ),
    "an option of {names}: {options}": "{names} のオプション：{options}",
    "an option of the power law, which counts few nodes": "べき乗則（少ないノードだけを数える）のオプション",
    "The offer lists {name} with another key.": "オファーには「{name}」が別の鍵で載っています。",
    "The offer lists this key as that of {name}.": "オファーではこの鍵は「{name}」のものです。",
    "The provider does not serve this key by the criterion '{name}'.": (
        "提供者は、この鍵に基準「{name}」では提供していません。"
    ),
    "Where others must agree, only recipients whom the offer lists can ask.": (
        "ほかの人の同意が必要な場合、リクエストできるのはオファーに載っている受け手だけです。"
    ),
    "This request was answered already; its answer stands.": "このリクエストには回答済みで、回答は変わりません。",
    "The key is not the one that signed the offer.": "オファーに署名した鍵ではありません。",
    "The offer was removed for good.": "このオファーは完全に削除されました。",
    "A revision follows on the offer as it stands.": "改訂は、現在のオファーに続くものでなければなりません。",
    "The first release would show a class below {k} rows: give it coarser levels.": (
        "最初の加工データに {k} 行未満のクラスが現れます。レベルをもっと粗くしてください。"
    ),
    "The first release and what the predictor publishes tell of small classes together.": (
        "最初の加工データと予測式の公開分を合わせると、小さいクラスがわかってしまいます。"
    ),
    "The offer publishes a count of {n}, below its own k of {k}.": (
        "オファーが {n} という件数を公開しており、自らの k = {k} を下回ります。"
    ),
    "No slope keeps the rule from promising nodes that fail: choose another predictor.": (
        "どの傾きでも、満たせないレベルを約束してしまいます。別の予測式を選んでください。"
    ),
    "{column} follows from {attribute}, or the other way round: carried along, it would tell {other} more finely "
    "than the levels that are given.": (
        "「{column}」と「{attribute}」は一方から他方が決まります。"
        "添えると「{other}」が指定のレベルより細かくわかります。"
    ),
    "{column} has {n} different values among {m} rows: it is an identifier, and cannot be carried along.": (
        "「{column}」は {m} 行に {n} 種類の値があり、識別子にあたるため添えられません。"
    ),
    "{column} has {n} values of fewer than {k} rows, each of which finds somebody: merge them, or do not carry it "
    "along.": (
        "「{column}」には {k} 行未満の値が {n} 個あり、それぞれ誰かを特定します。まとめるか、添えないでください。"
    ),
    "A formula with noise of ε = {e} says nothing of so few rows: give a larger ε, finer levels for the first release, "
    "or choose margins.": (
        "行が少なく、ε = {e} のノイズを加えた予測式では何もわかりません。ε を大きくするか、最初の加工データのレベルを"
        "細かくするか、周辺度数の予測を選んでください。"
    ),
    "{n} people of {person} have several rows, up to {m}. k counts rows, so that a class of one person would pass for "
    "many: make it one row for each.": (
        "「{person}」の {n} 人に複数の行（最大 {m} 行）があります。"
        "k は行を数えるため、一人だけのクラスが多人数に見えます。"
        "一人一行にしてください。"
    ),
    "{p} of these {by} are offered as '{name}' already: two offers of the same people tell by their difference what "
    "neither does alone. Answer requests for that offer, or say that these are other people (--other-people).": (
        "これらの {by} の {p} は、すでに「{name}」として提供されています。同じ人々の二つのオファーは、差から"
        "単独ではわからないことを明かします。そのオファーのリクエストに答えるか、別の人々であることを示してください。"
    ),
    "The offer would prove a class of {rows}, fewer than {k}: {names}.": (
        "オファーから、{k} 行に満たない {rows}のクラスが証明できます：{names}。"
    ),
    "{n} to {m} rows": "{n}〜{m} 行",
    "A release for k = {k} has a class of {rows}.": "k = {k} の加工データに {rows}のクラスがあります。",
    "this field": "この項目",
    "an object": "オブジェクト",
    "at most {n} bytes": "{n} バイト以内",
    "JSON ({why})": "正しい JSON",
    "{document}: the signature does not fit; the {sort} was changed after it was signed.": (
        "{document}：署名が合いません。署名の後に変更されています。"
    ),
    # What files and forms lack, where the words of contests have nothing for it.
    "the line end {end} as above": "前の行と同じ改行 {end}",
    "1 cell": "1 個のセル",
    "1 cell as in the header: all lines below it end in '{delimiter}', which begins one more": (
        "見出しと同じ 1 個のセル（下の行はすべて「{delimiter}」で終わるので、一つ多くなっています）"
    ),
    "1 cell as in the lines above (if the table begins here, give --skip-rows {m})": (
        "上の行と同じ 1 個のセル（表がここから始まるなら --skip-rows {m}）"
    ),
    "{n} cells": "{n} 個のセル",
    "{n} cells as in the header: all lines below it end in '{delimiter}', which begins one more": (
        "見出しと同じ {n} 個のセル（下の行はすべて「{delimiter}」で終わるので、一つ多くなっています）"
    ),
    "{n} cells as in the lines above (if the table begins here, give --skip-rows {m})": (
        "上の行と同じ {n} 個のセル（表がここから始まるなら --skip-rows {m}）"
    ),
    "lines of at most {n} bytes": "1行 {n} バイト以内",
    "a name for every column; if this is a title above the header, --skip-rows {n}": (
        "すべての列の名前（見出しの上にある表題なら --skip-rows {n}）"
    ),
    "a text of 1 to 60 characters": "60 文字以内の文字列",
    "a price from 0 to {n}": "0 から {n} までの単価",
    "a whole number from {n} to {m}": "{n} から {m} までの整数",
    "one of {names}": "次のいずれか：{names}",
    "a date from {first} to {last}": "{first} から {last} までの日付",
    "the file {file}: {what}": "ファイル {file}",
    "a zip that holds {names} and nothing else": "{names} だけを含む zip ファイル",
    "a zip that holds {names}": "{names} を含む zip ファイル",
    "a file of at most {n} bytes": "{n} バイト以内のファイル",
    "at most {n} bytes when unpacked": "展開後 {n} バイト以内",
    "a level of knowledge: {names}": "知識レベル：{names}",
    "an Excel workbook (.xlsx) with a table ({why})": "表を含む Excel ブック（.xlsx）",
    "a file with a header and at least one row below it": "見出しと、その下に少なくとも 1 行があるファイル",
    "at most {n} columns": "{n} 列以下",
    "UTF-8{advice}": "UTF-8 の文字",
    "text in {encoding}": "{encoding} の文字",
    "a whole Parquet file, which ends with PAR1": "途中で切れていない Parquet ファイル",
    "a Parquet file, which starts with PAR1": "Parquet ファイル",
    "an Excel workbook (.xlsx), which is a zip file ({why})": "Excel ブック（.xlsx）",
    "a column named {role}, or {how}": "「{role}」の列",
    "{an} {role} in every row": "すべての行に {role}",
    "{wanted} (or --columns {role}= where the history has none)": "{wanted}（履歴にない場合は --columns {role}=）",
    "a customer in every row that holds anything": "内容のあるすべての行に顧客",
    'a column that is a "quasi-identifier", or more': "準識別子の列が少なくとも一つ",
}


# Numbers with their nouns.
COUNTS = {
    f"{{n}} {english}": f"{{n}} {japanese}"
    for nouns, japanese in (
        (("row", "rows", "line", "lines"), "行"),
        (("customer", "customers"), "人の顧客"),
        (("release", "releases"), "回"),
        (("cell", "cells"), "個のセル"),
        (("byte", "bytes"), "バイト"),
        (("column", "columns"), "列"),
        (("pseudonym", "pseudonyms"), "個の仮名"),
    )
    for english in nouns
}
SAID = {**WORDS, **FRAMES, **COUNTS, **ERRORS}
