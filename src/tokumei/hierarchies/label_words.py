"""The words that labels say ranges with, in English and in Japanese, and the units that measure the same."""

from __future__ import annotations

from fractions import Fraction

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
