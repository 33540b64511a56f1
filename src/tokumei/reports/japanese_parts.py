"""What methods, steps, builders of hierarchies and their options do, in Japanese, by the sentence that each has."""

from __future__ import annotations

METHODS = {
    "Go down from the top, the most promising node first, until time is up; the best node met is the result.": (
        "最も粗いレベルから有望な順に下り、時間内で見つかった最良のものを採ります。"
    ),
    "Go up one level at a time, in the attribute with the most labels, until the node holds (Sweeney 1997).": (
        "ラベルの最も多い列を一段ずつ粗くし、条件を満たすまで続けます（Sweeney 1997）。"
    ),
    "Publish contingency tables with noise, so that no outcome is much likelier with a person than without.": (
        "雑音を加えた集計表を公開し、誰か一人の有無で結果が大きく変わらないようにします。"
    ),
    "Count every node and take the one that holds with the least loss: slow, and right by definition.": (
        "すべてのレベルの組を数え、条件を満たす中で損失が最小のものを採ります。遅いものの、定義どおりです。"
    ),
    "Find all nodes that hold, for one attribute, then two, and so on, each from those that held with one fewer.": (
        "条件を満たすレベルを、列一つ、二つ、…と、前の結果をもとにすべて見つけます。"
    ),
    "Recode by a table of your own: its rows are ranges of one column, its columns of the other.": (
        "自作の表で、値の置き換え方を指定します。"
    ),
    "Publish the counts of each column and of pairs of columns, checked together, or rows drawn from those counts.": (
        "列ごとと二列ごとの件数を合わせて確かめて公開するか、それから行を生成します。"
    ),
    "Put rows with near numbers into groups of at least k, and write each group's mean.": (
        "数値の近い行を k 行以上の組にまとめ、組の平均に置き換えます。"
    ),
    "Merge each group of rows that fails with the one that raises the distortion DIS least, until none fails.": (
        "条件を満たさない組を、歪み DIS の増加が最小の組と、すべて満たすまでまとめます。"
    ),
    "Cut all rows into parts, and these again, as long as every part still meets what is asked.": (
        "条件を満たす限り、行の集まりを繰り返し分割します。"
    ),
    "Look at combinations of a few columns, recode the values in rare ones, and suppress cells where that is dearer.": (
        "少数の列の組でまれな値を置き換え、損失が大きい場合はセルを消します。"
    ),
    "Add random numbers with mean 0 to numbers.": "数値に平均 0 の乱数を加えます。",
    "Find every minimal node by halving sublattices, tag what follows, and take the one with the least loss.": (
        "部分束を半分ずつ調べて極小のレベルをすべて見つけ、損失が最小のものを採ります。"
    ),
    "Take the node that holds with the least loss, equal to looking at every node.": (
        "条件を満たす中で損失が最小のレベルを採ります。すべてを調べた結果と同じです。"
    ),
    "Count a few small nodes, draw the power law through their k, and start at the node nearest to what it predicts.": (
        "いくつかのレベルの k からべき乗則を推定し、予測に最も近いレベルから探します。"
    ),
    "Split all rows by the labels of one column, and each part again by its own widest label, until none can be "
    "split.": ("一つの列のラベルで行を分け、それぞれをさらに最も広いラベルで、分けられなくなるまで分割します。"),
    "Keep each value with one probability, and else draw it evenly from all values of its column.": (
        "一定の確率で値を残し、それ以外は列の値から等確率で引きます。"
    ),
    "Look first at the node that loses least of all that are predicted to hold, and let each look correct the next.": (
        "条件を満たすと予測される中で損失が最小のレベルから調べ、結果で次の予測を直します。"
    ),
    "Release a simple random sample of the rows, in an order drawn at random.": (
        "行を単純無作為に抽出し、無作為な順に並べて公開します。"
    ),
    "Exchange numbers in pairs within blocks of ranks, each as wide as p percent of the rows.": (
        "順位を行数の p パーセントの幅の区画に分け、区画の中で数値を二つずつ交換します。"
    ),
    "Exchange each number with one whose rank is at most p percent of the rows away.": (
        "数値を、順位が p パーセント以内の別の値と交換します。"
    ),
    "Write the largest numbers of a column as one number, and the smallest as another.": (
        "列の大きな値を一つの値に、小さな値を別の一つの値にまとめます。"
    ),
    "Replace one label by those below it, for all rows at once, as long as the release still meets what is asked.": (
        "条件を満たす限り、一つのラベルを下位のラベルに、すべての行で置き換えます。"
    ),
    "Build groups of rows that hold by the least weighted certainty penalty, from single rows up or from all down.": (
        "重み付きの確信度ペナルティが最小になるよう、条件を満たす行の組を作ります。"
    ),
}
STEPS = {
    "Delete the rows that are singular, then those that give most away, then some at random.": (
        "珍しい行、手がかりの多い行、無作為に選んだ行の順に削除します。"
    ),
    "Delete items bought only once.": "一度しか買われない商品を削除します。",
    "Standard deviations from the mean beyond which a price is deleted; 0: none is.": (
        "平均から標準偏差の何倍を超える価格の行を削除するか。0 なら削除しません。"
    ),
    "Share of rows to delete that give most away.": "手がかりの多い行を削除する割合。",
    "Share of rows to delete at random.": "無作為に削除する行の割合。",
    "Largest share of rows that may be deleted in all.": "全体で削除してよい行の割合の上限。",
    "Cluster customers by their items and add dummy rows until all of a cluster have bought the same items.": (
        "顧客を商品で分類し、同じ組の全員が同じ商品を買ったことになるまでダミーの行を加えます。"
    ),
    "Number of clusters; none: one for each four customers; best: the paper's c*.": (
        "組の数。空なら顧客 4 人に一つ、best なら論文の c*。"
    ),
    "Fewest customers in a cluster; 1 leaves the clusters as k-means finds them.": (
        "一つの組の最小の顧客数。1 なら k-means の結果のままです。"
    ),
    "With clusters=best: what an added row weighs against all customers being found; none: one in the most rows "
    "that any number of clusters adds.": (
        "clusters=best のとき、加える1行が全顧客の再識別に対して持つ重み。"
        "指定しなければ、加わり得る最大行数の逆数です。"
    ),
    "Name customers by pseudonyms that pairs of similar customers exchange from month to month.": (
        "顧客に仮名を付け、似た顧客どうしで月ごとに仮名を交換します。"
    ),
    "Months between two exchanges.": "交換の間隔（月）。",
    "Share of the month's customers who exchange, 0 to 1.": "その月に交換する顧客の割合（0 から 1）。",
    "Partners are drawn from so many most similar customers.": "交換の相手を選ぶ、最も似た顧客の人数。",
    "Write the purchases of k similar customers alike, so that each pseudonym fits all of them equally.": (
        "似た k 人の購買を同じ形に書き、どの仮名も全員に等しく当てはまるようにします。"
    ),
    "Fewest customers that each pseudonym fits.": "一つの仮名に当てはまる最小の顧客数。",
    "Times that each member's rows are aligned anew, for less loss.": "損失を減らすために行の対応を取り直す回数。",
    "Customers with the most rows that are NOT protected, but written as they are.": (
        "保護せず、そのまま書き出す行の多い顧客の数。"
    ),
    "Whether ranges and sets consist of public cells and parts of the item list, or of the values of the group "
    "(tight).": ("範囲と集合を公開の区切りと商品一覧の区分で作る（grid）か、組の値そのもので作る（tight）か。"),
    "Delete items of customers until each combination of up to m items is bought by at least k customers or none.": (
        "m 個以下のどの商品の組も、k 人以上が買うか誰も買わない状態になるまで商品を削除します。"
    ),
    "Fewest customers who share a combination of items.": "商品の組を共有する最小の顧客数。",
    "Most items an attacker knows: 1 or 2.": "攻撃者が知る商品の数の上限（1 または 2）。",
    "Cut groups of customers with like months to equal numbers of rows and deal their purchases out among them.": (
        "月ごとに似た顧客の行数をそろえ、購買を組の中で配り直します。"
    ),
    "Largest share of customers any attacker may be expected to find.": (
        "攻撃者が見つけると見込まれる顧客の割合の上限。"
    ),
    "Fewest customers in a group: each is found with chance 1/g at most.": (
        "一つの組の最小の顧客数 g。見つかる確率は 1/g 以下です。"
    ),
    "Largest share of customers left open, 0 to 1; the bound limits them in any case.": (
        "組に入れない顧客の割合の上限（0 から 1）。"
    ),
    "Deal out single rows, or whole baskets (a customer's rows of a day).": (
        "行ごとに配るか、一日分の買い物ごとに配るか。"
    ),
    "Move dates, quantities, prices and items a little at random.": "日付・数量・価格・商品を無作為に少し動かします。",
    "Most days a date moves, within its month.": "日付が動く最大の日数（同じ月の中）。",
    "Most that a quantity changes, as a share of itself.": "数量の変化の上限（元の値に対する割合）。",
    "Most that a price changes, as a share of itself.": "価格の変化の上限（元の値に対する割合）。",
    "Share of rows whose item is exchanged for one with the same two characters.": (
        "先頭 2 文字が同じ別の商品に置き換える行の割合。"
    ),
    "Write 0:00 as the time of every purchase.": "すべての購買の時刻を 0:00 にします。",
    "Move all that a customer bought on a day to the same new date.": "一日分の買い物をまとめて同じ日に動かします。",
    "Name customers by pseudonyms that change whenever they have lived their time.": (
        "顧客に仮名を付け、期限が来るたびに新しい仮名にします。"
    ),
    "Months a pseudonym lives, counted from the first month.": "仮名が続く月数（最初の月から数える）。",
    "Halve lives found with a greater chance, 0 to 1; none: all live equally long.": (
        "見つかる確率がこれを超える仮名の期間を半分にします（0 から 1）。空ならすべて同じ期間です。"
    ),
    "Share of the rows an attacker knows, for the risk limit.": "上の確率で、攻撃者が知る行の割合。",
    "Put the category of each item in its place, by an item hierarchy.": "商品を、商品の階層の分類に置き換えます。",
    "Level of the hierarchy, 0 for the items themselves.": "階層のレベル。0 は商品そのもの。",
    "First characters that are kept without a hierarchy.": "階層がない場合に残す先頭の文字数。",
}
BUILDERS = {
    "Days become months, quarters and years.": "日を月・四半期・年にまとめます。",
    "Whether years become decades, as 2010-2019.": "年を 2010-2019 のような年代にまとめるか。",
    "Years become decades and centuries; dates become years first.": (
        "年を年代と世紀にまとめます。日付は先に年にします。"
    ),
    "Whether 1950-1999 stands before 1900-1999.": "1900-1999 の前に 1950-1999 を置くか。",
    "Numbers become intervals that are joined in pairs, labels in order runs of neighbors; text stays as it is.": (
        "数値は区間にして二つずつまとめ、順序のあるラベルは隣どうしをまとめます。文字列はそのままです。"
    ),
    "Whether intervals hold as many rows or are as wide each.": "区間の行数をそろえるか、幅をそろえるか。",
    "How many intervals the first level of numbers has.": "数値の最初のレベルの区間の数。",
    "Whether ranges end at round numbers, or with values of the column (tight).": (
        "範囲の端を切りのよい数とするか、列の値そのもの（tight）とするか。"
    ),
    "How many neighbors of labels become one at each level.": "各レベルでまとめる隣どうしのラベルの数。",
    "Whether the values are numbers, or text in its alphabet.": "値が数値か、文字順の文字列か。",
    "Numbers become intervals of one width, then intervals of several times that width.": (
        "数値を同じ幅の区間にし、次のレベルではその何倍かの幅にします。"
    ),
    "Numbers become intervals between 1, 2, 5, 10, 20, 50 and so on, then between powers of ten.": (
        "数値を 1、2、5、10、20、50 …で区切った区間にし、次のレベルでは 10 の累乗で区切ります。"
    ),
    "How many powers of ten are told apart, from the greatest down.": "最大の値から数えて、区別する桁の数。",
    "Width of the intervals of the first level.": "最初のレベルの区間の幅。",
    "For each further level, how many intervals of the one before make one.": (
        "次のレベルごとに、前のレベルの区間をいくつまとめるか。"
    ),
    "Where an interval starts; none starts one at a round number below the smallest value.": (
        "区間の始まり。空なら最小の値より下の切りのよい数から始めます。"
    ),
    "Values below it get one label.": "これより小さい値は一つのラベルになります。",
    "This value and all above it get one label.": "この値以上は一つのラベルになります。",
    "Ages become nine, five or three bands (Oguri's thesis, table 7).": (
        "年齢を 9・5・3 区分にします（小栗の論文、表 7）。"
    ),
    "The levels by their number of bands, among 9, 5 and 3, finest first.": "レベルの区分数。9・5・3 から細かい順に。",
    "The 47 prefectures become nine regions, then east and west (Oguri's thesis, table 7).": (
        "47 都道府県を 9 地方、さらに東西にまとめます（小栗の論文、表 7）。"
    ),
    "How the column names them: 東京都, Tokyo or the JIS code 13.": (
        "列での書き方：東京都、Tokyo、または JIS コード 13。"
    ),
    "A tree of labels is read from a YAML file, from the coarsest label down to lists of values.": (
        "ラベルの木を YAML ファイルから読みます。"
    ),
    "The YAML file.": "YAML ファイル。",
    "Values become named groups, then runs of so many neighbors.": "値を名前のある組にし、次に隣どうしをまとめます。",
    "The groups of the first level, each as name=value|value|…": "最初のレベルの組。名前=値|値|… の形。",
    "For each further level, how many neighbors of the level before make one.": (
        "次のレベルごとに、前のレベルの隣どうしをいくつまとめるか。"
    ),
    "The order of the values; else that of the groups, the numbers or the alphabet.": (
        "値の順序。空なら組・数値・文字の順です。"
    ),
    "Characters are masked from the right: 12345, 1234*, 123**, …, *.": (
        "右から文字を隠します：12345、1234*、123**、…、*。"
    ),
    "How many more characters each level masks.": "レベルごとに隠す文字数。",
    "The character that stands for a masked one.": "隠した文字の代わりの文字。",
    "Sex is told or not told: male and female become *.": "性別を示すか示さないか：男女を * にします。",
    "The values as the column writes them.": "列での値の書き方。",
}
# What the options of editions set.
EDITION_OPTIONS = {
    "What counts as found: row, as in the contest, cell, month or transaction.": (
        "特定とみなす単位。row（大会のとおり）、cell、month、transaction のいずれか。"
    ),
    "Rows to sample or make up.": "抽出または生成する行数。",
    "Columns that attackers know people by, first in the files.": (
        "攻撃者が人を知る手がかりの列。ファイルの先頭に置きます。"
    ),
    "Columns of numbers, after the quasi-identifiers.": "準識別子に続く数値の列。",
    "Sensitive column of E2; the 15th column if none is named.": "E2 の機微の列。指定がなければ 15 列目。",
    "Sensitive column of E4; the 21st column if none is named.": "E4 の機微の列。指定がなければ 21 列目。",
    "Whether a release with suspicious row numbers comes last; else it is ranked like the others.": (
        "行番号の疑わしい加工データを最下位にするか。しない場合はほかと同じに順位を付けます。"
    ),
    "Customers of the data: those with the smallest ids, or made up.": (
        "データの顧客数。ID の小さい順に選ぶか、生成します。"
    ),
    "How the three losses make U: the worst of them, or their mean.": (
        "三つの損失から U を決める方法。最悪のもの、または平均。"
    ),
    "Whether a release whose P looks false is ranked last, or in its place with a remark.": (
        "P が偽りと見える加工データを最下位にするか、注記を付けてそのままの順位にするか。"
    ),
    "Customers to sample or make up.": "抽出または生成する顧客数。",
    "Per cent of the rows known to attackers, one level each.": (
        "攻撃者が知る行の割合（パーセント）。一つにつき一つの知識レベル。"
    ),
    "Weight of U in the score.": "スコアでの U の重み。",
    "Weight of S in the score.": "スコアでの S の重み。",
}
PARTS = METHODS | STEPS | BUILDERS
