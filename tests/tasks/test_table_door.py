"""What a data scientist types in a notebook works, on frames of every kind and on files."""

from __future__ import annotations

import datetime as dt
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.journey.commands import tokumei_here

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.measures.safety.diversity import LDiversity
from tokumei.methods.local.mondrian import Mondrian

# Takes any call, of which some here are wrong on purpose.
door: Any = tk


def people(n: int = 300, seed: int = 1) -> pd.DataFrame:
    """Make up people with an illness."""
    draw = random.Random(seed)
    return pd.DataFrame(
        {
            "name": [f"person {index}" for index in range(n)],
            "sex": [draw.choice("mf") for _ in range(n)],
            "age": [draw.randint(18, 90) for _ in range(n)],
            "region": [draw.choice(["north", "south", "east", "west"]) for _ in range(n)],
            "illness": [draw.choice(["flu", "cold", "ulcer", "none"]) for _ in range(n)],
        }
    )


def table(data: Any = None, **options: Any) -> tk.Table:
    return tk.Table(people() if data is None else data, qi=["sex", "age", "region"], sensitive=["illness"], **options)


@pytest.mark.slow
def test_example_of_the_readme_runs_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    df, next_month = people(), people(seed=2)
    t = tk.Table(df, qi=["sex", "age", "region"], sensitive=["illness"])
    tk.audit(t)
    r = tk.anonymize(t, k=5, l_diversity={"illness": 2}, suppress=0.02)
    assert r.k is not None and r.k >= 5
    assert r.loss is not None and 0 < r.loss < 1
    assert r.n_suppressed <= 6
    assert {score.value >= 2 for score in r.promises.values()} == {True}
    assert isinstance(r.frame, pd.DataFrame)
    assert list(r.frame.columns) == ["sex", "age", "region", "illness"]
    results = [tk.attack(t, r), tk.measure(t, r), tk.compare(t, k=5), tk.predict(t, k=5), tk.audit(t), r]
    r.save("out.parquet")
    tk.report(r, "out.html")
    results.append(tk.apply(r.recipe, next_month[next_month.age.isin(df.age)]))
    assert pl.read_parquet("out.parquet").height == len(r.frame)
    assert "What it promises, recounted" in Path("out.html").read_text()
    for result in results:
        assert "\n" not in repr(result)
        assert result._repr_html_().startswith("<div>")
        assert isinstance(result.to_frame(), pd.DataFrame)
        json.dumps(result.to_dict())
    drawn = [type(result).__name__ for result in results if result.figure() is not None]
    assert len(drawn) == 6


def test_frame_comes_back_as_the_kind_it_was(tmp_path: Path) -> None:
    frame = pl.from_pandas(people())
    frame.write_csv(tmp_path / "people.csv")
    for data, kind in (
        (people(), pd.DataFrame),
        (frame, pl.DataFrame),
        (frame.to_arrow(), pa.Table),
        (tmp_path / "people.csv", pl.DataFrame),
    ):
        assert isinstance(tk.anonymize(table(data), k=5, seed=1).frame, kind)


def test_releases_are_the_same_whatever_the_frame_is(tmp_path: Path) -> None:
    frame = pl.from_pandas(people())
    frame.write_csv(tmp_path / "people.csv")
    found = [tk.anonymize(table(data), k=5, seed=1) for data in (people(), frame, tmp_path / "people.csv")]
    assert found[0].loss == found[1].loss == found[2].loss
    assert found[0].table.equals(found[1].table)
    assert found[1].table.equals(found[2].table)


def test_rows_are_shuffled_by_a_secret_seed_and_follow_their_originals() -> None:
    t = table()
    one, other = tk.anonymize(t, k=5), tk.anonymize(t, k=5)
    assert not one.table.equals(other.table)
    assert one.rows is not None
    assert one.table["illness"].to_list() == t.frame["illness"].gather(one.rows).to_list()
    ordered = tk.anonymize(t, k=5, keep_order=True)
    assert ordered.rows is not None
    assert ordered.rows.is_sorted()
    assert tk.anonymize(t, k=5, seed=3).table.equals(tk.anonymize(t, k=5, seed=3).table)


def test_hierarchies_are_made_where_none_is_given_and_the_result_says_so() -> None:
    frame = people().assign(born=pd.Timestamp("1980-05-17"), sex=1)
    frame.loc[::2, "born"] = pd.Timestamp("1931-02-01")
    r = tk.anonymize(tk.Table(frame, qi=["age", "region", "born", "sex"]), k=5)
    assert r.made["age"] == "intervals of 5, joined in pairs"
    assert r.made["region"] == "unordered: the value or nothing"
    assert r.made["born"].startswith("days, months, quarters and years")
    assert "made of each" in r._repr_html_()
    assert r.hierarchies["age"].labels_at(1)[0] == "15-19"


def test_numbers_of_which_most_are_small_get_intervals_that_grow() -> None:
    incomes = np.exp(np.random.default_rng(1).normal(10, 1, 2_000)).round()
    r = tk.anonymize(pl.DataFrame({"income": incomes}), qi=["income"], k=5, suppress=0.02)
    assert r.made["income"] == "intervals that grow with the numbers, from 1 to 2, 5, 10, 20 and so on"
    # Intervals of one width put nearly all into the first.
    assert r.frame["income"].value_counts()["count"].max() < 0.5 * r.frame.height


def test_hierarchy_given_for_one_column_stands_beside_made_ones() -> None:
    flat = tk.Hierarchy.of_levels("region", [["east", "north", "south", "west"], ["*"] * 4])
    r = tk.anonymize(table(hierarchies={"region": flat}), k=5)
    assert "region" not in r.made
    assert "age" in r.made


def test_methods_and_requirements_may_be_objects() -> None:
    named = tk.anonymize(table(), k=5, method="mondrian", kind="relaxed", seed=1)
    given = tk.anonymize(table(), k=5, method=Mondrian(kind="relaxed"), seed=1)
    assert named.table.equals(given.table)
    r = tk.anonymize(table(), requirements_given=[LDiversity("illness", 3)])
    assert [round(score.value) >= 3 for score in r.promises.values()] == [True]


def test_attack_takes_a_frame_only_with_rows_or_an_order() -> None:
    t = table()
    r = tk.anonymize(t, k=5)
    assert r.rows is not None
    told = tk.attack(t, r.frame, "record-linkage", rows=r.rows)
    assert told.scores == tk.attack(t, r, "record-linkage").scores
    with pytest.raises(tk.errors.InputError, match="the row of the original behind each released row"):
        tk.attack(t, r.frame)


def test_attack_that_learns_one_column_learns_each_of_several() -> None:
    both = tk.Table(people(), qi=["sex", "age"], sensitive=["illness", "region"])
    r = tk.anonymize(both, k=5)
    found = tk.attack(both, r)
    alone = tk.attack(both, r, "homogeneity", sensitive="illness")
    assert {"homogeneity of illness", "homogeneity of region"} <= set(found.scores)
    assert found.scores["homogeneity of illness"] == alone.scores["homogeneity"]


def test_save_replaces_nothing_unasked(tmp_path: Path) -> None:
    r = tk.anonymize(table(), k=5)
    r.save(tmp_path / "out.csv", rows=tmp_path / "rows.csv", recipe=tmp_path / "recipe.json")
    with pytest.raises(tk.errors.InputError, match="does not exist yet"):
        r.save(tmp_path / "out.csv")
    assert tk.apply(tmp_path / "recipe.json", people()).frame.shape == r.frame.shape


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: door.Table(people(), qi=["agee"]),
            "found 'agee', expected a column of the table as a quasi-id.*'age'",
        ),
        (lambda: door.anonymize(table(), k=301), "k = 301 is more than the 300 rows"),
        (lambda: door.anonymize(people(), k=5), "expected a tk.Table"),
        (lambda: door.anonymize(table(), k=5, method="optimall"), "Did you mean 'optimal'"),
        (lambda: door.anonymize(table(), k=5, supress=0.1), "found 'supress', expected an option .*'suppress'"),
        (lambda: door.anonymize(table(), l_diversity={"ilness": 2}), "as a sensitive column: 'illness'"),
        (lambda: door.anonymize(table(), l_diversity={"illness": "2:distinct:no"}), "found 'distinct:no'"),
        (lambda: door.anonymize(table(), k=5, keep=["name"]), "300 rows are singled out by it"),
        (lambda: door.anonymize(table(), k=5, weights={"agee": 2}), "as weights: 'age'"),
        (lambda: door.anonymize(table(), k=0), "a whole number from 1 on"),
        (lambda: door.anonymize(table()), "at least one requirement"),
        (lambda: door.anonymize(table(people(0)), k=2), "a row or more"),
        (lambda: door.anonymize(tk.Table(people()), k=2), "a quasi-identifier or more"),
        (lambda: door.audit(table(), kk=2), "expected an option of audit: 'k'"),
        (lambda: door.Table(people(), qi=["age"], delimeter=";"), "'delimiter'"),
        (lambda: door.Table(people(), delimiter=";"), "a file, which is read so"),
        (lambda: door.Table(people(), qi=["age"], sensitive=["age"]), "one role a column"),
        (lambda: door.Table(people(), qi=5), "found '5', expected a column of the table"),
        (lambda: door.Table(people(), qi=0.5), "option qi: found '0.5', expected names of columns"),
        (lambda: door.Table(people()["age"], qi=["age"]), "a frame, not one column of it"),
        (lambda: door.Table(people().to_numpy(), qi=["age"]), "found 'numpy.ndarray', expected a Polars, pandas or"),
        (lambda: door.Table("no such file.csv", qi=["age"]), "no such file.csv: expected a file that exists"),
        (
            lambda: door.Table(people().assign(age=[1, "2", *[3] * 298]), qi=["age"]),
            "column age: expected cells of one",
        ),
        (lambda: door.Table(pd.concat([people(), people()], axis=1), qi=["age"]), "each column once"),
        (lambda: door.anonymize(table(), 5), "found '5', expected no quasi-identifiers beside a tk.Table"),
        (lambda: door.anonymize(table(), k="five"), "option k: found 'five', expected a number"),
        (lambda: door.anonymize(table(), k=2.5), "option k: found '2.5', expected a whole number"),
        (lambda: door.anonymize(table(), k=5, suppress="5%"), "option suppress: found '5%', expected a share"),
        (lambda: door.anonymize(table(), k=5, hierarchies={"age": 5}), "expected a tk.Hierarchy, the name of its file"),
        (
            lambda: door.anonymize(tk.Table(people(), qi=["age"]), l_diversity=2),
            "option l_diversity: found '2', .*a sens",
        ),
        (lambda: door.anonymize(table(), k=5, method="pseudonyms"), "no table anonymizer named 'pseudonyms'"),
        (lambda: door.anonymize(tk.anonymize(table(), k=2), k=5), "found 'TableRelease', expected a tk.Table"),
        (lambda: door.anonymize(None, k=5), "found 'NoneType', expected a tk.Table"),
        (lambda: door.attack(table(), table()), "the row of the original behind each released row"),
        (lambda: door.attack(table()), "found 'a tk.Table', expected an original and its release, as tk.attack"),
        (lambda: door.measure(people()), "expected an original and its release, as tk.measure"),
        (lambda: door.attack(table(), table(), "record-linkag", in_order=True), "Did you mean 'record-linkage'"),
        (lambda: door.attack(table(), table(), attacks=["record-linkage"], in_order=True), "expected 'attack'"),
        (lambda: door.attack(table(), table(), [5], in_order=True), "found 'int', expected an attack on tables"),
        (lambda: door.measure(table(), table(), "statistic", in_order=True), "Did you mean 'statistics'"),
        (lambda: door.compare(table(), k=5, methods=["optimall"]), "Did you mean 'optimal'"),
        (
            lambda: door.predict(table(), k=5, level={"age": 1}),
            "found 'level', expected an option of predict: 'levels'",
        ),
        (lambda: door.predict(table(), k=5, levels={"agee": 1}), "expected an attribute: sex, age, region"),
        (lambda: door.predict(table(), k="x"), "option k: found 'x', expected a number"),
        (lambda: door.count_classes(people()), "columns to count the classes of"),
        (lambda: door.count_classes(people(), ["sexx"]), "found 'sexx', expected a column"),
        (lambda: door.Lattice(tk.anonymize(table(), k=5).hierarchies), "tk.Lattice.of"),
        (lambda: door.sweep(table()), "found 'a tk.Table', expected a tk.History"),
    ],
)
def test_natural_wrong_call_gets_one_clear_error(call: Any, message: str) -> None:
    with pytest.raises(tk.errors.TokumeiError, match=message):
        call()


MORE_PEOPLE = people().assign(born=pd.Timestamp("2001-02-03") + pd.to_timedelta(people().age, "D"))


@pytest.mark.parametrize(
    ("data", "qi"),
    [
        (people().astype({"sex": "category", "region": "category"}), ["sex", "age", "region"]),
        (people().convert_dtypes(), ["sex", "age", "region"]),
        (people().assign(age=people().age.astype("Int64").where(people().age > 25)), ["sex", "age"]),
        (people().assign(age=people().age.astype(float).where(people().age > 25)), ["sex", "age"]),
        (people().assign(old=people().age > 60), ["sex", "old"]),
        (MORE_PEOPLE, ["sex", "born"]),
        (MORE_PEOPLE.assign(born=MORE_PEOPLE.born.dt.tz_localize("Asia/Tokyo")), ["sex", "born"]),
        (MORE_PEOPLE.assign(born=MORE_PEOPLE.born.dt.date), ["sex", "born"]),
        (people().set_index(pd.Index([7] * 300)), ["sex", "age"]),
        (people().set_index("name"), ["sex", "age"]),
        (people().to_dict("list"), ["sex", "age"]),
        (pl.from_pandas(people()).lazy(), ["sex", "age"]),
        (pa.Table.from_pandas(people()).to_batches()[0], ["sex", "age"]),
        (people(), people().columns[1:3]),
    ],
    ids=lambda value: None,
)
def test_frames_as_people_have_them_are_anonymized(data: Any, qi: Any) -> None:
    r = tk.anonymize(data, qi, k=5, suppress=0, keep_order=True)
    assert r.k is not None and r.k >= 5
    assert r.facts["rows"] == 300
    # The roles and the release know the same columns in the same order.
    assert r.table.columns == tk.Table(data, qi).quasi_identifiers


def test_columns_without_names_have_their_numbers() -> None:
    frame = people().set_axis(range(5), axis=1)
    r = tk.anonymize(frame, [1, 2, 3], sensitive=[4], k=5, l_diversity=2)
    assert list(r.frame.columns) == [1, 2, 3, 4]
    assert r.made["2"] == "intervals of 5, joined in pairs"


def test_requirement_without_a_column_is_for_every_sensitive_one() -> None:
    r = tk.anonymize(table(), l_diversity=2)
    named = tk.anonymize(table(), l_diversity={"illness": 2})
    assert (r.loss, list(r.promises)) == (named.loss, list(named.promises))


def test_release_may_stand_alone_and_attacks_be_several() -> None:
    t = table()
    r = tk.anonymize(t, k=5)
    assert tk.measure(r, measures="statistics").scores == tk.measure(t, r, "statistics").scores
    several = ["record-linkage", "homogeneity"]
    found = tk.attack(r, attack=several)
    assert list(found.scores) == several
    assert found.scores["homogeneity"] == tk.attack(t, r, "homogeneity").scores["homogeneity"]


def test_table_is_counted_by_its_quasi_identifiers() -> None:
    assert tk.count_classes(table()).columns == ("sex", "age", "region")
    assert tk.count_classes(table(), "sex").n_classes == 2
    assert tk.count_classes(people(), ["sex"]).n_classes == 2


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (lambda: tk.count_classes(table(), "sex"), "ClassCounts(300 rows, 2 classes of sex, k 149, 0 unique)"),
        (lambda: tk.Lattice.of(tk.anonymize(table(), k=5).hierarchies), "Lattice(20 nodes over sex, age, region)"),
        (lambda: tk.anonymize(table(), k=5).hierarchies["sex"], "Hierarchy(sex, labels by level: 2, 1)"),
    ],
)
def test_object_shows_itself_in_one_line(shown: Any, said: str) -> None:
    assert repr(shown()) == said


def test_audit_takes_a_frame_with_its_quasi_identifiers() -> None:
    assert tk.audit(people(), ["sex", "region"]).k == tk.audit(tk.Table(people(), qi=["sex", "region"])).k


def test_audit_lists_every_column_with_its_unique_values() -> None:
    columns = {one["column"]: one for one in tk.audit(table()).to_dict()["columns"]}
    assert columns["name"]["unique"] == 300
    assert columns["sex"]["unique"] == 0
    assert columns["age"]["role"] == "quasi-identifier"


def test_missing_sensitive_value_is_no_value_unless_asked() -> None:
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "illness": ["flu", None, "flu", "cold"]})
    t = tk.Table(frame, qi=["age"], sensitive=["illness"])
    assert not tk.audit(t, l_diversity={"illness": 2}).holds
    asked = tk.audit(t, l_diversity={"illness": 2}, missing_is_a_value=True)
    assert asked.holds
    assert "counts as a value of its own" in asked._repr_html_()


def test_all_rows_suppressed_is_no_release() -> None:
    frame = pl.DataFrame({"age": ["a", "b", "c"]})
    with pytest.raises(tk.errors.CannotAnonymize):
        tk.anonymize(tk.Table(frame, qi=["age"]), k=4, suppress=1.0)


def test_one_row_and_columns_without_values_are_released() -> None:
    frame = pl.DataFrame({"age": [30], "note": [None]}, schema={"age": pl.Int64, "note": pl.String})
    assert tk.anonymize(tk.Table(frame, qi=["age", "note"]), k=1).k == 1


def test_times_of_day_are_released_as_text() -> None:
    seen = pl.Series("seen", [dt.time(9, 5), dt.time(9, 5), dt.time(10, 0), dt.time(10, 0), None, None])
    release = tk.anonymize(tk.Table(pl.DataFrame([seen]), qi=["seen"]), k=2)
    assert sorted(release.frame["seen"].to_list(), key=str) == ["09:05:00"] * 2 + ["10:00:00"] * 2 + [None] * 2


def test_columns_that_are_not_released_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = pl.DataFrame({"name": ["A", "B"], "sex": ["f", "f"], "town": ["X", "X"], "illness": ["flu", "cold"]})
    made = tk.anonymize(tk.Table(frame, qi=["sex"], sensitive=["illness"]), k=2)
    assert list(made.left_out) == ["name", "town"]
    assert "without name, town" in repr(made)
    assert "not released" in str(made.sections()[-1])
    assert tk.apply(made.recipe, frame).to_dict()["left_out"] == ["name", "town"]
    people = tmp_path / "people.csv"
    frame.write_csv(people)
    for engine in ("local", "duckdb"):
        given = ["anonymize", "table", people, "--qi", "sex", "--keep", "illness", "--k", "2", "--engine", engine]
        code, found = tokumei_here(capsys, *given, "--keep-anyway", "--out", tmp_path / f"{engine}.csv")
        assert (code, found["left_out"]) == (0, ["name", "town"])


def test_label_that_means_nothing_is_told_with_the_file_it_stands_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original, release = tmp_path / "people.csv", tmp_path / "release.csv"
    original.write_text("age,sex\n31,f\n35,m\n")
    release.write_text("age,sex\n3x,f\n35,m\n")
    table = tk.Table(original, ["age", "sex"])
    with pytest.raises(InputError, match=r"release\.csv, column age: found '3x'"):
        tk.attack(table, release, in_order=True)
    pair = ("--original", original, "--release", release, "--qi", "age,sex", "--in-order")
    _, measured = tokumei_here(capsys, "measure", "table", *pair)
    assert f"{release}, column age: found '3x'" in str(measured)


@pytest.mark.parametrize("method", ["optimal", "mondrian", "min-dis"])
def test_release_by_hierarchies_that_were_made_is_attacked_from_its_file(
    method: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Postal codes with letters, heights with a dash for none: their ranges are no intervals of numbers."""
    draw = random.Random(3)
    frame = pl.DataFrame(
        {
            "post": [draw.choice(["1010", "2020", "3500", "8001", "CH-4051", "CH-4058"]) for _ in range(200)],
            "height": [draw.choice(["-", *(f"{150 + at}.{at % 10}" for at in range(40))]) for _ in range(200)],
            "illness": [draw.choice(["flu", "cold", "ulcer"]) for _ in range(200)],
        }
    )
    frame.write_csv(tmp_path / "people.csv")
    files = {name: str(tmp_path / name) for name in ("people.csv", "release.csv", "rows.csv")}
    made = tokumei_here(
        capsys,
        *("anonymize", "table", files["people.csv"], "--qi", "post,height", "--k", "5", "--method", method),
        *("--keep", "illness", "--out", files["release.csv"], "--rows", files["rows.csv"]),
    )
    assert made[0] == 0
    pair = ("--original", files["people.csv"], "--release", files["release.csv"], "--rows", files["rows.csv"])
    for what in (("attack", "table", "--sensitive", "illness"), ("measure", "table")):
        code, found = tokumei_here(capsys, *what, *pair, "--qi", "post,height")
        assert (code, "a value of the column" in str(found)) == (0, False)
