"""Single columns are changed as the job file says: pseudonyms, dates, numbers, coordinates, texts."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
from pathlib import Path

import polars as pl
import pytest

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.tasks.preparing import Preparation
from tokumei.tasks.run_steps import TableWork


@pytest.fixture
def key(tmp_path: Path) -> Path:
    (tmp_path / "key").write_bytes(b"sixteen bytes or more")
    return tmp_path / "key"


def prepared(values: list[object], by: str, **options: object) -> list[str | None]:
    frame = pl.DataFrame({"x": values}, strict=False)
    return Preparation("x", by, **options).apply(frame)["x"].to_list()  # type: ignore[arg-type]


def test_pseudonyms_are_the_keyed_hash_and_another_key_gives_others(key: Path, tmp_path: Path) -> None:
    wanted = hmac.new(b"sixteen bytes or more", b"ann", hashlib.sha256).hexdigest()[:20]
    assert prepared(["ann", None, "ann"], "pseudonyms", key=key) == [wanted, None, wanted]
    (tmp_path / "next").write_bytes(b"another key for the next year")
    assert prepared(["ann"], "pseudonyms", key=tmp_path / "next") != [wanted]


def test_short_or_missing_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("short")
    for file in (tmp_path / "key", tmp_path / "none"):
        with pytest.raises(InputError):
            prepared(["ann"], "pseudonyms", key=file)


def test_dates_of_a_person_move_together_and_never_stay(key: Path) -> None:
    days = ["2020-01-01", "2020-01-31", None, "2020-01-01"]
    frame = pl.DataFrame({"x": days, "who": ["a", "a", "a", "b"]})
    found = Preparation("x", "shift-dates", key=key, person="who", days=30).apply(frame)["x"].to_list()
    first, second = dt.date.fromisoformat(str(found[0])), dt.date.fromisoformat(str(found[1]))
    assert (second - first).days == 30
    assert 1 <= abs((first - dt.date(2020, 1, 1)).days) <= 30
    assert found[2] is None
    offsets = {Preparation("x", "shift-dates", days=3)._offset(b"k", str(n)) for n in range(200)}
    assert offsets == {-3, -2, -1, 1, 2, 3}


def test_a_person_keeps_one_pseudonym_and_one_shift_in_every_table_and_column(key: Path, tmp_path: Path) -> None:
    (tmp_path / "stays.csv").write_text("patient,household,admitted,left\na,h,2020-01-01,2020-01-08\nb,h,2020-02-01,\n")
    (tmp_path / "tests.csv").write_text("who,taken\nb,2020-02-03\na,2020-01-02\n")
    shift = 'by = "shift-dates"\nkey = "key"\ndays = 30\n'
    stays = (
        '[input]\nfile = "stays.csv"\n[roles]\npatient = "other"\nadmitted = "quasi-identifier"\nleft = "other"\n'
        '[requirements]\nk = 1\n[[prepare]]\ncolumn = "patient"\nby = "pseudonyms"\nkey = "key"\n'
        f'[[prepare]]\ncolumn = "admitted"\nperson = "patient"\n{shift}'
        f'[[prepare]]\ncolumn = "left"\nperson = "patient"\n{shift}'
    )
    tests = (
        '[input]\nfile = "tests.csv"\n[roles]\nwho = "other"\ntaken = "quasi-identifier"\n[requirements]\nk = 1\n'
        '[[prepare]]\ncolumn = "who"\nby = "pseudonyms"\nkey = "key"\n'
        f'[[prepare]]\ncolumn = "taken"\nperson = "who"\n{shift}'
    )
    first, second = (TableWork(tk.Job.of(text, folder=tmp_path), tmp_path, 1).table.frame for text in (stays, tests))
    assert first["patient"].to_list() == second["who"].reverse().to_list()
    day = dt.date.fromisoformat
    assert day(first["left"][0]) - day(first["admitted"][0]) == dt.timedelta(days=7)
    assert day(second["taken"][1]) - day(first["admitted"][0]) == dt.timedelta(days=1)
    assert day(second["taken"][0]) - day(first["admitted"][1]) == dt.timedelta(days=2)
    # Of a household all move alike, so that who came first still came first.
    together = tk.Job.of(stays.replace('person = "patient"', 'person = "household"'), folder=tmp_path)
    moved = TableWork(together, tmp_path, 1).table.frame["admitted"]
    assert day(moved[1]) - day(moved[0]) == dt.timedelta(days=31)


def test_numbers_are_rounded_top_coded_and_put_on_a_grid() -> None:
    assert prepared(["12", "13", None], "round", base=5.0) == ["10", "15", None]
    assert prepared([88, 89, 90, 101], "top-code", at=89.0) == ["88", "89", "90+", "90+"]
    assert prepared(["35.6812", "-0.2"], "grid", base=0.5) == ["35.75", "-0.25"]
    with pytest.raises(InputError, match="row 2"):
        prepared(["1", "x"], "round", base=5.0)


def test_texts_are_masked_where_they_lead_to_somebody() -> None:
    found = prepared(["call 090-1234-5678 or a.b@mail.example.org", "fine", None], "mask")
    assert found == ["call [masked] or [masked]", "fine", None]


def test_job_prepares_columns_before_it_anonymizes(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,sex\n" + "".join(f"{80 + n},{'fm'[n % 2]}\n" for n in range(16)))
    text = (
        '[input]\nfile = "people.csv"\n[roles]\nage = "quasi-identifier"\nsex = "other"\n'
        '[[prepare]]\ncolumn = "age"\nby = "top-code"\nat = 79\n[requirements]\nk = 16\n'
    )
    tk.run(tk.Job.of(text, folder=tmp_path), tmp_path / "out")
    assert set(tk.read_frame(tmp_path / "out" / "release.csv")["age"]) == {"80+"}
    with pytest.raises(InputError) as caught:
        tk.Job.of(text.replace("at = 79\n", ""), folder=tmp_path)
    assert caught.value.faults[0].line == 6


def test_next_month_is_prepared_as_the_recipes_own_table_was(key: Path, tmp_path: Path) -> None:
    rows = "".join(f"p{n % 4},{20 + n % 40},{'fm'[n % 2]}\n" for n in range(40))
    (tmp_path / "visits.csv").write_text(f"patient,age,sex\n{rows}")
    text = (
        '[input]\nfile = "visits.csv"\n[roles]\npatient = "other"\nage = "quasi-identifier"\nsex = "quasi-identifier"\n'
        '[output]\nkeep = ["patient"]\n[requirements]\nk = 2\n'
        '[[prepare]]\ncolumn = "patient"\nby = "pseudonyms"\nkey = "key"\n'
        '[[prepare]]\ncolumn = "age"\nby = "round"\nbase = 10\n'
    )
    tk.run(tk.Job.of(text, folder=tmp_path), tmp_path / "out")
    recipe = tmp_path / "out" / "secret" / "recipe.json"
    assert str(key) not in recipe.read_text()
    month = {"patient": ["p1", "p1"], "age": ["78", "81"], "sex": ["f", "f"]}
    with pytest.raises(InputError, match="--key 'patient=FILE'"):
        tk.apply(recipe, month)
    found = tk.apply(recipe, month, keys={"patient": key}).frame
    pseudonym = prepared(["p1"], "pseudonyms", key=key)[0]
    assert found["patient"].to_list() == [pseudonym, pseudonym]
    assert found["age"].to_list() == ["80", "80"]
    with pytest.raises(InputError, match="one changed by a key"):
        tk.apply(recipe, month, keys={"patient": key, "age": key})
