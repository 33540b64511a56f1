"""What holds in every row, found or declared: such columns are not drawn but computed, so that it holds in new rows.

Three kinds: a sum (total = a + b), an order (start ≤ end) and a code with a parent (city → state).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.methods.perturbing.perturbation import Floats, Original
from tokumei.methods.synthetic.columns import Flags, NumberForm, of_numbers, read_numbers

# Sums of floats may differ by rounding.
NEARLY = 1e-9
# Fewer rows hold too much by chance.
FEWEST_ROWS = 10
# An order that shuffled columns would break in fewer rows than these may hold by luck.
NOT_BY_CHANCE = 5
# Sums are looked for among so many columns at most, first in a few rows.
MOST_NUMBERS, FIRST_ROWS = 20, 200
SPELLED = re.compile(r"^(?P<left>.+?)\s*(?P<sign>->|<=|=)\s*(?P<right>.+)$")


@dataclass(frozen=True)
class Constraint:
    """One column that follows from others: a sum of them (`=`), never below them (`<=`), or read off one (`->`)."""

    sign: str
    column: str
    others: tuple[str, ...]

    @property
    def words(self) -> str:
        """The constraint as it is declared."""
        if self.sign == "=":
            return f"{self.column}={'+'.join(self.others)}"
        return ", ".join(f"{one}{self.sign}{self.column}" for one in self.others)


@dataclass(frozen=True, eq=False)
class Constrained:
    """A table without what follows from the rest, and how that is computed of new rows.

    original: without sums and parents; the upper column of an order holds how far it is above the lower one.
    """

    original: Original
    constraints: Sequence[Constraint]
    forms: Mapping[str, NumberForm]
    parents: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    # Of an order, what stands for the lower column where that is missing, and the greatest that is written.
    ends: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    columns: Sequence[str] = ()

    @classmethod
    def of(cls, original: Original, declared: Sequence[str], rare: int, *, finds: bool) -> Constrained:
        """Find what holds in every row, check what is declared, and take out what follows."""
        names = original.frame.columns
        read = {name: told for name in names if (told := read_numbers(original, name)) is not None}
        numbers = {name: one for name, (one, _) in read.items()}
        held: list[Constraint] = []
        for text in declared:
            _add(held, _declared(text, original, numbers))
        if finds and original.n_rows >= FEWEST_ROWS:
            for one in [*_sums(numbers), *_parents(original, numbers, rare), *_orders(numbers, read)]:
                _add(held, one)
        frame, parents, ends = original.frame, {}, {}
        for one in held:
            if one.sign == "->":
                keys = frame.select(pl.col(one.others[0]).cast(pl.String), original.frame[one.column])
                parents[one.column] = keys.unique(one.others[0], keep="first", maintain_order=True)
            if one.sign == "<=":
                whole = of_numbers(*read[one.column], rare)
                ends[one.column] = _ends(whole.low, whole.high)
                lower = _highest([numbers[name] for name in one.others], ends[one.column][0])
                gap = pl.Series(one.column, numbers[one.column] - lower).fill_nan(None)
                frame = frame.with_columns(gap)
        frame = frame.drop([one.column for one in held if one.sign != "<="])
        forms = {name: form for name, (_, form) in read.items()}
        return cls(replace(original, frame=frame), held, forms, parents, ends, names)

    @property
    def words(self) -> list[str]:
        """What holds in every row."""
        return [one.words for one in self.constraints]

    def restored(self, drawn: pl.DataFrame) -> pl.DataFrame:
        """Compute the columns that follow, in new rows."""
        open_ones = list(self.constraints)
        while open_ones:
            waiting = {one.column for one in open_ones}
            one = next(one for one in open_ones if not waiting & set(one.others))
            drawn = drawn.with_columns(self._computed(one, drawn))
            open_ones.remove(one)
        return drawn.select(self.columns)

    def _computed(self, one: Constraint, drawn: pl.DataFrame) -> pl.Series:
        if one.sign == "->":
            (code,), parent = one.others, self.parents[one.column]
            joined = drawn.select(pl.col(code).cast(pl.String)).join(
                parent, on=code, how="left", nulls_equal=True, maintain_order="left"
            )
            return joined[one.column]
        form = self.forms[one.column]
        others = [self.forms[name].read(drawn[name]) for name in one.others]
        if one.sign == "=":
            return form.write(np.sum(others, axis=0))
        base, greatest = self.ends[one.column]
        lower = _highest(others, base)
        above = form.rounded(np.minimum(lower + drawn[one.column].fill_null(float("nan")).to_numpy(), greatest))
        known = _highest(others, -np.inf)
        above = np.where(above < known, form.rounded(known), above)
        unit = 0.0 if form.decimals is None else form.step / 10**form.decimals
        return form.write(np.where(above < known, form.rounded(known + unit), above))


def _ends(low: Floats | None, high: Floats | None) -> tuple[float, float]:
    return (0.0, 0.0) if low is None or high is None or not len(low) else (float(low[0]), float(high[-1]))


def _highest(columns: Sequence[Floats], base: float) -> Floats:
    """Return the highest number of each row that is known; the base where none is."""
    return np.asarray(np.nan_to_num(np.fmax.reduce(list(columns)), nan=base, neginf=-np.inf, posinf=np.inf))


def _add(held: list[Constraint], one: Constraint) -> None:
    """Add a constraint, unless its column follows already or would follow from itself."""
    known = {other.column: other for other in held}
    same = known.get(one.column)
    if same is not None and not (same.sign == one.sign == "<="):
        return
    if same is not None:
        one = replace(one, others=tuple(dict.fromkeys([*same.others, *one.others])))
    wanted, reached = list(one.others), set[str]()
    while wanted:
        name = wanted.pop()
        if name not in reached:
            reached.add(name)
            wanted += known[name].others if name in known else ()
    if one.column in reached:
        return
    if same is not None:
        held.remove(same)
    held.append(one)


def _declared(text: str, original: Original, numbers: Mapping[str, Floats]) -> Constraint:
    """Read a constraint and check that it holds in every row."""
    expected = "total=a+b, start<=end or city->state, of columns that are released"
    found = SPELLED.match(text.strip())
    if found is None:
        raise InputError.of(expected, option="constraints", value=text)
    left, sign, right = (found[part].strip() for part in ("left", "sign", "right"))
    one = (
        Constraint("=", left, tuple(part.strip() for part in right.split("+")))
        if sign == "="
        else Constraint(sign, right, (left,))
    )
    if sign == "->" and left in numbers:
        raise InputError.of("a column of labels before ->", option="constraints", value=text)
    for name in (one.column, *one.others):
        if name not in original.frame.columns or (sign != "->" and name not in numbers):
            kind = "released columns" if sign == "->" else "released columns of numbers or dates"
            raise InputError.of(f"{expected}: {kind}", option="constraints", value=text)
    if sign == "->":
        keys = original.frame.select(*one.others, one.column)
        broken = keys.select(pl.col(one.column).n_unique().over(one.others[0]) > 1).to_series().to_numpy()
    else:
        broken = ~_holds(one, numbers)
    if broken.any():
        values = original.frame[one.column].cast(pl.String)
        raise original.refused(f"a value for which {one.words} holds", values, np.flatnonzero(broken).tolist())
    return one


def _holds(one: Constraint, numbers: Mapping[str, Floats]) -> Flags:
    """Whether a sum or an order holds in each row; a sum is missing where a part is, and nowhere else."""
    mine, others = numbers[one.column], [numbers[name] for name in one.others]
    if one.sign == "<=":
        return np.asarray(np.all([~(other > mine) for other in others], axis=0))
    total = np.sum(others, axis=0)
    is_near = np.abs(total - mine) <= NEARLY * np.maximum(1, np.abs(mine))
    return np.asarray(is_near | (np.isnan(total) & np.isnan(mine)))


def _sums(numbers: Mapping[str, Floats]) -> list[Constraint]:
    """Find columns that are the sum of two others, none of which is the same in all rows."""
    names = [name for name, one in numbers.items() if len(np.unique(one[~np.isnan(one)])) > 1][:MOST_NUMBERS]
    few = {name: numbers[name][:FIRST_ROWS] for name in names}
    found = []
    for total in names:
        for pair in combinations([name for name in names if name != total], 2):
            one = Constraint("=", total, pair)
            if _holds(one, few).all() and _holds(one, numbers).all() and not np.isnan(numbers[total]).all():
                found.append(one)
    return found


def _parents(original: Original, numbers: Mapping[str, Floats], rare: int) -> list[Constraint]:
    """Find columns that can be read off a column of labels with at least as many values."""
    frame = original.frame
    n = {name: frame[name].n_unique() for name in frame.columns}
    found = []
    for code in sorted(frame.columns, key=lambda name: n[name]):
        if code in numbers or n[code] * rare > frame.height:
            continue
        for parent in frame.columns:
            if parent == code or not 1 < n[parent] <= n[code]:
                continue
            if frame.select(pl.struct(code, parent).n_unique()).item() == n[code]:
                found.append(Constraint("->", parent, (code,)))
    return found


def _n_broken_by_chance(lower: Floats, upper: Floats) -> float:
    """Return in how many rows the lower would be above, were the columns shuffled; 0 for a column of two values."""
    if min(len(np.unique(lower)), len(np.unique(upper))) < 3:
        return 0.0
    return float(np.searchsorted(np.sort(upper), lower, side="left").mean())


def _orders(numbers: Mapping[str, Floats], read: Mapping[str, tuple[Floats, NumberForm]]) -> list[Constraint]:
    """Find columns of which one is never below the other, and not by chance; of several lower ones, the nearest."""
    kind = {name: form.kind for name, (_, form) in read.items()}
    below: dict[str, list[str]] = {}
    for upper, mine in numbers.items():
        for lower, other in numbers.items():
            both = ~np.isnan(mine) & ~np.isnan(other)
            if lower == upper or kind[lower] != kind[upper] or both.sum() < FEWEST_ROWS:
                continue
            if np.all(other[both] <= mine[both]) and _n_broken_by_chance(other[both], mine[both]) >= NOT_BY_CHANCE:
                below.setdefault(upper, []).append(lower)
    return [
        Constraint("<=", upper, (lower,))
        for upper, lowers in below.items()
        for lower in lowers
        if not any(lower in below.get(other, ()) and lower != other for other in lowers)
    ]
