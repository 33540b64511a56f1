"""The kinds of columns that are recognized, the role that each suggests, and the words in a header that say it.

The words of other European languages come first, in headers and in columns of few known values, written without
accents. German, French, Spanish, Italian, Portuguese and Dutch. What reads the same in English is not repeated, and
what means something else there (data, genre, estado as a status) is left out; in French `nombre de` counts something.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tokumei.inspection import survey_words


def words(listed: str) -> frozenset[str]:
    """Return the words that a text lists."""
    return frozenset(listed.split())


# For each kind of column, the words of a header that say it; see `kinds` for their order and what they mean.
HEADERS: Mapping[str, str] = {
    "email": r"courriel|correo( electronico)?|posta elettronica",
    "thing": r"artikel\w*|articles?|articulos?|articol[oi]|artigos?|produkte?|produits?|productos?|prodott[oi]"
    r"|produtos?|waren?(gruppe)?|marke|marque|marca",
    "phone": r"telefon\w*|telephone|handy(nummer)?|mobil(nummer|telefon)?|rufnummer|cellulare|celular|movil",
    "insurance": r"\w*versicherungs?(nummer|nr)|krankenkassen\w*|numero de securite sociale|nir|codice fiscale|bsn|cpf",
    "account": r"konto(nummer|nr)?|compte( bancaire)?|cuenta|rekeningnummer",
    "postal-code": r"plz|postleitzahl|code postal|codigo postal|cep",
    "region": r"(wohn|geburts|arbeits)?ort|stadt|gemeinde|(bundes)?land(kreis)?|kreis|bezirk|kanton|ville|commune"
    r"|departement|ciudad|municipio|provincia|comune|citta|regione|cidade|gemeente|woonplaats|lieu|lugar",
    "address": r"\w*(adresse|anschrift|strasse)|hausnummer|rue|domicile|direccion|calle|domicilio|indirizzo|endereco"
    r"|adres|straat",
    "country": r"nationalitat|staatsangehorigkeit|herkunftsland|pays|nationalite|pais|nacionalidad|paese|nazionalita"
    r"|nationaliteit",
    "birth-date": r"geburts(datum|tag|jahr)|geb ?datum|(date|annee) de naissance|naissance|(fecha|ano) de nacimiento"
    r"|nacimiento|(data|anno) di nascita|nascita|data de nascimento|nascimento|geboorte(datum|jaar)",
    "date": r"\w*datum|zeitpunkt|jahr|monat|fecha|annee|mois|ano|mes|anno|mese|jaar|maand",
    "age": r"alter|edad|idade|leeftijd",
    "sex": r"geschlecht|sexe|sexo|genero|sesso|geslacht",
    "marital": r"familienstand|zivilstand|etat civil|situation (familiale|matrimoniale)|estado civil|stato civile"
    r"|burgerlijke staat",
    "household": r"haushalts?(grosse)?|kinder(zahl)?|menage|enfants|hogar|hijos|famiglia|figli|filhos|kinderen",
    "education": r"bildung\w*|schulabschluss|ausbildung|etudes|diplome|niveau d etudes|educacion|estudios|istruzione"
    r"|titolo di studio|escolaridade|opleiding",
    "illness": r"\w*diagnosen?|krankheit(en)?|erkrankung(en)?|befund|maladies?|diagnostic|pathologie|enfermedad(es)?"
    r"|diagnostico|malattia|diagnosi|doenca|ziekte",
    "treatment": r"medikamente?|behandlung|therapie|traitement|medicaments?|tratamiento|medicamentos?|terapia"
    r"|farmac[oi]|behandeling",
    "income": r"\w*(einkommen|gehalt|lohn)|vermogen|schulden|revenus?|salaire|ingresos?|salario|sueldo|reddito"
    r"|stipendio|renda|inkomen|loon",
    "religion": r"konfession|glaube|religione?|religiao|croyance|godsdienst",
    "occupation": r"beruf|tatigkeit|metier|profession|emploi|profesion|ocupacion|professione|lavoro|profissao|beroep",
    "employer": r"arbeitgeber|firma|abteilung|klinik|krankenhaus|employeur|entreprise|hopital|empresa|azienda|ospedale"
    r"|werkgever|ziekenhuis",
    "body": r"(korper)?grosse|(korper)?gewicht|taille|poids|altura|estatura|altezza",
    "free-text": r"bemerkung(en)?|kommentar|anmerkung(en)?|notiz(en)?|remarques?|commentaires?|observaciones"
    r"|comentarios?|osservazioni|opmerking(en)?",
    "person-name": r"(familien|ruf|geburts|kunden|patienten)?name|nom de famille|prenom|nombre(?! de? )|apellidos?"
    r"|cognome|nome|sobrenome|voornaam|achternaam",
    "code": r"\w*(nummer|kennung|kennzeichen)|\w*nr|numero|identifiant|matricule|codigo|codice|klantnummer",
}
SEX = words(
    "w d mannlich weiblich divers mann frau h homme femme masculin feminin hombre mujer masculino femenino v uomo "
    "donna maschio femmina homem mulher feminino vrouw"
)
MARITAL = words(
    "ledig verheiratet geschieden verwitwet getrennt verpartnert celibataire marie mariee divorce divorcee veuf "
    "veuve pacse pacsee soltero soltera casado casada divorciado divorciada viudo viuda celibe nubile sposato "
    "sposata divorziato divorziata vedovo vedova solteiro solteira gehuwd ongehuwd gescheiden weduwe weduwnaar"
)
COUNTRIES = words(
    "deutschland frankreich italien spanien osterreich schweiz polen turkei niederlande belgien russland ukraine "
    "rumanien syrien allemagne espagne italie suisse belgique maroc algerie tunisie alemania francia espana "
    "colombia marruecos germania spagna svizzera italia brasil duitsland nederland belgie"
)


def without_accents(text: str) -> str:
    """Remove the accents of Latin letters; all else, such as kana, stays as it is.

    >>> without_accents("Größe in Genève, パリ")
    'Grosse in Geneve, パリ'
    """
    if text.isascii():
        return text
    out = []
    for letter in text.replace("ß", "ss"):
        plain = unicodedata.normalize("NFD", letter)[0]
        out.append(plain if plain.isascii() else letter)
    return "".join(out)


def says(kind: str, words: str) -> bool:
    """Whether the words of a header say a kind of column in one of these languages."""
    pattern = HEADERS.get(kind)
    return pattern is not None and re.search(rf"\b({pattern})\b", without_accents(words)) is not None


Role = Literal["identifier", "quasi-identifier", "sensitive", "other", "person", "household"]
IDENTIFIER, QUASI, SENSITIVE, OTHER, PERSON, HOUSEHOLD = Role.__args__  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Kind:
    """What a column may be, in words; a header that matches `header` says so."""

    name: str
    role: Role
    words: str
    header: str = ""
    # Whether any of its values can be told from other text: a column that says so and is not is something else.
    is_closed: bool = False


# A header may name such a kind and mean another: a father's age is an age.
RELATIONS = ("household", "marital")
# In this order, since "e-mail address" is no postal address, and "product name" names nobody.
_LISTED = (
    Kind("flag", OTHER, "a yes or no", r"\b(flag|opt ?(in|out)|consent|is|has)\b|フラグ|有無|同意", True),
    Kind("email", IDENTIFIER, "e-mail addresses", r"\be ?mails?\b|\bmail( address)?\b|メール|電子メール"),
    Kind("ip-address", IDENTIFIER, "IP addresses", r"\b(ip|ip ?v[46]|ip ?addr(ess)?)\b|IPアドレス"),
    Kind("mac-address", IDENTIFIER, "hardware addresses", r"\bmac( addr(ess)?)?\b|MACアドレス"),
    Kind("url", IDENTIFIER, "web addresses", r"\b(url|uri|web ?site|home ?page|link)\b|ホームページ|サイト"),
    Kind(
        "thing",
        OTHER,
        "things, not people",
        r"\b(product|item|goods|sku|stock|asin|isbn|jan|brand|category"
        r"|(?<!yrs )(?<!years )(?<!years of )service|plan|model|file|column|variable)\b"
        r"|商品|品名|品番|品目|製品|カテゴリ|分類|科目|ファイル|銘柄|型番|機種|ブランド|プラン",
    ),
    Kind(
        "phone",
        IDENTIFIER,
        "telephone numbers",
        r"\b(tele)?(phone|tel|fax|mobile|cell)s?\b|電話|携帯|(?<![a-z])(tel|fax)(?![a-z])",
    ),
    Kind(
        "card",
        IDENTIFIER,
        "card numbers",
        r"\b(credit|debit|payment) ?card|\bcard (no|num(ber)?)\b|\bpan\b|カード番号|クレジット",
    ),
    Kind("my-number", IDENTIFIER, "individual numbers (My Number)", r"\bmy ?number\b|マイナンバー|個人番号"),
    Kind("passport", IDENTIFIER, "passport numbers", r"\bpassport\b|旅券|パスポート"),
    Kind("licence", IDENTIFIER, "driver's licence numbers", r"\b(driver'?s?|driving) ?(s )?licen[cs]e|免許"),
    Kind(
        "insurance",
        IDENTIFIER,
        "insurance numbers",
        r"\b(ssn|social security|nino|national insurance|insurance (no|num(ber)?|id)|policy (no|num(ber)?)|medicare)\b"
        r"|保険者番号|被保険者|保険証|年金番号|記号番号|証券番号",
    ),
    Kind("account", IDENTIFIER, "account numbers", r"\b(iban|bank account|account( (no|num(ber)?|id))?)\b|口座"),
    Kind(
        "plate",
        IDENTIFIER,
        "number plates",
        r"\b(licen[cs]e|number|registration) plate\b|\bvin\b|車両番号|ナンバープレート|登録番号",
    ),
    Kind(
        "user-name",
        IDENTIFIER,
        "user names",
        r"\b(user ?name|login|nick ?name|handle|screen name|twitter|instagram)\b|ユーザー?名"
        r"|ニックネーム|ハンドル|アカウント",
    ),
    Kind("postal-code", QUASI, "postal codes", r"\b(zip|zip ?code|post ?code|postal( code)?)\b|郵便番号|〒", False),
    Kind(
        "coordinates",
        QUASI,
        "coordinates",
        r"\b(lat|latitude|lon|lng|long|longitude|coord(inate)?s?|geo ?point)\b|緯度|経度|座標|位置情報",
    ),
    Kind("prefecture", QUASI, "prefectures", r"\b(prefectures?|pref)\b|都道府県|県名|^県$", True),
    Kind(
        "region",
        QUASI,
        "places",
        r"\b(city|town|county|district|municipality|region|area|state|province|ward|village|place|birth ?place)\b"
        r"|市区町村|市町村|市区|地域|地区|居住地|勤務地|出身|町名|町丁|市名|区名|本籍|^[市区町村郡]$",
    ),
    Kind(
        "address", IDENTIFIER, "postal addresses", r"\b(address|addr|street|residence)\b|住所|所在地|番地|アドレス|自宅"
    ),
    Kind(
        "country",
        QUASI,
        "countries",
        r"\b(country|nation|nationality|citizenship|native ?country)\b|国籍|国名|^国$",
        True,
    ),
    Kind(
        "birth-date",
        QUASI,
        "dates of birth",
        r"\b(birth ?dates?|date of birth|dob|birth ?day|born|birth(?! ?(w|order|rate|pl)))\b"
        r"|生年月日|誕生日|生まれ|生年",
    ),
    Kind(
        "date",
        QUASI,
        "dates",
        r"\b(date|time|timestamp|datetime|day|month|year|admitted|discharged)\b|日付|年月|日時|時刻|[^毎]日$|年度",
    ),
    Kind("age", QUASI, "ages", r"\bages?\b|\bage (years|yrs)\b|年齢|年代|歳|齢", True),
    Kind("sex", QUASI, "sex categories", r"\b(sex|gender)\b|性別", True),
    Kind("duration", OTHER, "how long something took", r"\b(durations?|elapsed)\b|期間|日数|所要時間"),
    Kind(
        "marital",
        QUASI,
        "marital status",
        r"\b(marital|marital status|married|spouse)\b|婚姻|配偶|既婚|未婚|結婚",
        True,
    ),
    Kind(
        "household",
        QUASI,
        "the household",
        r"\b(household|family size|children|n?_?dependents?|relationship)\b|世帯|続柄|家族|子ども|子供",
    ),
    Kind(
        "education",
        QUASI,
        "education",
        r"\b(education|degree|schooling|qualification|school)\b|学歴|最終学歴|学校|学年|学部",
    ),
    Kind(
        "illness",
        SENSITIVE,
        "illnesses",
        r"\b(disease|illness|diagnosis|diagnos[ei]s|condition|symptoms?|icd ?(9|10)?|disorder|comorbidity|allerg(y|ies)"
        r"|medical|health|blood pressure|cholesterol|glucose|hba1c|bmi|hiv|cancer|diabetes|depression"
        r"|outcome|test result)\b"
        r"|病名|疾患|傷病|病歴|既往|症状|診断|病気|障害|障がい|血圧|血糖|コレステロール|検査値"
        r"|検査結果|アレルギー|体脂肪|健診",
    ),
    Kind(
        "habit",
        SENSITIVE,
        "what people smoke, drink and eat",
        r"\b(habits?|addiction|lifestyle)\b|喫煙|飲酒|嗜好|生活習慣",
    ),
    Kind(
        "treatment",
        SENSITIVE,
        "treatment",
        r"\b(medications?|drugs?|prescriptions?|treatments?|procedure|surgery|therapy)\b|処方|薬剤|投薬|治療|手術|薬",
    ),
    Kind(
        "income",
        SENSITIVE,
        "money that people have or owe",
        r"\b(income|salary|wages?|earnings?|pay|assets?|savings|debt|loan|mortgage|capital (gain|loss)|net ?worth|bonus"
        r"|salary class|balance)\b|年収|所得|収入|給与|給料|月給|賃金|資産|貯蓄|貯金|預金|借金|借入"
        r"|負債|残高|ローン|賞与",
    ),
    Kind(
        "religion",
        SENSITIVE,
        "religion or belief",
        r"\b(religions?|religious|faith|belief|creed)\b|宗教|信仰|信条",
        True,
    ),
    Kind(
        "politics",
        SENSITIVE,
        "political views",
        r"\b(politics|political|party|vote[ds]?|trade union|union member)\b|政党|支持|投票|政治|労働組合|思想",
    ),
    Kind(
        "origin",
        QUASI,
        "origin, which others see and law protects",
        r"\b(race|ethnic(ity)?|ethnic "
        r"origin|caste)\b|人種|民族|社会的身分",
        True,
    ),
    Kind("orientation", SENSITIVE, "sexual life", r"\b(sexual(ity)?|orientation|sex life)\b|性的指向|性自認", True),
    Kind(
        "crime",
        SENSITIVE,
        "crime",
        r"\b(crim(e|inal)|convictions?|offen[cs]es?|arrest(ed)?|victim)\b|犯罪|前科|逮捕|有罪|被害",
    ),
    Kind(
        "score",
        SENSITIVE,
        "marks and test scores",
        r"\b(grade point|report card|exam|test|marks?) ?(average|scores?)\b|成績|偏差値",
    ),
    Kind(
        "occupation",
        QUASI,
        "occupations",
        r"\b(occupations?|jobs?|job title|profession|work ?class|employment|position|title|role)\b"
        r"|職業|職種|職位|役職|業種|勤務形態|雇用",
    ),
    Kind(
        "employer",
        QUASI,
        "employers and other organizations",
        r"\b(employer|company|organi[sz]ation|firm|hospital|clinic|department)\b|勤務先|会社|企業|法人"
        r"|所属|部署|病院名?|医療機関|学校名|施設",
    ),
    Kind(
        "body",
        QUASI,
        "what can be seen of a person",
        r"\b(height|weight|eye colou?r|hair colou?r|blood (type|group)|shoe size)\b|身長|体重|血液型",
    ),
    Kind(
        "free-text",
        IDENTIFIER,
        "free text",
        r"\b(comments?|notes?|remarks?|memo|description|free ?text|message|feedback|review|narrative|answer text)\b"
        r"|備考|コメント|自由記述|メモ|感想|所見|摘要|自由回答|意見|記事|経過",
    ),
    Kind(
        "person-name",
        IDENTIFIER,
        "names of people",
        r"\b((first|last|full|given|family|middle|maiden|customer|patient|person|employee|student"
        r"|client|doctor|physician"
        r"|member|guardian|contact|mother|father|sur) ?names?|surname|forename|name|names|nom|vorname|nachname)\b"
        r"|氏名|姓名|名前|ふりがな|フリガナ|カナ|かな|苗字|名字|^姓$|^名$|^氏$|患者名|顧客名|会員名"
        r"|担当者|世帯主|保護者|主治医|本名|旧姓|宛名",
    ),
    Kind(
        "code",
        IDENTIFIER,
        "codes of people or records",
        r"\b(id|ids|uid|uuid|guid|identifier|identification|customer|patient|member|household|record|row|serial|key"
        r"|no|num|number|code|mrn|chart|ticket|invoice|order|receipt|session|device|cookie|token"
        r"|hash)( (id|no|num|number|code|key))?$"
        r"|番号|コード|ＩＤ|ID$|識別|会員|顧客|患者|社員|学籍|受付|伝票|整理|管理|個体|通番|連番|№",
    ),
)
KINDS = {kind.name: kind for kind in _LISTED} | {
    kind.name: kind
    for kind in (
        Kind("number", OTHER, "numbers"),
        Kind("category", OTHER, "a few different words"),
        Kind("phrases", QUASI, "phrases"),
        Kind("empty", OTHER, "nothing"),
        Kind("mixed", IDENTIFIER, "texts of which some hold identifiers"),
        Kind("unique-text", IDENTIFIER, "texts that nearly every row has for itself"),
    )
}
# Codes of things and places end as codes of people do.
_NOT_OF_PEOPLE = re.compile(
    r"\b(product|item|stock|shop|store|branch|category|area|country|region|city|state|currency"
    r"|language|error|status|color"
    r"|department|diagnosis|icd|industry|version)\b.*\b(id|no|num|number|code|key)\b"
    r"|(商品|製品|店舗|支店|地域|市区町村|都道府県|国|通貨|言語|分類|職業|業種|部署|状態|型番).*(コード|番号|ID)"
)


def header_words(header: str) -> str:
    """Normalize a header to plain words: fullwidth letters narrowed, camelCase and underscores split.

    >>> header_words("customerName_２")
    'customer name 2'
    """
    text = unicodedata.normalize("NFKC", header).strip()
    text = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])", " ", text)
    return re.sub(r"[\s_\-./:()\[\]{}#・,]+", " ", text).strip().lower()


# What an identifier is counted or described by identifies nobody: the length of an account, a number of calls.
_COUNTED = re.compile(
    r"^(number of|no of|count|total|avg|average|mean|max|min|pct|perc|percent|rate) \w|^(n|num) .*s$"
    r"|\b(counts?|length|percent|pct|rate|ratio|share|amount|status|type|size|level|limit)$"
)
_ASKED = re.compile(r"^(is|has|have|had|was|were|ever|currently) ")
_NUMBERED = re.compile(r" (id|no|nr|num|number)$")


def header_kinds(header: str, *, is_group: bool = False) -> list[Kind]:
    """Return the kinds that a header's words suggest, the likeliest first.

    is_group: whether the column has so few values that it may tell one group from the rest, as `black` and `south` do.

    >>> [kind.name for kind in header_kinds("motheduc")], [kind.name for kind in header_kinds("is_male", is_group=True)]
    (['education'], ['sex', 'flag'])
    """
    words = header_words(header)
    parts = survey_words.parted(words)
    n_said = {kind.name: _words_said(kind, words, parts, is_group=is_group) for kind in _LISTED}
    # The degree of a charge is a crime's, not a school's: several words together say more than one.
    found = sorted((kind for kind in _LISTED if n_said[kind.name]), key=lambda kind: -n_said[kind.name])
    if _NOT_OF_PEOPLE.search(words):
        found = [KINDS["thing"] if kind.name == "code" else kind for kind in found]
    if _NUMBERED.search(words):
        # `emp_no` is a number of somebody, not an occupation; `school_id` is a school's.
        found.sort(key=lambda kind: kind.name != "code" and not _is_in_full(kind, words))
    if _COUNTED.search(words):
        found = [kind for kind in found if kind.role != IDENTIFIER]
    if _ASKED.search(words):
        # What is asked says more than that it is a yes or a no; whether somebody has a telephone is no number.
        found = sorted((kind for kind in found if kind.role != IDENTIFIER), key=lambda kind: kind.name == "flag")
    if any(kind.role in (QUASI, SENSITIVE) and kind.name not in RELATIONS for kind in found):
        found = [kind for kind in found if kind.name not in RELATIONS]
    return found


def _is_in_full(kind: Kind, words: str) -> bool:
    """Whether a header says a kind without a short word."""
    is_said = bool(kind.header) and re.search(kind.header, words, re.IGNORECASE) is not None
    return is_said or says(kind.name, words)


def _words_said(kind: Kind, words: str, parts: str, *, is_group: bool) -> int:
    """Return how many words of a header say a kind together; 0 where none do."""
    patterns = [*([kind.header] if kind.header else []), *survey_words.patterns(kind.name, is_group=is_group)]
    found = [
        match[0]
        for pattern in patterns
        for said in dict.fromkeys((words, parts))
        for match in re.finditer(pattern, said, re.IGNORECASE)
    ]
    return max((len(text.split()) for text in found), default=int(says(kind.name, words)))


def header_kind(header: str) -> Kind | None:
    """Return the likeliest kind that a header's words suggest, or None where they suggest none."""
    return next(iter(header_kinds(header)), None)
