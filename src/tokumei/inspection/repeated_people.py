"""Which column tells whose a row is, where people or households have several rows.

A code that repeats may be a person's, a shop's or an invoice's. What tells them apart is the header, and what stays the
same from row to row of one code: people keep their sex and their date of birth, invoices and shops do not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from tokumei.core.text import Text
from tokumei.inspection.kinds import IDENTIFIER, Role, header_kind, header_words

# Fewer rows than this for each value may be slips, unless the header names codes of people; of more, or of few values,
# groups and not people are told.
LEAST_REPEATED, LEAST_REPEATED_IF_NAMED, MOST_REPEATED, FEWEST_VALUES = 1.5, 1.05, 1_000, 20
# Identifiers that several people share, such as a name, or that say nothing of who is who.
SHARED_KINDS = ("person-name", "address", "free-text", "mixed", "unique-text", "coordinates", "plate", "url")
HOUSEHOLDS = re.compile(
    r"\b(hh|hhid|hid|house ?holds?|family|families|famid|fam|haushalt\w*|menage|foyer|hogar)\b|世帯"
)
# Codes of events, and of places and things, repeat as well.
NOT_PEOPLE = re.compile(
    r"\b(invoices?|orders?|receipts?|tickets?|sessions?|visits?|visitas?|encounters?|transactions?|purchases?|baskets?"
    r"|bookings?|admissions?|trips?|rows?|records?|lines?|serial|rechnung\w*|bestell\w*|commande|facture"
    r"|schools?|sch|schid|schoolid|class(es)?|courses?|dist|distid|districts?|county|countyid|towns?|townid|sites?|centres?"
    r"|centers?|hospitals?|days?|dates?|weeks?|months?|years?|times?|geo|geoid|iso|zip|species|series|movies?|ads?|firms?|mfr|sponsors?|orgs?|teams?|plots?|plates?)"
    r"\b|受付|伝票|注文|予約|領収|明細|連番|整理"
)
# Headers that do not say of what the code is, such as the number on a shirt.
OF_ANYTHING = re.compile(r"(number|num|nr|no|nos|code|key|index|idx|番号|コード|no ?番)")
# What hardly ever changes of a person, in headers.
OF_PEOPLE = re.compile(
    r"\b(sex|gender|fe ?male|males?|wom[ae]n|m[ae]n|black|white|hisp(anic)?|race|ethnic(ity)?|birth\w*|born|dob|yob"
    r"|geschlecht|geburts\w*|sexe|sexo|sesso|nationality|citizenship)\b|性別|生年|誕生|国籍"
)
# So many rows of a file tell whether people have several.
MOST_LOOKED_AT = 500_000
# A name that no column of a file has.
N_ROWS = "rows \0"
# So many columns are looked at, of tables that have many.
MOST_CODES, MOST_TRAITS, MOST_NAMED = 12, 200, 4
MOST_TRAIT_VALUES, KEPT_BY, LEAST_VARIED = 200, 0.98, 0.2


@dataclass(frozen=True)
class RepeatedPeople:
    """A column that seems to tell whose a row is, and the traits that its people keep from row to row."""

    column: str
    role: Role
    n_values: int
    n_rows: int
    traits: Sequence[str]

    @property
    def words(self) -> Text:
        """The finding in a sentence, with what to do."""
        form = (
            "{column} has {n:,} different values in {m:,} rows{kept}. If each is a {role}, k counts rows, not "
            "{people}: name the column as the {role} (--{role} {column}), so that all is counted of {people}; or, if "
            "these are purchases or visits, take them as a history (tokumei job new --kind history --columns "
            "customer={column},date=…)."
        )
        people = "households" if self.role == "household" else "people"
        kept = Text(", which never differ in {names}", names=", ".join(self.traits[:MOST_NAMED])) if self.traits else ""
        return Text(form, column=self.column, n=self.n_values, m=self.n_rows, kept=kept, role=self.role, people=people)


def repeated_people(frame: pl.DataFrame, kinds: Mapping[str, str] | None = None) -> RepeatedPeople | None:
    """Find the column that tells whose a row is, where people seem to have several; None where none does.

    kinds: what each column was found to be, where it was looked at.
    """
    n_values = _n_values(frame)
    codes = [name for name in n_values if _repeats(frame[name], n_values[name], (kinds or {}).get(name))]
    codes.sort(key=lambda name: (not _is_named(name), -n_values[name]))
    few = [name for name, n in n_values.items() if 2 <= n <= MOST_TRAIT_VALUES][:MOST_TRAITS]
    varied = [name for name in few if _chance_to_differ(frame[name]) >= LEAST_VARIED] if codes else []
    found = []
    for name in codes[:MOST_CODES]:
        is_household = HOUSEHOLDS.search(header_words(name)) is not None
        traits = _kept(frame, name, [one for one in varied if one != name])
        keeps_own = any(OF_PEOPLE.search(header_words(trait)) for trait in traits)
        role: Role = "household" if is_household else "person"
        n_rows = len(frame) - frame[name].null_count()
        # Codes at random meet now and then; what few people with a second row keep shows that it is theirs.
        needs_traits = n_rows < LEAST_REPEATED * n_values[name] or OF_ANYTHING.fullmatch(header_words(name).strip())
        if (_is_named(name) and (traits or not needs_traits)) or keeps_own or (is_household and traits):
            found.append(RepeatedPeople(name, role, n_values[name], n_rows, traits))
    # The code with the most values is the finest, and so a person's rather than a household's.
    return max(found, key=lambda one: (one.role == "person", one.n_values), default=None)


def several_rows(rows: pl.LazyFrame) -> Text | None:
    """Return what is to be said of a table whose people seem to have several rows; None where they have one each."""
    found = repeated_people(rows.head(MOST_LOOKED_AT).collect())
    return None if found is None else found.words


def _n_values(frame: pl.DataFrame) -> dict[str, int]:
    """Count the different values of each column that may have some, without missing ones."""
    listed = [name for name, dtype in frame.schema.items() if not dtype.is_nested() and dtype != pl.Object]
    return frame.select(pl.col(listed).drop_nulls().n_unique()).row(0, named=True) if listed and len(frame) else {}


def _is_named(name: str) -> bool:
    """Whether a header says that a column holds codes of people."""
    said = header_kind(name)
    return said is not None and said.role == IDENTIFIER and said.name not in SHARED_KINDS


def _repeats(values: pl.Series, n_values: int, kind: str | None) -> bool:
    """Whether a column may be codes of people who have several rows."""
    if not (values.dtype.is_integer() or values.dtype == pl.String or isinstance(values.dtype, pl.Categorical)):
        return False
    least = LEAST_REPEATED_IF_NAMED if _is_named(values.name) else LEAST_REPEATED
    if n_values < FEWEST_VALUES or not least <= (len(values) - values.null_count()) / n_values <= MOST_REPEATED:
        return False
    said, words = header_kind(values.name), header_words(values.name)
    if NOT_PEOPLE.search(words) or kind in SHARED_KINDS:
        return False
    return said is None or _is_named(values.name) or (said.name == "household" and HOUSEHOLDS.search(words) is not None)


def _kept(frame: pl.DataFrame, name: str, traits: list[str]) -> list[str]:
    """Return the columns that hardly ever differ among the rows of one code."""
    if not traits:
        return []
    each = frame.lazy().filter(pl.col(name).is_not_null()).group_by(name)
    several = each.agg(pl.len().alias(N_ROWS), pl.col(traits).n_unique()).filter(pl.col(N_ROWS) > 1)
    kept = several.select((pl.col(traits) == 1).mean()).collect().row(0)
    return [trait for trait, share in zip(traits, kept, strict=True) if share is not None and share >= KEPT_BY]


def _chance_to_differ(values: pl.Series) -> float:
    """Return the chance that two rows drawn at random have different values."""
    shares = values.alias("value").value_counts(name="n")["n"] / len(values)
    return 1 - float((shares**2).sum())
