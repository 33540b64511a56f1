"""Hierarchies in ARX's CSV form."""

from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.hierarchies.builders.intervals import Intervals
from tokumei.hierarchies.files import read_hierarchies, read_hierarchy, write_hierarchy
from tokumei.hierarchies.hierarchy import Hierarchy

ADULT = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult" / "hierarchies"

# Everything that has a meaning in some CSV, among plain letters.
CELL = st.text(alphabet="ab ,;|\t\"\n'é*", min_size=1, max_size=6)


@st.composite
def nested(draw: st.DrawFn) -> Hierarchy:
    columns = [draw(st.lists(CELL, min_size=1, max_size=6, unique=True))]
    for _ in range(draw(st.integers(0, 3))):
        index = {label: number for number, label in enumerate(dict.fromkeys(columns[-1]))}
        labels = draw(st.lists(CELL, min_size=len(index), max_size=len(index)))
        columns.append([labels[index[label]] for label in columns[-1]])
    return Hierarchy.of_levels("x", columns)


@given(nested(), st.sampled_from(",;\t|"))
def test_written_hierarchy_reads_back_the_same(hierarchy: Hierarchy, delimiter: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        write_hierarchy(hierarchy, path, delimiter=delimiter)
        assert read_hierarchy(path, "x", delimiter=delimiter) == hierarchy


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
def test_read_hierarchy_finds_the_delimiter_though_labels_hold_others(tmp_path: Path, delimiter: str) -> None:
    # Two commas and two semicolons in each line, were they counted.
    hierarchy = Intervals(width=2.5, factors=(2,)).build("x", pl.Series([1.5, 3.25, 9.0]))
    assert hierarchy.labels_at(1) == ["[0, 2.5)", "[2.5, 5)", "[7.5, 10)"]
    write_hierarchy(hierarchy, tmp_path / "x.csv", delimiter=delimiter)
    assert read_hierarchy(tmp_path / "x.csv", "x") == hierarchy


def test_read_hierarchy_ranges_with_semicolons_are_read_with_commas(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("3,[3;9],*\n5,[3;9],*\n")
    assert read_hierarchy(tmp_path / "x.csv", "x").labels_at(1) == ["[3;9]", "[3;9]"]


def test_read_hierarchy_quoted_line_end_in_the_first_value_counts_levels(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text('"a\nb";"say ""so""";*\nc;d;*\n')
    hierarchy = read_hierarchy(tmp_path / "x.csv", "x")
    assert hierarchy.leaves == ("a\nb", "c")
    assert hierarchy.labels_at(1) == ['say "so"', "d"]


def test_read_hierarchy_of_one_level_is_a_list_of_values(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a\nb\n")
    assert read_hierarchy(tmp_path / "x.csv", "x").leaves == ("a", "b")


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("a;b;*\nc;;*\n", 2, "2"), ("a;b;*\nc;b;*\na;b;*\n", 3, "1"), ("a;u;*\nc;v;*\nd;v;x\n", 3, "3")],
)
def test_read_hierarchy_bad_cell_is_named(tmp_path: Path, text: str, line: int, column: str) -> None:
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(InputError) as caught:
        read_hierarchy(tmp_path / "x.csv", "x")
    fault = caught.value.faults[0]
    assert fault.file == str(tmp_path / "x.csv")
    assert (fault.line, fault.column) == (line, column)


def test_read_hierarchy_line_of_another_length_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a;b;*\nc;d;*\ne;*\n")
    with pytest.raises(InputError) as caught:
        read_hierarchy(tmp_path / "x.csv", "x")
    assert caught.value.faults[0].line == 3


def test_read_hierarchy_crossing_levels_need_leave(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("10s;-29;minor;*\n20s;-29;adult;*\n30s;30+;adult;*\n")
    with pytest.raises(InputError, match="'minor'"):
        read_hierarchy(tmp_path / "x.csv", "x")
    assert not read_hierarchy(tmp_path / "x.csv", "x", may_cross=True).is_nested


def test_read_hierarchies_finds_each_file_by_its_ending(tmp_path: Path) -> None:
    for name in ("age.csv", "adult_age.csv", "adult_hierarchy_sex.csv"):
        (tmp_path / name).write_text(f"{name};*\n")
    found = read_hierarchies(tmp_path, ["sex", "age"])
    assert list(found) == ["sex", "age"]
    assert found["age"].leaves == ("age.csv",)
    with pytest.raises(InputError, match="race"):
        read_hierarchies(tmp_path, ["race"])
    with pytest.raises(InputError, match="a folder"):
        read_hierarchies(tmp_path / "none", ["race"])


@pytest.mark.skipif(not ADULT.is_dir(), reason="the Adult hierarchies are not beside the checkout")
@pytest.mark.parametrize(("name", "n_labels"), [("age", (100, 20, 10, 5, 1)), ("education", (16, 5, 3, 1))])
def test_adult_hierarchy_has_the_known_levels(name: str, n_labels: tuple[int, ...], tmp_path: Path) -> None:
    hierarchy = read_hierarchies(ADULT, [name])[name]
    assert tuple(len(level) for level in hierarchy.levels) == n_labels
    write_hierarchy(hierarchy, tmp_path / "again.csv")
    assert read_hierarchy(tmp_path / "again.csv", name) == hierarchy
