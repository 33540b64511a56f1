"""United States: the Safe Harbor method of the HIPAA Privacy Rule, 45 CFR 164.514(b)(2)."""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from tokumei.attacks.verdict import JUDGE, MET, NOT_MET
from tokumei.inspection.legal_case import Finding, LegalCase
from tokumei.inspection.patterns import plain

ARTICLE = "45 CFR 164.514(b)(2)(i)"
# Initial digits whose areas hold 20,000 people or fewer, by the census of 2000: the list of the department's guidance
# on de-identification (2012), which asks to follow newer counts of the census where there are any.
SMALL_ZIP3 = frozenset("036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893".split())  # noqa: SIM905
OLDEST = 89
OUTLINE = (
    "Expert Determination (45 CFR 164.514(b)(1)), outline: the expert and their experience; the "
    "recipient and what they may know; "
    "the data and each column's replicability, availability and distinguishability; the methods and "
    "the measured risk; why it is "
    "very small; until when the determination holds."
)
# Each of the eighteen with the kinds of columns that hold it.
_BY_KIND = (
    ("(D)", "telephone numbers", ("phone",)),
    ("(E)", "fax numbers", ("phone",)),
    ("(F)", "electronic mail addresses", ("email", "mixed")),
    ("(G)", "social security numbers", ("insurance", "my-number")),
    ("(H)", "medical record numbers", ("code",)),
    ("(I)", "health plan beneficiary numbers", ("insurance",)),
    ("(J)", "account numbers", ("account", "card")),
    ("(K)", "certificate and license numbers", ("licence", "passport")),
    ("(L)", "vehicle identifiers and license plates", ("plate",)),
    ("(M)", "device identifiers and serial numbers", ("mac-address", "code")),
    ("(N)", "web addresses", ("url", "mixed")),
    ("(O)", "IP addresses", ("ip-address",)),
)
_BODIES = (("(P)", "biometric identifiers", "biometric"), ("(Q)", "full-face photographs", "photo"))


def safe_harbor(case: LegalCase) -> dict[str, Any]:
    """Check the eighteen identifiers, and say what nobody but you can know."""
    items = [
        case.without(f"{ARTICLE}(A)", "names", "person-name", "user-name", "free-text"),
        _places(case),
        _dates(case),
        *(case.without(f"{ARTICLE}{letter}", what, *kinds) for letter, what, kinds in _BY_KIND),
        *(_of_body(case, letter, what, kind) for letter, what, kind in _BODIES),
        case.without(f"{ARTICLE}(R)", "any other unique number, characteristic or code", "code", "unique-text"),
        Finding(
            "45 CFR 164.514(b)(2)(ii)", "no actual knowledge that people can be identified", JUDGE, "only you can know"
        ),
    ]
    title = "United States: HIPAA Safe Harbor"
    return {"title": title, "items": [one.as_dict() for one in items], "drafts": [OUTLINE]}


def _of_body(case: LegalCase, letter: str, what: str, kind: str) -> Finding:
    found = case.of_body(kind)
    if found:
        return Finding(f"{ARTICLE}{letter}", what, NOT_MET, "{found}", {"found": ", ".join(found)})
    return Finding(f"{ARTICLE}{letter}", what, MET, "no column is named so or holds bytes")


def _values(case: LegalCase, name: str) -> list[str]:
    return [plain(value) for value in case.released[name].cast(pl.String).drop_nulls().unique().to_list()]


def _places(case: LegalCase) -> Finding:
    """Look for places smaller than a state; of postal codes three digits may stay where more than 20,000 live."""
    article, item = f"{ARTICLE}(B)", "places smaller than a state"
    smaller = case.of_kinds("address", "region", "coordinates")
    if smaller:
        found = "; ".join(f"{name}: {why}" for name, why in smaller.items())
        return Finding(article, item, NOT_MET, "{found}", {"found": found})
    for name in case.of_kinds("postal-code"):
        digits = {re.sub(r"[^0-9]", "", value) for value in _values(case, name)}
        if any(len(one) > 3 for one in digits):
            said = "{column} has more than the first three digits of a postal code"
            return Finding(article, item, NOT_MET, said, {"column": name})
        small = sorted(digits & SMALL_ZIP3)
        if small:
            said = "{column} has areas of 20,000 people or fewer: {areas}"
            return Finding(article, item, NOT_MET, said, {"column": name, "areas": ", ".join(small)})
    return Finding(article, item, MET, "no place below a state but areas of more than 20,000 people")


def _dates(case: LegalCase) -> Finding:
    """Look for dates that tell more than the year, and for ages over 89."""
    article, item = f"{ARTICLE}(C)", "dates but for the year, and ages over 89"
    for name in case.of_kinds("date", "birth-date"):
        fine = [value for value in _values(case, name) if not re.fullmatch(r"\*|[0-9]{3,4}(s|-[0-9]{4})?", value)]
        if fine:
            said = "{column} tells more than the year, as in {value}"
            return Finding(article, item, NOT_MET, said, {"column": name, "value": min(fine)})
    oldest = case.year - OLDEST - 1
    for name in case.of_kinds("birth-date"):
        # A year of birth tells an age, too; whoever is older may only be called so old or older.
        years = [int(value) for value in _values(case, name) if re.fullmatch(r"[0-9]{4}", value)]
        if min(years, default=case.year) <= oldest:
            said = "{column} tells years of birth of people over 89, as {year}"
            return Finding(article, item, NOT_MET, said, {"column": name, "year": str(min(years))})
    for name in case.of_kinds("age"):
        ages = [int(found) for value in _values(case, name) for found in re.findall(r"[0-9]+", value)[-1:]]
        is_open = any(re.search(r"(\+|以上|over|>|≥)", value) for value in _values(case, name))
        over = max(ages, default=0)
        if over > OLDEST + (1 if is_open else 0):
            return Finding(article, item, NOT_MET, "{column} tells an age of {age}", {"column": name, "age": over})
    return Finding(article, item, MET, "no date finer than a year, no age over 89")
