"""Merge rare combinations with the one whose joint labels lie the fewest steps up the value trees."""

from __future__ import annotations

from dataclasses import dataclass, field

from tokumei.core.errors import InputError
from tokumei.measures.loss.dis import Dis
from tokumei.methods.local.joining import Extents, refuse_population
from tokumei.methods.local.merging import LARGEST_BLOCK, Order, check_block, merge_failing, without_failing
from tokumei.methods.local.recoding import LocalRecoding
from tokumei.methods.local.task import RANGES_HELP, LocalTask, Ranges, check_ranges


@dataclass(frozen=True)
class MinDis:
    """Merge each group of rows that fails with the one that raises the distortion DIS least, until none fails.

    Every combination of values starts as a group of its own. In rounds, each group that fails joins the group with
    which the sum over all cells of steps up the value tree / height grows least; a group that others have joined waits
    for the next round. What fails when all is merged is left out, as far as that is allowed. A numeric column is
    written as a range, which has no steps: there its width counts, as a share of the whole. Large tables are first cut
    into blocks of similar combinations, halves around the two that are furthest apart, and merged inside each: one
    block that holds all is the plain method. Promises whatever is required of classes, but not that no other grouping
    has less distortion (minDIS; Muramoto, Kamidoi and Wakabayashi 2007, where the next group is drawn at random).

    Example: sex, and town with Kyoto, Osaka = west and Tokyo, Chiba = east; k = 2.

    | row | | becomes | why |
    |---|---|---|---|
    | f | Kyoto | f, * | with f Osaka: 1 of 2 steps in one of 2 columns, the least there is |
    | f | Osaka | f, * | joined by Kyoto: f, west |
    | f | Tokyo | f, * | to f west: 2 of 2 steps for three, less than 3 · ½ for another sex |
    | m | Tokyo | m, east | joined by Chiba |
    | m | Tokyo | m, east | as above |
    | m | Chiba | m, east | with m Tokyo: 1 of 2 steps |

    Each of the first three cells of town lies 2/2 up, each of the last three 1/2: DIS = (3 · 1 + 3 · ½) / 12 = 0.375.
    """

    order: Order = field(
        default="smallest",
        metadata={"help": "Which group is merged next: smallest first, or at random by the seed as in the paper."},
    )
    block: int = field(
        default=LARGEST_BLOCK, metadata={"help": "The most combinations of values that are compared with each other."}
    )

    ranges: Ranges = field(default="grid", metadata={"help": RANGES_HELP})

    def __post_init__(self) -> None:
        check_ranges(self.ranges)
        if self.order not in ("smallest", "random"):
            raise InputError.of("smallest or random", option="order", value=self.order)
        check_block(self.block)

    def recode_locally(self, task: LocalTask, *, seed: int) -> LocalRecoding:
        """Return the labels of the merged groups; CannotAnonymize if nothing holds."""
        refuse_population(task, "min-dis")
        task = task.with_ranges(self.ranges)
        extents = Extents.of(task, Dis())
        group_of = merge_failing(task, extents, block=self.block, order=self.order, seed=seed)
        return LocalRecoding.of_groups(task, without_failing(task, group_of))
