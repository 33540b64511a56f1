"""What local recodings write, and the loss they tell, equal the plain definition."""

from __future__ import annotations

from typing import Any

import pytest
from tests.definitions import local_recoding
from tests.definitions.cases import random_case

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.measures.safety.class_sizes import KAnonymity
from tokumei.methods.recipes import Goal
from tokumei.methods.registry import TABLE_ANONYMIZERS, LocalRecoder
from tokumei.methods.rows import release_rows

# A table of the user's own says what becomes of values.
METHODS = [
    name
    for name in TABLE_ANONYMIZERS
    if isinstance(TABLE_ANONYMIZERS.make(name), LocalRecoder) and name != "marginal-recoding"
]
# One label for all rows with a value, or cells blotted out: what is written may be coarser than a group needs.
COARSER = ("top-down-specialization", "mu-argus")


@pytest.mark.parametrize("method", METHODS)
def test_cells_are_the_closest_labels_and_the_loss_is_that_of_the_cells(times: int, method: str) -> None:
    n_compared = 0
    for seed in range(25 * times):
        case = random_case(seed)
        columns = case.quasi_identifiers
        k, share = 1 + seed % 3, (0.0, 0.3)[seed % 2]
        goal = Goal([KAnonymity(k)], method=TABLE_ANONYMIZERS.make(method), suppression=share)
        try:
            made = release_rows(case.frame, columns, case.hierarchies, goal)
        except (CannotAnonymize, InputError):
            continue
        n_compared += 1
        assert made.release.rows is not None
        rows = made.release.rows.to_list()
        cells = made.release.frame.select(columns).rows()
        groups: dict[tuple[Any, ...], list[int]] = {}
        for key, row in zip(cells, rows, strict=True):
            groups.setdefault(key, []).append(row)
        for key, members in groups.items():
            assert len(members) >= k
            for name, cell in zip(columns, key, strict=True):
                values = {case.rows[row][name] for row in members}
                tree = local_recoding.with_top(case.trees[name])
                assert local_recoding.is_true_of(tree, cell, values), (seed, cell, values)
                if method not in COARSER:
                    assert cell == local_recoding.closest_label(tree, values), (seed, name)
        if case.rows:
            plain = [
                local_recoding.ncp_of_cell(tree, cell, False)
                for name, tree in case.trees.items()
                for cell in made.release.frame[name]
            ]
            n_gone = (len(case.rows) - len(rows)) * len(columns)
            assert made.loss is not None
            assert made.loss.value == pytest.approx((sum(plain) + n_gone) / (len(case.rows) * len(columns)))
    assert n_compared
