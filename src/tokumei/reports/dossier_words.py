"""The words of dossiers in Japanese: the names of methods, measures and attacks, the pages, the law."""

from __future__ import annotations

METHODS = {
    "best-effort": "可能な範囲での探索",
    "block-swap": "区間内スワッピング",
    "datafly": "Datafly 法",
    "dp-counts": "差分プライバシーによる集計",
    "exhaustive": "全探索",
    "incognito": "Incognito 法",
    "marginal-recoding": "周辺分布による再符号化",
    "marginals": "周辺分布",
    "microaggregate": "ミクロアグリゲーション",
    "min-dis": "最小距離のまとめ",
    "mondrian": "Mondrian 法",
    "mu-argus": "μ-ARGUS 法",
    "noise": "ノイズ付加",
    "ola": "OLA 法",
    "optimal": "最適探索",
    "pak": "Pk-匿名化",
    "partition": "分割",
    "pram": "PRAM（事後ランダム化）",
    "prediction-guided": "予測にもとづく探索",
    "sample": "標本抽出",
    "swap": "スワッピング",
    "top-bottom-code": "トップ・ボトムコーディング",
    "top-down-specialization": "トップダウン特殊化",
    "utility-clustering": "有用性クラスタリング",
    "delete": "行の削除",
    "dummies": "ダミーの追加",
    "exchange-pseudonyms": "仮名の交換",
    "generalize": "一般化",
    "km-anonymity": "km-匿名化",
    "permute-groups": "グループ内の入れ替え",
    "perturb": "撹乱",
    "pseudonyms": "仮名化",
    "the publisher": "提供者",
}
MEASURES = {
    "k-anonymity": "k-匿名性（最小の同値類）",
    "uniques": "一意な行の割合",
    "mean-class-size": "同値類の平均の大きさ",
    "prosecutor-risk": "検察官リスク（最大）",
    "prosecutor-risk-mean": "検察官リスク（平均）",
    "prosecutor-risk-least": "検察官リスク（最小）",
    "prosecutor-risk-share-above": "検察官リスクが閾値を超える割合",
    "journalist-risk": "ジャーナリストリスク",
    "breach-risk": "漏えい時のリスク（最大）",
    "marketer-risk": "マーケターリスク",
    "information-loss": "情報損失",
    "aya": "AYA（有用性の総合値）",
    "correlation-error": "相関の誤差",
    "correlation-mae": "相関の平均絶対誤差",
    "cross-count": "クロス集計の件数の誤差",
    "cross-mean": "クロス集計の平均の誤差",
    "crosstab-error": "二元表の誤差",
    "mean-mae": "平均の絶対誤差",
    "model": "予測モデルの精度の低下",
    "row-count": "失われた行の割合",
    "statistics": "基本統計量の誤差",
    "association-rules": "アソシエーションルール",
    "buyers": "購買者の分布",
    "crosstab": "クロス集計",
    "date": "日付の誤差",
    "frequent-itemsets": "頻出アイテム集合",
    "item-cf": "商品推薦",
    "item-cf-retail": "商品推薦（小売）",
    "item-cf-supply": "商品推薦（供給）",
    "item-cf-top": "商品推薦（上位）",
    "item-item": "商品どうしの関連",
    "price": "価格の誤差",
    "rfm-table": "RFM 表",
    "rows": "行数の変化",
    "statistic": "統計量の誤差",
    "top-items": "売れ筋商品",
    "gt-loss": "一般化損失（GT）",
    "discernibility": "識別可能性損失（DM）",
    "entropy": "エントロピー損失",
    "ncp": "正規化確信度ペナルティ（NCP）",
}
ATTACKS = {
    "record-linkage": "レコード照合",
    "homogeneity": "均質性攻撃",
    "background-knowledge": "背景知識攻撃",
    "presence": "所属推定",
    "intersection": "積集合攻撃",
    "downcoding": "一般化の逆算",
    "minimality": "最小性攻撃",
    "refine": "線形計画による絞り込み",
    "exact-match": "完全一致",
    "jaccard": "Jaccard 類似度",
    "linkage": "照合攻撃",
    "row-counts": "行数による照合",
    "same-day": "同じ日の照合",
    "same-item": "同じ商品の照合",
    "same-month-and-item": "同じ月と商品の照合",
    "tfidf": "TF-IDF 類似度",
    "{attack} of {column}": "{attack}（{column}）",
    "certain": "確実に分かる割合",
    "success": "当たる割合",
    "linked-certain": "確実に分かる割合（提供間で照合）",
    "linked-success": "当たる割合（提供間で照合）",
    "singled-out": "範囲の端の値で一人に絞り込める割合",
    "singled-out-estimate": "範囲の端の値で一人に絞り込める割合（推定）",
    "cells-certain": "一般化した値のうち元の値が分かる割合",
    "narrowed": "元の値の候補が絞られる行の割合",
    "found": "顧客ごとの当たった月の割合（平均）",
    "row": "全期間で顧客が当たる割合",
    "cell": "全顧客×全月で仮名が当たる割合",
    "month": "仮名がある月で仮名が当たる割合",
    "pseudonym": "仮名から顧客が当たる割合",
    "transaction": "購買から顧客が当たる割合",
    "somebody who knows everybody": "全員のことを知る人",
    "neighbor": "近所の人",
    "acquaintance": "知人",
    "{who}, who knows {share} of the purchases": "{who}（購買の {share} を知る）",
}
PREPARATIONS = {
    "shift-dates": "人ごとの日付のずらし",
    "round": "丸め",
    "top-code": "トップコーディング",
    "grid": "格子への丸め",
    "mask": "文字列のマスク",
}
NAMES = {**METHODS, **MEASURES, **ATTACKS, **PREPARATIONS}


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


JAPANESE_LAW = {
    "Japan: anonymously processed information (匿名加工情報)": ("日本：匿名加工情報"),
    "Japan: pseudonymously processed information (仮名加工情報)": ("日本：仮名加工情報"),
    "European Union: the three criteria of WP216": ("欧州連合：WP216 の三つの基準"),
    "United States: HIPAA Safe Harbor": ("米国：HIPAA セーフハーバー"),
    "identifying descriptions are deleted (特定の個人を識別することができる記述等)": (
        "特定の個人を識別することができる記述等の削除"
    ),
    "individual identification codes are deleted (個人識別符号)": ("個人識別符号の削除"),
    "codes that link to the original are deleted (連結する符号)": ("情報を相互に連結する符号の削除"),
    "peculiar descriptions are deleted (特異な記述等)": ("特異な記述等の削除"),
    "differences within the database are taken care of (データベース等の性質を踏まえた措置)": (
        "個人情報データベース等の性質を踏まえた措置"
    ),
    "processing information is kept safe (加工方法等情報の安全管理)": ("加工方法等情報の安全管理"),
    "what can do harm to property is deleted (財産的被害が生じるおそれのある記述等)": (
        "財産的被害が生じるおそれのある記述等の削除"
    ),
    "deleted information is kept safe (削除情報等の安全管理)": ("削除情報等の安全管理"),
    "{column} tells years of birth of people over 89, as {year}": (
        "{column} に 89 歳を超える人の生年があります（例：{year}）"
    ),
    "singling out": ("個人の選び出し（singling out）"),
    "linkability": ("連結可能性（linkability）"),
    "inference": ("推論（inference）"),
    "names": ("氏名"),
    "places smaller than a state": ("州より小さい地理的区分"),
    "dates but for the year, and ages over 89": ("年を除く日付、および 89 歳を超える年齢"),
    "telephone numbers": ("電話番号"),
    "fax numbers": ("ファックス番号"),
    "electronic mail addresses": ("電子メールアドレス"),
    "social security numbers": ("社会保障番号"),
    "medical record numbers": ("診療録番号"),
    "health plan beneficiary numbers": ("健康保険の受給者番号"),
    "account numbers": ("口座番号"),
    "certificate and license numbers": ("証明書・免許の番号"),
    "vehicle identifiers and license plates": ("車両の識別番号とナンバープレート"),
    "device identifiers and serial numbers": ("機器の識別子と製造番号"),
    "web addresses": ("ウェブアドレス（URL）"),
    "IP addresses": ("IP アドレス"),
    "biometric identifiers": ("生体識別子"),
    "full-face photographs": ("顔全体の写真"),
    "any other unique number, characteristic or code": ("その他の固有の番号・特徴・符号"),
    "no actual knowledge that people can be identified": ("個人を識別できると実際に知っていないこと"),
    "only you can know": ("ご自身にしか分かりません"),
    "none of the {n} released columns is recognized as such": (
        "提供する {n} 列の中に該当すると認められる列はありません"
    ),
    "A criterion is met only by an attack that was run: where the upper end of its 95 % interval is at most {margin} "
    "above what chance finds. It is not met where the lower end lies above that, or somebody was found with certainty. "
    "In between it is yours to judge. A count of rows, such as k, decides nothing here.": (
        "「充足」は、実際に試した攻撃の 95 % 信頼区間の上端が、偶然当たる割合を {margin} "
        "より大きく上回らない場合に限ります。"
        "下端がそれを上回る場合、または確実に特定された人がいる場合は「不充足」、その間は「要判断」です。"
        "k のような行数の計数だけでは判定しません。"
    ),
    "not measured: {why}; counted: every row shares {known} with {n} other rows or more": (
        "未測定：{why}。計数：どの行も {known} が他の {n} 行以上と同じです"
    ),
    "ranges of numbers are tight: both ends of each are values of people in the group": (
        "数値の範囲は「tight」です。各範囲の両端は、そのグループにいる人の値そのものです"
    ),
    "{attack}: the end of a range fits one person in {found} ({low} to {high}), any value of it in {blind}": (
        "{attack}：範囲の端の値がちょうど一人に当てはまる割合は {found}（{low}～{high}）、"
        "範囲内の任意の値では {blind} です"
    ),
    "{attack}: {found}": ("{attack}：{found}"),
    "rows are alone by {known}": ("{known} で一意になる行があります"),
    "some rows are alone by {known}": ("{known} で一意になる行があります"),
    "the attack {attack} was not tried": ("攻撃 {attack} は試していません"),
    "a value that one row alone has: {columns}": ("一行だけにある値：{columns}"),
    "values that few rows have: {columns}": ("少数の行だけにある値：{columns}"),
    "every value of every column stands in {n} rows or more": ("どの列のどの値も {n} 行以上にあります"),
    "bounds that do not hold: {failed}": ("満たされていない条件：{failed}"),
    "the smallest class has {k} rows; no attack was tried": ("最小の同値類は {k} 行です。攻撃は試していません"),
    "the smallest class has {k} rows, {n} bounds hold, and {met} of {tried} attacks find no more than chance": (
        "最小の同値類は {k} 行、成立した条件は {n} 個、偶然を超えて当てられなかった攻撃は {tried} 個中 {met} 個です"
    ),
    "where the seed, the mapping and the recipe lie is not known here": (
        "乱数の種・対応表・加工方法の保管場所は、ここでは分かりません"
    ),
    "others can read the processing information: {listed}": ("加工方法等情報を他人が読めます：{listed}"),
    "kept apart, readable by its owner alone: {listed}": ("別に管理し、所有者だけが読めます：{listed}"),
    "{columns} was drawn at random; it links until {table}, which leads back, is destroyed": (
        "{columns} は無作為に割り当てました。元に戻せる {table} を廃棄するまでは連結します"
    ),
    "no column is named so or holds bytes": ("そのような名前の列も、バイナリの列もありません"),
    "{column} has more than the first three digits of a postal code": (
        "{column} に郵便番号の先頭三桁を超える値があります"
    ),
    "{column} has areas of 20,000 people or fewer: {areas}": ("{column} に人口 2 万人以下の地域があります：{areas}"),
    "no place below a state but areas of more than 20,000 people": (
        "州より小さい区分はありません（人口 2 万人を超える三桁の地域を除く）"
    ),
    "{column} tells more than the year, as in {value}": ("{column} は年より細かい値を含みます（例：{value}）"),
    "{column} tells an age of {age}": ("{column} に {age} 歳の値があります"),
    "no date finer than a year, no age over 89": ("年より細かい日付も、89 歳を超える年齢もありません"),
    "Expert Determination (45 CFR 164.514(b)(1)), outline: the expert and their experience; the "
    "recipient and what they may know; "
    "the data and each column's replicability, availability and distinguishability; the methods and "
    "the measured risk; why it is "
    "very small; until when the determination holds.": (
        "専門家による判定（45 CFR 164.514(b)(1)）の骨子：専門家とその経験、提供先とその知識、データと各列の再現性・"
        "入手可能性・識別性、手法と測定されたリスク、リスクが極めて小さい理由、判定の有効期限。"
    ),
}
