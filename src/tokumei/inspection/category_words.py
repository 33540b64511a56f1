# ruff: noqa: SIM905 - many words are read more easily in one text than in a list.
"""Values that come from few known words: sex, prefectures, countries, occupations, illnesses, beliefs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tokumei.hierarchies.builders.japan_prefecture import REGIONS
from tokumei.inspection import european_words

_PREFECTURES = [words for _, _, listed in REGIONS for words in [listed.split()]]
PREFECTURES = frozenset(
    name
    for words in _PREFECTURES
    for name in (*words[::2], *(one.rstrip("都府県") for one in words[::2]), *(one.lower() for one in words[1::2]))
)
_SEX = frozenset(
    "m f male female man woman men women boy girl 男 女 男性 女性 男子 女子 オス メス 不明 その他 "
    "other unknown nonbinary x".split()
)
_SEX_CORE = frozenset(
    "m f male female man woman men women boy girl mannlich weiblich mann frau homme femme hombre mujer uomo donna "
    "男 女 男性 女性 男子 女子".split()
)
_FLAGS = frozenset(
    "yes no y n true false t f 0 1 0.0 1.0 on off 有 無 あり なし はい いいえ ○ × ✓ 済 未 有り 無し".split()
)
_MARITAL = frozenset(
    "single married divorced widowed separated never-married 未婚 既婚 離婚 死別 独身 離別 有配偶 married-civ-spouse "
    "married-spouse-absent married-af-spouse partnered cohabiting unmarried engaged".split()
)
_RELIGION = frozenset(
    "christian christianity catholic protestant orthodox muslim islam jewish judaism hindu hinduism "
    "buddhist buddhism sikh "
    "sikhism shinto atheist agnostic taoist mormon 仏教 神道 キリスト教 イスラム教 ヒンドゥー教 "
    "ユダヤ教 創価学会 無宗教 天理教 新宗教 浄土真宗 曹洞宗".split()
)
_ORIGIN = frozenset(
    "white black asian hispanic latino caucasian asian-pac-islander amer-indian-eskimo "
    "african-american native-american mixed "
    "pacific-islander arab roma".split()
)
_COUNTRIES = frozenset(
    "japan china korea india usa uk us united-states united-kingdom france germany italy spain canada australia brazil "
    "mexico russia vietnam philippines thailand indonesia nepal taiwan sweden norway netherlands poland egypt nigeria "
    "kenya england ireland scotland portugal greece turkey cuba iran peru chile argentina switzerland belgium austria "
    "日本 中国 韓国 インド アメリカ イギリス フランス ドイツ イタリア スペイン カナダ ブラジル "
    "ベトナム フィリピン タイ ネパール 台湾 米国 英国 ロシア インドネシア "
    "ペルー ミャンマー オーストラリア singapore malaysia hong-kong south-korea new-zealand "
    "south-africa denmark finland".split()
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
_BLOOD = frozenset("a b o ab a+ a- b+ b- o+ o- ab+ ab- a型 b型 o型 ab型 rh+ rh-".split())
_AREA = re.compile(
    r"([一-龯ぁ-んァ-ヶー]{1,4}[都道府県])?[一-龯ぁ-んァ-ヶー]{1,8}[市区町村郡]([一-龯ぁ-んァ-ヶー]{1,10})?"
)
_AGE_BANDS = re.compile(
    r"[0-9]{1,2}[-~〜][0-9]{1,3}(歳)?|[0-9]{1,2}(0代|代)(前半|後半)?|[0-9]{1,3}(歳|才)(以上|未満)?"
    r"|[0-9]{2}(\+|s| years?( old)?)|under [0-9]+|over [0-9]+"
)
_UNKNOWN = frozenset("? - unknown n/a na none other 不明 その他 なし 特になし 無し 無回答 未回答 該当なし".split())


def _one_of(words: frozenset[str]) -> Callable[[str], bool]:
    return lambda value: value in words


def _spread(words: frozenset[str]) -> Callable[[str], bool]:
    # Words of several parts are listed with a dash between them.
    return lambda value: value in words or value.replace(" ", "-") in words


# Each kind with the test of a value in small letters; a column is of a kind if most of its values are.
TESTS: dict[str, Callable[[str], bool]] = {
    "sex": _one_of(_SEX | european_words.SEX),
    "flag": _one_of(_FLAGS),
    "prefecture": _one_of(PREFECTURES),
    "marital": _spread(_MARITAL | european_words.MARITAL),
    "religion": lambda value: value in _RELIGION or value.endswith(("教", "宗", "教徒")),
    "origin": _spread(_ORIGIN),
    "country": _spread(_COUNTRIES | european_words.COUNTRIES),
    "illness": lambda value: _ILLNESS.fullmatch(value) is not None,
    "occupation": lambda value: _OCCUPATION.fullmatch(value) is not None,
    "education": lambda value: _EDUCATION.fullmatch(value) is not None,
    "age": lambda value: _AGE_BANDS.fullmatch(value) is not None,
    "region": lambda value: _AREA.fullmatch(value) is not None,
}
LEAST_SHARE = 0.6
LEAST_ICD = 0.95


def category_seen(values: Sequence[str]) -> tuple[str, float] | None:
    """Return the category of most distinct values, and their share; values that say nothing are ignored."""
    told = [european_words.without_accents(value.lower().strip()) for value in values]
    told = [value for value in told if value not in _UNKNOWN]
    if not told:
        return None
    if set(told) <= _FLAGS and not (set(told) & {"m", "f"} and set(told) <= _SEX):
        return ("flag", 1.0) if len(told) <= 2 else None
    if set(told) <= _BLOOD and len(told) >= 3:
        return "body", 1.0
    if all(map(TESTS["sex"], told)) and set(told) & _SEX_CORE:
        return "sex", 1.0
    codes = [_ICD.fullmatch(value.upper()) is not None for value in told]
    if (
        sum(codes) >= LEAST_ICD * len(told)
        and len({value[0] for value in told}) > 1
        and any("." in value for value in told)
    ):
        return "illness", sum(codes) / len(codes)
    shares = {name: sum(map(test, told)) / len(told) for name, test in TESTS.items() if name not in ("sex", "flag")}
    best = max(shares, key=lambda name: shares[name])
    return (best, shares[best]) if shares[best] >= LEAST_SHARE else None
