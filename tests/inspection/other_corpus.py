"""A second labelled corpus, of other shapes: tiny tables, mixed languages, bad check digits, texts in one line.

It was written after the detector and its first corpus; what it showed was mended by rule, not by word.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tokumei.inspection.patterns import is_iban, is_my_number

words = str.split
FULLWIDTH = str.maketrans("0123456789-", "０１２３４５６７８９－")


@dataclass(frozen=True)
class Column:
    """A made column: its role, an honest header, and whether values alone tell what it is."""

    name: str
    role: str
    header: str
    values: Sequence[str]
    is_told: bool = True


def _made(name: str, role: str, header: str, n: int, make: Callable[[random.Random], str], told: bool = True) -> Column:
    draw = random.Random(name)
    return Column(name, role, header, [make(draw) for _ in range(n)], told)


def _digits(draw: random.Random, n: int) -> str:
    return "".join(draw.choice("0123456789") for _ in range(n))


def _with_check(draw: random.Random, is_right: Callable[[str], bool]) -> str:
    """Draw twelve digits until they are right, or wrong, as a test says."""
    return next(text for text in iter(lambda: _digits(draw, 12), "") if is_right(text))


def _iban(draw: random.Random) -> str:
    account = _digits(draw, 18)
    return next(f"DE{check:02d}{account}" for check in range(98) if is_iban(f"DE{check:02d}{account}"))


def _luhn(digits: str) -> bool:
    doubled = [int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(digits))]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


CITIES = words("札幌市 仙台市 さいたま市 金沢市 高松市 那覇市 松江市 鳥取市")
BLOCKS = words("北区北七条西 青葉区一番町 浦和区常盤 香林坊 番町 久茂地 殿町 東町")
FIRST = words(
    "Aoife Bram Chiara Dmitri Eszter Farouk Greta Henrik Ines Joaquin Katya Lorenzo Mireille Nadia Olek Priya"
)
LAST = words("Andersen Bianchi Castro Dubois Eriksen Fischer Garcia Horvat Ivanova Jansen Kovacs Laurent Moreau Novak")
KANJI_FIRST = words("美咲 大翔 陽菜 蓮 結衣 湊 葵 悠真 凛 樹")
KANJI_LAST = words("長谷部 小野寺 大河内 真田 神崎 榊原 早乙女 宇佐美 和泉 二宮")
HANGUL = words("김민준 이서연 박지훈 최유진 정하은 강도윤 조수아 윤재현 장예린 임시우")
CHINESE = words("王伟 李娜 张敏 刘洋 陈静 杨磊 赵强 黄丽 周杰 吴霞")
HANDLES = words("sora_no_iro kaze.42 mina_mina7 taro-yama neko.cafe hanabi_99 kumo.no.ue ryu_sei")
NOTES = (
    "前回 https://example.jp/u/{} を見て来店",
    "see www.example.com/p/{} for her story",
    "折り返し希望",
    "no remark",
    "要確認",
)
PRODUCTS = words("りんご バナナ みかん ぶどう いちご もも なし かき メロン すいか")
COLORS = words("red green blue yellow black white purple orange")
GRADES = words("A B C D")
DEPARTMENTS = [f"第{number}営業部" for number in range(1, 36)]


def _address(draw: random.Random) -> str:
    return f"{draw.choice(CITIES)}{draw.choice(BLOCKS)}{draw.randint(1, 9)}-{draw.randint(1, 30)}-{draw.randint(1, 20)}"


def _street(draw: random.Random) -> str:
    town = draw.choice(words("Köln Bonn Ulm Jena"))
    return f"{draw.choice(LAST)}straße {draw.randint(1, 90)}, {_digits(draw, 5)} {town}"


def _era(draw: random.Random) -> str:
    return f"{draw.choice('SHR')}{draw.randint(1, 9)}.{draw.randint(1, 12)}.{draw.randint(1, 28)}"


def _day(draw: random.Random) -> str:
    return f"{draw.randint(1950, 2015)}年{draw.randint(1, 12)}月{draw.randint(1, 28)}日"


ID, QI, SECRET, OTHER = "identifier", "quasi-identifier", "sensitive", "other"
COLUMNS: list[Column] = [
    _made("full-width phones", ID, "連絡先", 12, lambda d: f"090-{_digits(d, 4)}-{_digits(d, 4)}".translate(FULLWIDTH)),
    _made("phones with country code", ID, "kontakt", 15, lambda d: f"+81-90-{_digits(d, 4)}-{_digits(d, 4)}"),
    _made(
        "phones of many countries",
        ID,
        "tel",
        20,
        lambda d: f"+{d.choice(('44', '49', '1', '33'))} {_digits(d, 3)} {_digits(d, 3)} {_digits(d, 4)}",
    ),
    _made("phones without marks", ID, "携帯", 40, lambda d: f"0{d.choice('789')}0{_digits(d, 8)}"),
    _made("phones with brackets", ID, "TEL", 9, lambda d: f"03({_digits(d, 4)}){_digits(d, 4)}"),
    _made("my numbers, tiny", ID, "個人番号", 8, lambda d: _with_check(d, is_my_number)),
    _made(
        "my numbers with bad check digits",
        ID,
        "マイナンバー",
        30,
        lambda d: _with_check(d, lambda t: not is_my_number(t)),
    ),
    _made(
        "my numbers with blanks",
        ID,
        "番号",
        25,
        lambda d: (lambda t: f"{t[:4]} {t[4:8]} {t[8:]}")(_with_check(d, is_my_number)),
    ),
    _made("ibans", ID, "Konto", 10, _iban),
    _made(
        "ibans with blanks",
        ID,
        "bank",
        12,
        lambda d: (lambda t: " ".join(t[at : at + 4] for at in range(0, 22, 4)))(_iban(d)),
    ),
    _made("passports, tiny", ID, "旅券", 7, lambda d: f"T{d.choice('KRSZ')}{_digits(d, 7)}"),
    _made("passports of one letter", ID, "passport no", 30, lambda d: f"{d.choice('CFGH')}{_digits(d, 8)}"),
    _made(
        "plates",
        ID,
        "車",
        14,
        lambda d: (
            f"{d.choice(('品川', 'なにわ', '横浜'))} {_digits(d, 3)} {d.choice('さすせそた')} "
            f"{_digits(d, 2)}-{_digits(d, 2)}"
        ),
    ),
    _made(
        "plates of Europe",
        ID,
        "vehicle",
        30,
        lambda d: f"{d.choice('KBMS')}{d.choice('ABCD')} {d.choice('XYZ')}{d.choice('RST')} {_digits(d, 4)}",
    ),
    _made("addresses in one line", ID, "お届け先", 16, _address),
    _made("addresses with a postal code", ID, "宛先", 12, lambda d: f"〒{_digits(d, 3)}-{_digits(d, 4)} {_address(d)}"),
    _made("addresses in German", ID, "Anschrift", 18, _street),
    _made("notes with links", ID, "備考", 40, lambda d: d.choice(NOTES).format(_digits(d, 5))),
    _made("handles with a sign", ID, "SNS", 8, lambda d: f"@{d.choice(HANDLES)}{_digits(d, 2)}"),
    _made("LINE handles", ID, "LINE ID", 12, lambda d: f"{d.choice(HANDLES)}{_digits(d, 2)}"),
    _made("names of Europe, tiny", ID, "Teilnehmer", 10, lambda d: f"{d.choice(FIRST)} {d.choice(LAST)}"),
    _made("names surname first", ID, "attendee", 20, lambda d: f"{d.choice(LAST).upper()}, {d.choice(FIRST)}"),
    _made("names without a blank", ID, "お名前", 12, lambda d: d.choice(KANJI_LAST) + d.choice(KANJI_FIRST)),
    _made("names with a title", ID, "ご担当", 9, lambda d: f"{d.choice(KANJI_LAST)} {d.choice(KANJI_FIRST)}様"),
    _made(
        "names in two scripts",
        ID,
        "参加者",
        24,
        lambda d: d.choice((f"{d.choice(KANJI_LAST)} {d.choice(KANJI_FIRST)}", f"{d.choice(FIRST)} {d.choice(LAST)}")),
    ),
    _made("names of Korea", ID, "이름", 20, lambda d: d.choice(HANGUL)),
    _made("names of China", ID, "姓名", 20, lambda d: d.choice(CHINESE)),
    _made("mail with full-width sign", ID, "mail", 10, lambda d: f"{d.choice(HANDLES)}＠example.jp"),
    _made("mail, tiny", ID, "c", 5, lambda d: f"{d.choice(FIRST).lower()}.{_digits(d, 2)}@uni.example.ac.jp"),
    _made(
        "mail in brackets",
        ID,
        "from",
        20,
        lambda d: f"{d.choice(FIRST)} <{d.choice(FIRST).lower()}{_digits(d, 3)}@example.org>",
    ),
    _made(
        "uuid",
        ID,
        "k",
        20,
        lambda d: (
            f"{d.getrandbits(32):08x}-{d.getrandbits(16):04x}-4{d.getrandbits(12):03x}-a{d.getrandbits(12):03x}-{d.getrandbits(48):012x}"
        ),
    ),
    _made("student numbers", ID, "学籍", 60, lambda d: f"S{d.choice(('20', '21', '22'))}{_digits(d, 4)}"),
    _made("IP of six", ID, "host", 12, lambda d: f"2001:db8::{d.getrandbits(16):x}:{d.getrandbits(16):x}"),
    _made(
        "cards with blanks",
        ID,
        "支払",
        12,
        lambda d: next(
            f"{t[:4]} {t[4:8]} {t[8:12]} {t[12:]}" for t in iter(lambda: "4" + _digits(d, 15), "") if _luhn(t)
        ),
    ),
    Column("running numbers, tiny", ID, "no", [str(number) for number in range(1, 13)]),
    _made("dates in words", QI, "登録", 30, _day),
    _made("dates of eras", QI, "受診", 30, _era),
    _made(
        "dates as eight digits",
        QI,
        "日付",
        40,
        lambda d: f"{d.randint(1990, 2020)}{d.randint(1, 12):02d}{d.randint(1, 28):02d}",
    ),
    _made(
        "dates in English",
        QI,
        "joined",
        20,
        lambda d: f"{d.randint(1, 28)} {d.choice(words('Jan Feb Mar Apr'))} {d.randint(1990, 2020)}",
    ),
    _made(
        "times of day",
        QI,
        "時刻",
        60,
        lambda d: f"{d.randint(0, 23):02d}:{d.randint(0, 59):02d}:{d.randint(0, 59):02d}",
    ),
    _made("postal codes with a mark", QI, "所", 25, lambda d: f"〒{_digits(d, 3)}-{_digits(d, 4)}"),
    _made("postal codes, full width", QI, "〒", 25, lambda d: f"{_digits(d, 3)}-{_digits(d, 4)}".translate(FULLWIDTH)),
    _made(
        "postal codes of Britain",
        QI,
        "pc",
        20,
        lambda d: (
            f"{d.choice(('SW', 'NW', 'EC'))}{d.randint(1, 9)} {d.randint(1, 9)}{d.choice('ABDEF')}{d.choice('GHJLN')}"
        ),
    ),
    _made("ages, tiny", QI, "年齢", 12, lambda d: str(d.randint(18, 70)), told=False),
    _made("ages in full width", QI, "齢", 40, lambda d: f"{d.randint(18, 70)}歳".translate(FULLWIDTH)),
    _made("prefectures, tiny", QI, "県", 10, lambda d: d.choice(words("秋田県 高知県 滋賀県 奈良県"))),
    _made("towns", QI, "町", 30, lambda d: d.choice(CITIES)),
    _made("sex in kanji, tiny", QI, "性", 8, lambda d: d.choice("男女")),
    _made("sex as a letter", QI, "g", 20, lambda d: d.choice("MF")),
    _made("countries", QI, "出身国", 20, lambda d: d.choice(words("日本 韓国 ベトナム ブラジル ネパール"))),
    _made("jobs", QI, "しごと", 24, lambda d: d.choice(words("看護師 会社員 農業 公務員 学生"))),
    _made("illness in English", SECRET, "dx", 20, lambda d: d.choice(words("asthma hepatitis anemia migraine gout"))),
    _made("illness in Japanese, tiny", SECRET, "傷病", 12, lambda d: d.choice(words("肺炎 胃潰瘍 糖尿病 うつ病"))),
    _made("income", SECRET, "年収", 30, lambda d: f"{d.randint(20, 120) * 10}万円", told=False),
    _made("colors", OTHER, "color", 20, lambda d: d.choice(COLORS)),
    _made("products", OTHER, "商品", 40, lambda d: d.choice(PRODUCTS)),
    _made("grades", OTHER, "評価", 25, lambda d: d.choice(GRADES)),
    _made("truth", OTHER, "同意", 15, lambda d: d.choice(("はい", "いいえ"))),
    _made("measured", OTHER, "値", 30, lambda d: f"{d.uniform(0, 10):.3f}"),
    _made("temperatures", OTHER, "気温", 40, lambda d: f"{d.uniform(-5, 35):.1f}"),
    _made("amounts", OTHER, "数量", 30, lambda d: str(d.randint(1, 9))),
    _made("departments, many rows", OTHER, "部", 3_000, lambda d: d.choice(DEPARTMENTS), told=False),
]
