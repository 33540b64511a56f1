"""The role that is suggested for a column, and the hierarchy for a quasi-identifier, each with its reason.

A role follows from the header and the values; a hierarchy is named by its builder.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from tokumei.core.text import Text
from tokumei.hierarchies.written_dates import date_reader
from tokumei.inspection.column_facts import ColumnFacts
from tokumei.inspection.content import FEWEST_ROWS, NEARLY_ALL, Seen, content_kind
from tokumei.inspection.kinds import IDENTIFIER, KINDS, OTHER, QUASI, Kind, Role, header_kinds, header_words
from tokumei.inspection.person_names import BY_SURNAME, are_shaped_as_names, holds_known_name

# A column that is said to identify people and has so few values for so many rows does not.
FEW_VALUES, FEW_SHARE = 20, 0.1
# Ages, heights and years lie below these.
LARGEST_AMOUNT, YEARS = 300, (1800, 2100)
# A header such as `black` names a group where a column has so few values; missing ones may be filled in with shares.
MOST_GROUPS, MOST_SHARES = 3, 10
# Weights in grams lie below this, weights of a survey's rows seldom; numbers that lead to a person have seven digits.
LARGEST_BODY, LEAST_OF_PEOPLE = 9_999, 1_000_000
# So many rows with a value of their own are no accident.
FEWEST_ALONE, LARGE_SHARE = 5, 0.4
# So small a share of cells with an address or a number inside may be an accident; above, the column holds them.
LEAST_EMBEDDED = 0.005
# Columns of places repeat; of fewer rows that share a value, surnames say more than the header.
MOST_PLACES = 0.5


@dataclass(frozen=True)
class Suggestion:
    """A role, the kind of column that it follows from, and why."""

    role: Role
    kind: str
    reason: Text


def suggest_role(facts: ColumnFacts) -> Suggestion:
    """Suggest the role of a column: values that identify people outweigh any header, a header outweighs the rest."""
    said = _said(facts)
    seen = content_kind(facts)
    if not facts.n_present:
        return (
            _of(said, Text("its header says so; it has no values"))
            if said
            else Suggestion(OTHER, "empty", Text("no values"))
        )
    if seen is not None and seen.is_sure and seen.kind.role == IDENTIFIER and not _is_explained(said, seen, facts):
        # A header says more of an identifier than that its values differ.
        is_general = said is not None and said.role == IDENTIFIER and seen.kind.name in ("unique-text", "code")
        kind = said if is_general and said is not None else seen.kind
        return _of(kind, _and_header(seen.reason, said, kind))
    if facts.n_embedded >= max(1, LEAST_EMBEDDED * min(facts.n_distinct, 200_000)):
        form = "{n:,} of its different values hold an e-mail address, a telephone number or a link"
        return _of(KINDS["mixed"], Text(form, n=facts.n_embedded))
    if said is not None and said.role == IDENTIFIER:
        return _said_to_identify(facts, said, seen)
    if said is not None and _numbers_households(facts):
        reason = Text("its header says {kind}, and its numbers are too large to count people", kind=Text(said.words))
        return _of(KINDS["code"], reason)
    if said is not None and _fits(said, seen, facts):
        if seen and seen.kind is said:
            return _of(said, Text("its header says so, and {reason}", reason=seen.reason))
        return _of(said, Text("its header says so"))
    if seen is not None:
        return _of(seen.kind, _and_header(seen.reason, said, seen.kind))
    if facts.type == "whole number" and facts.share_distinct == 1 and facts.n_present >= FEWEST_ROWS:
        return Suggestion(
            OTHER, "number", Text("every row has a number of its own: an identifier, unless it is a measurement")
        )
    if facts.type in ("number", "whole number"):
        return Suggestion(
            OTHER, "number", Text("{n:,} different numbers, which look like measurements", n=facts.n_distinct)
        )
    if facts.n_distinct == 1:
        return Suggestion(OTHER, "category", Text("every row has the same value"))
    return _of_category(facts)


def _said(facts: ColumnFacts) -> Kind | None:
    """Return the first kind that the header says and the numbers of the column allow."""
    is_share = facts.least is not None and facts.greatest is not None and facts.least >= 0 and facts.greatest <= 1
    kinds = header_kinds(facts.name, is_group=facts.n_distinct <= (MOST_SHARES if is_share else MOST_GROUPS))
    possible = [kind for kind in kinds if _may_be(kind, facts)]
    if len(possible) > 1 and possible[0].name == "date" and facts.greatest is not None and facts.greatest <= 31:
        # Cigarettes a day are no days.
        return possible[1]
    return next(iter(possible), None)


def _numbers_households(facts: ColumnFacts) -> bool:
    """Whether a column such as `family` has numbers of families, which are larger than families are."""
    is_one = re.fullmatch(r"hh|house ?hold|family|fam|mother|mom|father|dad", header_words(facts.name)) is not None
    return is_one and facts.is_whole and (facts.greatest or 0) > LARGEST_AMOUNT


def _may_be(kind: Kind, facts: ColumnFacts) -> bool:
    """Whether numbers can be what a header says: 0 and 1 are no days, a fraction is no telephone number."""
    least, greatest, words = facts.least, facts.greatest, header_words(facts.name)
    if kind.name == "person-name" and words in ("first", "last"):
        return facts.type == "text"
    if least is None or greatest is None:
        return kind.name != "duration"
    is_flag = least >= 0 and greatest <= 1
    if kind.name == "date":
        return facts.is_whole and _may_be_dates(least, greatest, words)
    if kind.name == "birth-date":
        return facts.is_whole or re.search(r"\b(year|yr)\b", words) is not None
    if kind.name == "coordinates":
        return least >= -180 and greatest <= 180 and not (is_flag and facts.is_whole)
    if kind.name == "body":
        return not is_flag and greatest <= LARGEST_BODY
    # That fractions are no numbers of anybody is said later, with the header.
    return kind.name not in ("phone", "card", "my-number") or not facts.is_whole or greatest >= LEAST_OF_PEOPLE


def _may_be_dates(least: float, greatest: float, words: str) -> bool:
    """Whether whole numbers may be years, months, days, days without marks, or seconds since 1970."""
    if greatest <= 1:
        return False
    if re.search(r"\b(date|dt)\b", words):
        return True
    if re.search(r"\b(time|hour|minute)s?\b", words):
        return least >= 1e8
    # Years, years with their months, and days without marks.
    if any(YEARS[0] * unit <= least and greatest <= (YEARS[1] + 1) * unit for unit in (1, 100, 10_000)):
        return True
    if re.search(r"\bday\b", words):
        return least >= 0 and greatest <= 366
    # Years of two digits are such as 78; years of a study are counted from 1.
    is_of_years = re.search(r"(year|yr)\b", words) is not None
    return least >= 0 and (10 < greatest <= 99 if is_of_years else greatest <= 31)


def _of(kind: Kind, reason: Text) -> Suggestion:
    return Suggestion(kind.role, kind.name, Text("{kind}: {reason}", kind=Text(kind.words), reason=reason))


def _and_header(reason: Text, said: Kind | None, kind: Kind) -> Text:
    if said is None:
        return reason
    if said is kind:
        return Text("{reason}, as its header says", reason=reason)
    return Text("{reason}, though its header says {kind}", reason=reason, kind=Text(said.words))


def _is_explained(said: Kind | None, seen: Seen, facts: ColumnFacts) -> bool:
    """Whether a header explains why nearly every row has a text or number of its own."""
    if said is None or said.role == IDENTIFIER:
        return False
    if seen.kind.name == "unique-text":
        # Few rows may each have their own town; a sex that differs in every row is none.
        return not said.is_closed and said.name != "flag"
    if seen.kind.name == "code":
        return said.name in ("postal-code", "thing", "illness", "region") or _is_amount(said, facts)
    if said.name in ("region", "prefecture") and seen.reason.form == BY_SURNAME:
        return facts.share_distinct < MOST_PLACES
    return said.name == "thing" and seen.kind.name in ("person-name", "passport", "card", "licence")


def _is_amount(said: Kind, facts: ColumnFacts) -> bool:
    """Whether numbers are such as a header says, though every row has its own."""
    if facts.least is None or facts.greatest is None:
        return False
    if said.name in ("age", "body", "household"):
        return facts.greatest <= LARGEST_AMOUNT
    if said.name in ("date", "birth-date"):
        return facts.least >= YEARS[0] and facts.greatest <= YEARS[1]
    return said.name in ("income", "coordinates", "treatment", "duration")


def _said_to_identify(facts: ColumnFacts, said: Kind, seen: Seen | None) -> Suggestion:
    """Believe a header that names an identifier, unless the values cannot be one."""
    is_few = facts.n_distinct <= FEW_VALUES and facts.n_distinct < FEW_SHARE * facts.n_present
    if said.name == "code" and seen is not None and seen.kind.name == "postal-code":
        # Numbers of customers have as many digits each, too.
        return _of(said, Text("its header says so"))
    if seen is not None and seen.kind.role != IDENTIFIER and (seen.is_sure or is_few or seen.kind.name != "region"):
        if said.name == "address" and seen.kind.name == "region":
            return _of(seen.kind, Text("{reason}, with no house among them", reason=seen.reason))
        return _of(seen.kind, _and_header(seen.reason, said, seen.kind))
    if said.name == "person-name" and holds_known_name(facts.values):
        known = Text("there is a common name among its values")
        return _of(said, Text("its header says so, and {reason}", reason=known))
    if said.name == "person-name" and are_shaped_as_names(facts.values):
        shaped = Text("its values are two words as a surname and a given name are")
        return _of(said, Text("its header says so, and {reason}", reason=shaped))
    if is_few or (facts.n_distinct <= 2 and facts.n_present >= FEWEST_ROWS):
        reason = Text(
            "its header says {kind}, but it has only {n:,} values in {m:,} rows",
            kind=Text(said.words),
            n=facts.n_distinct,
            m=facts.n_present,
        )
        return Suggestion(QUASI, "category", reason)
    if facts.type == "number":
        reason = Text("its header says {kind}, but its values are measured numbers", kind=Text(said.words))
        return Suggestion(OTHER, "number", reason)
    return _of(said, Text("its header says so"))


def _fits(said: Kind, seen: Seen | None, facts: ColumnFacts) -> bool:
    """Whether the values agree with what a header says."""
    if said.is_closed and facts.type == "text" and (seen is None or seen.kind is not said):
        is_of_own = facts.n_present >= FEWEST_ROWS and facts.share_distinct >= NEARLY_ALL
        return not is_of_own and facts.n_distinct <= 200
    if said.role == OTHER and seen is not None and seen.kind.role != OTHER:
        # What people are outweighs a header that speaks of things; codes of things are codes.
        return seen.kind.name in ("code", "unique-text", "age", "region", "category")
    if said.name == "date" and facts.type == "text" and facts.n_distinct <= 2:
        # Overtime is worked, or it is not.
        return any(sign.isdigit() for value in facts.values for sign in value)
    return not (said.name in ("date", "household") and seen is not None and seen.kind.role == IDENTIFIER)


def _of_category(facts: ColumnFacts) -> Suggestion:
    if facts.n_unique >= max(FEWEST_ALONE, 0.05 * facts.n_present):
        reason = Text("{n:,} of {m:,} rows have a value that no other row has", n=facts.n_unique, m=facts.n_present)
        return Suggestion(QUASI, "category", reason)
    if facts.n_distinct > 50 or facts.share_distinct >= LARGE_SHARE:
        return Suggestion(
            QUASI, "category", Text("{n:,} different words, enough to know somebody by", n=facts.n_distinct)
        )
    return Suggestion(OTHER, "category", Text("{n:,} different values, none of a known kind", n=facts.n_distinct))


@dataclass(frozen=True)
class HierarchyChoice:
    """A builder with its options, and why; without a builder the value is told or not told."""

    builder: str | None
    reason: str
    options: dict[str, Any] = field(default_factory=dict)


def suggest_hierarchy(facts: ColumnFacts, suggestion: Suggestion) -> HierarchyChoice | None:
    """Suggest how a quasi-identifier is generalized; None for columns of other roles."""
    if suggestion.role != "quasi-identifier" or not facts.n_distinct:
        return None
    kind, values = suggestion.kind, facts.values
    if kind == "sex":
        return HierarchyChoice(None, "sex is told or not told")
    if kind == "prefecture" and all(value.endswith(("都", "道", "府", "県")) for value in values):
        return HierarchyChoice(
            "japan-prefecture", "prefectures lie in regions, these in east and west", {"names": "ja"}
        )
    if kind in ("birth-date", "date") and (facts.type == "date" or date_reader(values) is not None):
        return HierarchyChoice("calendar", "days become months, quarters and years")
    if facts.type in ("number", "whole number") and kind != "postal-code":
        if facts.n_distinct < 4:
            return HierarchyChoice(None, "few numbers: the value or nothing")
        return HierarchyChoice("intervals", "numbers become intervals, joined in pairs")
    if kind == "postal-code" or (kind == "code" and len({len(value) for value in values}) == 1):
        return HierarchyChoice("prefix", "the beginning of a code says most")
    return HierarchyChoice(None, "the value is told or not told; a hierarchy of your own keeps more")
