"""The words of the legal pages in Japanese."""

from __future__ import annotations

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
