from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attacks.disclosure.threat_models import threat_model
from tests.cases import cases

from tokumei.attacks import candidates as module
from tokumei.attacks.candidates import CandidateRecords, Candidates, People, target_people
from tokumei.attacks.threat_model import ThreatModel
from tokumei.hierarchies.hierarchy import Hierarchy

TOWNS = Hierarchy.of_levels("town", [["A", "B", "C"], ["north", "north", "south"], ["*", "*", "*"]])
LEAVES: dict[str | None, set[str | None]] = {
    **{label: {label} for label in "ABC"},
    "north": {"A", "B"},
    "south": {"C"},
    "*": {"A", "B", "C", None},
    "{A;C}": {"A", "C"},
    None: {None},
}
RANGES = {"20-24": range(20, 25), "[22, 29)": range(22, 29), "25": range(25, 26), "*": range(100)}


def drawn_threat_model(people: list[Any], records: list[Any], known: list[Any]) -> ThreatModel:
    original = {"town": [town for town, _ in people], "age": [age for _, age in people]}
    released = {"town": [town for town, _ in records], "age": [age for _, age in records]}
    return threat_model(
        {name: pl.Series(column, dtype=pl.String if name == "town" else pl.Int64) for name, column in original.items()},
        {name: pl.Series(column, dtype=pl.String) for name, column in released.items()},
        rows=[row % len(people) for row in range(len(records))],
        hierarchies={"town": TOWNS},
        known_cells=np.array(known, bool).reshape(len(people), 2),
    )


def plain_fits(person: tuple[Any, Any], record: tuple[Any, Any], known: Any) -> bool:
    (town, age), (town_label, age_label) = person, record
    return (not known[0] or town in LEAVES[town_label]) and (not known[1] or age in RANGES[age_label])


# Labels of one level have no leaf in common: then classes are looked up.
LEVEL = st.lists(st.tuples(st.sampled_from(["north", "south", None]), st.sampled_from(["20-24", "25"])), max_size=90)
PEOPLE = st.lists(st.tuples(st.sampled_from(["A", "B", "C", None]), st.integers(20, 29)), min_size=1, max_size=8)
RECORDS = st.lists(st.tuples(st.sampled_from(list(LEAVES)), st.sampled_from(list(RANGES))), min_size=1, max_size=90)


@settings(max_examples=cases(60))
@given(PEOPLE, RECORDS | LEVEL.filter(bool), st.data(), st.sampled_from([1, 1 << 25]), st.sampled_from([0, 256]))
def test_candidates_equal_a_plain_double_loop(
    people: list[Any], records: list[Any], data: st.DataObject, piece_bits: int, few_labels: int
) -> None:
    everything = data.draw(st.booleans())
    known = [(True, True) if everything else data.draw(st.tuples(st.booleans(), st.booleans())) for _ in people]
    drawn = drawn_threat_model(people, records, known)
    # Only those who have a record are looked for.
    people, known = people[: len(records)], known[: len(records)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PIECE_BITS", piece_bits)
        patch.setattr(module, "FEW_LABELS", few_labels)
        found, released = target_people(drawn, 1), CandidateRecords.of(drawn, drawn.published.table.frame, "release")
        candidates = Candidates(found, released)
        n_fitting = candidates.counts()[found.class_of]
        dense = np.zeros((len(found.indices), released.n_classes), bool)
        for classes, matrix in candidates.matrices():
            dense[classes] = matrix.toarray() > 0
    fits = [[plain_fits(one, record, cells) for record in records] for one, cells in zip(people, known, strict=True)]
    assert n_fitting.tolist() == [sum(row) for row in fits]
    assert (dense[found.class_of][:, released.class_of] == np.array(fits)).all()
    for person, row in enumerate(fits):
        everywhere = np.arange(len(records))
        assert released.fit(found, np.full(len(records), person), everywhere).tolist() == row


def test_nothing_known_fits_every_record() -> None:
    nothing = threat_model({"town": ["A", "B"]}, {"town": ["A", "B"]}, known_share=0.0)
    people, records = target_people(nothing, 1), CandidateRecords.of(nothing, nothing.published.table.frame, "release")
    assert Candidates(people, records).counts().tolist() == [2]


def test_candidates_without_a_column_are_all_records() -> None:
    people = People.of_indices([], 3)
    records = CandidateRecords.of_labels([], [], 70)
    assert Candidates(people, records).counts()[people.class_of].tolist() == [70, 70, 70]


def test_people_whom_no_release_tells_apart_are_one_class() -> None:
    people = {"town": ["A", "B", "C", "C"], "age": [20, 21, 22, 25]}
    drawn = threat_model(
        people,
        {"town": ["north", "north", "south", "south"], "age": ["20-24", "20-24", "20-24", "25"]},
        hierarchies={"town": TOWNS},
    )
    found = target_people(drawn, 1)
    # (A, 20) and (B, 21) fit the same records whatever is published at these levels.
    assert found.class_of.tolist() == [0, 0, 1, 2]
    assert len(found.indices) == 3
