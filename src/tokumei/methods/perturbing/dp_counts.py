"""Noisy counts in place of rows, and what releases of one table have spent of its privacy budget.

The noise hides one person in a count. The budget is a chain of entries, each sealed by a digest.
"""

from __future__ import annotations

import hashlib
import json
import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from tokumei.core.errors import InputError, NotAllowed
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.core.text import Json, Text
from tokumei.data.files.disk import check_is_file
from tokumei.methods.local.task import Floats, Ints
from tokumei.methods.perturbing.marginals import MISSING, ROWS, LabeledClasses
from tokumei.methods.perturbing.perturbation import Original, Perturbed
from tokumei.methods.synthetic.account import Spending, spend

# Sums of the same numbers in another order differ by less.
ROUNDING = 1e-12


@dataclass(frozen=True)
class LedgerEntry:
    """One release: what it spent, the budget it kept to, and a digest of itself and of the release before."""

    epsilon: float
    budget: float | None
    # Tells apart releases that are alike in all else.
    nonce: str
    before: tuple[str, ...]

    @property
    def digest(self) -> str:
        """The seal of the entry: with any part of it changed, it is another."""
        sealed = json.dumps([self.epsilon, self.budget, self.nonce, list(self.before)])
        return hashlib.sha256(sealed.encode()).hexdigest()

    def as_dict(self) -> Json:
        """Return the entry for JSON."""
        return {
            "epsilon": self.epsilon,
            "budget": self.budget,
            "nonce": self.nonce,
            "before": list(self.before),
            "digest": self.digest,
        }


@dataclass(frozen=True)
class Ledger:
    """All entries that are known, by digest, and the last ones: more than one where releases went on side by side."""

    entries: dict[str, LedgerEntry]
    last: tuple[str, ...]

    @classmethod
    def read(cls, paths: Sequence[str]) -> Ledger:
        """Put the chains of some recipes together; an entry that two of them share was spent once."""
        entries: dict[str, LedgerEntry] = {}
        ends: list[str] = []
        for path in paths:
            chain = _chain(path)
            entries |= {one.digest: one for one in chain}
            ends.append(chain[-1].digest)
        followed = {digest for one in entries.values() for digest in one.before}
        return cls(entries, tuple(dict.fromkeys(digest for digest in ends if digest not in followed)))

    @property
    def spent(self) -> float:
        """What all releases spent together."""
        return sum(one.epsilon for one in self.entries.values())

    @property
    def budget(self) -> float | None:
        """The smallest budget that any of them kept to: nobody can raise it later."""
        return min((one.budget for one in self.entries.values() if one.budget is not None), default=None)

    def spend(self, epsilon: float, budget: float | None) -> Ledger:
        """Enter one more release; NotAllowed if that is more than the budget."""
        limits = [limit for limit in (self.budget, budget) if limit is not None]
        limit = min(limits, default=None)
        if limit is not None and self.spent + epsilon > limit + ROUNDING:
            raise NotAllowed(
                Text("ε = {e:g} on top of {s:g} spent exceeds the budget of {b:g}.", e=epsilon, s=self.spent, b=limit)
            )
        entry = LedgerEntry(epsilon, limit, secrets.token_hex(16), self.last)
        return Ledger({**self.entries, entry.digest: entry}, (entry.digest,))


def _chain(path: str) -> list[LedgerEntry]:
    """Read the chain of one recipe, from its first entry to its last."""
    file = check_is_file(path)
    try:
        options = json.loads(file.read_text(encoding="utf-8"))["options"]
        is_void = bool(options["reproducible"])
        chain = [_entry(one) for one in options["chain"]]
        known: set[str] = set()
        for one in chain:
            if not set(one.before) <= known:
                raise ValueError("an entry before is not in the chain")
            known.add(one.digest)
        if not chain or not math.isclose(sum(one.epsilon for one in chain), options["spent"], abs_tol=ROUNDING):
            raise ValueError("what was spent is not what the chain adds up to")
    except (UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        why = f"{type(error).__name__}: {error}" if isinstance(error, ValueError) else type(error).__name__
        raise InputError.of(f"the recipe of dp-counts, as it was written ({why})", file=file) from None
    if is_void:
        raise NotAllowed(f"The release of {path} can be reproduced: it promises nothing, and none can follow it.")
    return chain


def _entry(fields: Json) -> LedgerEntry:
    budget = fields["budget"]
    made = LedgerEntry(
        float(fields["epsilon"]),
        None if budget is None else float(budget),
        str(fields["nonce"]),
        tuple(str(one) for one in fields["before"]),
    )
    if not 0 < made.epsilon < math.inf or (made.budget is not None and not 0 < made.budget < math.inf):
        raise ValueError(f"spent {made.epsilon} of {made.budget}")
    if made.digest != fields["digest"]:
        raise ValueError("an entry was changed after it was sealed")
    return made


Noise = Literal["geometric", "laplace"]


def noisy_counts(counts: Ints, epsilon: float, sensitivity: int, noise: Noise, random: np.random.Generator) -> Floats:
    """Add noise to counts of which one person changes at most so many by one each.

    The ratio of the chances of any outcome with and without the person is then at most e^ε. Geometric noise is whole:
    the difference of two waiting times, with chance proportional to e^(−ε|z|/sensitivity). Laplace noise has the
    density proportional to that.
    """
    if noise == "laplace":
        return counts + random.laplace(0.0, sensitivity / epsilon, len(counts))
    # 1 − e^(−x) without losing digits where x is small.
    chance = -math.expm1(-epsilon / sensitivity)
    return (counts + random.geometric(chance, len(counts)) - random.geometric(chance, len(counts))).astype(np.float64)


# More cells than these are noise for the most part, and fill the memory.
MOST_CELLS = 5_000_000
# With less the noise is larger than the whole numbers that a float can tell apart, and its last digits tell the count.
LEAST_EPSILON = 1e-9


@dataclass(frozen=True)
class DpCounts:
    """Publish contingency tables with noise, so that no outcome is much likelier with a person than without.

    ε-differential privacy (Dwork et al. 2006): the chances of any outcome differ by a factor of e^ε at most, whatever
    an attacker knows. Every combination of labels is published, with rows or without; a table chosen by looking at the
    data would tell of it, so levels are yours to name, and columns without a hierarchy are refused. With several tables
    the budget is shared equally. What was spent is kept in the recipe, in a chain of entries that a digest seals; name
    it as `earlier` the next time, all of them where releases went on side by side, and more than the budget is refused.
    Or a file keeps it for all methods that spend (`budget`; see the account of `mst`). Geometric noise is the default:
    Laplace noise of floating point numbers can give digits away (Mironov 2012). Every release draws its noise anew, and
    the seed is not kept: two releases with the same noise differ by what changed in the data. A seed is taken only for
    a release that is to be reproducible, and then nothing is promised.

    Example: five people, sex with the leaves f and m, ε = ln 3: noise z has chance 1/2 · 3^−|z|.

    | sex | counted | noise | published |
    |-----|---------|-------|-----------|
    | f   | 3       | −1    | 2         |
    | m   | 2       | 0     | 2         |
    """

    epsilon: float = field(
        default=1.0, metadata={"help": "ε: an outcome may become e^ε times as likely. Smaller ε gives more privacy."}
    )
    levels: tuple[str, ...] = field(
        default=(), metadata={"help": "Level of each column, such as age=1,sex=0; 0 where not named."}
    )
    ways: int = field(default=0, metadata={"help": "Columns of each table: 1, 2, …; 0 makes one table of all."})
    noise: Noise = field(default="geometric", metadata={"help": "geometric or laplace."})
    neighbors: Literal["add-or-remove", "replace"] = field(
        default="add-or-remove", metadata={"help": "What one person may do: be there or not, or be another."}
    )
    is_clamped: bool = field(default=True, metadata={"help": "Write counts below 0 as 0."})
    budget: float | str | None = field(
        default=None,
        metadata={
            "help": "The ε that all releases may spend, or a file that keeps what they have spent.",
            "is_file": True,
        },
    )
    earlier: tuple[str, ...] = field(
        default=(), metadata={"help": "Recipes of the releases before, to add what they spent."}
    )

    # Whoever runs it draws the noise anew every time, or says that nothing is promised.
    spends_budget: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.earlier, str):
            object.__setattr__(self, "earlier", (self.earlier,))
        if not 0 < self.epsilon < math.inf:
            raise InputError.of("a number above 0", option="epsilon", value=self.epsilon)
        if isinstance(self.budget, str) and self.earlier:
            raise InputError.of("one of both: a file of what was spent, or earlier recipes", option="earlier")
        if isinstance(self.budget, (int, float)) and not 0 < self.budget < math.inf:
            raise InputError.of("a number above 0", option="budget", value=self.budget)
        if self.ways < 0:
            raise InputError.of("0 or a number of columns", option="ways", value=self.ways)

    def perturb(self, original: Original, *, seed: int) -> Perturbed:
        """Count, add noise, and give one line for every cell there could be."""
        limit = None if isinstance(self.budget, str) else self.budget
        ledger = Ledger.read(self.earlier).spend(self.epsilon, limit)
        columns = list(original.quasi_identifiers)
        for column in columns:
            if column == ROWS:
                raise InputError.of(f"another name: '{ROWS}' is the column of counts", column=column)
            if column not in original.hierarchies:
                raise InputError.of("a hierarchy: the values that occur are not to be told", column=column)
        classes = LabeledClasses.of(original, columns)
        levels = self._levels(classes, columns)
        tables = self._tables(classes, levels)
        random = generator(seed, "dp-counts")
        each = self.epsilon / len(tables)
        if each < LEAST_EPSILON:
            expected = f"at least {LEAST_EPSILON:g} for each of {len(tables):,} tables"
            raise InputError.of(expected, option="epsilon", value=self.epsilon)
        account: Json = {}
        if isinstance(self.budget, str):
            account = spend(self.budget, Spending.pure(self.epsilon, "dp-counts"), original.frame).facts()
        parts = [self._table(classes, columns, levels, indices, each, random) for indices in tables]
        facts = {
            "levels": dict(zip(columns, levels, strict=True)),
            "tables": [{"columns": [columns[index] for index in indices], "epsilon": each} for indices in tables],
            "spent": ledger.spent,
            "budget": ledger.budget,
            "chain": [one.as_dict() for one in ledger.entries.values()],
            **account,
        }
        promise = Score("epsilon", ledger.spent, best=0, worst=math.inf, inputs={"this_release": self.epsilon})
        frame = pl.concat(parts, how="diagonal").select(*columns, ROWS)
        return Perturbed(frame, None, {"epsilon": promise}, facts)

    def _table(
        self,
        classes: LabeledClasses,
        columns: Sequence[str],
        levels: Sequence[int],
        indices: Sequence[int],
        epsilon: float,
        random: np.random.Generator,
    ) -> pl.DataFrame:
        """Return one table; a column that is not in it has no cells, which are empty where tables are put together."""
        shape = [classes.n_labels(index, levels[index]) for index in indices]
        cells = np.ravel_multi_index([classes.labels(index, levels[index]) for index in indices], shape)
        counts = np.bincount(cells, classes.sizes, math.prod(shape)).astype(np.int64)
        sensitivity = 1 if self.neighbors == "add-or-remove" else 2
        noisy = noisy_counts(counts, epsilon, sensitivity, self.noise, random)
        if self.is_clamped:
            noisy = np.maximum(noisy, 0)
        labels = np.unravel_index(np.arange(math.prod(shape)), shape)
        frame = pl.DataFrame(
            [
                # A missing value is written out, since an empty cell says that a table lacks the column.
                pl.Series(
                    columns[index], [MISSING if text is None else text for text in classes.texts(index, levels[index])]
                ).gather(label)
                for index, label in zip(indices, labels, strict=True)
            ]
        )
        return frame.with_columns(pl.Series(ROWS, noisy).cast(pl.Int64 if self.noise == "geometric" else pl.Float64))

    def _tables(self, classes: LabeledClasses, levels: Sequence[int]) -> list[tuple[int, ...]]:
        """Return the columns of each table, by their places; together they must not have too many cells."""
        n_columns = len(levels)
        tables, n_cells = [], 0
        for indices in combinations(range(n_columns), self.ways or n_columns):
            tables.append(indices)
            n_cells += math.prod(classes.n_labels(index, levels[index]) for index in indices)
            if n_cells > MOST_CELLS:
                expected = f"at most {MOST_CELLS:,} cells in all tables: coarser levels, or fewer columns"
                raise InputError.of(expected, option="levels", value=f"{n_cells:,} or more")
        if not tables:
            raise InputError.of(f"1 to {n_columns} columns a table", option="ways", value=self.ways)
        return tables

    def _levels(self, classes: LabeledClasses, columns: Sequence[str]) -> list[int]:
        named: dict[str, int] = {}
        for text in self.levels:
            name, mark, level = text.partition("=")
            if name not in columns or not mark or not level.isdecimal():
                raise InputError.of(f"column=level, with one of {', '.join(columns)}", option="levels", value=text)
            named[name] = int(level)
            classes.attributes[columns.index(name)].hierarchy.check_level(int(level))
        return [named.get(column, 0) for column in columns]
