"""Builders of text, groups and Japan's prefectures and ages: answers worked out by hand."""

from pathlib import Path

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.hierarchies.builders.from_data import FromData
from tokumei.hierarchies.builders.groups import OrderedGroups, Prefix
from tokumei.hierarchies.builders.people import JapanAge, JapanPrefecture
from tokumei.hierarchies.hierarchy import Hierarchy

POPULATION = Path(__file__).resolve().parents[3] / "shared" / "data" / "japan_population"
ESTIMATE = POPULATION / "japan_popestimate_2011_pref46_age5.csv.gz"
CENSUS = POPULATION / "japan_census_2010_pref47_age5_sex.csv.gz"


def rows(hierarchy: Hierarchy) -> list[tuple[str, ...]]:
    """The labels of each leaf without the top, from the leaf up."""
    return list(zip(*(hierarchy.labels_at(level) for level in range(hierarchy.height)), strict=True))


def test_prefix_masks_from_the_right() -> None:
    assert rows(Prefix().build("zip", pl.Series(["123", "129"]))) == [
        ("123", "12*", "1**"),
        ("129", "12*", "1**"),
    ]


def test_prefix_of_unequal_lengths_pads_the_shorter() -> None:
    assert rows(Prefix(step=2, mask="#").build("zip", pl.Series(["12345", "12", "9"]))) == [
        ("12", "12###", "1####"),
        ("12345", "123##", "1####"),
        ("9", "9####", "9####"),
    ]


def test_prefix_of_single_characters_has_only_the_top() -> None:
    assert Prefix().build("x", pl.Series([1, 2])).height == 1


@pytest.mark.parametrize("options", [{"step": 0}, {"mask": ""}, {"mask": "**"}])
def test_prefix_bad_option_is_named(options: dict[str, int]) -> None:
    with pytest.raises(InputError, match=f"option {next(iter(options))}"):
        Prefix(**options)  # type: ignore[arg-type]


def test_ordered_groups_by_name_then_by_size() -> None:
    builder = OrderedGroups(groups=("low=a|b", "mid=c", "high=d|e"), sizes=(2,))
    assert rows(builder.build("x", pl.Series(["e", "a"]))) == [
        ("a", "low", "low..mid"),
        ("b", "low", "low..mid"),
        ("c", "mid", "low..mid"),
        ("d", "high", "high"),
        ("e", "high", "high"),
    ]


def test_ordered_groups_by_size_count_neighbors_of_the_level_before() -> None:
    assert rows(OrderedGroups(sizes=(2, 2)).build("x", pl.Series(["10", "9", "2", "1", "30"]))) == [
        ("1", "..2", "..10"),
        ("2", "..2", "..10"),
        ("9", "9..10", "..10"),
        ("10", "9..10", "..10"),
        ("30", "30", "30"),
    ]


def test_ordered_groups_in_a_given_order() -> None:
    builder = OrderedGroups(order=("none", "some", "much"), sizes=(2,))
    assert builder.build("x", pl.Series(["much", "none"])).labels_at(1) == ["none..some", "none..some", "much"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": ("low",)}, "name=value"),
        ({"groups": ("low=a||b",)}, "name=value"),
        ({"groups": ("low=a", "high=a")}, "found 'a', expected each name once"),
        ({"groups": ("low=a", "low=b")}, "found 'low', expected each name once"),
        ({"order": ("a", "a")}, "option order"),
        ({"sizes": (1,)}, "option sizes"),
    ],
)
def test_ordered_groups_bad_option_is_named(options: dict[str, tuple[str, ...]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        OrderedGroups(**options)  # type: ignore[arg-type]


def test_ordered_groups_value_outside_groups_or_order_is_named() -> None:
    for builder in (OrderedGroups(groups=("low=a",)), OrderedGroups(order=("a",))):
        with pytest.raises(InputError, match="column x: found 'z'"):
            builder.build("x", pl.Series(["a", "z"]))
    with pytest.raises(InputError, match="found 'b', expected a value of one of the groups"):
        OrderedGroups(groups=("low=a",), order=("a", "b")).build("x", pl.Series(["a"]))


def test_ordered_groups_label_that_makes_levels_cross_is_refused() -> None:
    # The run a..b and the value 'a..b' would be one label at the first level and two at the second.
    with pytest.raises(InputError):
        OrderedGroups(order=("a", "b", "c", "d", "a..b"), sizes=(2, 2)).build("x", pl.Series(["a"]))


def test_from_data_of_text_joins_neighbors_in_the_alphabet() -> None:
    assert rows(FromData(fan_out=2, read_as="text").build("x", pl.Series(list("gfedcbaa")))) == [
        ("a", "..b", "..d"),
        ("b", "..b", "..d"),
        ("c", "c..d", "..d"),
        ("d", "c..d", "..d"),
        ("e", "e..f", "e.."),
        ("f", "e..f", "e.."),
        ("g", "g", "e.."),
    ]
    tight = FromData(fan_out=2, read_as="text", ranges="tight").build("x", pl.Series(list("gfedcbaa")))
    assert tight.labels_at(2) == [*["a..d"] * 4, *["e..g"] * 3]
    with pytest.raises(InputError, match="grid or tight"):
        FromData(ranges="loose")  # type: ignore[arg-type]


def test_ordered_groups_of_the_columns_own_values_are_open_at_both_ends() -> None:
    values = pl.Series(list("dcba"))
    assert OrderedGroups(sizes=(2,)).build("x", values).labels_at(1) == ["..b", "..b", "c..", "c.."]
    # A given order is public.
    given = OrderedGroups(order=("a", "b", "c", "d"), sizes=(2,)).build("x", values)
    assert given.labels_at(1) == ["a..b", "a..b", "c..d", "c..d"]


def test_from_data_of_words_keeps_them_unordered() -> None:
    assert rows(FromData(fan_out=2).build("x", pl.Series(["b", "a", "c"]))) == [("a",), ("b",), ("c",)]


def test_from_data_of_codes_with_leading_zeros_is_of_text() -> None:
    codes = pl.Series(["0120", "7", "31"])
    assert rows(FromData(fan_out=2).build("x", codes)) == [("0120",), ("31",), ("7",)]
    as_text = FromData(fan_out=2, read_as="text").build("x", codes)
    assert as_text.labels_at(1) == ["..31", "..31", "7"]
    as_numbers = FromData(groups=2, read_as="numbers").build("x", codes)
    assert rows(as_numbers) == [("7", "0-99"), ("31", "0-99"), ("0120", "100-139")]
    as_text = FromData(fan_out=2, read_as="text").build("x", pl.Series(["7", "31", "120"]))
    assert as_text.leaves == ("120", "31", "7")


def test_from_data_numbers_among_words_are_refused_as_numbers() -> None:
    with pytest.raises(InputError, match="found 'a'"):
        FromData(read_as="numbers").build("x", pl.Series(["1", "a"]))


@pytest.mark.parametrize(("names", "tokyo", "expected"), [
    ("ja", "東京都", ("東京都", "関東", "東日本")),
    ("en", "Tokyo", ("Tokyo", "Kanto", "East Japan")),
    ("code", "13", ("13", "Kanto", "East Japan")),
])  # fmt: skip
def test_japan_prefecture_has_all_47_in_nine_regions_and_two_halves(
    names: str, tokyo: str, expected: tuple[str, ...]
) -> None:
    hierarchy = JapanPrefecture(names).build("pref", pl.Series([tokyo, None]))  # type: ignore[arg-type]
    assert [len(level) for level in hierarchy.levels] == [47, 9, 2, 1]
    assert rows(hierarchy)[12] == expected


def test_japan_prefecture_codes_are_numbers_or_text_with_zeros() -> None:
    builder = JapanPrefecture("code")
    assert builder.build("pref", pl.Series([1, 47])).leaves[0] == "1"
    assert builder.build("pref", pl.Series(["01", "47"])).leaves[0] == "01"
    with pytest.raises(InputError, match="found '48'"):
        builder.build("pref", pl.Series([48]))


def test_japan_prefecture_unknown_values_are_named() -> None:
    with pytest.raises(InputError, match="column pref: found '東京'"):
        JapanPrefecture().build("pref", pl.Series(["東京", "大阪府"]))


@pytest.mark.skipif(not CENSUS.exists(), reason="the population of Japan is not beside the checkout")
def test_japan_prefecture_names_and_codes_are_those_of_the_census() -> None:
    census = pl.read_csv(CENSUS, infer_schema=False).unique("pref_code", maintain_order=True)
    estimate = pl.read_csv(ESTIMATE).unique("pref_code")
    in_japanese = JapanPrefecture("ja").build("pref", census["pref"])
    assert in_japanese.leaves == tuple(census["pref"].to_list())
    assert JapanPrefecture("code").build("pref", census["pref_code"]).leaves == tuple(census["pref_code"].to_list())
    in_english = JapanPrefecture("en").build("pref", estimate["pref"]).leaves
    assert all(in_english[code - 1] == name for code, name in estimate.select("pref_code", "pref").rows())


@pytest.mark.skipif(not ESTIMATE.exists(), reason="the population of Japan is not beside the checkout")
def test_japan_halves_give_the_k_of_two_classes_that_the_thesis_prints() -> None:
    estimate = pl.read_csv(ESTIMATE)
    half = JapanPrefecture("en").build("pref", estimate["pref"]).recoding(2).labels_of(estimate["pref"])
    west = estimate.filter(half == "West Japan")["population_thousand"].sum()
    # The mean of the west and of the men, of whom there were 62,184 thousand, give or take the rounding of 46 sums.
    assert (float(west) + 62_184) / 2 == pytest.approx(54_556, abs=5)


def test_japan_age_bands_and_their_bounds() -> None:
    hierarchy = JapanAge((9, 5, 3)).build("age", pl.Series(["30"]))
    assert hierarchy.leaves == tuple(str(age) for age in range(120))
    assert hierarchy.levels[1].labels == ("0s", "10s", "20s", "30s", "40s", "50s", "60s", "70s", "80+")
    assert hierarchy.levels[2].labels == ("0-29", "30s", "40s", "50s", "60+")
    assert hierarchy.levels[3].labels == ("minor", "adult", "senior")
    labels = rows(hierarchy)
    assert [labels[age][1:] for age in (19, 20, 29, 30, 59, 60, 80)] == [
        ("10s", "0-29", "minor"),
        ("20s", "0-29", "adult"),
        ("20s", "0-29", "adult"),
        ("30s", "30s", "adult"),
        ("50s", "50s", "adult"),
        ("60s", "60+", "senior"),
        ("80+", "60+", "senior"),
    ]


def test_japan_age_five_and_three_bands_cross_and_both_follow_from_nine() -> None:
    hierarchy = JapanAge((9, 5, 3)).build("age", pl.Series([30]))
    assert not hierarchy.is_nested
    assert hierarchy.above == ((1,), (2, 3), (4,), (4,), ())
    assert JapanAge((9, 3)).build("age", pl.Series([30])).is_nested


def test_japan_age_beyond_119_is_covered_too() -> None:
    assert JapanAge().build("age", pl.Series([3, 122])).leaves[-1] == "122"


@pytest.mark.parametrize(("values", "found"), [([-1], "-1"), ([2.5], "2.5"), ([1000], "1000"), (["039"], "039")])
def test_japan_age_of_what_is_no_age_names_it(values: list[object], found: str) -> None:
    with pytest.raises(InputError, match=f"column age: found '{found}'"):
        JapanAge().build("age", pl.Series(values))


@pytest.mark.parametrize("bands", [(5, 9), (9, 9), (4,)])
def test_japan_age_other_bands_are_refused(bands: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="some of 9, 5 and 3"):
        JapanAge(bands)


@pytest.mark.skipif(not ESTIMATE.exists(), reason="the population of Japan is not beside the checkout")
def test_japan_age_three_bands_give_the_k_that_the_thesis_prints_for_27_classes() -> None:
    okinawa = pl.read_csv(ESTIMATE).filter(pl.col("pref") == "Okinawa")
    ages = okinawa["age_group"].str.extract(r"([0-9]+)").cast(pl.Int64)
    bands = JapanAge((3,)).build("age", ages).recoding(1).labels_of(ages)
    sizes = okinawa.group_by(bands.alias("band")).agg(pl.col("population_thousand").sum())
    assert dict(sizes.rows()) == {"minor": 332, "adult": 731, "senior": 336}
