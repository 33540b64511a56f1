from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attacks.disclosure.threat_models import threat_model
from tests.cases import cases

from tokumei.attacks import attribute_inference as module
from tokumei.attacks.attribute_inference import SensitiveRecords, blind_chances, infer, infer_excluding, true_values
from tokumei.attacks.candidates import drawn_success, target_people

MEANINGS: dict[str, list[int | None]] = {"1": [1], "1.0": [1], "2": [2], "3": [3], "1-2": [1, 2], "*": [1, 2, 3, None]}
PERSON = st.tuples(st.sampled_from("AB"), st.sampled_from([1, 2, 3]), st.sampled_from(["A", "B", "*"]))
RECORDS = st.lists(st.tuples(PERSON, st.sampled_from(list(MEANINGS))), min_size=1, max_size=9)


@pytest.mark.slow
@settings(max_examples=cases(80))
@given(RECORDS, st.sampled_from([3, 1 << 21]))
def test_tell_equals_a_plain_loop_and_excluding_nothing(
    records: list[tuple[tuple[str, int, str], str]], n_cells: int
) -> None:
    # Three more people, so that the leaves are known whatever is drawn.
    people = [*(person for person, _ in records), ("A", 1, "A"), ("B", 2, "A"), ("A", 3, "A")]
    labels = [*(label for _, label in records), "1", "2", "3"]
    one = threat_model(
        {"town": [town for town, _, _ in people], "value": [value for _, value, _ in people]},
        {"town": [town for _, _, town in people], "value": labels},
        ["value"],
    )
    released, found = SensitiveRecords.of(one, "value"), target_people(one, 1)
    values = true_values(one, "value", one.original.frame, "original")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PIECE_CELLS", n_cells)
        inferred, again = (
            infer(released, found, values),
            infer_excluding(released, found, values, 0, purpose="", seed=1),
        )
    for mine, other in zip(vars(inferred).values(), vars(again).values(), strict=True):
        assert mine.tolist() == pytest.approx(other.tolist())
    blind = blind_chances(released, values)
    for person, (town, value, _) in enumerate(people):
        seen = [
            "1" if label == "1.0" else label
            for (_, _, at), label in zip(people, labels, strict=True)
            if at in (town, "*")
        ]
        most = max((seen.count(label) for label in seen), default=0)
        modes = {label for label in seen if seen.count(label) == most}
        chances = [(value in MEANINGS[label]) / len(MEANINGS[label]) for label in modes]
        expected = sum(chances) / len(chances) if chances else blind[person]
        assert inferred.chances[person] == pytest.approx(expected)
        assert inferred.n_values[person] == len(set(seen))
        assert inferred.is_certain[person] == (set(seen) == {str(value)})


@pytest.mark.slow
@settings(max_examples=cases(80))
@given(RECORDS, st.integers(1, 2), st.sampled_from([3, 1 << 21]))
def test_excluding_equals_a_plain_loop_over_people(
    records: list[tuple[tuple[str, int, str], str]], n_excluded: int, n_cells: int
) -> None:
    people = [*(person for person, _ in records), ("A", 1, "A"), ("B", 2, "A"), ("A", 3, "A")]
    labels = [*(label for _, label in records), "1", "2", "3"]
    one = threat_model(
        {"town": [town for town, _, _ in people], "value": [value for _, value, _ in people]},
        {"town": [town for _, _, town in people], "value": labels},
        ["value"],
    )
    released, found = SensitiveRecords.of(one, "value"), target_people(one, 1)
    values = true_values(one, "value", one.original.frame, "original")
    ruled_out = module._excluded(released, values, n_excluded, "", 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PIECE_CELLS", n_cells)
        inferred = infer_excluding(released, found, values, n_excluded, purpose="", seed=1)
    blind = blind_chances(released, values)
    numbers = {index: value for index, (_, value, _) in zip(values.tolist(), people, strict=True)}
    for person, (town, value, _) in enumerate(people):
        gone = {numbers[index] for index in ruled_out[person].tolist() if index in numbers}
        # What a label still says: its values without those ruled out; one value alone is the same from any label.
        left = []
        for (_, _, at), label in zip(people, labels, strict=True):
            rest = tuple(meant for meant in MEANINGS[label] if meant not in gone)
            if at in (town, "*") and rest:
                left.append(rest if len(rest) == 1 else (label, *rest))
        most = max((left.count(told) for told in left), default=0)
        modes = {told for told in left if left.count(told) == most}
        chances = [(value in told) / sum(not isinstance(each, str) for each in told) for told in modes]
        assert inferred.chances[person] == pytest.approx(sum(chances) / len(chances) if chances else blind[person])
        assert inferred.n_values[person] == len(set(left))
        assert inferred.is_certain[person] == (set(left) == {(value,)})


@given(st.lists(st.sampled_from([0.0, 0.1, 1 / 3, 0.5, 1.0]), min_size=1, max_size=50), st.randoms())
def test_expected_success_is_the_plain_mean_whatever_the_order(chances: list[float], order: random.Random) -> None:
    shuffled = chances.copy()
    order.shuffle(shuffled)
    found = [
        drawn_success("success", np.array(some), 0.0, purpose="a test", seed=1).inputs["expected"]
        for some in (chances, shuffled)
    ]
    assert found[0] == found[1] == pytest.approx(math.fsum(chances) / len(chances), rel=1e-14)


@given(st.lists(st.integers(0, 30), max_size=8), st.sets(st.integers(0, 30)), st.integers(31, 60))
def test_keys_looked_up_in_a_table_are_those_that_searching_finds(
    wanted: list[int], keys: set[int], n_keys: int
) -> None:
    asked, known = np.array(wanted, np.int64), np.array(sorted(keys), np.int64)
    plain = [one in keys for one in wanted]
    for factor in (0, 1000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "DENSE_FACTOR", factor)
            assert module._is_in(asked, known, n_keys).tolist() == plain
