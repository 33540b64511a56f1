from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.measures.safety.releases import Intersection, SequentialK
from tokumei.measures.several_releases import SeveralReleases

ILLNESS = ["cold", "ulcer", "flu", "asthma", "flu", "cold"]
FIRST = pl.DataFrame({"at": ["20-39"] * 3 + ["40-59"] * 3, "illness": ILLNESS})
SECOND = pl.DataFrame({"at": ["west"] * 2 + ["east"] * 2 + ["west"] * 2, "illness": ILLNESS})

# A person's class and illness in each of three releases, None where the person is not in it.
People = list[list[tuple[int, int] | None]]


def matched(people: People) -> SeveralReleases:
    frames = []
    for release in range(3):
        rows = [(str(one), *row) for one, indices in enumerate(people) if (row := indices[release])]
        frames.append(pl.DataFrame(rows, schema={"id": pl.String, "at": pl.Int64, "illness": pl.Int64}, orient="row"))
    return SeveralReleases.of(frames, ["at"], sensitive=["illness"], person="id")


def test_k_of_two_releases_is_the_fewest_in_both_classes() -> None:
    both = SeveralReleases.of([FIRST, SECOND], ["at"], sensitive=["illness"])
    score = SequentialK(2).measure(both)
    assert score.value == 1
    assert score.inputs == {
        "k_alone": [3, 2],
        "persons": 6,
        "people_in_all": 6,
        "singled_out": 2,
        "remaining": {"illness": 1},
    }
    assert Intersection.of(both).n_alike.tolist() == [2, 2, 1, 1, 2, 2]
    assert Intersection.of(both).n_remaining("illness").tolist() == [3, 3, 1, 2, 2, 2]
    assert SequentialK(2).holds_for(both).tolist() == [True, True, False, False, True, True]
    assert not SequentialK(2).holds(both)
    assert SequentialK(1).holds(both)


def test_people_who_are_in_one_release_only_are_found_in_that_alone() -> None:
    first = FIRST.with_columns(id=pl.Series(range(6)))
    both = SeveralReleases.of([first, first[:3].with_columns(at=pl.lit("any"))], ["at"], person="id")
    assert Intersection.of(both).n_alike.tolist() == [3, 3, 3, 3, 3, 3]
    assert SequentialK(3).measure(both).inputs["people_in_all"] == 3


def test_value_that_changed_rules_nothing_out() -> None:
    second = SECOND.with_columns(illness=pl.Series(["flu", *ILLNESS[1:]]))
    both = SeveralReleases.of([FIRST, second], ["at"], sensitive=["illness"])
    assert Intersection.of(both).n_remaining("illness").tolist() == [-1, 3, 1, 2, 2, 2]
    nobody = SeveralReleases.of([FIRST[:1], second[:1]], ["at"], sensitive=["illness"])
    assert SequentialK(1).measure(nobody).inputs["remaining"] == {"illness": None}


def test_no_people_have_k_0_and_nothing_fails() -> None:
    nobody = SeveralReleases.of([FIRST[:0], SECOND[:0]], ["at"], sensitive=["illness"])
    assert SequentialK(2).measure(nobody).value == 0
    assert SequentialK(2).holds(nobody)


@given(
    st.lists(st.lists(st.none() | st.tuples(st.integers(0, 1), st.integers(0, 2)), min_size=3, max_size=3), max_size=9)
)
def test_intersection_is_that_of_the_plain_definition(people: People) -> None:
    people = [indices for indices in people if any(indices)]
    together = Intersection.of(matched(people))
    remaining = together.n_remaining("illness").tolist()
    for number, indices in enumerate(people):
        seen = {release: row for release, row in enumerate(indices) if row}
        classes = [
            [other for other in people if (row := other[release]) and row[0] == own[0]] for release, own in seen.items()
        ]
        alike = [other for other in people if all(any(other is one for one in members) for members in classes)]
        assert together.n_alike[number] == len(alike)
        values = [{other[release][1] for other in members} for release, members in zip(seen, classes, strict=True)]  # type: ignore[index]
        is_constant = len({own[1] for own in seen.values()}) == 1
        assert remaining[number] == (len(set.intersection(*values)) if is_constant else -1)


def test_k_below_1_is_an_input_error() -> None:
    with pytest.raises(InputError, match="option k: found '0', expected at least 1"):
        SequentialK(0)
