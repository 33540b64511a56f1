"""People who have several rows: told of where their codes repeat, since classes count rows."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import tokumei as tk
from tokumei.data.files.reading import Reading
from tokumei.tasks.job_writing import table_template


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
