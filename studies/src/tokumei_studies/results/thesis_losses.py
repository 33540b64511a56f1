"""What three losses see of a generalization: table 3 of the thesis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from tokumei.hierarchies.hierarchy import SUPPRESSED, Hierarchy
from tokumei.measures.cell_losses import Dis, Ncp, Prec
from tokumei.measures.losses import Attribute, CellLoss
from tokumei_studies.results._thesis import THESIS, markdown_table
from tokumei_studies.study import Findings, StudyLine

LOSSES: Mapping[str, CellLoss] = {"Prec": Prec(), "DIS": Dis(), "NCP": Ncp()}
# Table 3: whether an index sees how far values went up, and whether it fits levels for all, levels by value, numbers.
TABLE_3 = {"Prec": (1, 1, 0, 0), "DIS": (1, 1, 1, 0), "NCP": (0, 1, 1, 1)}
YEARS = tuple(range(10, 30))


@dataclass(frozen=True)
class ThesisLosses:
    """Asks the losses Prec, DIS and NCP for what table 3 says of them, on the ages of table 2.

    Table 2 has the ages from 10 to 29, in four groups, in two, and one more step hides them. Each mark of table 3 is
    taken as a question with a yes or a no. *Sees the hierarchy*: does the loss of the same release change if the
    hierarchy has one level less? *Levels for all* (DGH): does it rise from 0 to 1 with the level? *Levels by value*
    (VGH): does a value cost nothing that stays as it is while others are grouped? *Numbers*: does it matter how far
    apart the numbers of a group are?
    """

    title: ClassVar[str] = "What three losses see of a generalization"
    source: ClassVar[str] = f"{THESIS}, table 3 and formulas (1) to (4)"
    needs: ClassVar[tuple[str, ...]] = ()
    is_quick: ClassVar[bool] = True

    def run(self, data: Path) -> Findings:  # noqa: ARG002
        """Ask each question of each loss."""
        why = "Yes is 1 and no is 0."
        lines = [
            StudyLine.near(f"{name}: {question}", published, float(answer(loss)), within=0, why=why, digits=0)
            for name, loss in LOSSES.items()
            for (question, answer), published in zip(QUESTIONS.items(), TABLE_3[name], strict=True)
        ]
        return Findings((*lines, *_ends()), remarks=_remarks())


def ages_hierarchy(columns: Sequence[Callable[[int], str]], years: Sequence[int] = YEARS) -> Hierarchy:
    """Make a hierarchy of ages: the years, then a level for each function that gives a year its label."""
    return Hierarchy.of_levels(
        "age", [[str(year) for year in years], *([of(year) for year in years] for of in columns)]
    )


def loss_at(
    loss: CellLoss, hierarchy: Hierarchy, level: int, *, only: Sequence[int] = (), is_numeric: bool = False
) -> float:
    """Return the loss of one person of each age at a level, or of some ages only."""
    has_person = [not only or index in only for index in range(len(hierarchy.leaves))]
    sizes = np.append(np.array(has_person, np.int64), 0)
    return loss.level_cost(Attribute(hierarchy, sizes, is_numeric), level).rise


def five(year: int) -> str:
    """Return the five-year group of a year."""
    return f"{year // 5 * 5}-{year // 5 * 5 + 4}"


def ten(year: int) -> str:
    """Return the ten-year group of a year."""
    return f"{year // 10}0s"


def hidden(year: int) -> str:  # noqa: ARG001
    """Return one label for all years."""
    return SUPPRESSED


def sees_hierarchy(loss: CellLoss) -> bool:
    """Whether the same release costs something else where the hierarchy lacks the level below it."""
    whole, short = ages_hierarchy([five, ten, hidden]), ages_hierarchy([ten, hidden])
    return loss_at(loss, whole, 2) != loss_at(loss, short, 1)


def fits_levels(loss: CellLoss) -> bool:
    """Whether the loss rises with the level, from 0 to 1."""
    whole = ages_hierarchy([five, ten, hidden])
    losses = [loss_at(loss, whole, level) for level in range(4)]
    return losses[0] == 0 and losses[-1] == 1 and losses == sorted(set(losses))


def fits_values(loss: CellLoss) -> bool:
    """Whether values that stay as they are while others are grouped cost nothing, and the others something."""
    mixed = ages_hierarchy([lambda year: five(year) if year < 20 else str(year), ten, hidden])
    kept, grouped = range(10, 20), range(10)
    return loss_at(loss, mixed, 1, only=kept) == 0 and loss_at(loss, mixed, 1, only=grouped) > 0


def fits_numbers(loss: CellLoss) -> bool:
    """Whether the same groups cost something else where their numbers are farther apart."""
    far = [*range(10, 20), *range(20, 120, 10)]
    near, wide = ages_hierarchy([ten, hidden]), ages_hierarchy([lambda year: ten(min(year, 20)), hidden], far)
    return loss_at(loss, near, 1, is_numeric=True) != loss_at(loss, wide, 1, is_numeric=True)


QUESTIONS: Mapping[str, Callable[[CellLoss], bool]] = {
    "sees the hierarchy": sees_hierarchy,
    "levels for all": fits_levels,
    "levels by value": fits_values,
    "numbers": fits_numbers,
}


def _ends() -> list[StudyLine]:
    """Compare what the text says of the ends with the losses, and with formula (1) as it is printed."""
    whole = ages_hierarchy([five, ten, hidden])
    lines = []
    for name in ("Prec", "DIS"):
        for what, published, level in (("nothing generalized", 0, 0), ("all generalized", 1, whole.height)):
            computed = loss_at(LOSSES[name], whole, level)
            why = "As the text says; exact."
            lines.append(StudyLine.near(f"{name}, {what}", published, computed, within=0, why=why, digits=0))
    why = (
        "Formula (1) takes the mean height from 1, and so is 1 where nothing was generalized and 0 where all was: it "
        "is what was kept. The text below it says the opposite, which is what was lost. Tokumei takes the loss."
    )
    for what, published, level in (("nothing generalized", 0, 0), ("all generalized", 1, whole.height)):
        computed = 1 - level / whole.height
        lines.append(StudyLine.near(f"Prec by formula (1), {what}", published, computed, within=0, why=why, digits=0))
    return lines


def _remarks() -> tuple[str, ...]:
    whole = ages_hierarchy([five, ten, hidden])
    names = ("20 ages", "4 groups", "2 groups", "hidden")
    rows = [
        [name, *(f"{loss_at(loss, whole, level):.3f}" for loss in LOSSES.values()), f"{_width(whole, level):.3f}"]
        for level, name in enumerate(names)
    ]
    table = markdown_table(["release", *LOSSES, "NCP, as numbers"], rows)
    return (
        f"The losses of one person of each age, at each level of table 2.\n\n{table}",
        "Formula (3) gives a category that was left alone 1/Card(A), here 0.05. Xu et al., whose index it is, and "
        "Tokumei give it 0: nothing was lost.",
        "The thesis adds that none of the three sees values that are changed within a level, such as 9 for 10. That is "
        "so by definition: they are told the levels, not the values.",
    )


def _width(hierarchy: Hierarchy, level: int) -> float:
    return loss_at(LOSSES["NCP"], hierarchy, level, is_numeric=True)
