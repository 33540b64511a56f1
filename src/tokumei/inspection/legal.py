"""Legal checks of a release: what they look at, and those of the European Union and the United States.

They look at the released columns as they are recognized and at the numbers that were measured. European Union: the
three criteria of the Article 29 Working Party's Opinion 05/2014 (WP216). United States: the Safe Harbor method of the
HIPAA Privacy Rule, 45 CFR 164.514(b)(2).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from tokumei.attacks.registry import (
    DECIDING,
    HISTORY_ATTACKS,
    JUDGE,
    MARGIN,
    MET,
    NOT_MEASURED,
    NOT_MET,
    SINGLED_OUT,
    SinglingOut,
    attack_title,
    chance_of,
    judge_scores,
    singling_out_of,
    was_tried,
)
from tokumei.inspection.column_facts import ColumnFacts, column_facts
from tokumei.inspection.kinds import header_words
from tokumei.inspection.patterns import plain
from tokumei.inspection.roles import Suggestion, suggest_role

# Columns that these words name hold the body of a person, which no text tells.
_BODY = {
    "biometric": r"\b(fingerprints?|voice ?prints?|iris|retina|biometrics?|gait|dna|genome)\b|指紋"
    r"|虹彩|声紋|静脈|歩容|ゲノム",
    "photo": r"\b(photos?|photographs?|face|images?|pictures?|selfie)\b|写真|顔|画像",
}


@dataclass(frozen=True)
class Finding:
    """One item of a law: what it asks, where that is written, what was found, and by what evidence.

    said: the evidence as a sentence, with a {name} for each of `values`, so that it can be said in other languages.
    who: the recipient that it is about, where it differs from one to another.
    """

    article: str
    asks: str
    finding: str
    said: str
    values: Mapping[str, Any] = field(default_factory=dict)
    who: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the finding for JSON."""
        return {
            "article": self.article,
            "item": self.asks if self.who is None else f"{self.asks} ({self.who})",
            "finding": self.finding,
            "evidence": self.said.format(**self.values),
            "asks": self.asks,
            "who": self.who,
            "said": self.said,
            "values": dict(self.values),
        }


@dataclass(frozen=True)
class LegalCase:
    """A release to check; `attacks` and `bounds` as the dossier has them, `known` the quasi-identifiers."""

    released: pl.DataFrame
    known: Sequence[str]
    k: int
    attacks: Sequence[Mapping[str, Any]] = ()
    bounds: Sequence[Mapping[str, Any]] = ()
    # None where nobody said where the processing information lies.
    is_secret_apart: bool | None = None
    secrets: Sequence[str] = field(default_factory=tuple)
    # Columns of pseudonyms that were drawn at random, and so follow from nothing that anybody knows.
    pseudonyms: Sequence[str] = ()
    # Whether ranges of numbers are of a public grid or tight; None where there are none, or nobody said.
    ranges: str | None = None
    # What the method writes of the values of people, in a sentence; None where there is nothing to tell.
    gives_away: str | None = None
    # In which ages are counted.
    year: int = field(default_factory=lambda: dt.datetime.now(dt.UTC).year)

    @cached_property
    def facts(self) -> dict[str, ColumnFacts]:
        """The counts of each released column."""
        return {column.name: column_facts(column) for column in self.released.get_columns()}

    @cached_property
    def columns(self) -> dict[str, Suggestion]:
        """What each released column is recognized as."""
        return {name: suggest_role(facts) for name, facts in self.facts.items()}

    def of_kinds(self, *kinds: str) -> dict[str, str]:
        """Return the released columns of some kinds, with the reason; pseudonyms drawn at random are of none."""
        told = {name: one for name, one in self.columns.items() if name not in self.pseudonyms}
        return {name: one.reason for name, one in told.items() if one.kind in kinds}

    def of_body(self, what: str) -> list[str]:
        """Return the columns that are named after a part of the body, or hold bytes."""
        named = [name for name in self.columns if re.search(_BODY[what], header_words(name), re.IGNORECASE)]
        return [
            *named,
            *(name for name, kind in self.released.schema.items() if kind == pl.Binary and name not in named),
        ]

    def without(self, article: str, item: str, *kinds: str) -> Finding:
        """Item that is met where no released column is recognized as one of some kinds."""
        found = self.of_kinds(*kinds)
        if found:
            said = "; ".join(f"{name}: {why}" for name, why in found.items())
            return Finding(article, item, NOT_MET, "{found}", {"found": said})
        return Finding(
            article, item, MET, "none of the {n} released columns is recognized as such", {"n": self.released.width}
        )


WP216_ARTICLE = "WP216, 2.2.2"
WP216_NOTE = (
    "A criterion is met only by an attack that was run: where the upper end of its 95 % interval is at most {margin} "
    "above what chance finds. It is not met where the lower end lies above that, or somebody was found with certainty. "
    "In between it is yours to judge. A count of rows, such as k, decides nothing here."
)
TIGHT = "ranges of numbers are tight: both ends of each are values of people in the group"


def wp216(case: LegalCase) -> dict[str, Any]:
    """Judge singling out, linkability and inference by the attacks that were run, for each recipient."""
    linking = ("record-linkage", "distance-linkage", "linkability", *HISTORY_ATTACKS)
    inferring = ("homogeneity", "inference")
    items = [
        # What was measured comes before what is yours to judge.
        *_singling_out(case),
        *_written_values(case),
        *_by_attack(case, "linkability", linking),
        *_by_attack(case, "inference", inferring),
    ]
    return {
        "title": "European Union: the three criteria of WP216",
        "items": [one.as_dict() for one in items],
        "note": {"said": WP216_NOTE, "values": {"margin": f"{MARGIN:g}"}},
    }


def _singling_out(case: LegalCase) -> list[Finding]:
    """Not met if a row is alone, else what attacks on the labels found."""
    item, known = "singling out", ", ".join(case.known)
    if case.k < 2:
        return [Finding(WP216_ARTICLE, item, NOT_MET, "rows are alone by {known}", {"known": known})]
    return [_singled_out(one, known, case.k) for one in singling_out_of(case.attacks)]


def _written_values(case: LegalCase) -> list[Finding]:
    """Warn of values of people in the group that are written, whatever an attack makes of them."""
    said = [*([TIGHT] if case.ranges == "tight" else []), *([case.gives_away] if case.gives_away else [])]
    return [Finding(WP216_ARTICLE, "singling out", JUDGE, one) for one in said]


def _singled_out(found: SinglingOut, known: str, k: int) -> Finding:
    """Compare how often the ends of ranges fit one person with how often any value of the same ranges does."""
    if found.attack is None or found.found is None:
        said = "not measured: {why}; counted: every row shares {known} with {n} other rows or more"
        return Finding(
            WP216_ARTICLE, "singling out", NOT_MEASURED, said, {"why": found.why, "known": known, "n": k - 1}
        )
    values = {"attack": found.attack["attack"], "found": f"{found.found:.3g}"}
    if found.low is None or found.high is None or found.blind is None:
        values["found"] = _with_interval(SINGLED_OUT, found.attack["scores"][SINGLED_OUT])
        return Finding(WP216_ARTICLE, "singling out", found.finding, "{attack}: {found}", values)
    values |= {"low": f"{found.low:.3g}", "high": f"{found.high:.3g}", "blind": f"{found.blind:.3g}"}
    said = "{attack}: the end of a range fits one person in {found} ({low} to {high}), any value of it in {blind}"
    return Finding(WP216_ARTICLE, "singling out", found.finding, said, values)


def _by_attack(case: LegalCase, criterion: str, attacks: Sequence[str]) -> list[Finding]:
    tried = [one for one in case.attacks if one["attack"] in attacks]
    if not tried:
        said = "the attack {attack} was not tried"
        return [Finding(WP216_ARTICLE, criterion, NOT_MEASURED, said, {"attack": attacks[0]})]
    return [_judged(one, criterion) for one in tried]


def _judged(attack: Mapping[str, Any], criterion: str) -> Finding:
    """Judge one attack on people who are known, and list each of its figures."""
    told = ", ".join(f"{kind} {_with_interval(kind, score)}" for kind, score in attack["scores"].items())
    found = f"{attack_title(attack['attack'], attack.get('sensitive'))}: {told or '–'}"
    finding = judge_scores(attack["scores"])
    return Finding(WP216_ARTICLE, criterion, finding, "{found}", {"found": found}, attack["threat"])


def _with_interval(name: str, score: Mapping[str, Any]) -> str:
    if not was_tried(score):
        return "–"
    low, high = score.get("interval") or (None, None)
    chance = chance_of(name, score) if name in DECIDING else None
    more = [] if low is None else [f"{low:.3g}–{high:.3g}"]
    more += [] if chance is None else [f"chance {chance:.3g}"]
    return f"{score['value']:.3g}" + (f" ({', '.join(more)})" if more else "")


HIPAA_ARTICLE = "45 CFR 164.514(b)(2)(i)"
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
        case.without(f"{HIPAA_ARTICLE}(A)", "names", "person-name", "user-name", "free-text"),
        _places(case),
        _dates(case),
        *(case.without(f"{HIPAA_ARTICLE}{letter}", what, *kinds) for letter, what, kinds in _BY_KIND),
        *(_of_body(case, letter, what, kind) for letter, what, kind in _BODIES),
        case.without(f"{HIPAA_ARTICLE}(R)", "any other unique number, characteristic or code", "code", "unique-text"),
        Finding(
            "45 CFR 164.514(b)(2)(ii)", "no actual knowledge that people can be identified", JUDGE, "only you can know"
        ),
    ]
    title = "United States: HIPAA Safe Harbor"
    return {"title": title, "items": [one.as_dict() for one in items], "drafts": [OUTLINE]}


def _of_body(case: LegalCase, letter: str, what: str, kind: str) -> Finding:
    found = case.of_body(kind)
    if found:
        return Finding(f"{HIPAA_ARTICLE}{letter}", what, NOT_MET, "{found}", {"found": ", ".join(found)})
    return Finding(f"{HIPAA_ARTICLE}{letter}", what, MET, "no column is named so or holds bytes")


def _values(case: LegalCase, name: str) -> list[str]:
    return [plain(value) for value in case.released[name].cast(pl.String).drop_nulls().unique().to_list()]


def _places(case: LegalCase) -> Finding:
    """Look for places smaller than a state; of postal codes three digits may stay where more than 20,000 live."""
    article, item = f"{HIPAA_ARTICLE}(B)", "places smaller than a state"
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
    article, item = f"{HIPAA_ARTICLE}(C)", "dates but for the year, and ages over 89"
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
