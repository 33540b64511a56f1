"""Roles are suggested rightly on a labelled corpus of other words than the detector's, whatever the headers say."""

from __future__ import annotations

import polars as pl
import pytest
from tests.inspection.corpus import COLUMNS, Made
from tests.inspection.other_corpus import COLUMNS as OTHER_COLUMNS

import tokumei as tk
from tokumei.inspection.column_facts import column_facts
from tokumei.inspection.roles import Suggestion, suggest_role

LEAST = 0.95
HEADERS = ("honest", "meaningless", "misleading")


def suggested(made: Made, which: str) -> Suggestion:
    header = {"honest": made.honest, "meaningless": "c17", "misleading": made.misleading}[which]
    return suggest_role(column_facts(pl.Series(header, made.values())))


def column(header: str, *values: object) -> Suggestion:
    return suggest_role(column_facts(pl.Series(header, values, strict=False)))


@pytest.mark.parametrize("which", HEADERS)
def test_identifiers_are_found_with_few_slips_and_none_is_called_safe(which: str) -> None:
    told = [made for made in COLUMNS if which == "honest" or made.is_told]
    found = {made.name: suggested(made, which).role for made in told}
    wanted = {made.name for made in told if made.role == "identifier"}
    called = {name for name, role in found.items() if role == "identifier"}
    assert len(told) >= 60
    assert len(wanted & called) / len(called) >= LEAST, called - wanted
    assert len(wanted & called) / len(wanted) >= LEAST, wanted - called
    assert [name for name in wanted if found[name] == "other"] == []


@pytest.mark.parametrize("which", ["honest", "meaningless"])
def test_identifiers_of_other_shapes_are_found_in_tables_of_few_rows_too(which: str) -> None:
    told = [one for one in OTHER_COLUMNS if which == "honest" or one.is_told]
    headers = {one.name: one.header if which == "honest" else "c17" for one in told}
    found = {one.name: suggest_role(column_facts(pl.Series(headers[one.name], one.values))).role for one in told}
    wanted = {one.name for one in told if one.role == "identifier"}
    called = {name for name, role in found.items() if role == "identifier"}
    assert len(told) >= 55
    assert len(wanted & called) / len(called) >= LEAST, called - wanted
    assert len(wanted & called) / len(wanted) >= LEAST, wanted - called
    assert [name for name in wanted if found[name] == "other"] == []


def test_every_role_is_right_under_honest_headers() -> None:
    wrong = {made.name: suggested(made, "honest") for made in COLUMNS if suggested(made, "honest").role != made.role}
    assert len(wrong) <= (1 - LEAST) * len(COLUMNS), wrong


def test_values_outweigh_a_header_that_says_otherwise_and_the_reason_says_so() -> None:
    found = column("color", *(f"p{n}@mail.example.org" for n in range(9)))
    assert (found.role, found.kind) == ("identifier", "email")
    assert "100% of its values" in found.reason


def test_a_header_of_names_over_few_flags_is_no_identifier() -> None:
    assert column("email", *["0", "1"] * 30).role == "other"


def test_a_few_telephone_numbers_in_notes_make_the_column_an_identifier() -> None:
    found = column("status", *["open"] * 40, *["closed"] * 40, "call 090-1234-5678")
    assert (found.role, found.kind) == ("identifier", "mixed")


def test_ages_and_years_that_differ_in_every_row_are_no_numbering() -> None:
    assert column("age", *range(20, 60)).role == "quasi-identifier"
    assert column("birth year", *range(1950, 1990)).role == "quasi-identifier"
    assert column("age", *range(20_000_000, 20_000_040)).role == "identifier"


def test_one_name_in_every_row_is_still_a_name() -> None:
    assert column("氏名", *["山田 太郎"] * 40).role == "identifier"
    assert column("氏名", *["鮎沢 壱成", "六車 汐里"] * 40).role == "identifier"
    # Surnames that nobody lists, each with several given names, whatever the header says.
    few = [
        f"{first} {second}"
        for first in ("四方田", "鮎沢", "六車", "綿貫")
        for second in ("琴葉", "壱成", "汐里", "千紘")
    ]
    assert column("c17", *few * 25).role == "identifier"
    assert column("name", *["red", "green"] * 20).role != "identifier"


def test_columns_of_rare_types_are_looked_at() -> None:
    spans = pl.Series("x", [1, 2]).cast(pl.Duration("us"))
    assert column_facts(spans).n_distinct == 2
    assert column_facts(pl.Series("x", [[1], [2]])).n_distinct == 0


def test_an_empty_column_follows_its_header() -> None:
    assert column("氏名", None, None).role == "identifier"
    assert column("c1", None, "  ").role == "other"


def test_typed_columns_are_told_too() -> None:
    assert suggest_role(column_facts(pl.Series("x", [True, False]))).role == "other"
    days = pl.Series("x", ["2020-01-01", "2021-02-03"]).str.to_date()
    assert suggest_role(column_facts(days)).role == "quasi-identifier"


def test_facts_of_a_column_are_counted_with_its_unit_and_blanks_as_missing() -> None:
    facts = column_facts(pl.Series("身長(cm)", ["170", "165", "170", " ", None]))
    assert (facts.type, facts.unit, facts.n_distinct, facts.n_missing, facts.n_unique) == (
        "whole number",
        "cm",
        2,
        2,
        1,
    )
    assert column_facts(pl.Series("fee", ["¥100", "¥2,000"])).unit == "¥"


@pytest.mark.parametrize(
    ("header", "unit"),
    [("Gehalt (€)", "€"), ("体重kg", "kg"), ("weight_kg", "kg"), ("Datum", None), ("rating", None), ("日当(円)", "円")],
)
def test_unit_of_a_header_stands_apart_from_its_word(header: str, unit: str | None) -> None:
    assert column_facts(pl.Series(header, ["12", "13"])).unit == unit
    # What has no numbers has no unit.
    assert column_facts(pl.Series(header, ["1.2.2020", "unknown"])).unit is None


@pytest.mark.parametrize(
    ("header", "values", "role", "kind"),
    [
        ("Geschlecht", ["m", "w", "d"], "quasi-identifier", "sex"),
        ("Sexe", ["H", "F"], "quasi-identifier", "sex"),
        ("Geburtsdatum", ["01.02.1980", "17.11.1975", "03.05.1999"], "quasi-identifier", "birth-date"),
        ("Date de naissance", ["1980-02-01", "1975-11-17"], "quasi-identifier", "birth-date"),
        ("PLZ", ["01067", "10115", "80331", "01067"], "quasi-identifier", "postal-code"),
        ("Größe (cm)", ["172,5", "181,0", "165,5", "172,5"], "quasi-identifier", "body"),
        ("Estado civil", ["soltera", "casado", "casado"], "quasi-identifier", "marital"),
        ("Diagnose", ["Grippe", "Bruch", "Grippe"], "sensitive", "illness"),
        ("Número de teléfono", ["030 1234567", "089 7654321", "040 5551234"], "identifier", "phone"),
        ("Kundennummer", ["K-1", "K-2", "K-3"], "identifier", "code"),
        ("Nombre de visites", ["1", "2", "3"], "other", "number"),
        ("Nombre del cliente", ["Ana Ruiz", "Luis Gil"], "identifier", "person-name"),
        ("Kosten €", ["1.234,50", "99,00", "12.000,10"], "other", "number"),
    ],
)
def test_headers_and_values_of_other_languages_are_read(header: str, values: list[str], role: str, kind: str) -> None:
    found = column(header, *values * 4)
    assert (found.role, found.kind) == (role, kind)


@pytest.mark.parametrize("header", ["genre", "report", "data", "estado del pedido", "television", "mobility"])
def test_english_words_are_not_taken_for_those_of_other_languages(header: str) -> None:
    assert column(header, *["Action", "Comedy", "Drama"] * 10).role == "other"


def test_numbers_of_customers_are_no_postal_codes() -> None:
    """Five digits each, as postal codes have; the header knows better, and an identifier must not pass."""
    found = tk.inspect(pl.DataFrame({"customer": [f"{12_000 + 7 * (row % 60)}" for row in range(300)]}))
    assert found.to_dict()["columns"]["customer"]["role"] == "person"
