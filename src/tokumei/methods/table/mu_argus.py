"""Recode and suppress the values in combinations that too few rows share."""

from __future__ import annotations

from dataclasses import dataclass, field

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.methods.local.cell_levels import CellLevels
from tokumei.methods.local.clearing import recode_branches, suppress_rare
from tokumei.methods.local.joining import refuse_population
from tokumei.methods.local.rare import RareCombinations
from tokumei.methods.local.recoding import LocalRecoding
from tokumei.methods.local.settling import settle
from tokumei.methods.local.task import LocalTask


@dataclass(frozen=True)
class MuArgus:
    """Look at combinations of a few columns, recode the values in rare ones, and suppress cells where that is dearer.

    First every combination of up to `n_way` columns is counted. To end those that fail, each row would have cells
    suppressed (written `*`), chosen one by one as ending the most for what they lose. A branch of a value tree is
    written one step up instead, in all rows, where that costs less certainty penalty than the cells it saves; a step
    that does not save what it costs is taken back. Then cells are suppressed until no combination fails. Rows that
    share every few of their values with others can still be alone in all of them: the original leaves these to whoever
    looks at the result. Here rows that still fail go up step by step, at last to `*`, in the column in which most of
    them come to hold for what is lost. Rows without any cell left that fail are left out as far as that is allowed,
    else the rows with the least to lose join them. So it promises whatever is required of classes, in which `*` is a
    label of its own. Numeric columns are written by the labels of their hierarchy; without one they can only be
    suppressed (μ-ARGUS; Hundepool and Willenborg 1997).

    Example: age with 31, 35 = 30s and 42, 44 = 40s, city with Kyoto, Osaka = west and Tokyo, Chiba = east; k = 2.

    | row | | becomes | why |
    |---|---|---|---|
    | 31 | Tokyo | 30s, Tokyo | alone; 30s costs 2 rows · 2/4, less than two suppressed ages |
    | 35 | Tokyo | 30s, Tokyo | as above |
    | 42 | Tokyo | 42, Tokyo | three alike |
    | 42 | Tokyo | 42, Tokyo | as above |
    | 42 | Tokyo | 42, Tokyo | as above |
    | 42 | Kyoto | *, Kyoto | alone; 40s would cost 5 rows · 2/4, more than two suppressed ages |
    | 44 | Kyoto | *, Kyoto | as above |

    The penalty is (2 · 2/4 + 2 · 1) / 7 rows / 2 columns = 0.214.
    """

    n_way: int = field(default=3, metadata={"help": "The most columns in the combinations that are looked at first."})

    def __post_init__(self) -> None:
        if self.n_way < 1:
            raise InputError.of("at least 1", option="n_way", value=self.n_way)

    def recode_locally(self, task: LocalTask, *, seed: int) -> LocalRecoding:  # noqa: ARG002 - nothing is drawn.
        """Return the labels of every cell; CannotAnonymize if nothing holds."""
        refuse_population(task, "mu-argus")
        cells = CellLevels.of(task)
        rare = RareCombinations(cells, self.n_way)
        with step("recoding rare values"):
            recode_branches(rare)
        with step("suppressing rare values"):
            suppress_rare(rare)
        with step("settling what is left"):
            return cells.recoding(settle(cells))
