"""Values that can be told by how they are written: addresses, numbers and codes, in Japanese and in English."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from tokumei.inspection.check_digits import is_card, is_iban, is_japanese_licence, is_my_number

EMAIL = r"[\w.+%'-]+@[\w-]+(\.[\w-]+)*\.[A-Za-z]{2,}"
URL = r"(https?://|ftp://|www\.)[^\s]+|[\w-]+(\.[\w-]+)*\.(com|org|net|jp|io|edu|gov|info|dev|uk|de|fr)(/[^\s]*)?"
OCTET = r"(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
_PHONE_JA = (
    r"(\(?0[0-9]{1,4}\)?[-. ][0-9]{1,4}[-. ][0-9]{3,4}|\(0[0-9]{1,4}\) ?[0-9]{1,4}[-. "
    r"]?[0-9]{3,4}|0[5789]0[0-9]{8}|0[1-9][0-9]{8})"
)
_PHONE_EN = (
    r"(\([0-9]{3}\) ?[0-9]{3}[-. ][0-9]{4}|[0-9]{3}[-. ][0-9]{3}[-. ][0-9]{4}|0[0-9]{2,4} [0-9]{3,4} ?[0-9]{3,4})"
)
_PHONE_WORLD = r"(\+|00)[1-9][0-9]{0,2}[-. ]?(\(0\))?(\(?[0-9]{1,4}\)?[-. ]?){2,5}[0-9]{2,4}"
PHONE = rf"({_PHONE_JA}|{_PHONE_WORLD}|(\+?1[-. ])?{_PHONE_EN})( ?(x|ext\.?) ?[0-9]{{1,6}})?"
# What may stand inside a longer text and still leads to a person.
EMBEDDED = (
    r"[\w.+%-]+[@＠][\w.-]+\.[A-Za-z]{2,}|https?://\S+|\b0[0-9]{1,4}-[0-9]{1,4}-[0-9]{4}\b|\b0[789]0[0-9]{8}\b"
    r"|\b[0-9]{3}[-.][0-9]{3}[-.][0-9]{4}\b|\([0-9]{3}\) ?[0-9]{3}-[0-9]{4}|\+[0-9]{1,3}[- ][0-9]{1,4}[- ][0-9]{3,4}"
)

_DIGITS = "〇一二三四五六七八九十百0-9"
_HOUSE_NUMBER = rf"[{_DIGITS}]+(丁目|番地?|号|ー|-|−|‐|の[{_DIGITS}])|[{_DIGITS}]+-[0-9]+|[0-9]+$"
_STREETS = (
    r"street|st|avenue|ave|road|rd|lane|ln|drive|dr|court|ct|boulevard|blvd|way|place|pl|terrace"
    r"|square|sq|close|circle|cir"
    r"|parkway|pkwy|highway|hwy|trail|row|crescent|grove|gardens?|mews|alley|plaza|loop|run|ridge"
    r"|heights|hill|walk|path|quay"
    r"|crossing|point|view|park|springs?|island|meadows?|valley|station|creek|common|corner"
)


def plain(value: str) -> str:
    """Normalize a value for comparison: fullwidth signs narrowed, odd dashes unified, blanks trimmed."""
    return re.sub(r"[‐‑–—−ー](?=[0-9])", "-", unicodedata.normalize("NFKC", value)).strip()


def _matches(pattern: str, flags: int = 0) -> Callable[[str], bool]:
    compiled = re.compile(pattern, flags)
    return lambda value: compiled.fullmatch(value) is not None


def _digits(value: str) -> str:
    return re.sub(r"[- ]", "", value)


def is_address(value: str) -> bool:
    """Whether a value is a postal address down to the house.

    >>> is_address("東京都新宿区西新宿2-8-1"), is_address("221B Baker Street, London"), is_address("東京都新宿区")
    (True, True, False)
    """
    if re.search(r"[都道府県市区町村郡].*?", value) and re.search(_HOUSE_NUMBER, value):
        place = re.search(r".[市区町村郡]|[都道府県]", value)
        return place is not None and re.search(_HOUSE_NUMBER, value[place.end() :]) is not None
    if re.search(rf"^[一-龯々ヶケがの]{{1,8}}[{_DIGITS}]+(丁目|番地|-[0-9]+)", value):
        return True
    if re.search(r"^[0-9]+[A-Za-z]?(-[0-9]+)?,? .*", value):
        tail = re.search(rf"\b({_STREETS})\b\.?", value, re.IGNORECASE)
        comma = re.search(r"^[0-9]+[A-Za-z]? [A-Z][\w'. -]+,? .*,", value)
        return tail is not None or comma is not None
    return (
        re.search(
            r"\bP\.?O\.? ?Box [0-9]+|\b[A-Z]{3} [A-Z]+.*, A[AEP] [0-9]{5}|\b(apt|suite|unit|flat)\.? [0-9]+\w*",
            value,
            re.IGNORECASE,
        )
        is not None
    )


# Each kind of value with its test; the more exact ones first.
TESTS: dict[str, Callable[[str], bool]] = {
    "email": _matches(EMAIL),
    "ip-address": lambda value: _is_ip(value),
    "url": _matches(URL, re.IGNORECASE),
    "mac-address": _matches(r"([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}"),
    "user-name": _matches(r"@[\w.]{2,30}"),
    "card": lambda value: re.fullmatch(r"[0-9 -]{13,23}", value) is not None and is_card(_digits(value)),
    "my-number": lambda value: re.fullmatch(r"[0-9 -]{12,14}", value) is not None and is_my_number(_digits(value)),
    "licence": lambda value: is_japanese_licence(value),
    "account": lambda value: is_iban(value.replace(" ", "").upper()),
    "phone": _matches(PHONE),
    "insurance": _matches(r"[0-9]{3}-[0-9]{2}-[0-9]{4}|[A-Z]{2} ?([0-9]{2} ?){3}[A-D]|[0-9]{4}-[0-9]{6}(-[0-9])?"),
    "plate": _matches(r"[一-龯]{1,4} ?[0-9A-Z]{2,3} ?[ぁ-ん] ?[0-9・-]{1,5}"),
    "passport": _matches(r"[A-Z]{2}[0-9]{7}|[A-Z]{2}[0-9]{8}[A-Z]{2}"),
    "coordinates": _matches(r"\(?-?[0-9]{1,3}\.[0-9]{3,},\s*-?[0-9]{1,3}\.[0-9]{3,}\)?"),
    "postal-code": _matches(
        r"〒? ?[0-9]{3}-[0-9]{4}|[0-9]{5}-[0-9]{4}|[A-Z]{1,2}[0-9][0-9A-Z]? ?[0-9][A-Z]{2}"
        r"|[A-Z][0-9][A-Z] [0-9][A-Z][0-9]"
    ),
    "date": lambda value: is_date(value),
    "address": is_address,
}
# One number in ten or eleven passes by chance, so nearly all have to.
LEAST_SHARE = {"card": 0.9, "my-number": 0.9, "licence": 0.9, "account": 0.9}

_YEAR, _MONTH, _DAY, _REST = r"(18|19|20)[0-9]{2}", r"(0?[1-9]|1[0-2])", r"(0?[1-9]|[12][0-9]|3[01])", r"([T ].*)?"
_ERA = r"(明治|大正|昭和|平成|令和|[MTSHR])\.? ?([0-9]{1,2}|元)"
_MONTHS = r"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_DATES = tuple(
    _matches(pattern, re.IGNORECASE)
    for pattern in (
        *(rf"{_YEAR}{mark}{_MONTH}{mark}{_DAY}{_REST}" for mark in ("-", "/", r"\.")),
        *(rf"{_DAY}{mark}{_DAY}{mark}({_YEAR}|[0-9]{{2}}){_REST}" for mark in ("-", "/", r"\.")),
        rf"{_YEAR}[-/]{_MONTH}",
        r"([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?( ?[ap]\.?m\.?)?",
        rf"{_YEAR}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])",
        rf"({_YEAR}|{_ERA}) ?年( ?[0-9]{{1,2}} ?月( ?[0-9]{{1,2}} ?日)?)?{_REST}",
        rf"{_ERA}[./-]{_MONTH}[./-]{_DAY}{_REST}",
        rf"((Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?([0-9]{{1,2}}(st|nd|rd|th)?[ -])?{_MONTHS}[ -]"
        rf"([0-9]{{1,2}}(st|nd|rd|th)?,? ?)?('?[0-9]{{2}}|[0-9]{{4}})?{_REST}",
    )
)


def is_date(value: str) -> bool:
    """Whether a value is a day, a month, a moment or a time of day, Japanese eras included.

    >>> is_date("昭和60年4月1日"), is_date("3 May 1985"), is_date("13:24:00"), is_date("1985-13-01")
    (True, True, True, False)
    """
    return any(test(value) for test in _DATES)


def _is_ip(value: str) -> bool:
    if re.fullmatch(rf"({OCTET}\.){{3}}{OCTET}(:[0-9]+|/[0-9]+)?", value):
        return True
    return (
        re.fullmatch(r"[0-9A-Fa-f:]{3,39}", value) is not None
        and value.count(":") >= 2
        and ("::" in value or value.count(":") == 7)
    )
