"""Numbers replaced by the mean of a group of at least k near rows, made from the outside in (MDAV)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.progress import step
from tokumei.core.score import Score
from tokumei.core.text import Json, Text, counted
from tokumei.engines.count import count_classes
from tokumei.engines.writing import SIZE
from tokumei.methods.perturbing.perturbation import (
    USUAL_K,
    Floats,
    Ints,
    Original,
    RowByRow,
    RowChange,
    are_whole,
    as_column,
    least_rows,
    standard_deviation,
)

# Machines differ in the last digits of a principal component; what they round alike they order alike.
PROJECTED_DECIMALS = 9
# About the square root of the points there usually are.
RUN = 128


def mdav(points: Floats, k: int) -> Ints:
    """Return the group of each point by MDAV (Domingo-Ferrer and Mateo-Sanz 2002); all have k to 2k − 1 points.

    While 3k points are left: take the one farthest from their mean and the one farthest from that, and group each with
    its k − 1 nearest. Of what is left then, the point farthest from the mean takes its k − 1 nearest if 2k or more are
    left, and the rest is the last group; fewer than k points are one group in any case. Of points equally far the one
    with the smaller coordinates comes first, so that the order of the points is of no matter but to equal ones.
    """
    n_points = len(points)
    group_of = np.zeros(n_points, np.int64)
    order = _by_coordinates(points)
    left = _Left(points[order])
    n_groups = 0
    with step("grouping rows", total=n_points) as bar:
        while left.n >= 3 * k:
            for group in left.take_two_groups(k):
                group_of[order[group]] = n_groups
                n_groups += 1
            bar.advance(2 * k)
        if left.n >= 2 * k:
            group_of[order[left.take_group(k)]] = n_groups
            n_groups += 1
        group_of[order[left.ids[: left.n]]] = n_groups
        bar.advance(left.n)
    return group_of


def mdav_in_blocks(points: Floats, k: int, block: int) -> Ints:
    """Return the group of each point by MDAV within blocks of at most so many points, but at least k.

    Blocks are of even size, in the order of the first principal component.
    """
    n_blocks = min(math.ceil(len(points) / block), max(1, len(points) // k))
    if n_blocks <= 1 or not points.shape[1]:
        return mdav(points, k)
    group_of = np.empty(len(points), np.int64)
    n_groups = 0
    # Sums of the same points must not depend on their order either.
    order = _by_coordinates(points)
    order = order[np.argsort(_first_component(points[order]), kind="stable")]
    with step("grouping blocks", total=n_blocks) as bar:
        for rows in np.array_split(order, n_blocks):
            groups = mdav(points[rows], k)
            group_of[rows] = groups + n_groups
            n_groups += int(groups.max()) + 1
            bar.advance()
    return group_of


class _Left:
    """The points that are in no group yet, packed at the front of arrays that are made once."""

    def __init__(self, points: Floats) -> None:
        self.n = len(points)
        # One attribute after the other in memory: each pass goes over whole columns.
        self.columns = np.ascontiguousarray(points.T)
        self.ids = np.arange(self.n)
        self._distances = np.empty(self.n)
        self._gaps = np.empty(self.n)

    def take_two_groups(self, k: int) -> tuple[Ints, Ints]:
        """Group the point farthest from the mean and the one farthest from that, each with its nearest."""
        one = self._farthest(self._distances_to(self._mean()))
        distances = self._distances_to(self.columns[:, one])
        # Nearer than any, so that it is in its own group and never its own counterpart, even if all points are equal.
        distances[one] = -1.0
        other = self._farthest(distances)
        distances[other] = math.inf
        ones = self._nearest(distances, k)
        distances = self._distances_to(self.columns[:, other])
        distances[ones], distances[other] = math.inf, -1.0
        others = self._nearest(distances, k)
        groups = self.ids[ones], self.ids[others]
        self._remove(np.concatenate([ones, others]))
        return groups

    def take_group(self, k: int) -> Ints:
        """Group the point farthest from the mean with its nearest."""
        one = self._farthest(self._distances_to(self._mean()))
        distances = self._distances_to(self.columns[:, one])
        distances[one] = -1.0
        taken = self._nearest(distances, k)
        group = self.ids[taken]
        self._remove(taken)
        return group

    def _mean(self) -> Floats:
        total: Floats = self.columns[:, : self.n].sum(axis=1)
        return total / self.n

    def _distances_to(self, center: Floats) -> Floats:
        """Return squared distances, in an array that the next call writes over."""
        distances, gaps = self._distances[: self.n], self._gaps[: self.n]
        distances[:] = 0.0
        for column, value in zip(self.columns, center.tolist(), strict=True):
            np.subtract(column[: self.n], value, out=gaps)
            np.multiply(gaps, gaps, out=gaps)
            np.add(distances, gaps, out=distances)
        return distances

    def _farthest(self, distances: Floats) -> int:
        farthest = np.flatnonzero(distances == distances.max())
        return int(farthest[np.argmin(self.ids[farthest])])

    def _nearest(self, distances: Floats, k: int) -> Ints:
        """Return the indices of the k nearest."""
        near = _near(distances, k)
        some = distances[near]
        bound = np.partition(some, k - 1)[k - 1]
        nearer, tied = near[some < bound], near[some == bound]
        n_wanted = k - len(nearer)
        if len(tied) > n_wanted:
            tied = tied[np.argpartition(self.ids[tied], n_wanted - 1)[:n_wanted]]
        return np.concatenate([nearer, tied])

    def _remove(self, indices: Ints) -> None:
        """Move the last points into the indices that become free."""
        start = self.n - len(indices)
        free = indices[indices < start]
        stays = np.ones(len(indices), bool)
        stays[indices[indices >= start] - start] = False
        moved = start + np.flatnonzero(stays)
        self.columns[:, free] = self.columns[:, moved]
        self.ids[free] = self.ids[moved]
        self.n = start


def _by_coordinates(points: Floats) -> Ints:
    """Return the order of the points by their first coordinate, then their second, and so on."""
    # np.lexsort takes its most important key last, and no keys at all are an error to it.
    return np.lexsort(points.T[::-1]) if points.shape[1] else np.arange(len(points))


def _near(distances: Floats, k: int) -> Ints:
    """Return indices among which the k nearest are, mostly few: selecting the k smallest of all is slow in numpy.

    Of k runs of distances each has one that is at most the k-th smallest of the runs' minima.
    """
    n_runs = len(distances) // RUN
    if n_runs < k:
        return np.arange(len(distances))
    minima = distances[: n_runs * RUN].reshape(n_runs, RUN).min(axis=1)
    return np.flatnonzero(distances <= np.partition(minima, k - 1)[k - 1])


def _first_component(points: Floats) -> Floats:
    """Return each point's index along the direction in which the points differ most."""
    centered = points - points.mean(axis=0)
    direction = np.linalg.eigh(centered.T @ centered)[1][:, -1]
    # The sign of an eigenvector is the library's choice.
    sign = math.copysign(1.0, direction[np.argmax(np.abs(direction))])
    indices: Floats = np.round(centered @ (direction * sign), PROJECTED_DECIMALS)
    return indices


Center = Literal["mean", "median"]


@dataclass(frozen=True)
class Microaggregate(RowByRow):
    """Put rows with near numbers into groups of at least k, and write each group's mean.

    Groups are made by MDAV (Domingo-Ferrer and Mateo-Sanz 2002) on all columns at once, by the Euclidean distance of
    values in standard deviations. By construction at least k rows agree on all these columns, which is counted again;
    the mean of each column stays what it was. Other quasi-identifiers are released as they are: named in `within`,
    they keep their classes, and groups are made inside of each. Rows that miss the same values are such a class too,
    grouped by the values that they have; a class of fewer than k rows cannot be anonymized. Rows keep their order, and
    no chance is involved: the seed is of no matter.

    The time grows with the square of the rows: thirty thousand take seconds. Tables of more rows than `block` are cut
    into blocks along their first principal component.

    What is written is made of the values of the members, and no grid hides it: the median of an odd number of rows is
    the value of one of them, the mean of equal values is that value, and whoever knows all members but one computes the
    last one from the mean.

    Example: with k=2

    | age | income | group | released    |
    |-----|--------|-------|-------------|
    | 20  | 100    | 1     | 21, 110     |
    | 22  | 120    | 1     | 21, 110     |
    | 40  | 300    | 2     | 42, 320     |
    | 42  | 320    | 2     | 42, 320     |
    | 44  | 340    | 2     | 42, 320     |
    """

    keeps_order: ClassVar[bool] = True
    k: int | None = field(
        default=None, metadata={"help": f"Fewest rows of a group; the k asked for, else {USUAL_K}, if none."}
    )
    columns: tuple[str, ...] = field(
        default=(), metadata={"help": "The columns to average; the numeric quasi-identifiers if none."}
    )
    within: tuple[str, ...] = field(
        default=(), metadata={"help": "Columns that stay as they are, and on which the rows of a group must agree."}
    )
    write: Center = field(default="mean", metadata={"help": "What the rows of a group get."})
    block: int = field(
        default=50_000, metadata={"help": "Most rows that are grouped together; larger is slower and loses less."}
    )

    @property
    def gives_away(self) -> str:
        """What is written of the values of people."""
        if self.write == "median":
            return (
                "Medians are written: that of an odd number of rows is the value of somebody in the group, so that "
                "some of them can be singled out."
            )
        return (
            "Means are written: that of equal values is the value of everybody in the group, and whoever knows all of "
            "a group but one computes the value of the last."
        )

    def change(self, original: Original, *, seed: int) -> RowChange:  # noqa: ARG002
        """Average the groups; CannotAnonymize if a class has fewer than k rows."""
        k, columns = self._asked(original)
        centers = _Centers(self, original, columns, k)

        def promises(released: object) -> dict[str, Score]:
            centers.check_all_came()
            _check_k(released, original)
            known = [*self.within, *columns]
            n_alike = count_classes(released, known).k
            return {"k-anonymity": Score("k-anonymity", n_alike, best=math.inf, worst=0, inputs={"columns": known})}

        return RowChange(next=lambda rows, first: centers.of(rows), promises=promises, facts=centers.facts)  # noqa: ARG005

    def _asked(self, original: Original) -> tuple[int, list[str]]:
        """Return the least group size and the columns to average; impossible options are an InputError."""
        k = least_rows(self.k, original)
        columns = original.chosen(self.columns, numeric=True)
        if self.block < 1:
            raise InputError.of("at least 1", option="block", value=self.block)
        if self.write not in get_args(Center):
            raise InputError.of(" or ".join(get_args(Center)), option="write", value=self.write)
        for name in self.within:
            if name in columns or name not in original.frame.columns:
                raise InputError.of("a released column that is not averaged", option="within", value=name)
        return k, columns

    def averaged(self, within: Sequence[pl.Series], numbers: Floats, k: int) -> tuple[Floats, Json]:
        """Return for each row of numbers the center of its group, and facts on the groups.

        Of equal rows it is the order in which they come that says who is in which group.
        """
        group_of = self._groups(within, numbers, k)
        centers = np.stack([group_centers(column, group_of, self.write) for column in numbers.T], axis=1)
        n_groups = int(group_of.max(initial=-1)) + 1
        return centers, {"k": k, "n_groups": n_groups, "lost_variance": lost_variance(numbers, centers)}

    def _groups(self, within: Sequence[pl.Series], numbers: Floats, k: int) -> Ints:
        """Return the group of each row."""
        group_of = np.zeros(len(numbers), np.int64)
        n_groups = n_alone = 0
        points = _standardized(numbers)
        for rows in _classes(within, np.isnan(numbers)):
            if len(rows) < k:
                n_alone += len(rows)
                continue
            own = points[rows]
            groups = mdav_in_blocks(own[:, ~np.isnan(own[0])], k, self.block)
            group_of[rows] = groups + n_groups
            n_groups += int(groups.max()) + 1
        if n_alone:
            alike = ", ".join([*self.within, "which numbers are missing"])
            raise CannotAnonymize(
                Text(
                    "Among fewer than {k} that agree on {alike}: {rows}.",
                    k=k,
                    alike=alike,
                    rows=counted(n_alone, "row"),
                )
            )
        return group_of


class _Centers:
    """What the rows with some numbers become: the first of them the first center that is left for these, and so on.

    MDAV sees numbers and no rows. Of equal numbers some may be in one group and some in another; the first rows that
    have them are in the first.
    """

    def __init__(self, method: Microaggregate, original: Original, averaged: Sequence[str], k: int) -> None:
        self.original, self.within, self.averaged = original, list(method.within), list(averaged)
        rows = original.weighted([*self.within, *averaged])
        # One number may be written in several ways, which are one here.
        points = self._keys(rows).with_columns(rows[SIZE])
        points = points.group_by(pl.exclude(SIZE), maintain_order=True).agg(pl.col(SIZE).sum())
        sizes: Ints = points[SIZE].to_numpy()
        self.points = points.drop(SIZE).with_row_index(SIZE)
        point_of = np.repeat(np.arange(len(sizes)), sizes)
        names = [str(at) for at in range(len(averaged))]
        numbers = np.stack([points[name].fill_null(float("nan")).to_numpy()[point_of] for name in names], axis=1)
        within = [points[f"within {at}"].gather(point_of) for at in range(len(self.within))]
        self.centers, self.facts = method.averaged(within, numbers, k)
        pairs = zip(numbers.T, self.centers.T, strict=True)
        self.is_whole = [are_whole(before) and are_whole(after) for before, after in pairs]
        self.next = np.cumsum(sizes) - sizes
        self.ends = np.cumsum(sizes)

    def of(self, rows: pl.DataFrame) -> list[pl.Series]:
        """Return the next rows their centers, column by column."""
        keys = self._keys(rows)
        # Engines give some types back as wider ones.
        points = self.points.cast({name: keys.schema[name] for name in keys.columns})
        found = keys.join(points, on=keys.columns, how="left", nulls_equal=True, maintain_order="left")[SIZE]
        if found.null_count():
            raise self._changed()
        point: Ints = found.to_numpy().astype(np.int64)
        order = np.argsort(point, kind="stable")
        there, starts, n_each = np.unique(point[order], return_index=True, return_counts=True)
        among = np.empty(len(point), np.int64)
        among[order] = np.arange(len(point)) - np.repeat(starts, n_each)
        at = self.next[point] + among
        if np.any(at >= self.ends[point]):
            raise self._changed()
        self.next[there] += n_each
        released = zip(self.averaged, self.centers.T, self.is_whole, strict=True)
        return [as_column(name, center[at], is_whole=is_whole) for name, center, is_whole in released]

    def check_all_came(self) -> None:
        """Raise unless every row that was counted has gone by."""
        if not np.array_equal(self.next, self.ends):
            raise self._changed()

    def _keys(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return what is compared: columns that stay as they are, and numbers, whatever they are written like."""
        keys = [rows[name].alias(f"within {at}") for at, name in enumerate(self.within)]
        # 0 and −0 are one number.
        numbers = [self.original.read_numbers(rows[name]) + 0.0 for name in self.averaged]
        return pl.DataFrame([*keys, *(pl.Series(str(at), one).fill_nan(None) for at, one in enumerate(numbers))])

    def _changed(self) -> InputError:
        return InputError.of("a table that does not change while it is read", file=self.original.file)


def group_centers(values: Floats, group_of: Ints, write: Center) -> Floats:
    """Return for each row the mean or the median of its group."""
    if not len(values):
        return values
    order = np.lexsort((values, group_of))
    ordered, groups = values[order], group_of[order]
    is_first = np.append(True, groups[1:] != groups[:-1])
    starts = np.flatnonzero(is_first)
    sizes = np.diff(np.append(starts, len(groups)))
    if write == "median":
        centers = ordered[starts + (sizes - 1) // 2] / 2 + ordered[starts + sizes // 2] / 2
    else:
        # Rounding must not move the mean of equal values away from them.
        centers = np.clip(np.add.reduceat(ordered, starts) / sizes, ordered[starts], ordered[starts + sizes - 1])
    out = np.empty(len(values))
    out[order] = centers[np.cumsum(is_first) - 1]
    return out


def lost_variance(before: Floats, after: Floats) -> float:
    """Return the share of the variance that is lost within groups: 0 if nothing is, 1 if all rows became alike.

    The mean over columns that vary, missing values left out; 0 if none does. The order of rows is of no matter.
    """
    shares = []
    for column, centers in zip(before.T, after.T, strict=True):
        order = np.lexsort((centers, column))
        old, new = column[order], centers[order]
        known = old[~np.isnan(old)]
        whole = float(np.square(known - known.mean()).sum()) if len(known) else 0.0
        if whole:
            shares.append(float(np.nansum(np.square(old - new))) / whole)
    return float(np.mean(shares)) if shares else 0.0


def _standardized(numbers: Floats) -> Floats:
    """Return each column in standard deviations, of which only the differences matter; one that does not vary is 0."""
    out = np.empty_like(numbers)
    for index, column in enumerate(numbers.T):
        known = column[~np.isnan(column)]
        # From the least, not from the mean, which would be rounded according to the order of the rows.
        out[:, index] = (column - (known.min() if len(known) else 0.0)) / (standard_deviation(column) or 1.0)
    return out


def _classes(columns: Sequence[pl.Series], is_missing: npt.NDArray[np.bool_]) -> Iterator[Ints]:
    """Yield the rows that agree on some columns and on which numbers are missing, class by class."""
    keys = [one.alias(f"column {index}") for index, one in enumerate(columns)]
    keys += [pl.Series(f"missing {index}", one) for index, one in enumerate(is_missing.T)]
    frame = pl.DataFrame(keys).with_row_index("row")
    groups = frame.group_by(frame.columns[1:], maintain_order=True).agg("row")["row"]
    for rows in groups:
        yield rows.to_numpy().astype(np.int64)


def _check_k(released: object, original: Original) -> None:
    """Raise what to do if the k asked for does not hold over the columns that were not averaged."""
    if original.k is None:
        return
    sizes = count_classes(released, list(original.quasi_identifiers)).sizes
    n_alone = int(sizes[sizes < original.k].sum())
    if n_alone:
        raise CannotAnonymize(
            Text(
                "In classes of fewer than {k} rows would stay {rows}: {hint}.",
                k=original.k,
                rows=counted(n_alone, "row"),
                hint=Text("generalize the other quasi-identifiers first, or name them in the option within"),
            )
        )
