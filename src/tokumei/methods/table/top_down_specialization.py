"""Start with labels that tell nothing, and make one of them finer at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

from tokumei.core.progress import step
from tokumei.methods.local.recoding import LocalRecoding
from tokumei.methods.local.specializing import Specializing
from tokumei.methods.local.task import RANGES_HELP, LocalTask, Ranges, check_ranges


@dataclass(frozen=True)
class TopDownSpecialization:
    """Replace one label by those below it, for all rows at once, as long as the release still meets what is asked.

    Every column starts at the top of its hierarchy. Each step takes a label of one column and gives every row that has
    it the label one level below. So the labels of a column may stand at different levels, but equal values always get
    equal labels, and the hierarchies' levels must nest. The step taken is the one by which the loss (the certainty
    penalty, times the weight of the column) falls most for the anonymity it costs: the fall divided by 1 more than the
    rows that the smallest class loses. It ends when every step left would break a requirement or gain nothing. Where
    rows may be left out, those of classes that fail are, as long as they are few enough, and each counts as all lost. A
    column of numbers that has no hierarchy but its values is labeled by ranges, each cut in two at the median of its
    rows; a range ends with the least and the greatest value that is released. A missing value is part of the label that
    tells nothing, and a value of its own below it.

    Fung, Wang and Yu, Top-down specialization for information and privacy preservation (ICDE 2005). `partition` makes
    labels finer group by group.

    Example: seven people in classes of two, Kyoto and Osaka being `west`, Tokyo and Chiba `east`. `*` costs 1 in every
    row, `west` and `east` 1/2: a fall of 1/2, and the smallest class goes from 7 rows to 3. Next are the cities of the
    west, two and two. Those of the east would leave one person of Chiba alone.

    | city | becomes |
    |---|---|
    | Kyoto | Kyoto |
    | Kyoto | Kyoto |
    | Osaka | Osaka |
    | Osaka | Osaka |
    | Tokyo | east |
    | Tokyo | east |
    | Chiba | east |
    """

    ranges: Ranges = field(default="grid", metadata={"help": RANGES_HELP})

    def __post_init__(self) -> None:
        check_ranges(self.ranges)

    def recode_locally(self, task: LocalTask, *, seed: int) -> LocalRecoding:  # noqa: ARG002 - nothing is drawn.
        """Take steps until none holds; CannotAnonymize if even the labels that tell nothing do not."""
        for attribute in task.attributes:
            attribute.hierarchy.check_nested()
        specializing = Specializing(task.with_ranges(self.ranges))
        with step("making labels finer"):
            found = specializing.run()
        if found.n_suppressed > task.n_may_suppress:
            raise task.too_many_out(found.n_suppressed)
        return specializing.recoding()
