from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.requirement import SAFETY, Requirement
from tokumei.methods.local.top_down import Partition
from tokumei.methods.recipes import Goal
from tokumei.methods.rows import RowRelease, release_rows

CITIES = ["Kyoto", "Osaka", "Tokyo", "Chiba"]
CITY = Hierarchy.of_levels("city", [CITIES, ["west", "west", "east", "east"], ["*"] * 4])
TREES = {"city": CITY, "sex": Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])}
PEOPLE = pl.DataFrame({"city": ["Kyoto", "Kyoto", "Osaka", "Osaka", "Tokyo", "Tokyo", "Chiba"]})
ROW = st.tuples(
    st.sampled_from("fm") | st.none(), st.sampled_from(CITIES) | st.none(), st.integers(20, 26), st.sampled_from("ij")
)


def k_anonymity(k: int) -> list[Requirement]:
    return [SAFETY.make("k-anonymity", k=k)]


def made(people: pl.DataFrame, requirements: list[Requirement], **options: Any) -> RowRelease:
    goal = Goal(requirements, method=Partition(), **options)
    columns = [name for name in people.columns if name not in goal.sensitive]
    return release_rows(people, columns, {name: TREES[name] for name in columns if name in TREES}, goal)


def rows(found: RowRelease) -> list[Any]:
    return found.release.frame.rows()


def test_groups_are_split_as_long_as_parts_hold() -> None:
    assert rows(made(PEOPLE, k_anonymity(2))) == [("Kyoto",)] * 2 + [("Osaka",)] * 2 + [("east",)] * 3


def test_parts_that_fail_are_left_out_where_they_may_be() -> None:
    found = made(PEOPLE, k_anonymity(2), suppression=0.15)
    assert found.n_suppressed == 1
    assert rows(found) == [("Kyoto",)] * 2 + [("Osaka",)] * 2 + [("Tokyo",)] * 2


def test_group_is_split_along_its_own_widest_label() -> None:
    # Sexes are split first, being the first of two as wide. The women are all of one city, and the men of two.
    people = pl.DataFrame(
        {"sex": ["f", "f", "m", "m", "m", "m"], "city": ["Chiba"] * 2 + ["Kyoto"] * 2 + ["Osaka"] * 2}
    )
    assert rows(made(people, k_anonymity(2))) == people.rows()
    # A man of Tokyo fails alone, so that the two of Kyoto join: equal values, different labels.
    moved = people.vstack(pl.DataFrame({"sex": ["m", "f", "f"], "city": ["Tokyo", "Kyoto", "Kyoto"]}))
    cities = [city for _, city in rows(made(moved, k_anonymity(2)))]
    assert cities[:2] == ["Chiba"] * 2
    assert cities[-2:] == ["Kyoto"] * 2
    assert cities[6] not in CITIES


def test_column_of_more_weight_is_split_first() -> None:
    people = pl.DataFrame({"sex": ["f", "m", "f", "m"], "city": ["Kyoto", "Kyoto", "Chiba", "Chiba"]})
    assert rows(made(people, k_anonymity(2))) == [("f", "*"), ("m", "*")] * 2
    heavier = rows(made(people, k_anonymity(2), weights={"city": 3.0}))
    assert heavier == [("*", "Kyoto")] * 2 + [("*", "Chiba")] * 2


@settings(max_examples=cases(60))
@given(st.lists(ROW, min_size=1, max_size=40), st.integers(1, 4), st.sampled_from([0.0, 0.2]), st.booleans())
def test_every_group_holds_and_labels_cover_their_values(
    people: list[Any], k: int, suppression: float, is_diverse: bool
) -> None:
    frame = pl.DataFrame(
        people, schema={"sex": pl.String, "city": pl.String, "age": pl.Int64, "illness": pl.String}, orient="row"
    )
    asked = k_anonymity(k)
    if is_diverse:
        asked.append(SAFETY.make("l-diversity", sensitive="illness", l=2))
    else:
        frame = frame.drop("illness")
    try:
        found = made(frame, asked, suppression=suppression, numeric=["age"])
    except CannotAnonymize:
        assert len(people) < k or is_diverse
        return
    assert found.n_suppressed <= suppression * len(people)
    released = found.release.frame.select("sex", "city", "age").rows()
    assert min(Counter(released).values()) >= k


def test_rows_that_do_not_hold_together_cannot_be_anonymized() -> None:
    with pytest.raises(CannotAnonymize, match="Not even all 7 rows"):
        made(PEOPLE, k_anonymity(8))


def test_requirement_of_a_whole_release_is_refused() -> None:
    # Nine and one have a mean of 5, and eight and one of 4.5; all three groups together have one below 4.
    people = pl.DataFrame({"city": ["Kyoto"] * 8 + ["Osaka", "Tokyo"]})
    with pytest.raises(InputError, match="mondrian"):
        made(people, [SAFETY.make("mean-class-size", size=4.0)])
