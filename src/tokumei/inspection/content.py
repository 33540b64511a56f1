"""What the values of a column are, whatever its header says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tokumei.core.text import Text
from tokumei.inspection.category_words import category_seen
from tokumei.inspection.column_facts import ColumnFacts
from tokumei.inspection.kinds import KINDS, Kind
from tokumei.inspection.patterns import LEAST_SHARE, TESTS
from tokumei.inspection.person_names import names_seen

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
ROWS_OF_A_GROUP = 20
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
    return _by_pattern(values) or _by_words(facts) or _by_shape(facts)


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
        return Seen(kind, Text("{n:.0%} of its different values are {kind}", n=category[1], kind=Text(kind.words)))
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
    # Words with a number in them that many rows share name groups of people, as the third department does.
    is_of_groups = facts.n_present >= ROWS_OF_A_GROUP * facts.n_distinct and not "".join(values).isascii()
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


def _numbering(facts: ColumnFacts, values: Sequence[str]) -> Seen | None:
    """Recognize row numbers: consecutive, or all of one length and none round."""
    least, greatest = facts.least or 0, facts.greatest or 0
    if facts.share_distinct == 1 and greatest - least < 2 * facts.n_distinct:
        return Seen(
            KINDS["code"], Text("its numbers run from {a:.0f} to {b:.0f}, one a row", a=least, b=greatest), True
        )
    lengths = {len(value.partition(".")[0]) for value in values}
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
