"""The headers of public data sets: traits as 0 and 1, short words, numbers of records, durations."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate

import polars as pl
import pytest
from tests.inspection.public_corpus import COLUMNS, DATA_SETS, KEPT_ASIDE, Listed, precision_and_recall, suggested

from tokumei.inspection.column_facts import column_facts
from tokumei.inspection.roles import Suggestion, suggest_role

# The least precision and recall of a role, on what rules were tuned on and on what was kept aside.
LEAST = {
    ("tuned on", "identifier"): (0.95, 0.95),
    ("tuned on", "quasi-identifier"): (0.95, 0.94),
    ("tuned on", "sensitive"): (0.95, 0.80),
    ("kept aside", "identifier"): (0.90, 0.80),
    ("kept aside", "quasi-identifier"): (0.95, 0.90),
    ("kept aside", "sensitive"): (0.95, 0.65),
}


@pytest.fixture(scope="module")
def suggestions() -> dict[str, dict[Listed, Suggestion]]:
    found: dict[str, dict[Listed, Suggestion]] = {"tuned on": {}, "kept aside": {}}
    for name in DATA_SETS:
        found["kept aside" if name in KEPT_ASIDE else "tuned on"].update(suggested(name))
    return found


def column(header: str, values: Sequence[object]) -> Suggestion:
    return suggest_role(column_facts(pl.Series(header, values)))


def test_corpus_has_two_hundred_headers_of_each_kind_of_role_and_a_third_is_kept_aside() -> None:
    kept = [one for one in COLUMNS if one.data_set in KEPT_ASIDE]
    assert len(COLUMNS) >= 200
    assert len({one.header.lower() for one in COLUMNS}) >= 200
    assert len(kept) >= len(COLUMNS) / 3.1


@pytest.mark.parametrize(("part", "role"), list(LEAST))
def test_roles_of_public_headers_are_found(
    suggestions: dict[str, dict[Listed, Suggestion]], part: str, role: str
) -> None:
    precision, recall = precision_and_recall(suggestions[part], role)
    least_precision, least_recall = LEAST[part, role]
    missed = {
        f"{one.data_set}.{one.header}": (one.role, found.role)
        for one, found in suggestions[part].items()
        if role in (one.role, found.role) and one.role != found.role
    }
    assert precision >= least_precision, missed
    assert recall >= least_recall, missed


def test_every_code_of_people_with_several_rows_is_found(suggestions: dict[str, dict[Listed, Suggestion]]) -> None:
    found = {one: suggestion.role for part in suggestions.values() for one, suggestion in part.items()}
    assert {one.header: found[one] for one in found if one.role == "person" and found[one] != "person"} == {}
    # A code that is a household's or a record's may be taken for a person's: both identify.
    assert {one.role for one in found if found[one] == "person"} <= {"person", "household", "identifier"}


@pytest.mark.parametrize(
    ("header", "values", "role", "kind"),
    [
        ("male", [0, 1], "quasi-identifier", "sex"),
        ("is_female", [True, False], "quasi-identifier", "sex"),
        ("black", [0.0, 1.0], "quasi-identifier", "origin"),
        ("hisp", ["yes", "no"], "quasi-identifier", "origin"),
        ("married", [0, 1], "quasi-identifier", "marital"),
        ("south", [0, 1], "quasi-identifier", "region"),
        ("two_year_recid", [0, 1], "sensitive", "crime"),
        ("c_charge_degree", ["F", "M"], "sensitive", "crime"),
        ("has_diabetes", [False, True], "sensitive", "illness"),
        ("has_email", ["yes", "no"], "other", "flag"),
        ("phone_service", [0, 1], "other", "thing"),
        ("smoker", [1, 2], "sensitive", "habit"),
        # A color or a direction is no origin and no place.
        ("black", [1.5, 2.5, 3.5, 4.5], "other", "number"),
        ("white", ["flour", "rice", "sugar", "salt"], "other", "category"),
    ],
)
def test_groups_of_people_as_flags_are_traits(header: str, values: list[object], role: str, kind: str) -> None:
    found = column(header, values * 30)
    assert (found.role, found.kind) == (role, kind)


@pytest.mark.parametrize(
    ("header", "values", "role"),
    [
        ("motheduc", range(4, 18), "quasi-identifier"),
        ("agesq", [n * n for n in range(20, 60)], "quasi-identifier"),
        ("huswage", [n / 7 for n in range(90)], "sensitive"),
        ("lwage", [n / 7 for n in range(90)], "sensitive"),
        ("famsize", range(1, 9), "quasi-identifier"),
        ("birthweight_g", range(2000, 4000, 10), "quasi-identifier"),
        ("age_at_diagnosis", range(20, 70), "quasi-identifier"),
        # Weights of the rows of a survey are no weights of people.
        ("weight", range(75_000, 900_000, 700), "other"),
    ],
)
def test_words_run_together_are_read(header: str, values: Sequence[object], role: str) -> None:
    draw = random.Random(header)
    assert column(header, draw.choices(list(values), k=200)).role == role


@pytest.mark.parametrize("header", ["time", "futime", "days_since_visit", "months_to_event", "wait_time"])
def test_durations_are_no_dates(header: str) -> None:
    draw = random.Random(1)
    found = column(header, [draw.randint(1, 4_000) for _ in range(300)])
    assert (found.role, found.kind) == ("other", "duration")


def test_years_months_and_days_are_dates_and_years_of_a_study_are_none() -> None:
    assert column("year", [1968, 1971, 1972] * 20).kind == "date"
    assert column("dxyr", [68, 71, 56, 77] * 20).kind == "date"
    assert column("month", list(range(1, 13)) * 9).kind == "date"
    assert column("admission_date", [20_200_131, 20_210_215] * 20).kind == "date"
    assert column("year_month", [202_401, 202_312] * 20).kind == "date"
    assert column("date", [45_001, 45_107] * 20).kind == "date"
    assert column("year", [1, 2, 3] * 20).role == "other"
    # So many cigarettes a day.
    assert column("cigs_day", [0, 10, 20] * 20).kind == "habit"


@pytest.mark.parametrize("header", ["phone", "mobil", "c17", "passport_no"])
def test_fractions_are_no_telephone_numbers(header: str) -> None:
    draw = random.Random(2)
    assert column(header, [draw.random() * 10_000 for _ in range(200)]).role == "other"


def test_counts_and_lengths_of_what_identifies_identify_nobody() -> None:
    assert column("account_length", list(range(1, 200)) * 3).role != "identifier"
    assert column("number_of_accounts", [1, 2, 3] * 40).role == "other"
    assert column("account", list(range(1_000_000, 1_000_300))).role == "identifier"


@pytest.mark.parametrize("header", ["seqn", "c17", "x"])
@pytest.mark.parametrize("make", [int, float])
def test_numbers_of_which_none_comes_twice_are_those_of_records(header: str, make: type) -> None:
    """They rise in steps of 1 to 20: 1,500 measurements between 233 and 16,000 would meet more than fifty times."""
    draw = random.Random(3)
    found = column(header, [make(n) for n in accumulate(draw.choices(range(1, 21), k=1_500), initial=233)])
    assert (found.role, found.kind) == ("identifier", "code")
    assert "no number twice" in str(found.reason)


def test_numbers_that_all_differ_by_chance_are_said_to_be_an_identifier_unless_measured() -> None:
    draw = random.Random(4)
    found = column("x", draw.sample(range(1_000_000), 300))
    assert found.role == "other"
    assert "an identifier, unless it is a measurement" in str(found.reason)


@pytest.mark.parametrize(
    "header", ["emp_no", "fam_id", "hh_nr", "reg_no", "num_client", "account", "policy_no", "patient_name", "pat_id"]
)
def test_short_words_hide_no_number_of_people(header: str) -> None:
    """A short word may mean an occupation or a place, a count or a name; a column of 150 codes is taken for codes."""
    draw = random.Random(5)
    assert column(header, draw.choices(range(1_000, 2_500, 10), k=600)).role == "identifier"


def test_first_and_last_are_names_only_of_text() -> None:
    names = ["tabitha", "rufus", "imogen", "lorcan", "declan", "ottilie", "caspian", "cormac"] * 3
    many = [f"{name}{end}" for name in names for end in ("", "a", "o")]
    assert [column(header, many).role for header in ("first", "last")] == ["identifier", "identifier"]
    assert [column(header, [0.5, 1.5, 2.25] * 20).role for header in ("first", "last")] == ["other", "other"]


def test_whole_numbers_stored_as_floats_have_the_digits_of_whole_numbers() -> None:
    """Scores such as 691.0 have three digits, not the five of a postal code."""
    found = column("c17", [float(n) for n in range(500, 700, 3)] * 4)
    assert found.kind != "postal-code"
    assert list(column_facts(pl.Series("x", [691.0, 7.0])).values) == ["691", "7"]
    assert list(column_facts(pl.Series("x", [691.0, float("nan")])).values) == ["691.0", "NaN"]
