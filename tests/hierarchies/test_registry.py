"""What every hierarchy builder promises, and the plain ones by hand."""

import datetime as dt
from dataclasses import fields
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.hierarchies.builders.dates import Calendar, Decades
from tokumei.hierarchies.builders.from_data import FromData
from tokumei.hierarchies.builders.groups import NestedYaml, OrderedGroups, Prefix
from tokumei.hierarchies.builders.intervals import Intervals
from tokumei.hierarchies.builders.people import JapanAge, Sex
from tokumei.hierarchies.hierarchy import BUILDERS, Builder, Hierarchy
from tokumei.hierarchies.leaves import missing_values

WHOLE = st.integers(-(10**6), 10**6)
FLOAT = st.floats(allow_nan=False, allow_infinity=False)
DAY = st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31))
# Two dots in a row belong to the labels of runs.
WORD = st.text(alphabet="ab0*é東", min_size=1, max_size=5)


def column_of(values: st.SearchStrategy[object], dtype: type[pl.DataType]) -> st.SearchStrategy[pl.Series]:
    """Columns with repeated and missing values and at least one that is there."""
    cells = st.lists(st.none() | values, min_size=1, max_size=12).filter(any_is_there)
    return cells.map(lambda found: pl.Series("x", found, dtype))


def any_is_there(cells: list[object]) -> bool:
    return any(cell is not None for cell in cells)


NUMBERS = column_of(WHOLE, pl.Int64) | column_of(FLOAT, pl.Float64) | column_of(WHOLE.map(str), pl.String)
YEARS = column_of(st.integers(0, 9999), pl.Int32) | column_of(st.integers(0, 9999).map(str), pl.String)
DAYS = column_of(DAY, pl.Date) | column_of(DAY.map(dt.date.isoformat), pl.String)
TEXTS = column_of(WORD, pl.String) | column_of(WORD, pl.Categorical)
SIZES = st.lists(st.integers(2, 4), max_size=3).map(tuple)

CASES: st.SearchStrategy[tuple[Builder, pl.Series]] = st.one_of(
    st.tuples(
        st.builds(
            Intervals,
            width=st.sampled_from([0.1, 1, 2.5, 7, 1000]),
            factors=SIZES,
            start=st.sampled_from([None, 0, 0.05, -3]),
            bottom=st.none() | st.integers(-100, 0),
            top=st.none() | st.integers(1, 100),
        ),
        NUMBERS,
    ),
    st.tuples(st.builds(Decades), YEARS | DAYS),
    st.tuples(st.builds(Calendar), DAYS),
    st.tuples(st.builds(Prefix, step=st.integers(1, 3), mask=st.sampled_from("*#a")), TEXTS | NUMBERS | DAYS),
    st.tuples(st.builds(OrderedGroups, sizes=SIZES), TEXTS | NUMBERS | DAYS),
    st.tuples(
        st.builds(
            FromData,
            kind=st.sampled_from(["equal-frequency", "equal-width"]),
            groups=st.integers(2, 9),
            fan_out=st.integers(2, 4),
        ),
        NUMBERS | TEXTS | DAYS | column_of(st.booleans(), pl.Boolean),
    ),
    st.tuples(
        st.builds(JapanAge, bands=st.sampled_from([(9, 5), (9, 3), (9,), (5,), ()])),
        column_of(st.integers(0, 130), pl.UInt8),
    ),
)


def rows(hierarchy: Hierarchy) -> list[tuple[str, ...]]:
    """The labels of each leaf, from the leaf up."""
    return list(zip(*(hierarchy.labels_at(level) for level in range(len(hierarchy.levels))), strict=True))


@given(CASES)
def test_built_hierarchy_nests_under_one_star_and_covers_the_values(case: tuple[Builder, pl.Series]) -> None:
    builder, values = case
    hierarchy = builder.build("x", values)
    assert hierarchy.attribute == "x"
    assert hierarchy.is_nested
    assert hierarchy.levels[-1].labels == ("*",)
    assert missing_values(hierarchy, values).is_empty()
    column = values.cast(pl.String) if values.dtype == pl.Categorical else values
    for level in range(len(hierarchy.levels)):
        assert hierarchy.recoding(level).labels_of(column.drop_nulls()).null_count() == 0
    # The order of rows says nothing about a hierarchy.
    assert builder.build("x", values.reverse()) == hierarchy


def test_every_builder_explains_its_options() -> None:
    assert BUILDERS.names() == [
        "calendar", "decades", "from-data", "intervals", "japan-age", "japan-prefecture", "magnitudes", "nested-yaml",
        "ordered-groups", "prefix", "sex",
    ]  # fmt: skip
    for name in BUILDERS:
        part = BUILDERS.get(name)
        assert part.__doc__
        assert all(option.metadata["help"].endswith((".", "…")) for option in fields(part))  # type: ignore[arg-type]


def test_builder_from_text_options_is_the_same_as_from_values() -> None:
    typed = BUILDERS.make_from_text("intervals", {"width": "5", "factors": "2,3", "start": "none", "top": "80"})
    assert typed == Intervals(width=5, factors=(2, 3), start=None, top=80)
    assert BUILDERS.make_from_text("sex", {"values": "M,F"}) == Sex(("M", "F"))


@pytest.mark.parametrize("name", [name for name in BUILDERS if name != "nested-yaml"])
@pytest.mark.parametrize("values", [[], [None, None]])
def test_builder_without_any_value_refuses_or_gives_its_fixed_leaves(name: str, values: list[None]) -> None:
    column = pl.Series("x", values, pl.String)
    if name in ("sex", "japan-prefecture"):
        assert BUILDERS.make(name).build("x", column).has_single_top
    else:
        with pytest.raises(InputError, match="column x: expected at least one value"):
            BUILDERS.make(name).build("x", column)


def test_builders_take_moments_as_they_are_written_and_intervals_refuse_them() -> None:
    moments = pl.Series("x", [dt.datetime(2011, 3, 9, 12, tzinfo=dt.UTC)])
    for name in ("prefix", "calendar", "from-data", "decades"):
        assert BUILDERS.make(name).build("x", moments).leaves == ("2011-03-09 12:00:00+00:00",)
    with pytest.raises(InputError, match="a finite number"):
        BUILDERS.make("intervals").build("x", moments)


def test_sex_of_a_column_with_a_third_value_names_it() -> None:
    assert rows(Sex(("1", "2")).build("sex", pl.Series([2, 2]))) == [("1", "*"), ("2", "*")]
    with pytest.raises(InputError, match="column sex: found 'x'"):
        Sex().build("sex", pl.Series(["male", "x", None]))
    with pytest.raises(InputError, match="two or more"):
        Sex(("male", "male"))


def write(path: Path, text: str) -> NestedYaml:
    path.write_text(text, encoding="utf-8")
    return NestedYaml(str(path))


def test_nested_yaml_pads_short_branches_and_keeps_all_as_text(tmp_path: Path) -> None:
    text = "Europe:\n  North: [no, Sweden]\n  South:\n  - Italy\nAsia: [Japan, 010, 1e3, ~, true]\n"
    hierarchy = write(tmp_path / "tree.yaml", text).build("land", pl.Series(["no", "010", None]))
    assert rows(hierarchy)[:4] == [
        ("no", "North", "Europe", "*"),
        ("Sweden", "North", "Europe", "*"),
        ("Italy", "South", "Europe", "*"),
        ("Japan", "Asia", "Asia", "*"),
    ]
    assert hierarchy.leaves[4:] == ("010", "1e3", "~", "true")


def test_nested_yaml_value_outside_the_tree_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="column land: found 'Peru'"):
        write(tmp_path / "tree.yaml", "Asia: [Japan]\n").build("land", pl.Series(["Japan", "Peru"]))


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("a: [b]\nc: 1\n", 2, "a list of values"),
        ("a: [b]\nc:\n", 2, "a list of values"),
        ("- a\n", 1, "a mapping of labels"),
        ("word\n", 1, "a mapping of labels"),
        ("a:\n- b\n- c: [d]\n", 3, "a value, not a mapping"),
        ("a:\n- b\n- [c]\n", 3, "a value, not a list"),
        ("a:\n- b\n-\n", 3, "a value that is not empty"),
        ("? [a]\n: [b]\n", 1, "a value, not a list"),
        ("a: [b]\na: [c]\n", 2, "stands once"),
        ("a: [b]\nc: [d, b]\n", 2, r"each value once \(see line 1\)"),
        ("A:\n  O: [b]\nB:\n  O: [c]\n", 4, "does not stand below 'A' too"),
        ("a: &all [b]\nc: *all\n", 2, "no aliases"),
        ("a: [b\n", 2, "YAML"),
        ("a: [b]\n\tc: [d]\n", 2, "YAML"),
        ("a: [b]\n---\nc: [d]\n", 2, "one document"),
        ("{a: " * 51 + "[b]" + "}" * 51, 1, "at most 50 levels"),
        ("{a: " * 100_000, 1, "at most 50 levels"),
        ("", None, "at least one value"),
        ("a: []\n", None, "at least one value"),
        ("a: [\0]\n", None, "YAML in UTF-8"),
    ],
)
def test_nested_yaml_what_is_no_tree_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int | None, expected: str
) -> None:
    with pytest.raises(InputError, match=expected) as caught:
        write(tmp_path / "tree.yaml", text).build("x", pl.Series(["b"]))
    assert caught.value.faults[0].file == str(tmp_path / "tree.yaml")
    assert caught.value.faults[0].line == line


def test_nested_yaml_without_a_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a file that exists"):
        NestedYaml(str(tmp_path / "none.yaml")).build("x", pl.Series(["b"]))
    with pytest.raises(InputError, match="the option 'file'"):
        BUILDERS.make("nested-yaml")
