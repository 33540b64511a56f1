"""Whether groups meet what is asked, those without rows included."""

from __future__ import annotations

import numpy as np

from tokumei.methods.local.task import Bools, Ints, LocalTask


def may_be_empty(task: LocalTask) -> bool:
    """Whether people of the population may stand in a group of no rows.

    They may unless everybody must seem to be in the release with some chance, as δ-presence can ask.
    """
    return not any(getattr(one, "delta_min", 0.0) > 0 for one in task.requirements)


def groups_hold(task: LocalTask, classes: Ints, group_at: Ints, rows: Ints) -> Bools:
    """Return for each group whether it meets every requirement, from some classes, the group of each and all rows."""
    if task.is_only_k:
        return rows >= task.least_size
    group_of = np.full(task.n_classes, -1, np.int64)
    group_of[classes] = group_at
    holds = task.holds(group_of, len(rows))
    return holds | (rows == 0) if may_be_empty(task) else holds
