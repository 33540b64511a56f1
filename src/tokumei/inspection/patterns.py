"""Values that can be told by how they are written: addresses, numbers and codes, in Japanese and in English.

Some numbers have last digits that follow from the others: by them they are told from digits at random.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable


def is_card(digits: str) -> bool:
    """Whether the Luhn sum of 13 to 19 digits is a multiple of ten, and the first is one that cards have.

    >>> is_card("4111111111111111"), is_card("4111111111111112")
    (True, False)
    """
    if not (digits.isdecimal() and 13 <= len(digits) <= 19 and digits[0] in "23456"):
        return False
    doubled = [int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(digits))]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def is_my_number(digits: str) -> bool:
    """Whether the twelfth digit of an individual number is right (2014 ordinance 85 of the ministry, article 5).

    >>> is_my_number("123456789018"), is_my_number("123456789012")
    (True, False)
    """
    if not (digits.isdecimal() and len(digits) == 12):
        return False
    # From the right, without the check digit: weights 2 to 7, then 2 to 6.
    weights = (2, 3, 4, 5, 6, 7, 2, 3, 4, 5, 6)
    rest = sum(int(digit) * weight for digit, weight in zip(reversed(digits[:11]), weights, strict=True)) % 11
    return int(digits[11]) == (0 if rest <= 1 else 11 - rest)


def is_japanese_licence(digits: str) -> bool:
    """Whether the eleventh of the twelve digits of a Japanese driver's license is right.

    >>> is_japanese_licence("305012345600")
    False
    """
    if not (digits.isdecimal() and len(digits) == 12):
        return False
    weights = (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)
    rest = sum(int(digit) * weight for digit, weight in zip(digits[:10], weights, strict=True)) % 11
    return int(digits[10]) == (0 if rest <= 1 else 11 - rest)


def is_iban(text: str) -> bool:
    """Whether an international bank account number leaves 1 when divided by 97 (ISO 7064).

    >>> is_iban("GB82WEST12345698765432"), is_iban("GB82WEST12345698765433")
    (True, False)
    """
    if not (15 <= len(text) <= 34 and text.isascii() and text.isalnum() and text[:2].isalpha()):
        return False
    moved = text[4:] + text[:4]
    return text[2:4].isdecimal() and int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


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
