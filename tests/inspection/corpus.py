"""A labelled corpus of made columns, from words that the detector does not list.

Each column has the role it should be given, an honest header and a misleading one.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from dataclasses import dataclass

from tokumei.inspection.patterns import is_card, is_japanese_licence, is_my_number

N_ROWS = 300
Make = Callable[[random.Random], str]
words = str.split

# Surnames and given names that are rare, or at home elsewhere.
JA_SURNAMES = words(
    "四方田 鮎沢 轟木 薬袋 六車 猪狩 蓬田 鷹取 倉持 雨宮 能登谷 柘植 生方 綿貫 都築 梶浦 "
    "越智 兵藤 江守 名取 仁科 波多野 弓削 勝又 設楽"
)
JA_GIVEN = words(
    "琴葉 玲央奈 壱成 柊吾 汐里 千紘 奏多 蓮太朗 あおば みつき 慶次郎 佐知子 修造 清四郎 "
    "美津江 文乃 勇気 大和 璃子 朝陽 公平 すみれ 和香奈 貞治"
)
JA_KANA = words(
    "アユサワ トドロキ イガリ ヨモギタ タカトリ クラモチ アマミヤ ツゲ ウブカタ ワタヌキ "
    "ツヅキ カジウラ オチ ヒョウドウ エモリ ナトリ ニシナ"
)
JA_KANA_GIVEN = words(
    "コトハ シュウゴ シオリ チヒロ カナタ アオバ ミツキ サチコ ミツエ フミノ ユウキ ヤマト リコ アサヒ コウヘイ スミレ"
)
EN_FIRST = words(
    "Tabitha Rufus Marguerite Thaddeus Imogen Lorcan Saoirse Declan Ottilie Caspian Ignatius "
    "Beatrix Cormac Isolde Ferdinand Ngozi Chidi Anneliese Torsten Xiomara Leocadia Barnaby Cressida "
    "Evander"
)
EN_LAST = words(
    "Featherstone Okonkwo Abernathy Vandermeer Lindqvist Castellanos Pemberton Drummond "
    "Oyelaran Szymanski Thistlewood Quigley Fitzwilliam Bhattacharya Kowalczyk Hargreaves Montague "
    "Achterberg Delacroix Whitlock"
)
ROMAN_SURNAMES = words("Ayusawa Todoroki Igari Kuramochi Amamiya Tsuzuki Kajiura Namba Sugaya Orihara Mizusawa")
ROMAN_GIVEN = words("Kotoha Shugo Shiori Chihiro Kanata Sachiko Fumino Yamato Kohei Sumire")
TOWNS_JA = words(
    "長野県飯田市 岡山県倉敷市 青森県弘前市 福岡県久留米市 千葉県柏市 兵庫県姫路市 "
    "静岡県浜松市中央区 宮城県石巻市 群馬県高崎市"
)
CHOME = words("本町 栄町 緑ヶ丘 旭町 若葉台 桜木 大手町 松ヶ枝町 幸町 中央")
STREETS = words("Larkspur Wexford Pinecrest Thornbury Juniper Ashgrove Millbrook Harrow Birchwood Cobblestone")
KINDS_OF_STREET = words("Road Lane Street Drive Close Avenue")
CITIES = words("Tulsa Leeds Boise Ghent Lyon Perth Halifax Dayton Reno Bristol")
JA_NOTES = (
    "前回の来店時に{}の対応が遅いと言われたので、次回は早めに連絡すること。",
    "{}について家族と相談したいとのこと。来週もう一度電話します。",
    "引っ越しをしたばかりで、{}の手続きがまだ終わっていないそうです。",
    "説明を聞いて納得された。{}は本人の希望で見送りとなった。",
)
EN_NOTES = (
    "Called about the {} last week and asked us to ring back after the holidays.",
    "Moved house in spring; the {} still goes to the old place, please update.",
    "Says the {} was fine but would rather speak with somebody in person.",
    "Her brother collects the {} on Thursdays because she works nights.",
)
THINGS = [
    f"{a}{b}"
    for a in words("書類 荷物 請求 契約 予約 支払い 修理")
    for b in ("の件", "一式", "の控え", "の更新", "の確認")
]
EN_THINGS = [
    f"{a} {b}"
    for a in words("blue late second missing monthly")
    for b in words("parcel invoice letter refund booking form")
]


@dataclass(frozen=True)
class Made:
    """One column of the corpus."""

    name: str
    role: str
    honest: str
    misleading: str
    make: Make
    # Whether the values alone tell what it is: ages and incomes are numbers like others.
    is_told: bool = True

    def values(self, seed: int = 0) -> list[str]:
        """Draw the values."""
        draw = random.Random(f"{self.name} {seed}")
        return [self.make(draw) for _ in range(N_ROWS)]


def _digits(draw: random.Random, n: int) -> str:
    return "".join(draw.choice(string.digits) for _ in range(n))


def _until(draw: random.Random, make: Make, holds: Callable[[str], bool]) -> str:
    while not holds(value := make(draw)):
        pass
    return value


def _one(*values: str) -> Make:
    return lambda draw: draw.choice(values)


def _words(text: str) -> Make:
    return _one(*text.split())


def _day(draw: random.Random, first: int = 1930, last: int = 2010) -> tuple[int, int, int]:
    return draw.randint(first, last), draw.randint(1, 12), draw.randint(1, 28)


def _en_name(draw: random.Random) -> str:
    return f"{draw.choice(EN_FIRST)} {draw.choice(EN_LAST)}"


def _user(draw: random.Random) -> str:
    return f"{draw.choice(EN_FIRST)[:4].lower()}{draw.choice('._-')}{draw.choice(EN_LAST).lower()}{_digits(draw, 2)}"


IDENTIFIER, QUASI, SENSITIVE, OTHER = "identifier", "quasi-identifier", "sensitive", "other"
COLUMNS = [
    Made("ja name spaced", IDENTIFIER, "氏名", "職業", lambda d: f"{d.choice(JA_SURNAMES)} {d.choice(JA_GIVEN)}"),
    Made(
        "ja name wide blank", IDENTIFIER, "お名前", "メモ欄", lambda d: f"{d.choice(JA_SURNAMES)}　{d.choice(JA_GIVEN)}"
    ),
    Made("ja name together", IDENTIFIER, "患者名", "地域", lambda d: d.choice(JA_SURNAMES) + d.choice(JA_GIVEN)),
    Made("ja name with sama", IDENTIFIER, "宛名", "状態", lambda d: f"{d.choice(JA_SURNAMES)} {d.choice(JA_GIVEN)} 様"),
    Made("ja kana", IDENTIFIER, "フリガナ", "分類", lambda d: f"{d.choice(JA_KANA)} {d.choice(JA_KANA_GIVEN)}"),
    Made(
        "ja half kana",
        IDENTIFIER,
        "カナ氏名",
        "区分",
        lambda d: _half(f"{d.choice(JA_KANA)} {d.choice(JA_KANA_GIVEN)}"),
    ),
    Made("en name", IDENTIFIER, "full_name", "department", _en_name),
    Made("en name reversed", IDENTIFIER, "Name", "status", lambda d: f"{d.choice(EN_LAST)}, {d.choice(EN_FIRST)}"),
    Made(
        "en name middle",
        IDENTIFIER,
        "patientName",
        "city",
        lambda d: f"{d.choice(EN_FIRST)} {d.choice('ABCDEFG')}. {d.choice(EN_LAST)}",
    ),
    Made("en name upper", IDENTIFIER, "CUSTOMER NAME", "class", lambda d: _en_name(d).upper()),
    Made(
        "romanized",
        IDENTIFIER,
        "name_en",
        "type",
        lambda d: f"{d.choice(ROMAN_SURNAMES)} {d.choice(ROMAN_GIVEN)}",
    ),
    Made(
        "email",
        IDENTIFIER,
        "email",
        "color",
        lambda d: f"{_user(d)}@{d.choice(['mailbox.example', 'post.ac.jp', 'work.co.uk'])}",
    ),
    Made("email ja header", IDENTIFIER, "メールアドレス", "年齢", lambda d: f"{_user(d)}@ezweb.example.jp"),
    Made("mobile ja", IDENTIFIER, "携帯電話", "金額", lambda d: f"0{d.choice('789')}0-{_digits(d, 4)}-{_digits(d, 4)}"),
    Made("mobile ja plain", IDENTIFIER, "TEL", "score", lambda d: f"0{d.choice('789')}0{_digits(d, 8)}"),
    Made(
        "landline ja", IDENTIFIER, "電話番号", "点数", lambda d: f"0{d.randint(3, 6)}-{_digits(d, 4)}-{_digits(d, 4)}"
    ),
    Made(
        "landline wide",
        IDENTIFIER,
        "自宅電話",
        "数量",
        lambda d: _wide(f"0{d.randint(21, 99)}-{_digits(d, 3)}-{_digits(d, 4)}"),
    ),
    Made(
        "phone us",
        IDENTIFIER,
        "phone",
        "amount",
        lambda d: f"({d.randint(201, 989)}) {d.randint(200, 999)}-{_digits(d, 4)}",
    ),
    Made(
        "phone us dots",
        IDENTIFIER,
        "contact_tel",
        "ratio",
        lambda d: f"{d.randint(201, 989)}.{d.randint(200, 999)}.{_digits(d, 4)}",
    ),
    Made(
        "phone world",
        IDENTIFIER,
        "mobile_number",
        "price",
        lambda d: f"+{d.choice(['44 20', '49 30', '33 1', '81 90'])} {_digits(d, 4)} {_digits(d, 4)}",
    ),
    Made("my number", IDENTIFIER, "マイナンバー", "売上", lambda d: _until(d, lambda e: _digits(e, 12), is_my_number)),
    Made(
        "card",
        IDENTIFIER,
        "card_number",
        "quantity",
        lambda d: _until(d, lambda e: f"{e.choice('45')}{_digits(e, 15)}", is_card),
    ),
    Made(
        "card dashed",
        IDENTIFIER,
        "クレジットカード",
        "合計",
        lambda d: _dashed(_until(d, lambda e: f"4{_digits(e, 15)}", is_card)),
    ),
    Made("ip", IDENTIFIER, "ip_address", "version", lambda d: ".".join(str(d.randint(1, 254)) for _ in range(4))),
    Made("ip v6", IDENTIFIER, "client_ip", "level", lambda d: ":".join(f"{d.randint(0, 65535):x}" for _ in range(8))),
    Made("mac", IDENTIFIER, "mac_address", "unit", lambda d: ":".join(f"{d.randint(0, 255):02x}" for _ in range(6))),
    Made(
        "url", IDENTIFIER, "homepage", "title", lambda d: f"https://{d.choice(EN_LAST).lower()}.example.org/~{_user(d)}"
    ),
    Made("url short", IDENTIFIER, "profile_url", "group", lambda d: f"www.photos.example.com/{_user(d)}"),
    Made("handle", IDENTIFIER, "twitter", "genre", lambda d: f"@{_user(d).replace('-', '_')}"),
    Made(
        "uuid",
        IDENTIFIER,
        "device_id",
        "memo",
        lambda d: (
            f"{d.getrandbits(32):08x}-{d.getrandbits(16):04x}-4{d.getrandbits(12):03x}-a{d.getrandbits(12):03x}-{d.getrandbits(48):012x}"
        ),
    ),
    Made("hash", IDENTIFIER, "token", "label", lambda d: f"{d.getrandbits(256):064x}"),
    Made("ssn", IDENTIFIER, "SSN", "count", lambda d: f"{d.randint(100, 899)}-{d.randint(10, 99)}-{_digits(d, 4)}"),
    Made(
        "passport ja",
        IDENTIFIER,
        "旅券番号",
        "型番号札",
        lambda d: f"{d.choice('TMN')}{d.choice('KRZ')}{_digits(d, 7)}",
    ),
    Made(
        "licence ja",
        IDENTIFIER,
        "運転免許証番号",
        "回数",
        lambda d: _until(d, lambda e: f"{e.randint(10, 97)}{_digits(e, 10)}", is_japanese_licence),
    ),
    Made("insurance ja", IDENTIFIER, "被保険者番号", "件数", lambda d: f"{_digits(d, 4)}-{_digits(d, 6)}"),
    Made("iban", IDENTIFIER, "bank account", "rating", lambda d: _iban(d)),
    Made(
        "plate",
        IDENTIFIER,
        "車両番号",
        "色",
        lambda d: (
            f"{d.choice(['長野', '倉敷', '弘前', '姫路'])} {d.randint(300, 599)} "
            f"{d.choice('さすせそたつ')} {d.randint(10, 99)}-{d.randint(10, 99)}"
        ),
    ),
    Made("customer code", IDENTIFIER, "customer_id", "weather", lambda d: f"KX{d.randint(0, 999999):06}"),
    Made("record number", IDENTIFIER, "受付番号", "温度", lambda d: f"{d.randint(10_000_000, 99_999_999)}"),
    Made("student code", IDENTIFIER, "学籍番号", "好み", lambda d: f"{d.randint(15, 24)}B{_digits(d, 5)}"),
    Made("zero code", IDENTIFIER, "member no", "size", lambda d: f"0{_digits(d, 7)}"),
    Made(
        "address ja",
        IDENTIFIER,
        "住所",
        "勤務形態",
        lambda d: f"{d.choice(TOWNS_JA)}{d.choice(CHOME)}{d.randint(1, 5)}丁目{d.randint(1, 30)}番{d.randint(1, 20)}号",
    ),
    Made(
        "address ja dashed",
        IDENTIFIER,
        "現住所",
        "等級",
        lambda d: (
            f"{d.choice(TOWNS_JA)}{d.choice(CHOME)}{d.randint(1, 5)}-{d.randint(1, 30)}-"
            f"{d.randint(1, 20)} メゾン{d.choice('葵柊楓')}{d.randint(101, 909)}"
        ),
    ),
    Made(
        "address ja wide",
        IDENTIFIER,
        "自宅住所",
        "種別",
        lambda d: _wide(f"{d.choice(TOWNS_JA)}{d.choice(CHOME)}{d.randint(1, 5)}-{d.randint(1, 30)}"),
    ),
    Made(
        "address en",
        IDENTIFIER,
        "home_address",
        "plan",
        lambda d: f"{d.randint(1, 9900)} {d.choice(STREETS)} {d.choice(KINDS_OF_STREET)}, {d.choice(CITIES)}",
    ),
    Made(
        "street en",
        IDENTIFIER,
        "street",
        "brand",
        lambda d: f"{d.randint(1, 9900)} {d.choice(STREETS)} {d.choice(KINDS_OF_STREET)}",
    ),
    Made("notes ja", IDENTIFIER, "備考", "等級区分", lambda d: d.choice(JA_NOTES).format(d.choice(THINGS))),
    Made("notes en", IDENTIFIER, "comments", "grade", lambda d: d.choice(EN_NOTES).format(d.choice(EN_THINGS))),
    Made(
        "notes with phones",
        IDENTIFIER,
        "memo",
        "category",
        lambda d: d.choice(["済", "未", "再送", f"連絡先 0{d.randint(70, 90)}-{_digits(d, 4)}-{_digits(d, 4)}"]),
    ),
    Made("sex ja", QUASI, "性別", "商品名", _words("男性 女性")),
    Made("sex en", QUASI, "gender", "name", _words("Male Female")),
    Made("sex letters", QUASI, "Sex", "id", _words("M F")),
    Made("age", QUASI, "年齢", "番号", lambda d: str(min(99, max(18, round(d.gauss(47, 17)))))),
    Made("age band", QUASI, "年代", "氏名", _words("20代 30代 40代 50代 60代")),
    Made("birth date", QUASI, "生年月日", "電話", lambda d: "{}-{:02}-{:02}".format(*_day(d))),
    Made(
        "birth era",
        QUASI,
        "誕生日",
        "コード",
        lambda d: f"昭和{d.randint(5, 63)}年{d.randint(1, 12)}月{d.randint(1, 28)}日",
    ),
    Made("birth us", QUASI, "dob", "phone", lambda d: "{1:02}/{2:02}/{0}".format(*_day(d))),
    Made(
        "date words",
        QUASI,
        "admission_date",
        "name",
        lambda d: f"{d.randint(1, 28)} {d.choice(['March', 'June', 'October'])} {d.randint(2015, 2024)}",
    ),
    Made(
        "visit moment",
        QUASI,
        "来店日時",
        "患者番号",
        lambda d: "{}-{:02}-{:02} {:02}:{:02}:00".format(*_day(d, 2020, 2024), d.randint(8, 20), d.randint(0, 59)),
    ),
    Made("postal ja", QUASI, "郵便番号", "会員番号", lambda d: f"{d.randint(100, 140)}-{d.randint(1, 40):04}"),
    Made(
        "postal uk",
        QUASI,
        "postcode",
        "code",
        lambda d: (
            f"{d.choice(['LS', 'BS', 'EH'])}{d.randint(1, 9)} {d.randint(1, 9)}{d.choice('ABD')}{d.choice('EFG')}"
        ),
    ),
    Made(
        "prefecture",
        QUASI,
        "都道府県",
        "名前",
        _words("長野県 岡山県 青森県 福岡県 千葉県 兵庫県 静岡県 宮城県 群馬県 徳島県"),
    ),
    Made(
        "town",
        QUASI,
        "市区町村",
        "担当者",
        _words("飯田市 倉敷市 弘前市 久留米市 姫路市 石巻市 高崎市 軽井沢町 白馬村"),
    ),
    Made("occupation ja", QUASI, "職業", "姓名", _words("会社員 公務員 保育士 薬剤師 無職 学生 主婦 農業")),
    Made(
        "occupation en",
        QUASI,
        "job",
        "first name",
        _one("Sheet-metal worker", "Primary school teacher", "Night nurse", "Bus driver", "Tax accountant", "Retired"),
    ),
    Made("marital", QUASI, "marital-status", "user", _words("Single Married Divorced Widowed")),
    Made("education", QUASI, "最終学歴", "顧客", _words("中学卒 高校卒 専門学校卒 大学卒 大学院修了")),
    Made("country", QUASI, "nationality", "person", _words("Nepal Vietnam Peru Japan Kenya Poland")),
    Made("illness ja", SENSITIVE, "病名", "氏", _words("糖尿病 高血圧症 胃炎 気管支喘息 偏頭痛 乳がん")),
    Made(
        "illness en",
        SENSITIVE,
        "diagnosis",
        "surname",
        _one("Bronchitis", "Type 2 diabetes", "Breast cancer", "Hypertension", "Migraine"),
    ),
    Made("icd", SENSITIVE, "ICD-10", "account", _words("E11.9 I10.0 J45.0 C50.9 F32.1 K29.7")),
    Made("religion", SENSITIVE, "信仰", "会員名", _words("仏教 神道 キリスト教 無宗教")),
    Made("income", SENSITIVE, "年収", "x", lambda d: str(d.randint(20, 150) * 100_000), False),
    Made("salary", SENSITIVE, "salary_usd", "x", lambda d: str(d.randint(20, 150) * 500), False),
    Made("blood pressure", SENSITIVE, "血圧", "x", lambda d: str(round(d.gauss(128, 12))), False),
    Made("flag", OTHER, "同意フラグ", "email", _words("0 1")),
    Made("yes no", OTHER, "opt_in", "phone", _words("yes no")),
    Made("colors", OTHER, "color", "name", _words("red green blue yellow")),
    Made("rating", OTHER, "満足度", "住所", _words("1 2 3 4 5")),
    Made("temperature", OTHER, "temperature", "ssn", lambda d: f"{d.gauss(15, 8):.1f}"),
    Made("weights", OTHER, "measure_a", "氏名", lambda d: f"{d.gauss(3, 1):.3f}"),
    Made("product code", OTHER, "商品コード", "x", lambda d: f"P{d.randint(0, 80):04}", False),
    Made(
        "product name",
        OTHER,
        "product_name",
        "x",
        lambda d: f"{d.choice(['Walnut', 'Oak', 'Steel'])} {d.choice(['shelf', 'desk', 'lamp', 'chair'])}",
        False,
    ),
    Made("amount", OTHER, "数量", "x", lambda d: str(d.randint(1, 40)), False),
    Made("status", OTHER, "状況", "苗字", _words("受注 発送 完了 返品")),
]


def _half(text: str) -> str:
    whole = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワンャュョッ"
    half = "ｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜﾝｬｭｮｯ"
    voiced = {
        a: b + "ﾞ" for a, b in zip("ガギグゲゴザジズゼゾダヂヅデドバビブベボ", "ｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾊﾋﾌﾍﾎ", strict=True)
    }
    return "".join((dict(zip(whole, half, strict=True)) | voiced).get(sign, sign) for sign in text)


def _wide(text: str) -> str:
    return text.translate({ord(a): ord(b) for a, b in zip("0123456789-", "０１２３４５６７８９－", strict=True)})


def _dashed(digits: str) -> str:
    return "-".join(digits[at : at + 4] for at in range(0, 16, 4))


def _iban(draw: random.Random) -> str:
    body = _digits(draw, 18)
    check = 98 - int(f"{body}131400") % 97
    return f"DE{check:02}{body}"
