"""People who have several rows: told of where their codes repeat, since classes count rows."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import tokumei as tk
from tokumei.data.files.reading import Reading
from tokumei.tasks.job_writing import table_template
from tokumei.tasks.request import ReleaseRequest
from tokumei.tasks.write_table import anonymize_to_files


def test_people_with_several_rows_are_told_of_since_classes_count_rows(tmp_path: Path) -> None:
    shop = pl.DataFrame(
        {
            "member_id": [f"M{number % 40:04}" for number in range(200)],
            "when": [f"2024-01-{1 + number % 28:02}" for number in range(200)],
            "paid": [100 + number for number in range(200)],
        }
    )
    found = tk.inspect(shop)
    said = found.several_rows_in_words()
    assert said is not None
    assert said.startswith("member_id has 40 different values in 200 rows.")
    assert found.to_dict()["several_rows"] == said
    assert "k counts rows, not people" in str(found.sections())
    shop.write_csv(tmp_path / "shop.csv")
    assert "# NOTE: member_id has 40" in table_template(
        tk.inspect(tmp_path / "shop.csv"), tmp_path / "shop.csv", Reading(), beside=tmp_path
    )
    # Names repeat among people, and a code for each row is one for each person.
    people = pl.DataFrame({"member_id": [f"M{n:04}" for n in range(200)], "name": ["Mary Smith", "Wei Li"] * 100})
    assert tk.inspect(people).several_rows_in_words() is None


def test_sensitive_values_of_one_person_are_not_prepared_for_release_as_they_are(tmp_path: Path) -> None:
    """No row is alone with its income, and yet each income leads to one person."""
    visits = pl.DataFrame(
        {
            "patient_id": [f"p{n % 40}" for n in range(160)],
            "sex": [("f", "m")[n % 40 % 2] for n in range(160)],
            "income": [1_000 * (n % 40) for n in range(160)],
        }
    )
    visits.write_csv(tmp_path / "visits.csv")
    found = tk.inspect(tmp_path / "visits.csv")
    assert (found.columns["income"].suggestion.role, found.columns["income"].n_alone) == ("sensitive", 40)
    text = table_template(found, tmp_path / "visits.csv", Reading(), beside=tmp_path)
    assert '"income" = "quasi-identifier"  # sensitive, but 40 of its values are one person\'s alone' in text


def test_release_whose_k_is_of_rows_says_that_people_have_several(tmp_path: Path) -> None:
    tests = pl.DataFrame(
        {
            # Five of six people have one row, so that the header alone shows whose the rows are.
            "subject_id": [n - n % 6 // 5 for n in range(240)],
            "pan_day": [n * 7 % 40 for n in range(240)],
            "age": [20 + (n - n % 6 // 5) % 4 for n in range(240)],
        }
    )
    tests.write_csv(tmp_path / "tests.csv")
    assert tk.inspect(tests).columns["pan_day"].suggestion.role != "person"
    made = tk.anonymize(tests, ["age"], k=5)
    assert made.several_rows is not None
    assert made.several_rows.startswith("subject_id has 200 different values in 240 rows")
    assert made.to_dict()["several_rows"] == made.several_rows
    request = ReleaseRequest(k=5)
    written = anonymize_to_files(str(tmp_path / "tests.csv"), ["age"], {"out": tmp_path / "out.csv"}, request)
    assert written.several_rows == made.several_rows
    assert tk.anonymize(tests, ["age"], k=5, person="subject_id").several_rows is None


def test_number_that_says_not_of_what_is_a_person_only_where_traits_stay_the_same() -> None:
    """Numbers on shirts repeat from team to team; those of members go with their sex."""
    players = pl.DataFrame(
        {
            "number": [7 * n % 55 for n in range(440)],
            "team": [f"team {n // 55}" for n in range(440)],
            "sex": [("f", "m")[n // 3 % 2] for n in range(440)],
            "height": [170 + n * 11 % 35 for n in range(440)],
        }
    )
    assert tk.inspect(players).several_rows_in_words() is None
    members = players.with_columns(sex=pl.Series([("f", "m")[7 * n % 55 % 2] for n in range(440)]))
    said = tk.inspect(members).several_rows_in_words()
    assert said is not None
    assert said.startswith("number has 55 different values in 440 rows, which never differ in sex.")
