"""Cluster rows so that the labels they share cover as few values as possible."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tokumei.core.errors import InputError
from tokumei.measures.loss.ncp import Ncp
from tokumei.methods.local.halving import halve_groups
from tokumei.methods.local.joining import Extents, refuse_population
from tokumei.methods.local.merging import LARGEST_BLOCK, check_block, merge_failing, without_failing
from tokumei.methods.local.recoding import LocalRecoding
from tokumei.methods.local.task import RANGES_HELP, Ints, LocalTask, Ranges, check_ranges


@dataclass(frozen=True)
class UtilityClustering:
    """Build groups of rows that hold by the least weighted certainty penalty, from single rows up or from all down.

    - `bottom-up`: each group that fails, smallest first, joins the group with which the penalty of all rows grows
      least, in rounds until none fails. Then every group of twice the rows that k asks for is cut in two, around the
      two combinations of values that are furthest apart, as long as both parts hold.
    - `top-down`: the same cuts, starting with all rows in one group; quicker, and mostly worse.

    The penalty of a label is the share of its column's values that it covers, or of its width if it is numeric; the
    weights of the columns say which ones matter. What fails at the end is left out, as far as that is allowed. Large
    tables are first cut into blocks, halves of as many combinations around the two furthest apart, and merged inside
    each: one block that holds all is the plain method. Promises whatever is required of classes, not that the penalty
    is the least there is (after Xu, Wang, Pei, Wang, Shi and Fu 2006, where parts are grown row by row).

    Example: age, and city with Kyoto, Osaka = west and Tokyo, Chiba = east; k = 2, bottom-up.

    | row | | becomes | why |
    |---|---|---|---|
    | 31 | Kyoto | 31-35, west | with 35 Osaka: 4 of 49 years, 2 of 4 cities |
    | 35 | Osaka | 31-35, west | joined by 31 |
    | 42 | Tokyo | 42-80, east | with 44 Tokyo: 2 of 49 years, no other city |
    | 44 | Tokyo | 42-80, east | joined by 42 |
    | 80 | Chiba | 42-80, east | to 42-44 Tokyo: 38 of 49 years, 2 of 4 cities; to the others all of both |

    The penalty is ((2 · 4 + 3 · 38) / 49 / 5 + 1/2) / 2 = 0.499.
    """

    kind: Literal["bottom-up", "top-down"] = field(
        default="bottom-up", metadata={"help": "Merge from single rows up, or cut from all rows down."}
    )
    block: int = field(
        default=LARGEST_BLOCK,
        metadata={"help": "For bottom-up: the most combinations of values that are compared with each other."},
    )

    ranges: Ranges = field(default="grid", metadata={"help": RANGES_HELP})

    def __post_init__(self) -> None:
        check_ranges(self.ranges)
        if self.kind not in ("bottom-up", "top-down"):
            raise InputError.of("bottom-up or top-down", option="kind", value=self.kind)
        check_block(self.block)

    def recode_locally(self, task: LocalTask, *, seed: int) -> LocalRecoding:
        """Return the labels of the groups; CannotAnonymize if nothing holds."""
        refuse_population(task, "utility-clustering")
        task = task.with_ranges(self.ranges)
        extents = Extents.of(task, Ncp())
        group_of = without_failing(task, self._first_groups(task, extents, seed))
        return LocalRecoding.of_groups(task, halve_groups(task, extents, group_of))

    def _first_groups(self, task: LocalTask, extents: Extents, seed: int) -> Ints:
        """Return the groups that are then cut as far as they hold."""
        if self.kind == "top-down":
            return np.zeros(task.n_classes, np.int64)
        return merge_failing(task, extents, block=self.block, order="smallest", seed=seed)
