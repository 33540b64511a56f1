"""The words of the dossier in Japanese."""

from __future__ import annotations

JAPANESE = {
    "Report on the release of {name}": "{name} の匿名化報告書",
    "For the person who decides": "判断する方へ",
    "{released} of {rows} rows are released, anonymized by {method}; {left} are left out, and so are all columns "
    "without a role and all that identify people.": "{rows} 行のうち {released} 行を「{method}」"
    "で匿名化して提供します。{left} 行は除外し、役割のない列と個人を識別する列はすべて除いています。",
    "Counted: k = {k}. Every released row shares what others may know ({known}) with {others} other rows or more; in "
    "the original, {alone} rows shared it with no other.": "計数：k = {k}。提供するどの行も、他人が知りうる列"
    "（{known}）の値が他の {others} 行以上と同じです。元データでは {alone} 行がほかのどの行とも異なりました。",
    "Attacked: by {attack}, the end of a range fits exactly one person in {found} of the cases (95 % interval {low} "
    "to {high}); any value of the same ranges does in {blind}. Criterion against singling out: "
    "{finding}.": "攻撃：「{attack}」"
    "では、範囲の端の値がちょうど一人に当てはまる割合は {found}（95 % 信頼区間 {low}～{high}）、"
    "同じ範囲の任意の値では {blind} です。個人の選び出しを防ぐ基準：{finding}。",
    "Attacked: whether labels single people out was not measured, since {why}.": (
        "攻撃：ラベルから個人を選び出せるかは測定していません（{why}）。"
    ),
    "no attack looked for people whom labels single out": "ラベルから個人を選び出す攻撃は試していません",
    "no released row is a row of the original, so that nobody can judge what the attack claims": (
        "元データの行に対応する行がなく、攻撃の主張の正誤を判定できません"
    ),
    "no label of the release is a range, whose ends the attack tries": (
        "攻撃が試す範囲の端が、加工データのラベルにありません"
    ),
    "nothing to find": "対象なし",
    "anybody": "誰でも",
    "{who}, who has the release alone": "{who}（加工データだけを持つ）",
    "Ranges of numbers are tight: both ends of each are values of people in the group, so that some of them can be "
    "singled out. The option ranges=grid hides the ends.": "数値の範囲は「tight」です。各範囲の両端はグループにいる人の"
    "値そのものなので、一部の人を選び出せます。オプション ranges=grid で両端を隠せます。",
    "Medians are written: that of an odd number of rows is the value of somebody in the group, so that some of them "
    "can be singled out.": "中央値を書き出しています。行数が奇数のグループでは中央値が誰かの値そのものなので、"
    "一部の人を選び出せます。",
    "Means are written: that of equal values is the value of everybody in the group, and whoever knows all of a group "
    "but one computes the value of the last.": "平均値を書き出しています。値がすべて等しいグループでは平均値が全員の値"
    "そのものであり、一人を除く全員の値を知る人は、残る一人の値を計算できます。",
    "Numbers between the thresholds are released as they are, and a threshold that follows from a share of the rows, "
    "or from k, is the value of somebody in the table.": "しきい値の間の数値はそのまま提供します。行の割合や k "
    "から決まるしきい値は、表の中の誰かの値そのものです。",
    "The strongest attack that was tried ({attack}, by {who}) is right for {share} of people, where blind guessing "
    "is for {blind}.": "試した中で最も強い攻撃（{who} による {attack}）の成功率は "
    "{share}、当てずっぽうでは {blind} です。",
    "No attack was tried, so nothing is known of who could be found.": (
        "攻撃は試していないため、誰が特定されうるかは分かっていません。"
    ),
    "The release lost {loss} of its detail by {name}, where 0 is nothing and 1 is all.": "失われた情報は {name} で "
    "{loss} です（0 は損失なし、1 はすべて）。",
    "Not all bounds hold: {failed}.": "満たされていない条件があります：{failed}。",
    "All {n} bounds that were set hold; {reviewer} decides, until {until}.": "設定した {n} "
    "個の条件をすべて満たしています。判断者：{reviewer}、期限：{until}。",
    "the reviewer (not named)": "審査者（記載なし）",
    "further notice": "定めなし",
    "What was done": "行ったこと",
    "column": "列",
    "role": "役割",
    "what became of it": "処理",
    "level": "一般化のレベル",
    "identifier": "識別子",
    "quasi-identifier": "準識別子",
    "sensitive": "機微な属性",
    "other": "その他",
    "not released": "提供しない",
    "generalized": "一般化",
    "released as it was": "そのまま提供",
    "The columns and what became of them.": "列とその処理。",
    "method": "手法",
    "loss": "損失",
    "why not": "理由",
    "The methods that were tried; the least loss was taken.": "試した手法。損失が最小のものを採用しました。",
    "What it promises, recounted": "約束と再計算の結果",
    "promise or bound": "約束・条件",
    "value": "値",
    "holds": "成立",
    "fails": "不成立",
    "Recounted on the rows that were written.": "書き出した行から数え直しました。",
    "How large classes are": "同値類の大きさ",
    "rows in classes of that size": "その大きさの同値類にある行数",
    "Rows by the size of their class.": "同値類の大きさごとの行数。",
    "class size": "同値類の大きさ",
    "rows before": "加工前の行数",
    "rows after": "加工後の行数",
    "Rows by the size of their class, before and after.": "同値類の大きさごとの行数（加工前と加工後）。",
    "Who is at risk": "リスク",
    "measure": "指標",
    "before": "加工前",
    "after": "加工後",
    "Risks: prosecutor, journalist and marketer.": "検察官・ジャーナリスト・マーケターの各モデルによるリスク。",
    "Of a population of {n} people, {before} are estimated to be alone by the original's columns and {after} by the "
    "release's (Pitman's model, Hoshino 2001).": "母集団 {n} 人のうち、元データの列では {before} "
    "人、加工データでは {after} 人が一意と推定されます（Pitman モデル、Hoshino 2001）。",
    "How many are alone in the whole population was not estimated: its size is not in the job.": (
        "母集団一意数は推定していません（ジョブに母集団の大きさがありません）。"
    ),
    "(missing)": "（欠損）",
    "row of the original": "元データの行番号",
    "rows in its class": "同値類の行数",
    "risk": "リスク",
    "The riskiest records that remain. This page leads to people, so keep it to yourself.": (
        "残っている中で最も危険なレコード。個人につながるため、この頁は外部に出さないでください。"
    ),
    "Who is found by attacks": "攻撃の結果",
    "who, and what they know": "攻撃者と知識",
    "attack": "攻撃",
    "found": "成功率",
    "95 % interval": "95 % 信頼区間",
    "blindly": "当てずっぽう",
    "control": "対照群",
    "Shares of people; a dash where there is no such number.": "人数の割合。該当する数値がない場合は「–」。",
    "What use is left": "有用性",
    "best": "最良",
    "worst": "最悪",
    "Every measure that the columns allow.": "列から計算できるすべての指標。",
    "share before": "加工前の割合",
    "share after": "加工後の割合",
    "The commonest values before and after.": "多い値（加工前と加工後）。",
    "Who was left out": "除外された人々",
    "No small group lost a row.": "少数集団から除外された行はありません。",
    "rows": "行数",
    "left out": "除外",
    "Small groups of which rows are left out, the hardest hit first.": "行が除外された少数集団（影響の大きい順）。",
    "This page gathers evidence; it is no legal advice.": "この頁は根拠を集めたもので、法的助言ではありません。",
    "article": "条項",
    "what it asks": "求められること",
    "finding": "判定",
    "evidence": "根拠",
    "met": "充足",
    "not met": "不充足",
    "yours to judge": "要判断",
    "not measured": "未測定",
    "Met, not met, not measured, or yours to judge.": "充足・不充足・未測定・要判断。",
    "Evidence": "証跡",
    "input": "入力",
    "handed over": "提供",
    "kept apart": "別管理",
    "what": "種別",
    "file": "ファイル",
    "Hashes by which each file can be recognized.": "各ファイルを確認するためのハッシュ値。",
    "Made on {date} by {versions}; the seed is kept apart.": "{date} に {versions} "
    "で作成。乱数の種は別に管理しています。",
    "{released} of {rows} purchases of {customers} customers are released under {pseudonyms} pseudonyms, by "
    "{method}.": (
        "{customers} 人の購買 {rows} 件のうち {released} 件を、"
        "{pseudonyms} 個の仮名のもとで「{method}」により提供します。"
    ),
    "The strongest attack that was tried ({attack}, by {who}) names a customer rightly in {share} of their "
    "months on average, where blind guessing does in {blind}; it names {always} of them in every month.": (
        "試した中で最も強い攻撃（{who} による {attack}）は、平均して購買のある月の {share} で顧客を正しく特定します。"
        "当てずっぽうでは {blind} です。全期間で正しく特定されるのは顧客の {always} です。"
    ),
    "No bound was set; {reviewer} decides, until {until}.": (
        "条件は設定されていません。判断者：{reviewer}、期限：{until}。"
    ),
    "By it {share} of the pseudonyms lead to their customers, where blind guessing leads {blind} there.": (
        "この攻撃で仮名の {share} が顧客に結び付きます。当てずっぽうでは {blind} です。"
    ),
    "The use that suffers most is {name}, of which {loss} is lost, where 0 is nothing and 1 is all.": (
        "最も損なわれる有用性は「{name}」で、損失は {loss} です（0 は損失なし、1 はすべて）。"
    ),
    "No loss of use was measured.": ("有用性の損失は測定していません。"),
    "The methods that were tried; the one by which fewest customers are found was taken.": (
        "試した手法。特定される顧客が最も少ないものを採用しました。"
    ),
    "customers found": ("特定された顧客"),
    "use lost": ("失われた有用性"),
    "What must hold, recounted": ("満たすべき条件と再計算の結果"),
    "what was done first": ("先に行った処理"),
    "Changed first; everything below compares with the columns after that.": (
        "先に加工した列。以下の数値はすべて加工後の列との比較です。"
    ),
    "Not measured, so neither good nor bad.": ("測定していないため、良いとも悪いとも言えません。"),
    "share of rows": ("行の割合"),
    "{of} at least {end}": "{of} が {end} 以上",
    "{of} at most {end}": "{of} が {end} 以下",
    "Shares of rows by value, before and after.": "値ごとの行の割合（加工前と加工後）。",
}
