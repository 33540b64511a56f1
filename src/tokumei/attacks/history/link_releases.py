"""Which names of two pseudonymous releases are one person's, with neither original nor truth.

Two releases of overlapping people (this year's and last year's, two shops) name everybody anew. People keep their
habits: what they buy, at which prices, on which days of the week, and in shops of one time on which days. How far each
habit tells one from another is learned on other people: each release is divided as the two differ, by time or by
items, so that it is known there which halves belong together. A logistic regression of all habits of a pair gives the
odds that it is one person.

**Chances.** Of n × m pairs at most one for each name is right, and some names have no partner. With odds r of a pair
and s people in both, the chance of pair (i, j) is x_i y_j r s / (n m), and that of i to be in one release alone
x_i (1 − s / n), where x and y are such that all chances of a name add up to 1. s is that number at which the chances of
all pairs add up to s.

**Precision.** What is learned on one release is tried on the halves of the other, where the truth is known. Which share
of the pairs linked there is right, by their chances and never less for a larger one, was fitted to that. The precision
stated of a pair is the smaller of this share and its chance: halves may have more of their people in common.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError, needing
from tokumei.core.progress import step
from tokumei.core.seeds import generator
from tokumei.core.text import Text, counted
from tokumei.data.history import History

if TYPE_CHECKING:
    from scipy import sparse

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Split = Callable[[pl.DataFrame], tuple[pl.DataFrame, pl.DataFrame]]

# What rows have in common with those of somebody else, with the columns that this needs. Rarer values tell more.
SHARED: Mapping[str, tuple[pl.Expr, tuple[str, ...]]] = {
    "items": (pl.col("item"), ("item",)),
    "kinds of items": (pl.col("item").str.slice(0, 2), ("item",)),
    "items at a price": (pl.concat_str("item", "price", separator="\0"), ("item", "price")),
    "items in a quantity": (pl.concat_str("item", "quantity", separator="\0"), ("item", "quantity")),
    "items by day of the week": (pl.concat_str("item", pl.col("date").dt.weekday(), separator="\0"), ("item",)),
    "prices": (pl.col("price"), ("price",)),
    "quantities": (pl.col("quantity"), ("quantity",)),
    "days of the week": (pl.col("date").dt.weekday(), ()),
    "hours": (pl.col("time").dt.hour(), ("time",)),
    "hours of the week": (pl.concat_str(pl.col("date").dt.weekday(), pl.col("time").dt.hour()), ("time",)),
}
# Those that releases of one time have besides.
AT_ONE_TIME: Mapping[str, tuple[pl.Expr, tuple[str, ...]]] = {
    "days": (pl.col("date"), ()),
    "weeks": (pl.col("date").dt.truncate("1w"), ()),
}
# Means and spreads, of which the difference counts.
LEVELS: Mapping[str, tuple[pl.Expr, tuple[str, ...]]] = {
    "rows": (pl.len().log(), ()),
    "days there": (pl.col("date").n_unique().log(), ()),
    "rows a day": ((pl.len() / pl.col("date").n_unique()).log(), ()),
    "different items": (pl.col("item").n_unique().log(), ("item",)),
    "price": (pl.col("price").abs().clip(lower_bound=0.01).log().mean(), ("price",)),
    "quantity": (pl.col("quantity").abs().cast(pl.Float64).log1p().mean(), ("quantity",)),
    "spread of quantities": (pl.col("quantity").abs().cast(pl.Float64).log1p().std().fill_null(0.0), ("quantity",)),
    "spent": ((pl.col("price") * pl.col("quantity")).sum().abs().clip(lower_bound=0.01).log(), ("price", "quantity")),
}
# Pairs of two people that are learned from for each pair of one person.
OTHERS = 60
# The regression's penalty: habits overlap, and there are few people to learn from.
PENALTY = 100.0
# People to learn from in each release, fewer than the least tell nothing; and those whose halves are linked to see how
# often that is right, among as many others.
MOST_LEARNED, LEAST_LEARNED = 1_500, 20
MOST_TRIED = 10_000
# Partners that are kept of each name; all others together have next to no chance.
PARTNERS = 50
# Cells of a block of all pairs.
BLOCK_CELLS = 2_000_000
# Values that more than this share of names have are multiplied as dense columns: of fewer, it takes less time to find
# the pairs that share them.
OF_MANY = 0.08
# Names are compared with so many of the other side to learn how alike others usually are.
USUAL = 400
LARGEST_ODDS = 30.0
ROUNDS, ENOUGH = 100, 1e-3
# Releases are of one time where they share this much of the shorter one's days; of one shop by the items of both.
OF_ONE_TIME, OF_ONE_SHOP = 0.5, 0.1


@dataclass(frozen=True)
class Links:
    """The chance of each likely pair, and how many people are expected to be in both releases.

    pairs: first, second, chance, the surest first; each name once.
    learned_on: people whose halves taught what tells; `divided` says how these were made.
    checked: on the halves of one release by what the other taught: pairs of people, the precision that chances of
        more than one half promised, that which there was, and the number of such pairs.
    """

    pairs: pl.DataFrame
    n_first: int
    n_second: int
    n_both: float
    divided: str
    learned_on: int
    checked: Mapping[str, float]


def link_releases(first: History, second: History, *, seed: int = 1) -> Links:
    """Link the names of two releases."""
    sides = [_rows_of(one) for one in (first, second)]
    absent = {*first.absent, *second.absent}
    divided, split = _split_like(sides, absent, seed)
    habits = _habits(absent, is_one_time=divided != "time")
    taught = []
    with step("learning habits", 2) as bar:
        for number, rows in enumerate(sides):
            taught.append(_Taught.of(split(_some(rows, seed)), habits, seed + number))
            bar.advance()
    n_learned = [len(one.partner) for one in taught]
    if min(n_learned) < LEAST_LEARNED:
        expected = Text(
            "at least {n} names with rows in both halves of a release, to learn habits from", n=LEAST_LEARNED
        )
        which = (first, second)[int(np.argmin(n_learned))]
        raise InputError.of(expected, file=which.name, value=counted(min(n_learned), "name"))
    model = _fitted(taught)
    tried = _Tried.of(taught)
    compared = _Compared.of(sides[0], sides[1], habits)
    chances, n_both = chances_of(compared.odds(model))
    lines, columns, chance = one_to_one(chances)
    mine, theirs = (pl.Series(names, dtype=pl.String) for names in compared.names)
    pairs = pl.DataFrame(
        {"first": mine.gather(lines), "second": theirs.gather(columns), "chance": tried.precision()(chance)}
    )
    return Links(pairs, len(mine), len(theirs), n_both, divided, sum(n_learned), tried.checked())


def _rows_of(history: History) -> pl.DataFrame:
    if not history.kept.height:
        raise InputError.of("a release with rows", file=history.name)
    return history.kept


def _split_like(sides: Sequence[pl.DataFrame], absent: set[str], seed: int) -> tuple[str, Split]:
    """Return how the two releases differ, and what divides one of them alike."""
    ends: list[tuple[dt.date, dt.date]] = [
        rows.select(pl.col("date").min(), last=pl.col("date").max()).row(0) for rows in sides
    ]
    (begins, ended), (begins_too, ended_too) = ends
    shared = (min(ended, ended_too) - max(begins, begins_too)).days + 1
    shorter = min((ended - begins).days, (ended_too - begins_too).days) + 1
    if shared < OF_ONE_TIME * shorter:
        return "time", _by_time
    if "item" not in absent:
        mine, theirs = (set(rows["item"].unique()) for rows in sides)
        if len(mine & theirs) < OF_ONE_SHOP * min(len(mine), len(theirs)):
            return "items", partial(_by_luck, column="item", seed=seed)
    return "rows", partial(_by_luck, column=None, seed=seed)


def _by_time(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    middle = rows["date"].sort()[rows.height // 2]
    return rows.filter(pl.col("date") < middle), rows.filter(pl.col("date") >= middle)


def _by_luck(rows: pl.DataFrame, *, column: str | None, seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Divide rows by a column, whose values fall on one side or the other, or each by itself."""
    things = pl.int_range(rows.height, eager=True) if column is None else rows[column].unique().sort()
    left = things.filter(pl.Series(generator(seed, "link", "halves").random(len(things)) < 0.5))
    is_left = (things if column is None else rows[column]).is_in(left.implode())
    return rows.filter(is_left), rows.filter(~is_left)


def _some(rows: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Return the rows of as many people as are tried."""
    names = rows["customer"].unique().sort()
    if len(names) <= MOST_TRIED:
        return rows
    drawn = names.gather(np.sort(generator(seed, "link", "people").choice(len(names), MOST_TRIED, replace=False)))
    return rows.filter(pl.col("customer").is_in(drawn.implode()))


Habits = tuple[Mapping[str, pl.Expr], Mapping[str, pl.Expr]]


def _habits(absent: set[str], *, is_one_time: bool) -> Habits:
    shared = {**SHARED, **(AT_ONE_TIME if is_one_time else {})}
    one, other = (
        {name: how for name, (how, needs) in some.items() if not absent & set(needs)} for some in (shared, LEVELS)
    )
    return one, other


@dataclass(frozen=True)
class _Compared:
    """The names of two sides and, for each habit, what is compared of them."""

    names: tuple[list[str], list[str]]
    shared: Sequence[tuple[sparse.csr_array, sparse.csr_array]]
    levels: tuple[Floats, Floats]

    @classmethod
    def of(cls, first: pl.DataFrame, second: pl.DataFrame, habits: Habits) -> _Compared:
        """Weigh what each name has: by how few have it, and less for each further time."""
        sides = (first, second)
        names = tuple(rows["customer"].unique().sort() for rows in sides)
        shared = [_weighed(sides, names, how) for how in habits[0].values()]
        told = [
            rows.group_by("customer").agg(**habits[1]).sort("customer").drop("customer").to_numpy() for rows in sides
        ]
        spread = np.vstack(told).std(axis=0)
        spread[spread == 0] = 1.0
        return cls(
            (names[0].to_list(), names[1].to_list()),
            shared,
            (told[0].astype(float) / spread, told[1].astype(float) / spread),
        )

    @property
    def n_habits(self) -> int:
        """How many habits are compared."""
        return len(self.shared) + int(self.levels[0].shape[1])

    def alike(self, habit: int, which: Indices, others: Indices) -> Floats:
        """Return how alike some of the first side are to some of the second in one habit."""
        if habit < len(self.shared):
            one, other = self.shared[habit]
            found: Floats = (one[which] @ other[others].T).toarray()
            return found
        mine, theirs = (side[:, habit - len(self.shared)] for side in self.levels)
        apart: Floats = np.abs(mine[which][:, None] - theirs[others])
        return -apart

    @cached_property
    def usual(self) -> list[tuple[Beside, Beside]]:
        """How alike each name is to some of the other side, in each habit: names of the first and of the second."""
        (n, m), found = (len(one) for one in self.names), []
        for habit in range(self.n_habits):
            rows = self.alike(habit, np.arange(n), _some_of(m))
            columns = self.alike(habit, _some_of(n), np.arange(m))
            found.append((Beside.of(rows, axis=1), Beside.of(columns, axis=0)))
        return found

    def features(self, which: Indices, others: Indices) -> Floats:
        """Return what tells of each pair: habit by habit how alike, and that beside what is usual for either name."""
        found = []
        for habit, (rows, columns) in enumerate(self.usual):
            if habit < len(self.shared):
                one, other = self.shared[habit]
                alike = np.asarray(one[which].multiply(other[others]).sum(axis=1)).ravel()
            else:
                mine, theirs = (side[:, habit - len(self.shared)] for side in self.levels)
                alike = -np.abs(mine[which] - theirs[others])
            found += [alike]
            found += [(alike - own.mean[at]) / own.spread[at] for own, at in ((rows, which), (columns, others))]
        return np.stack(found, axis=-1)

    def odds(self, model: Model) -> sparse.csr_array:
        """Return the odds, as logarithms, of the likeliest partners of each name of the first side.

        A product of what two names have in common, with a factor for either, is one sum over all habits: each value
        stands twice, once with the factor of the one name and once with that of the other.
        """
        from scipy import sparse

        (n, m), n_shared = (len(one) for one in self.names), len(self.shared)
        size, kept = max(1, BLOCK_CELLS // m), min(PARTNERS, m)
        by_line, by_column = np.full(n, model.constant), np.zeros(m)
        left, right = [], []
        for habit, (mine, theirs) in enumerate(self.usual):
            by_itself, by_row, by_other = model.weights[habit]
            by_line -= by_row * mine.mean / mine.spread
            by_column -= by_other * theirs.mean / theirs.spread
            if habit < n_shared:
                one, other = self.shared[habit]
                left += [_single(_scaled(one, by_itself + by_row / mine.spread)), _single(one)]
                right += [_single(other), _single(_scaled(other, by_other / theirs.spread))]
        product = _Product.of(sparse.hstack(left, format="csr"), sparse.hstack(right, format="csr"))
        columns, values = np.empty((n, kept), np.int64), np.empty((n, kept))
        with step("comparing names", n) as bar:
            for start in range(0, n, size):
                which = slice(start, min(n, start + size))
                total = product.rows(which)
                total += by_line[which, None].astype(np.float32)
                total += by_column.astype(np.float32)
                for habit in range(n_shared, self.n_habits):
                    mine, theirs = self.usual[habit]
                    by_itself, by_row, by_other = model.weights[habit]
                    level = [side[:, habit - n_shared].astype(np.float32) for side in self.levels]
                    apart = np.abs(level[0][which, None] - level[1])
                    total -= apart * (by_itself + by_row / mine.spread[which, None]).astype(np.float32)
                    apart *= (by_other / theirs.spread).astype(np.float32)
                    total -= apart
                best = np.argpartition(-total, kept - 1, axis=1)[:, :kept]
                columns[which], values[which] = best, np.take_along_axis(total, best, axis=1)
                bar.advance(len(total))
        ends = np.arange(0, n * kept + 1, kept)
        return sparse.csr_array((values.ravel(), columns.ravel(), ends), shape=(n, m))


@dataclass(frozen=True)
class Beside:
    """What is usual for each name: the mean of how alike others are, and their spread."""

    mean: Floats
    spread: Floats

    @classmethod
    def of(cls, alike: Floats, axis: int) -> Beside:
        """Return the mean and the spread along an axis."""
        return cls(alike.mean(axis=axis), alike.std(axis=axis) + 1e-9)


def _some_of(n: int) -> Indices:
    return np.arange(n) if n <= USUAL else np.linspace(0, n - 1, USUAL).astype(np.int64)


def _scaled(given: sparse.csr_array, by: Floats) -> sparse.csr_array:
    """Return a matrix with each line times a factor."""
    scaled = given.copy()
    scaled.data = given.data * np.repeat(by, np.diff(given.indptr))
    return scaled


def _single(given: sparse.csr_array) -> sparse.csr_array:
    """Return a matrix in half the memory."""
    single: sparse.csr_array = given.astype(np.float32)
    return single


@dataclass(frozen=True)
class _Product:
    """Products of lines of two matrices, the columns that many lines have apart from those that few have."""

    dense: tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]
    thin: tuple[sparse.csr_array, sparse.csr_array]

    @classmethod
    def of(cls, left: sparse.csr_array, right: sparse.csr_array) -> _Product:
        """Divide the columns of both."""
        width = left.shape[1]
        common = np.sqrt(
            np.prod([np.bincount(one.indices, minlength=width) / one.shape[0] for one in (left, right)], 0)
        )
        is_dense = common > OF_MANY
        first, second = ((one[:, is_dense].toarray(), one[:, ~is_dense]) for one in (left, right))
        return cls((first[0], second[0]), (first[1], second[1].T.tocsr()))

    def rows(self, which: slice) -> npt.NDArray[np.float32]:
        """Return the products of some lines of the first with all of the second."""
        total: npt.NDArray[np.float32] = self.dense[0][which] @ self.dense[1].T
        few = (self.thin[0][which] @ self.thin[1]).tocoo()
        total[few.coords] += few.data
        return total


def _weighed(
    sides: tuple[pl.DataFrame, pl.DataFrame], names: Sequence[pl.Series], how: pl.Expr
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return who has what on both sides, scaled so that a product is a cosine.

    A value weighs log(people / its owners).
    """
    from scipy import sparse

    told = [rows.select("customer", value=how.cast(pl.String)).drop_nulls() for rows in sides]
    values = pl.concat([one["value"] for one in told]).unique().sort()
    counts = []
    for rows, own in zip(told, names, strict=True):
        n_times = rows.group_by("customer", "value").len()
        at, of = (
            n_times[column].replace_strict(listed, np.arange(len(listed)), return_dtype=pl.Int64).to_numpy()
            for column, listed in (("customer", own), ("value", values))
        )
        counts.append(sparse.csr_array((np.log1p(n_times["len"].to_numpy()), (at, of)), shape=(len(own), len(values))))
    owners = sum(np.bincount(one.indices, minlength=len(values)) for one in counts)
    weights = np.log(sum(len(own) for own in names) / np.maximum(owners, 1)) + 0.01
    for one in counts:
        one.data *= weights[one.indices]
        lengths = np.sqrt(np.asarray(one.multiply(one).sum(axis=1)).ravel())
        one.data /= np.repeat(np.maximum(lengths, 1e-12), np.diff(one.indptr))
    return counts[0], counts[1]


@dataclass(frozen=True)
class _Taught:
    """The halves of one release: how alike each pair is, and which belong together."""

    compared: _Compared
    partner: Mapping[int, int]
    examples: Floats
    is_one: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, halves: tuple[pl.DataFrame, pl.DataFrame], habits: Habits, seed: int) -> _Taught:
        """Take every pair of one person, and some of two."""
        if not all(half.height for half in halves):
            none = np.zeros((0, 1))
            return cls(_Compared(([], []), [], (none, none)), {}, none, np.zeros(0, np.bool_))
        compared = _Compared.of(*halves, habits)
        at = {name: number for number, name in enumerate(compared.names[1])}
        partner = {number: at[name] for number, name in enumerate(compared.names[0]) if name in at}
        random = generator(seed, "link", "others")
        lines = np.array(sorted(partner), np.int64)
        if len(lines) > MOST_LEARNED:
            lines = np.sort(random.choice(lines, MOST_LEARNED, replace=False))
        right = np.array([partner[line] for line in lines.tolist()], np.int64)
        others = random.integers(0, len(at), (len(lines), OTHERS))
        which, pairs = np.repeat(lines, OTHERS + 1), np.column_stack([right, others]).ravel()
        is_one = pairs == np.repeat(right, OTHERS + 1)
        # A partner drawn once more among the others is no further example.
        is_kept = ~is_one | (np.arange(len(pairs)) % (OTHERS + 1) == 0)
        return cls(compared, partner, compared.features(which[is_kept], pairs[is_kept]), is_one[is_kept])


@dataclass(frozen=True)
class Model:
    """The logarithm of the odds that a pair is one person: a weighted sum of what tells of it."""

    # A line for each habit: of how alike the pair is, and of that beside what is usual for either name.
    weights: Floats
    constant: float


def _fitted(taught: Sequence[_Taught]) -> Model:
    """Fit the odds to pairs of one person and of two."""
    with needing("Linking releases", "learning"):
        from sklearn.linear_model import LogisticRegression
    examples = np.vstack([one.examples for one in taught])
    is_one = np.concatenate([one.is_one for one in taught])
    mean, spread = examples.mean(axis=0), examples.std(axis=0)
    spread[spread == 0] = 1.0
    fitted = LogisticRegression(C=1 / PENALTY, max_iter=3_000).fit((examples - mean) / spread, is_one)
    weights = fitted.coef_[0] / spread
    # The examples have so many more pairs of two people than there are of one: odds are those of a pair by itself.
    constant = float(fitted.intercept_[0] - (weights * mean).sum() + np.log((~is_one).sum() / is_one.sum()))
    return Model(weights.reshape(-1, 3), constant)


@dataclass(frozen=True)
class _Tried:
    """Pairs of halves, by what the other release taught: the chance of each, and whether it is one person."""

    chance: Floats
    is_right: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, taught: Sequence[_Taught]) -> _Tried:
        """Link the halves of either release."""
        chances, right = [], []
        for own, other in ((taught[0], taught[1]), (taught[1], taught[0])):
            lines, partners, chance = one_to_one(chances_of(own.compared.odds(_fitted([other])))[0])
            chances.append(chance)
            right += [own.partner.get(line) == one for line, one in zip(lines.tolist(), partners.tolist(), strict=True)]
        return cls(np.concatenate(chances), np.array(right, np.bool_))

    def precision(self) -> Callable[[Floats], Floats]:
        """Return what turns chances of pairs into the share of such pairs that were right, or less.

        Habits overlap, and who has no partner has somebody much alike, so that the surest pair of a name is right less
        often than its chance says.
        """
        with needing("Linking releases", "learning"):
            from sklearn.isotonic import IsotonicRegression
        if not len(self.chance):
            return lambda chance: chance
        # Two wrong ones beside them, so that a few right ones promise little.
        chance, is_right = np.append(self.chance, [1.0, 1.0]), np.append(self.is_right, [False, False])
        right = IsotonicRegression(out_of_bounds="clip").fit(chance, is_right)
        return lambda chance: np.minimum(chance, right.predict(chance)) if len(chance) else chance

    def checked(self) -> dict[str, float]:
        """Return how many pairs are sure, which share of these is right by their precision, and which was."""
        told = self.precision()(self.chance)
        sure = told > 0.5
        n = int(sure.sum())
        return {
            "claims": n,
            "promised": float(told[sure].mean()) if n else 0.0,
            "right": float(self.is_right[sure].mean()) if n else 0.0,
        }


def chances_of(odds: sparse.csr_array) -> tuple[sparse.csr_array, float]:
    """Return the chance of each pair, given that each name has one partner or none, and how many have one.

    odds: logarithms of the odds of pairs by themselves; pairs that are not there have none.

    >>> import numpy as np
    >>> from scipy import sparse
    >>> chances, n_both = chances_of(sparse.csr_array(np.array([[9.0, 1.0], [1.0, 9.0]])))
    >>> chances.toarray().round(2).tolist(), round(n_both)
    ([[1.0, 0.0], [0.0, 1.0]], 2)
    """
    n, m = odds.shape
    most = min(n, m)
    scaled, turned = odds.copy(), None
    n_both = most / 2
    plain = np.exp(np.clip(odds.data, -LARGEST_ODDS, LARGEST_ODDS))
    for _ in range(ROUNDS):
        scaled.data = plain * n_both / (n * m)
        turned = scaled.T.tocsr()
        alone, alone_too = max(1 - n_both / n, ENOUGH), max(1 - n_both / m, ENOUGH)
        x, y = np.ones(n), np.ones(m)
        for _ in range(ROUNDS):
            x = 1 / (alone + scaled @ y)
            last, y = y, 1 / (alone_too + turned @ x)
            if np.allclose(last, y, rtol=ENOUGH):
                break
        lines = np.repeat(np.arange(n), np.diff(scaled.indptr))
        scaled.data = scaled.data * x[lines] * y[scaled.indices]
        before, n_both = n_both, float(np.clip(scaled.data.sum(), ENOUGH, most * (1 - ENOUGH)))
        if abs(n_both - before) < ENOUGH * most:
            break
    return scaled, n_both


def one_to_one(chances: sparse.csr_array) -> tuple[Indices, Indices, Floats]:
    """Return pairs in which each name stands once: the surest pair first, then the surest of the names left."""
    lines = np.repeat(np.arange(chances.shape[0]), np.diff(chances.indptr))
    order = np.lexsort((chances.indices, lines, -chances.data))
    is_free, is_free_too = (np.ones(size, np.bool_) for size in chances.shape)
    taken = []
    for at in order.tolist():
        line, column = lines[at], chances.indices[at]
        if is_free[line] and is_free_too[column]:
            is_free[line] = is_free_too[column] = False
            taken.append(at)
    kept = np.array(taken, np.int64)
    return lines[kept], chances.indices[kept].astype(np.int64), chances.data[kept]
