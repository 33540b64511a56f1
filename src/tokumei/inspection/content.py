"""What the values of a column are, whatever its header says.

Values that come from few known words come first: sex, prefectures, countries, occupations, illnesses, beliefs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tokumei.core.text import Text
from tokumei.hierarchies.builders.people import REGIONS
from tokumei.inspection import kinds
from tokumei.inspection.column_facts import ColumnFacts
from tokumei.inspection.kinds import KINDS, Kind
from tokumei.inspection.patterns import LEAST_SHARE, TESTS
from tokumei.inspection.person_names import names_seen

_PREFECTURES = [words for _, _, listed in REGIONS for words in [listed.split()]]
PREFECTURES = frozenset(
    name
    for words in _PREFECTURES
    for name in (*words[::2], *(one.rstrip("都府県") for one in words[::2]), *(one.lower() for one in words[1::2]))
)
_SEX = kinds.words(
    "m f male female man woman men women boy girl 男 女 男性 女性 男子 女子 オス メス 不明 その他 other unknown "
    "nonbinary x"
)
_SEX_CORE = kinds.words(
    "m f male female man woman men women boy girl mannlich weiblich mann frau homme femme hombre mujer uomo donna "
    "男 女 男性 女性 男子 女子"
)
_FLAGS = kinds.words("yes no y n true false t f 0 1 0.0 1.0 on off 有 無 あり なし はい いいえ ○ × ✓ 済 未 有り 無し")
_MARITAL = kinds.words(
    "single married divorced widowed separated never-married 未婚 既婚 離婚 死別 独身 離別 有配偶 "
    "married-civ-spouse married-spouse-absent married-af-spouse partnered cohabiting unmarried engaged"
)
_RELIGION = kinds.words(
    "christian christianity catholic protestant orthodox muslim islam jewish judaism hindu hinduism buddhist "
    "buddhism sikh sikhism shinto atheist agnostic taoist mormon 仏教 神道 キリスト教 イスラム教 ヒンドゥー教 "
    "ユダヤ教 創価学会 無宗教 天理教 新宗教 浄土真宗 曹洞宗"
)
_ORIGIN = kinds.words(
    "white black asian hispanic latino caucasian asian-pac-islander amer-indian-eskimo african-american "
    "native-american mixed pacific-islander arab roma"
)
_COUNTRIES = kinds.words(
    "japan china korea india usa uk us united-states united-kingdom france germany italy spain canada australia "
    "brazil mexico russia vietnam philippines thailand indonesia nepal taiwan sweden norway netherlands poland "
    "egypt nigeria kenya england ireland scotland portugal greece turkey cuba iran peru chile argentina "
    "switzerland belgium austria 日本 中国 韓国 インド アメリカ イギリス フランス ドイツ イタリア スペイン カナダ "
    "ブラジル ベトナム フィリピン タイ ネパール 台湾 米国 英国 ロシア インドネシア ペルー ミャンマー "
    "オーストラリア singapore malaysia hong-kong south-korea new-zealand south-africa denmark finland"
)
_EDUCATION = re.compile(
    r"(bachelor|master|doctorate|phd|ph\.d|high ?school|hs-grad|college|preschool|1st|[0-9]+th|assoc"
    r"|degree|diploma|prof-school"
    r"|primary|secondary|university|graduate|undergraduate).*|.*(中学|高校|高卒|大卒|大学|大学院|短大"
    r"|専門学校|修士|博士|学士|中卒|院卒|高専).*"
)
_OCCUPATION = re.compile(
    r".*(会社員|公務員|自営業?|主婦|主夫|学生|無職|農業|漁業|医師|看護師|教師|教員|弁護士|会計士"
    r"|税理士|保育士|介護士|薬剤師|美容師|調理師|運転手|エンジニア"
    r"|パート|アルバイト|年金|役員|事務|営業|販売員|技術者|研究者|作業員|警備員|職人|デザイナー"
    r"|プログラマー?|コンサルタント|経営者|店員|整備士|警察官|消防士|建築士|技師)"
    r"|.*\b(engineer|manager|teacher|nurse|clerk|driver|lawyer|doctor|physician|accountant|developer"
    r"|designer|analyst|scientist"
    r"|technician|secretary|cook|chef|farmer|farming-fishing|sales(man|person|woman)?|cashier|officer"
    r"|electrician|plumber|mechanic|worker"
    r"|assistant|director|administrator|consultant|student|retired|unemployed|housewife|homemaker"
    r"|self-employed|carpenter|pilot|artist"
    r"|writer|editor|journalist|architect|dentist|pharmacist|therapist|librarian|professor|lecturer"
    r"|surgeon|police|firefighter|waiter"
    r"|waitress|barber|hairdresser|tailor|baker|butcher|translator|programmer|executive|specialist"
    r"|supervisor|operator|receptionist"
    r"|adm-clerical|exec-managerial|prof-specialty|craft-repair|tech-support|handlers-cleaners"
    r"|machine-op-inspct|transport-moving"
    r"|other-service|protective-serv|priv-house-serv|armed-forces)s?\b.*"
)
_ILLNESS = re.compile(
    r".*(病|症|炎|癌|がん|ガン|腫瘍|障害|骨折|インフルエンザ|風邪|喘息|ぜんそく|血圧|梗塞|卒中|肺結核"
    r"|結核|うつ|貧血|アレルギー|アトピー|痛|不全|ヘルニア|潰瘍|肉腫|脂質異常|感染|コロナ|エイズ"
    r"|ポリープ|肝硬変|認知症)"
    r"(（.*）|\(.*\)|[IVX0-9型 ]*)?|.*\b(\w+(itis|osis|emia|aemia|oma|pathy|algia|plegia|phrenia"
    r"|rrhea)|cancers?|diabetes( mellitus)?|disease|disorder|syndrome|infection"
    r"|flu|influenza|asthma|hypertension|hypotension|stroke|depression|anxiety|pneumonia|migraine"
    r"|epilepsy|arthritis|hiv|aids|covid( ?19)?|fracture"
    r"|obesity|ulcer|angina|cold|fever|dementia|alzheimer'?s?|parkinson'?s?|allergy|injury|failure"
    r"|attack|measles|malaria|hernia|eczema|gout|copd|tumou?r"
    r"|insomnia|autism|adhd|ptsd|pregnancy|gastritis)\b.*"
)
_ICD = re.compile(r"[A-TV-Z][0-9][0-9AB]\.[0-9A-Z]{1,4}|[A-TV-Z][0-9][0-9AB]")
_BLOOD = kinds.words("a b o ab a+ a- b+ b- o+ o- ab+ ab- a型 b型 o型 ab型 rh+ rh-")
_AREA = re.compile(
    r"([一-龯ぁ-んァ-ヶー]{1,4}[都道府県])?[一-龯ぁ-んァ-ヶー]{1,8}[市区町村郡]([一-龯ぁ-んァ-ヶー]{1,10})?"
)
_AGE_BANDS = re.compile(
    r"[0-9]{1,2}[-~〜][0-9]{1,3}(歳)?|[0-9]{1,2}(0代|代)(前半|後半)?|[0-9]{1,3}(歳|才)(以上|未満)?"
    r"|[0-9]{2}(\+|s| years?( old)?)|under [0-9]+|over [0-9]+"
)
_UNKNOWN = kinds.words("? - unknown n/a na none other 不明 その他 なし 特になし 無し 無回答 未回答 該当なし")


def _one_of(words: frozenset[str]) -> Callable[[str], bool]:
    return lambda value: value in words


def _spread(words: frozenset[str]) -> Callable[[str], bool]:
    # Words of several parts are listed with a dash between them.
    return lambda value: value in words or value.replace(" ", "-") in words


# Each kind with the test of a value in small letters; a column is of a kind if most of its values are.
CATEGORY_TESTS: dict[str, Callable[[str], bool]] = {
    "sex": _one_of(_SEX | kinds.SEX),
    "flag": _one_of(_FLAGS),
    "prefecture": _one_of(PREFECTURES),
    "marital": _spread(_MARITAL | kinds.MARITAL),
    "religion": lambda value: value in _RELIGION or value.endswith(("教", "宗", "教徒")),
    "origin": _spread(_ORIGIN),
    "country": _spread(_COUNTRIES | kinds.COUNTRIES),
    "illness": lambda value: _ILLNESS.fullmatch(value) is not None,
    "occupation": lambda value: _OCCUPATION.fullmatch(value) is not None,
    "education": lambda value: _EDUCATION.fullmatch(value) is not None,
    "age": lambda value: _AGE_BANDS.fullmatch(value) is not None,
    "region": lambda value: _AREA.fullmatch(value) is not None,
}
LEAST_CATEGORY_SHARE = 0.6
LEAST_ICD = 0.95


def category_seen(values: Sequence[str]) -> tuple[str, float] | None:
    """Return the category of most distinct values, and their share; values that say nothing are ignored."""
    told = [kinds.without_accents(value.lower().strip()) for value in values]
    told = [value for value in told if value not in _UNKNOWN]
    if not told:
        return None
    if set(told) <= _FLAGS and not (set(told) & {"m", "f"} and set(told) <= _SEX):
        return ("flag", 1.0) if len(told) <= 2 else None
    if set(told) <= _BLOOD and len(told) >= 3:
        return "body", 1.0
    if all(map(CATEGORY_TESTS["sex"], told)) and set(told) & _SEX_CORE:
        return "sex", 1.0
    codes = [_ICD.fullmatch(value.upper()) is not None for value in told]
    if (
        sum(codes) >= LEAST_ICD * len(told)
        and len({value[0] for value in told}) > 1
        and any("." in value for value in told)
    ):
        return "illness", sum(codes) / len(codes)
    shares = {
        name: sum(map(test, told)) / len(told) for name, test in CATEGORY_TESTS.items() if name not in ("sex", "flag")
    }
    best = max(shares, key=lambda name: shares[name])
    return (best, shares[best]) if shares[best] >= LEAST_CATEGORY_SHARE else None


# From this share of values on a pattern says what the column is.
MOST = 0.7
# Text as long as this, or of so many words, was written by somebody.
LONG_TEXT, LONG_JAPANESE, MANY_WORDS = 40, 10, 4
# So many different phrases may be the answers of a form; more are not.
FEW_PHRASES, FEW_ANSWERS = 20, 5
# Nearly every row has a value of its own; in so few rows that says nothing.
NEARLY_ALL, FEWEST_ROWS = 0.9, 8
# A column with so many different codes numbers something; fewer are classes.
MANY_CODES = 30
LONGEST_GRADE = 3
ROWS_OF_A_GROUP = 20
# Where so many pairs would be the same by chance, all differ in one of a thousand tables.
EXPECTED_TWICE = 7
SHORTEST_NUMBER, LONG_NUMBER = 4, 8


@dataclass(frozen=True)
class Seen:
    """A kind and why the values say so; `is_sure` if no header could say otherwise."""

    kind: Kind
    reason: Text
    is_sure: bool = False


def content_kind(facts: ColumnFacts) -> Seen | None:
    """Return the kind that the values suggest, or None where they could be anything."""
    values = facts.values
    if not values:
        return None
    if facts.type == "truth":
        return Seen(KINDS["flag"], Text("its values are true and false"), True)
    if facts.type == "date":
        return Seen(KINDS["date"], Text("its values are dates"), True)
    # Fractions are measured: no pattern of digits and dots makes telephone numbers of them.
    return (None if facts.type == "number" else _by_pattern(values)) or _by_words(facts) or _by_shape(facts)


def _by_pattern(values: Sequence[str]) -> Seen | None:
    shares = {name: sum(map(test, values)) / len(values) for name, test in TESTS.items()}
    for name, share in shares.items():
        if share >= LEAST_SHARE.get(name, MOST) and not (name in LEAST_SHARE and len(values) < FEWEST_ROWS // 2):
            kind = KINDS[name]
            return Seen(
                kind, Text("{n:.0%} of its values are written as {kind} are", n=share, kind=Text(kind.words)), True
            )
    return None


def _by_words(facts: ColumnFacts) -> Seen | None:
    """Recognize names and categories; what could be both is a name where most rows have one of their own."""
    values = facts.values
    if facts.type != "text":
        return Seen(KINDS["flag"], Text("its values are 0 and 1")) if set(values) == {"0", "1"} else None
    free = _free_text(facts)
    category = category_seen(values)
    if category is not None and not (free and category[1] < 0.9):
        kind = KINDS[category[0]]
        words = Text(kind.words)
        said = Text("all its values look like {kind}", kind=words)
        if category[1] < 1:
            said = Text("{n:.0%} of its different values look like {kind}", n=category[1], kind=words)
        return Seen(kind, said)
    named = names_seen(values, facts.share_distinct)
    if named is not None:
        return Seen(KINDS["person-name"], named, True)
    return free


def _free_text(facts: ColumnFacts) -> Seen | None:
    long = [
        len(value) >= LONG_TEXT
        or len(value.split()) >= MANY_WORDS
        or (len(value) >= LONG_JAPANESE and _is_prose(value))
        for value in facts.values
    ]
    share = sum(long) / len(long)
    is_varied = facts.n_distinct > FEW_PHRASES or facts.share_distinct > 0.5
    if share >= 0.4 and not is_varied and facts.n_distinct > FEW_ANSWERS:
        return Seen(KINDS["phrases"], Text("{n:,} different phrases, each for several rows", n=facts.n_distinct))
    if share >= 0.4 and is_varied:
        return Seen(
            KINDS["free-text"],
            Text("{n:.0%} of its different values are sentences, which may name anybody", n=share),
            True,
        )
    return None


def _is_prose(value: str) -> bool:
    return re.search(r"[ぁ-ん]{2}|[。、]", value) is not None


def _by_shape(facts: ColumnFacts) -> Seen | None:
    """Recognize codes and running numbers by how many distinct ones there are, and how alike they look."""
    values, shape = facts.values, {_shape(value) for value in facts.values}
    is_of_own = facts.n_present >= FEWEST_ROWS and facts.share_distinct >= NEARLY_ALL
    if facts.type == "whole number":
        return (_numbering(facts, values) if is_of_own else None) or _repeated_number(values) or _age(facts)
    if facts.type == "number":
        return None
    if (shape == {"9999999"} or (shape == {"99999"} and facts.type == "text")) and not is_of_own:
        return Seen(KINDS["postal-code"], Text("all have {n} digits, as postal codes do", n=len(values[0])))
    is_code = all(re.fullmatch(r"[\w.:/#-]+", value) and re.search(r"[0-9]", value) for value in values)
    if _is_hashed(values):
        return Seen(KINDS["code"], Text("its values are long codes at random"), True)
    # Words with a number in them that many rows share name groups of people, as the third department does, or grades.
    is_short = max(map(len, values)) <= LONGEST_GRADE
    is_shared = facts.n_present >= ROWS_OF_A_GROUP * facts.n_distinct
    is_of_groups = is_shared and (is_short or not "".join(values).isascii())
    if is_code and not is_of_groups and facts.n_distinct >= MANY_CODES and len(shape) <= max(3, 0.2 * len(values)):
        like = re.sub("9", "0", min(shape))
        return Seen(
            KINDS["code"], Text("{n:,} different codes written as {form}", n=facts.n_distinct, form=like), is_of_own
        )
    if is_of_own and facts.type == "text":
        share = facts.share_distinct
        return Seen(KINDS["unique-text"], Text("{n:.0%} of its rows have a text of their own", n=share), True)
    return None


def _is_hashed(values: Sequence[str]) -> bool:
    hexadecimal = [re.fullmatch(r"[0-9A-Fa-f-]{16,}|[0-9A-Za-z_-]{20,}={0,2}", value) is not None for value in values]
    return len(values) >= 2 and sum(hexadecimal) >= 0.9 * len(values)


def _never_by_chance(n: int, width: float) -> bool:
    """Whether n numbers drawn at random from a range would hardly ever all differ, as birthdays do.

    >>> _never_by_chance(1_500, 25_000), _never_by_chance(100, 25_000)
    (True, False)
    """
    return n * (n - 1) / 2 >= EXPECTED_TWICE * (width + 1)


def _numbering(facts: ColumnFacts, values: Sequence[str]) -> Seen | None:
    """Recognize row numbers: consecutive, or all of one length and none round."""
    least, greatest = facts.least or 0, facts.greatest or 0
    if facts.share_distinct == 1 and greatest - least < 2 * facts.n_distinct:
        return Seen(
            KINDS["code"], Text("its numbers run from {a:.0f} to {b:.0f}, one a row", a=least, b=greatest), True
        )
    if facts.share_distinct == 1 and _never_by_chance(facts.n_distinct, greatest - least):
        form = "{n:,} rows and no number twice between {a:.0f} and {b:.0f}, as only numbers of records are"
        return Seen(KINDS["code"], Text(form, n=facts.n_distinct, a=least, b=greatest), True)
    lengths = {len(value) for value in values}
    round_ones = sum(value.endswith("00") for value in values)
    if len(lengths) == 1 and min(lengths) >= SHORTEST_NUMBER and round_ones < 0.1 * len(values):
        return Seen(KINDS["code"], Text("nearly every row has its own number of {n} digits", n=lengths.pop()))
    return None


def _repeated_number(values: Sequence[str]) -> Seen | None:
    """Recognize numbers that identify something in several rows: many, all of one length, and hardly one round."""
    lengths = {len(value) for value in values}
    is_round = sum(value.endswith("00") for value in values) > 0.05 * len(values)
    if len(values) >= MANY_CODES and len(lengths) == 1 and min(lengths) >= LONG_NUMBER and not is_round:
        return Seen(
            KINDS["code"], Text("{n:,} or more different numbers, all of {m} digits", n=len(values), m=lengths.pop())
        )
    if lengths in ({5}, {7}) and not is_round:
        return Seen(KINDS["postal-code"], Text("all have {n} digits, as postal codes do", n=lengths.pop()))
    return None


def _age(facts: ColumnFacts) -> Seen | None:
    """Recognize whole numbers that may be ages; with so many of them in that range, caution costs little."""
    least, greatest = facts.least or 0, facts.greatest or 0
    if least >= 0 and 60 <= greatest <= 115 and facts.n_distinct >= 0.5 * (greatest - least) and facts.n_distinct >= 30:
        return Seen(KINDS["age"], Text("whole numbers from {a:.0f} to {b:.0f}, as ages are", a=least, b=greatest))
    return None


def _shape(value: str) -> str:
    return re.sub(r"[^\W\d_]", "A", re.sub(r"[0-9]", "9", value))
