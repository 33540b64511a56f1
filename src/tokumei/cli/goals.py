"""What is asked of a release of a table, as options of the commands that make and compare releases."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tokumei.cli.options import names, pairs
from tokumei.cli.requirements import Asked
from tokumei.core.errors import InputError

if TYPE_CHECKING:
    from tokumei.anonymize.goal import Goal
    from tokumei.anonymize.registry import TableAnonymizer
    from tokumei.hierarchy.hierarchy import Hierarchy

QiOption = Annotated[str, typer.Option("--qi", metavar="A,B,…", help="The quasi-identifiers: what others may know.")]
SuppressOption = Annotated[float, typer.Option("--suppress", help="Share of rows that may be left out, 0 to 1.")]
LossOption = Annotated[
    str | None,
    typer.Option(
        "--loss", help="What to keep small: prec (default), dis, ncp, entropy, dm, average-class-size, price."
    ),
]
PricesOption = Annotated[
    Path | None, typer.Option("--prices", metavar="FILE", help="For --loss price: attribute, label and price as CSV.")
]
WeightsOption = Annotated[
    list[str] | None, typer.Option("--weights", metavar="A=2,B=1", help="How much each column's loss counts.")
]
PreferOption = Annotated[
    str | None, typer.Option("--prefer", metavar="A,B,…", help="Columns to keep finest, among equal losses.")
]
NumericOption = Annotated[
    str | None,
    typer.Option("--numeric", metavar="A,B,…", help="Columns of numbers, for methods and losses that measure widths."),
]
# Names that people type for a loss.
SHORT_NAMES = {"dm": "discernibility", "acs": "average-class-size"}


@dataclass(frozen=True)
class GoalOptions:
    """What is asked of a release, as typed."""

    qi: str
    hierarchies: Path | None
    asked: Asked
    population: str | None = None
    suppress: float = 0.0
    loss: str | None = None
    prices: Path | None = None
    weights: list[str] | None = None
    prefer: str | None = None
    numeric: str | None = None

    @property
    def quasi_identifiers(self) -> list[str]:
        """The columns that others may know."""
        return names(self.qi, "--qi")

    def read_hierarchies(self, method: TableAnonymizer) -> dict[str, Hierarchy]:
        """Read the hierarchies that a method needs.

        A search needs one for every column. A local recoding takes numbers as they are and, where no folder
        is named at all, any other column as values without order; one that changes values takes what there is.
        """
        from tokumei.anonymize.registry import LocalRecoder, TableSearch
        from tokumei.hierarchy.files import has_hierarchy, read_hierarchies

        folder, wanted = self.hierarchies, self.quasi_identifiers
        if folder is None:
            if isinstance(method, TableSearch):
                raise InputError.of("--hierarchies DIR, which searching levels needs")
            return {}
        numbers = names(self.numeric, "--numeric") if self.numeric else []
        if not isinstance(method, TableSearch):
            is_needed = isinstance(method, LocalRecoder)
            wanted = [one for one in wanted if has_hierarchy(folder, one) or (is_needed and one not in numbers)]
        return read_hierarchies(folder, wanted)

    def goal(self, method: TableAnonymizer) -> Goal:
        """Make what is asked of a method."""
        from tokumei.anonymize.goal import Goal
        from tokumei.anonymize.registry import Perturber, TableSearch
        from tokumei.core.registry import part_name
        from tokumei.counting.count import count_classes
        from tokumei.hierarchy.files import has_hierarchy, read_hierarchies
        from tokumei.measure.losses import LOSSES

        if self.loss is not None and isinstance(method, Perturber):
            expected = f"none: {part_name(method)} is measured by what it promises"
            raise InputError.of(expected, option="--loss", value=self.loss)
        if self.loss not in (None, "ncp") and not isinstance(method, TableSearch):
            raise InputError.of("ncp, which methods that do not search levels are measured by", option="--loss")
        folder = self.hierarchies
        named = [] if folder is None else [one for one in self.asked.sensitive_columns() if has_hierarchy(folder, one)]
        trees = {} if folder is None else read_hierarchies(folder, named)
        everybody = None
        if self.population is not None and not self.asked.needs_population:
            raise InputError.of("--k-map or --delta-presence, which a population is for", option="--population")
        if self.population is not None:
            everybody = count_classes(self.population, self.quasi_identifiers)
        loss = self.loss or "prec"
        loss_options = {"file": str(self.prices)} if self.prices is not None else {}
        return Goal(
            requirements=self.asked.requirements(trees, everybody),
            loss=LOSSES.make(SHORT_NAMES.get(loss, loss), **loss_options),
            method=method,
            suppression=self.suppress,
            weights={name: _weight(name, text) for name, text in pairs(self.weights or [], "--weights").items()},
            numeric=names(self.numeric, "--numeric") if self.numeric else [],
            preference=names(self.prefer, "--prefer") if self.prefer else [],
        )


def _weight(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError.of("a number", option=f"--weights {name}", value=text) from None
