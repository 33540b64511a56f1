"""Labels in the order of what they say: the numbers, ranges, amounts and dates that people write into text.

| labels | read as |
|---|---|
| `under 5`, `5 to 9`, `65+`, `10歳代`, `≥ 90` | ranges of numbers |
| `15-24K`, `100–124K`, `<=50K`, `1,000円以上` | the same, all in one unit |
| `6 months`, `1 year` | the same, in units of one measure |
| `2010-12-31`, `2010年5月`, `Q3 2010`, `Mar 2010`, `平成22年` | dates, however exact |
| `unknown`, `不詳`; one or two words among many numbers | no answer: kept apart from those in order |

Labels are in order only if all of them can be read, in one unit, and none covers part of another: `150-1043` is a
postal code and no range. Everything else has no order that anybody could tell.
"""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tokumei.hierarchies.leaves import read_each
from tokumei.hierarchies.written_dates import read_date_label

NO_ANSWER = {
    *("unknown", "not known", "n/a", "na", "none", "nan", "null", "other", "others", "missing", "refused", "-", "?"),
    *("not stated", "not specified", "unspecified", "not applicable", "no answer", "don't know", "do not know"),
    *("不詳", "不明", "無回答", "未回答", "その他", "非該当", "該当なし", "なし", "わからない"),
}
FACTORS = {
    name: factor
    for factor, names in (
        (10**3, ("k", "thousand", "千")),
        (10**4, ("万",)),
        (10**6, ("m", "million", "百万")),
        (10**8, ("億",)),
        (10**9, ("b", "billion")),
        (10**12, ("兆",)),
    )
    for name in names
}
# What stands before or after a number and says to which side the range is open; the longer before the shorter.
BELOW_BEFORE = (
    *("<=", "=<", "≤", "<", "less than", "fewer than", "younger than", "under", "below", "up to", "at most", "~"),
)
ABOVE_BEFORE = (">=", "=>", "≥", ">", "more than", "older than", "over", "above", "at least", "from")
BELOW_AFTER = (
    *("or less", "or fewer", "or under", "and under", "or younger", "and younger", "以下", "未満", "まで", "以前"),
)
ABOVE_AFTER = (
    *("or more", "or over", "and over", "or above", "and above", "or older", "and older", "and up", "and more"),
    *("plus", "+", "以上", "超", "以降", "~", "-"),
)
BETWEEN = ("up to", "以上", "から", "to", "and", "..", "-", "~", ";", ",")
IGNORED = ("between", "from", "[", "(", "]", ")", "未満", "以下", "まで")
ORDINALS = ("st", "nd", "rd", "th")

# The units of one measure, each with how many of its smallest it is: minutes, milligrams, millimeters.
UNITS: dict[str, tuple[str, Fraction]] = {
    name: (measure, Fraction(size))
    for measure, size, names in (
        ("time", 1, ("minute", "min", "分")),
        ("time", 60, ("hour", "hr", "時間")),
        ("time", 1_440, ("day", "日")),
        ("time", 10_080, ("week", "週", "週間")),
        ("time", 43_830, ("month", "か月", "ヶ月", "カ月")),
        ("time", 525_960, ("year", "yr", "年", "年間")),
        ("weight", 1, ("mg",)),
        ("weight", 10**3, ("g",)),
        ("weight", 10**6, ("kg",)),
        ("length", 1, ("mm",)),
        ("length", 10, ("cm",)),
        ("length", 10**3, ("m",)),
        ("length", 10**6, ("km",)),
    )
    for name in names
}


Bound = Fraction | float

# Longer numbers are identifiers.
NUMBER = r"(?P<sign>[+-]?)(?P<digits>[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]{1,15}(?:\.[0-9]+)?)"
# A lower m is a meter, and no million.
TIMES = r"(?:(?P<times>[KMBk]|[Tt]housand|[Mm]illion|[Bb]illion|百万|千|万|億|兆)(?![A-Za-z]))?"
MOST_WORDS = 2
AMOUNT = re.compile(rf"{NUMBER}\s*{TIMES}")


@dataclass(frozen=True)
class OrderedLabels:
    """Labels from the smallest to the largest, those that are no answer apart, and what was read out of them."""

    labels: list[str]
    apart: list[str]
    read_as: str


@dataclass(frozen=True)
class _Range:
    low: Bound
    high: Bound
    unit: str
    is_point: bool


def order_labels(texts: Sequence[str]) -> OrderedLabels | None:
    """Return labels in the order of what they say; None where they have none."""
    plain = {text: _plain(text) for text in texts}
    apart = [text for text in texts if plain[text].casefold() in NO_ANSWER]
    # One or two labels without any number, as "no income" among amounts, are kept apart, too.
    answers = _without_all(texts, apart)
    words = [text for text in answers if _is_word(plain[text])]
    apart += words if len(words) <= min(MOST_WORDS, len(texts) // 4) else []
    rest = _without_all(answers, apart)
    # One label alone is in no order, and two words with numbers in them by chance are not, either.
    if len(rest) < 2:
        return None
    dates = read_each(read_date_label, (plain[text] for text in rest))
    if dates is not None:
        return OrderedLabels([text for _, text in sorted(zip(dates, rest, strict=True))], apart, "dates")
    read = read_each(_read_range, (plain[text] for text in rest))
    if read is None:
        return None
    same = _in_one_unit(read)
    if same is None or _overlap(same):
        return None
    labels = [text for _, _, text in sorted(zip((r.low for r in same), (r.high for r in same), rest, strict=True))]
    return OrderedLabels(labels, apart, "numbers" if all(one.is_point for one in same) else "ranges of numbers")


def _without_all(texts: Sequence[str], others: Sequence[str]) -> list[str]:
    unwanted = set(others)
    return [text for text in texts if text not in unwanted]


def _is_word(text: str) -> bool:
    return not re.search("[0-9]", text) and read_date_label(text) is None


def _plain(text: str) -> str:
    """Write a label in one way: full-width digits, dashes and waves as those of a keyboard."""
    if text.isascii():
        return text.strip()
    text = unicodedata.normalize("NFKC", text).strip()
    return re.sub("[\u301c\u223c\u2053]", "~", re.sub("[\u2010-\u2015\u2212]", "-", text))


def _read_range(text: str) -> _Range | None:
    """Read a label as a range of numbers with its unit; None for any other."""
    amounts = list(_amounts(text))
    if not 1 <= len(amounts) <= 2 or any(_is_code(found["digits"]) for found in amounts):
        return None
    before, after = text[: amounts[0].start()], text[amounts[-1].end() :]
    if len(amounts) == 2:
        between = text[amounts[0].end() : amounts[1].start()]
        return _of_two(amounts[0], amounts[1], before, between, after)
    return _of_one(amounts[0], before, after)


def _amounts(text: str) -> list[re.Match[str]]:
    """Find the numbers of a label; a hyphen after a digit or a letter joins, and is no sign."""
    found: list[re.Match[str]] = []
    start = 0
    while (one := AMOUNT.search(text, start)) is not None:
        is_joined = bool(one["sign"]) and one.start() > 0 and text[one.start() - 1] not in " (["
        joined = AMOUNT.match(text, one.start("digits")) if is_joined or (one["sign"] and found) else None
        found.append(joined or one)
        start = one.end()
    return found


def _of_one(found: re.Match[str], before: str, after: str) -> _Range | None:
    number = _value(found)
    start, below = _without(before, BELOW_BEFORE)
    start, above = (start, False) if below else _without(start, ABOVE_BEFORE)
    end, is_below = _without(after, BELOW_AFTER)
    end, is_above = (end, False) if is_below else _without(end, ABOVE_AFTER)
    low: Bound = -math.inf if below or is_below else number
    high: Bound = math.inf if above or is_above else number
    unit = _unit(start, end)
    if unit.endswith("代") and low == high:
        # 10歳代 are those from ten to nineteen.
        return _Range(number, number + 9, unit.removesuffix("代"), is_point=False)
    return _Range(low, high, unit, is_point=low == high)


def _of_two(one: re.Match[str], two: re.Match[str], before: str, between: str, after: str) -> _Range | None:
    joint, is_joined = _without(between, BETWEEN)
    if not is_joined:
        return None
    low, high = _value(one), _value(two)
    if one["times"] is None and two["times"] is not None:
        # 15-24K is from 15K; 500-1K is from 500.
        scaled = low * FACTORS[two["times"].lower()]
        low = scaled if scaled <= high else low
    start, end = _ignoring(before), _ignoring(after)
    units = {unit for unit in (_unit(start, joint), _unit(start, end)) if unit != _unit(start, "")} or {
        _unit(start, "")
    }
    if low > high or len(units) > 1:
        return None
    return _Range(low, high, units.pop(), is_point=False)


def _value(found: re.Match[str]) -> Fraction:
    number = Fraction(found["sign"] + found["digits"].replace(",", ""))
    times = found["times"]
    return number * (FACTORS[times.lower()] if times else 1)


def _is_code(digits: str) -> bool:
    return len(digits) > 1 and digits[0] == "0" and digits[1] != "."


def _without(text: str, words: Sequence[str]) -> tuple[str, bool]:
    """Take one of some words off the end or the start of a text, and say whether there was one."""
    bare = text.strip()
    for word in words:
        if bare.casefold().endswith(word):
            return bare[: len(bare) - len(word)].strip(), True
        if bare.casefold().startswith(word):
            return bare[len(word) :].strip(), True
    return bare, False


def _ignoring(text: str) -> str:
    bare = text.strip()
    for word in IGNORED:
        bare = bare.removeprefix(word).removesuffix(word).strip()
    return bare


def _unit(before: str, after: str) -> str:
    """Return the unit that stands around a number, in one writing: years as year, and ages as they are counted."""
    unit = after.strip().casefold().removesuffix(".")
    unit = ORDINALS[-1] if unit in ORDINALS else unit
    return f"{before.strip().casefold()}|{unit[:-1] if len(unit) > 2 and unit.endswith('s') else unit}"


def _in_one_unit(ranges: Sequence[_Range]) -> list[_Range] | None:
    """Return ranges in one unit; None if they are of several measures. A label without a unit takes that of others."""
    units = {one.unit for one in ranges if one.unit != "|"}
    if len(units) <= 1:
        return list(ranges)
    known = [UNITS.get(one.unit.removeprefix("|")) for one in ranges]
    if any(one is None for one in known) or len({one[0] for one in known if one is not None}) > 1:
        return None
    sizes = [Fraction(1) if one is None else one[1] for one in known]
    return [
        _Range(_scaled(one.low, size), _scaled(one.high, size), "", one.is_point)
        for one, size in zip(ranges, sizes, strict=True)
    ]


def _scaled(bound: Bound, size: Fraction) -> Bound:
    return bound * size if isinstance(bound, Fraction) else bound


def _overlap(ranges: Sequence[_Range]) -> bool:
    """Whether a range covers part of another; that they touch, as 0-5 and 5-10, or are the same, is no fault."""
    ordered = sorted({(one.low, one.high) for one in ranges})
    return any(before[1] > after[0] for before, after in itertools.pairwise(ordered))
