# ruff: noqa: SIM905 - many words are read more easily in one text than in a list.
"""Names that many people have, and the signs that names are written with: enough to tell a column of names by."""

from __future__ import annotations

# Common Japanese surnames with their readings, from which the romanized form follows.
SURNAMES = dict(
    pair.split("=")
    for pair in (
        "佐藤=サトウ 鈴木=スズキ 高橋=タカハシ 田中=タナカ 伊藤=イトウ 渡辺=ワタナベ 渡邊=ワタナベ "
        "山本=ヤマモト 中村=ナカムラ 小林=コバヤシ "
        "加藤=カトウ 吉田=ヨシダ 山田=ヤマダ 佐々木=ササキ 山口=ヤマグチ 松本=マツモト 井上=イノウエ "
        "木村=キムラ 林=ハヤシ 斎藤=サイトウ "
        "斉藤=サイトウ 清水=シミズ 山崎=ヤマザキ 森=モリ 池田=イケダ 橋本=ハシモト 阿部=アベ "
        "石川=イシカワ 山下=ヤマシタ 中島=ナカジマ "
        "石井=イシイ 小川=オガワ 前田=マエダ 岡田=オカダ 長谷川=ハセガワ 藤田=フジタ 後藤=ゴトウ "
        "近藤=コンドウ 村上=ムラカミ 遠藤=エンドウ "
        "青木=アオキ 坂本=サカモト 福田=フクダ 太田=オオタ 西村=ニシムラ 藤井=フジイ 金子=カネコ "
        "岡本=オカモト 藤原=フジワラ 三浦=ミウラ "
        "中野=ナカノ 中川=ナカガワ 原田=ハラダ 松田=マツダ 竹内=タケウチ 小野=オノ 田村=タムラ "
        "中山=ナカヤマ 和田=ワダ 石田=イシダ "
        "森田=モリタ 上田=ウエダ 原=ハラ 内田=ウチダ 柴田=シバタ 酒井=サカイ 宮崎=ミヤザキ "
        "横山=ヨコヤマ 高木=タカギ 安藤=アンドウ "
        "宮本=ミヤモト 大野=オオノ 小島=コジマ 谷口=タニグチ 工藤=クドウ 今井=イマイ 高田=タカダ "
        "増田=マスダ 丸山=マルヤマ 杉山=スギヤマ "
        "村田=ムラタ 大塚=オオツカ 新井=アライ 小山=コヤマ 平野=ヒラノ 藤本=フジモト 河野=コウノ "
        "上野=ウエノ 野口=ノグチ 武田=タケダ "
        "松井=マツイ 千葉=チバ 岩崎=イワサキ 菅原=スガワラ 木下=キノシタ 久保=クボ 佐野=サノ "
        "野村=ノムラ 松尾=マツオ 市川=イチカワ "
        "菊地=キクチ 菊池=キクチ 杉本=スギモト 古川=フルカワ 大西=オオニシ 島田=シマダ 水野=ミズノ "
        "桜井=サクライ 高野=タカノ 吉川=ヨシカワ "
        "山内=ヤマウチ 西田=ニシダ 飯田=イイダ 菊川=キクカワ 西川=ニシカワ 小松=コマツ 北村=キタムラ "
        "安田=ヤスダ 五十嵐=イガラシ 川口=カワグチ "
        "平田=ヒラタ 関=セキ 中田=ナカタ 久保田=クボタ 服部=ハットリ 東=アズマ 岩田=イワタ "
        "土屋=ツチヤ 川崎=カワサキ 福島=フクシマ "
        "本田=ホンダ 辻=ツジ 樋口=ヒグチ 秋山=アキヤマ 田口=タグチ 永井=ナガイ 山中=ヤマナカ "
        "中西=ナカニシ 吉村=ヨシムラ 川上=カワカミ "
        "石原=イシハラ 大橋=オオハシ 松岡=マツオカ 浅野=アサノ 馬場=ババ 浜田=ハマダ 森本=モリモト "
        "矢野=ヤノ 松村=マツムラ 大島=オオシマ "
        "荒木=アラキ 堀=ホリ 大久保=オオクボ 川村=カワムラ 片山=カタヤマ 熊谷=クマガイ 望月=モチヅキ "
        "早川=ハヤカワ 吉岡=ヨシオカ 黒田=クロダ"
    ).split()
)
# The signs that most surnames are written with, and those that most given names end with.
SURNAME_SIGNS = frozenset("".join(SURNAMES)) | frozenset(
    "相芦粟飯稲猪今岩植臼梅江榎海老扇沖奥落尾小笠梶柏桂金鎌亀川瓦岸城衣草串熊倉栗桑源古児駒権作沢澤塩重篠芝島嶋下白須砂関外園染"
    "高滝瀧武立辰谷玉塚月辻津鶴寺戸所富鳥内永長仲中奈成西新根野萩羽畑花浜濱原春東日平広廣深藤淵船辺星細堀牧益町松丸三水溝皆宮向"
    "室茂本門屋安柳矢山湯横吉米若脇鷲赤秋朝天有生泉磯市入岡大押加片桐北口黒神河紺財坂桜真角多竹土常徳豊中戸沼橋半一二四五六七八九"
    "十百千万堂殿間地部々ヶケノ国井木林森村田石和久保佐斎上杉曽我宇都"
)
GIVEN_SIGNS = frozenset(
    "子美恵香奈菜花華音莉里理梨紗沙彩咲希紀樹輝郎朗一二三太大人斗翔介助輔司史志之行幸雄男夫彦哉也矢吾悟真信伸宏弘浩博裕祐佑雅正明昭"
    "晃章康健賢建剛豪毅武隆孝貴敬勇代江枝絵衣依乃穂実未海月結友佳加可歌夏華帆保歩舞麻茉真愛亜明安杏由有優悠祐裕遊陽葉洋瑛栄英永恵慶圭"
    "啓佳蓮凛涼諒亮良遼龍竜隼俊駿潤淳純準順隆琉瑠璃留梨莉利力陸律立理龍晴春遥陽悠湊颯蒼碧葵楓柚桜桃梅菊百合蘭薫馨泉泰達辰哲徹鉄智知"
    "千尋光晃広紘功耕航昂高剛克勝和一寿久秀英仁尚直成誠聖清静進慎新伸晋仁義吉喜紀規樹季貴輝京響恭匡今蔵三四五六七八九十重茂滋繁守衛"
    "学岳樂楽心新芯元源厳虎寅丈丞城譲穣生蒔槙牧巻匠拓琢巧央桜旺凰織莉寧音峰峯稔実豊倫凜鈴玲礼麗怜令黎呂露朔咲早爽創奏想湊壮宗聡総"
    "治文修次登想空宙天照星月夜冬雪冴氷凪渚波海洋浪河江湖夕朝旭日向葵郁育勲勘寛貫幹完莞環菅"
)
# Words that end what people do, have or live in: a name has none of them.
NOT_IN_NAMES = frozenset(
    "病症炎癌痛員師業県区社店部課校院駅局型系線品料費額率科類式的性度済無不要可否約非職者署庁省票券卒"
)
ENGLISH_NAMES = frozenset(
    (
        "james mary robert patricia john jennifer michael linda david elizabeth william barbara "
        "richard susan joseph jessica "
        "thomas sarah charles karen christopher lisa daniel nancy matthew betty anthony margaret "
        "mark sandra donald ashley "
        "steven kimberly paul emily andrew donna joshua michelle kenneth carol kevin amanda brian "
        "melissa george deborah "
        "timothy stephanie ronald rebecca edward sharon jason laura jeffrey cynthia ryan kathleen "
        "jacob amy gary angela "
        "nicholas shirley eric anna jonathan brenda stephen pamela larry emma justin nicole scott "
        "helen brandon samantha "
        "benjamin katherine samuel christine gregory debra alexander rachel patrick carolyn frank "
        "janet raymond catherine "
        "jack maria dennis heather jerry diane tyler olivia aaron julie jose joyce adam victoria "
        "nathan kelly henry ruth "
        "zachary lauren douglas virginia peter kyle evelyn noah joan ethan jeremy judith christian megan walter andrea "
        "keith cheryl austin hannah roger terry jacqueline sean martha gerald carl gloria dylan "
        "teresa harold ann jordan sara "
        "jesse madison bryan frances lawrence kathryn arthur janice gabriel jean bruce abigail logan "
        "alice billy julia joe "
        "judy alan sophia juan grace elijah denise willie amber albert doris wayne marilyn randy "
        "danielle mason beverly "
        "vincent isabella liam theresa roy diana ralph natalie bobby brittany russell charlotte "
        "bradley marie philip kayla "
        "eugene alexis lori oliver amelia lucas harry leo oscar charlie isla ava mia lily sophie chloe ella freya "
        "smith johnson williams brown jones garcia miller davis rodriguez martinez hernandez lopez "
        "gonzalez wilson anderson "
        "taylor moore jackson martin lee perez thompson white harris sanchez clark ramirez lewis "
        "robinson walker young allen "
        "king wright torres nguyen hill flores green adams nelson baker hall rivera campbell "
        "mitchell carter roberts gomez "
        "phillips evans turner diaz parker cruz edwards collins reyes stewart morris morales murphy "
        "cook rogers gutierrez "
        "ortiz morgan cooper peterson bailey reed howard ramos kim cox ward richardson watson brooks "
        "chavez wood bennett gray "
        "mendoza ruiz hughes price alvarez castillo sanders patel myers long ross foster jimenez "
        "powell jenkins perry butler "
        "barnes fisher henderson coleman simmons patterson jordan reynolds hamilton graham kelly "
        "sullivan wallace west cole "
        "taro hanako kenji yuki hiroshi akira yumi naoko takashi keiko satoshi haruto yuto sota "
        "sakura aoi rin hina yui mei "
        "mohammed muhammad ali ahmed fatima wei li wang zhang chen liu yang huang singh kumar sharma "
        "silva santos muller schmidt "
        "ivan olga dmitri pierre claire hans klaus giulia marco carlos sofia clarke dawson ellis "
        "grant marshall owens harrison gibson mcdonald woods washington kennedy wells stone hawkins dunn "
        "perkins hudson spencer gardner stephens payne pierce berry matthews arnold wagner willis "
        "watkins olson carroll duncan snyder hart cunningham bradley lane andrews riley carpenter weaver "
        "greene lawrence elliott chapman holmes walsh byrne obrien doyle gavin wendy nadia owen ian "
        "fiona alison nigel colin hazel ruby elsie alfie archie theo arthur isaac max"
        " lucia miguel anton elena raj priya amir omar"
    ).split()
)
# Given names that are often written in kana.
KANA_GIVEN = frozenset(
    "サクラ ハルカ ユウキ ヒカリ アカリ ケンタ タロウ ハナコ イチロウ ミサキ ショウタ ヒナ ユミ "
    "ケイコ ヨウコ アヤカ ミユ ユイ アオイ リン メイ ソラ ハルト ユウト "
    "ソウタ リク レン カイト ダイスケ タクヤ ケンジ ヒロシ アキラ マナミ マイ アイ エリ ナオミ "
    "トモコ カズコ サチコ マサコ ノリコ ヒロコ ミホ チエ ナナ モエ カナ".split()
)
# Surnames of one sign that most people of China and of Korea have.
CHINESE_SURNAMES = frozenset(
    "王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫胡朱高林何郭马馬罗羅梁宋郑鄭谢謝韩韓唐冯馮于董萧程"
    "曹袁邓许許傅沈曾彭吕苏蒋蔡"
)
KOREAN_SURNAMES = frozenset(
    "김이박최정강조윤장임한오서신권황안송류유전홍고문양손배백허남심노하곽성차주우구민진지엄채원"
    "천방공현함변염여추도석선설마길연위표명기반라왕금옥육인맹제모탁국어은편용"
)
# Words that stand in titles, firms, places and categories, and hardly ever in a name.
NOT_NAMES = frozenset(
    (
        "of the and or for in on at to with by from inc ltd llc co corp company group university "
        "college school hospital "
        "clinic street road avenue city town county state north south east new full part time never married widowed "
        "divorced separated engineer manager officer assistant director teacher nurse clerk worker driver designer "
        "analyst developer consultant accountant administrator technician operator specialist supervisor secretary "
        "scientist therapist surgeon disease disorder syndrome cancer diabetes "
        "failure infection injury pain type other "
        "unknown none not yes no high low medium small large red blue black yellow "
        "purple pink orange product service sales private public gov "
        "government self employed unemployed some grad bachelors masters doctorate "
        "degree united republic island islands "
        "class level grade group category department division office store shop market bank hotel restaurant bar cafe "
        "pack set box case bag holder light card paper glass metal vintage retro heart christmas "
        "computer software hardware electric digital smart pro plus mini max ultra premium basic standard "
        "care home food clothing books toys sports garden kitchen music health beauty baby pet office furniture"
    ).split()
)
