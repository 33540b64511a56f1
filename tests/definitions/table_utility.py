"""What use of a table is left: the indices of PWSCUP 2015 (Kikuchi et al. 2016) as the catalogue makes them exact, and
those that read a label as its leaves, each alike."""

from __future__ import annotations

import math
from itertools import combinations
from statistics import fmean, pstdev

from tests.definitions.cases import Row

Numbers = dict[str, list[float]]


def in_spreads(gap: float, values: list[float]) -> float:
    """A distance in standard deviations of the column, at most 1; any distance is 1 where it never varies."""
    spread = pstdev(values)
    return min(1.0, abs(gap) / spread) if spread else float(gap != 0)


def mean_mae(before: Numbers, after: Numbers) -> float:
    return fmean(in_spreads(fmean(before[name]) - fmean(after[name]), before[name]) for name in before)


def correlation(one: list[float], other: list[float]) -> float:
    """Pearson's; a column that never varies is correlated with nothing."""
    x, y = fmean(one), fmean(other)
    size = math.sqrt(sum((a - x) ** 2 for a in one) * sum((b - y) ** 2 for b in other))
    return sum((a - x) * (b - y) for a, b in zip(one, other, strict=True)) / size if size else 0.0


def correlation_mae(before: Numbers, after: Numbers) -> float:
    pairs = combinations(before, 2)
    gaps = [abs(correlation(before[a], before[b]) - correlation(after[a], after[b])) / 2 for a, b in pairs]
    return fmean(gaps)


def cross_tables(columns: list[str]) -> list[tuple[str, ...]]:
    """All pairs of columns; one alone makes a table of its own."""
    return list(combinations(columns, 2)) if len(columns) > 1 else [(columns[0],)]


def cross_count(before: list[Row], after: list[Row], columns: list[str]) -> float:
    errors = []
    for pair in cross_tables(columns):
        cells, released = ([tuple(row[name] for name in pair) for row in rows] for rows in (before, after))
        gaps = sum(abs(cells.count(cell) - released.count(cell)) for cell in {*cells, *released})
        errors.append(gaps / (len(before) + len(after)))
    return fmean(errors)


def cross_mean(before: list[Row], after: list[Row], columns: list[str], ours: Numbers, theirs: Numbers) -> float:
    errors = []
    for pair in cross_tables(columns):
        cells, released = ([tuple(row[name] for name in pair) for row in rows] for rows in (before, after))
        for cell in dict.fromkeys(cells):
            for name, values in ours.items():
                mean = fmean(value for value, own in zip(values, cells, strict=True) if own == cell)
                there = [value for value, own in zip(theirs[name], released, strict=True) if own == cell]
                errors.append(in_spreads(mean - fmean(there), values) if there else 1.0)
    return fmean(errors)


def distance(
    row: Row, amounts: list[float], other: Row, others: list[float], columns: list[str], ours: Numbers
) -> float:
    """The mean error of a row's cells against another row."""
    errors = [float(row[name] != other[name]) for name in columns]
    errors += [in_spreads(a - b, values) for a, b, values in zip(amounts, others, ours.values(), strict=True)]
    return fmean(errors)


def amounts_of(numbers: Numbers, row: int) -> list[float]:
    return [values[row] for values in numbers.values()]


def information_loss(
    before: list[Row], after: list[Row], came_from: list[int], columns: list[str], ours: Numbers, theirs: Numbers
) -> float:
    return fmean(
        distance(after[n], amounts_of(theirs, n), before[row], amounts_of(ours, row), columns, ours)
        for n, row in enumerate(came_from)
    )


def information_loss_by_chance(
    before: list[Row], after: list[Row], came_from: list[int], columns: list[str], ours: Numbers, theirs: Numbers
) -> float:
    """The same with row numbers in any order."""
    return fmean(information_loss(before, after, [row] * len(after), columns, ours, theirs) for row in came_from)


def aya(
    before: list[Row], after: list[Row], came_from: list[int], columns: list[str], ours: Numbers, theirs: Numbers
) -> float:
    """Four times the share of rows to which more than three quarters of the others are nearer than the declared one."""
    n_far = 0
    for n, declared in enumerate(came_from):
        far = [
            distance(after[n], amounts_of(theirs, n), other, amounts_of(ours, row), columns, ours)
            for row, other in enumerate(before)
        ]
        others = [one for row, one in enumerate(far) if row != declared]
        nearer = sum(0.5 if abs(one - far[declared]) < 1e-12 else float(one < far[declared]) for one in others)
        n_far += far[declared] > 0 and nearer > 0.75 * len(others)
    return min(1.0, 4 * n_far / len(after))


# A cell of a generalized table as what it may be: each possible value with its share.
Spread = dict[str | None, float]


def crosstab_error(before: list[dict[str, Spread]], after: list[dict[str, Spread]], columns: list[str]) -> float:
    """The mean over two-way tables of their total variation, a label counting as its leaves, each alike."""
    errors = []
    for pair in cross_tables(columns):
        tables = [_cells(rows, pair) for rows in (before, after)]
        keys = {key for table in tables for key in table}
        errors.append(sum(abs(tables[0].get(key, 0) - tables[1].get(key, 0)) for key in keys) / 2)
    return fmean(errors)


def _cells(rows: list[dict[str, Spread]], pair: tuple[str, ...]) -> dict[tuple[str | None, ...], float]:
    found: dict[tuple[str | None, ...], float] = {}
    for row in rows:
        cells: dict[tuple[str | None, ...], float] = {(): 1.0}
        for name in pair:
            cells = {(*key, value): p * q for key, p in cells.items() for value, q in row[name].items()}
        for key, p in cells.items():
            found[key] = found.get(key, 0) + p / len(rows)
    return found


def spread_correlation(rows: list[dict[str, Spread]], one: str, other: str) -> float:
    """Pearson's of two columns of labels, the values of a row being drawn independently; rows with none left out."""
    pairs = [
        (float(a), float(b), p * q)
        for row in rows
        for a, p in row[one].items()
        for b, q in row[other].items()
        if a is not None and b is not None
    ]
    total = sum(weight for *_, weight in pairs)
    if not total:
        return 0.0
    x, y = (sum(pair[at] * pair[2] for pair in pairs) / total for at in (0, 1))
    size = math.sqrt(sum(w * (a - x) ** 2 for a, _, w in pairs)) * math.sqrt(sum(w * (b - y) ** 2 for _, b, w in pairs))
    return sum(w * (a - x) * (b - y) for a, b, w in pairs) / size if size > 1e-12 else 0.0


def correlation_error(before: list[dict[str, Spread]], after: list[dict[str, Spread]], columns: list[str]) -> float:
    return fmean(
        abs(spread_correlation(before, a, b) - spread_correlation(after, a, b)) / 2 for a, b in combinations(columns, 2)
    )


def statistics(before: list[dict[str, Spread]], after: list[dict[str, Spread]], columns: list[str]) -> float:
    """The mean shift of mean, variance, median, least and greatest, in standard deviations (variances), at most 1."""
    shifts = []
    for name in columns:
        ours, theirs = (five(weighted(rows, name)) for rows in (before, after))
        for index in range(5):
            unit = (ours[1] if index == 1 else math.sqrt(ours[1])) if ours else 0.0
            if not ours or not theirs:
                shifts.append(float(bool(ours) != bool(theirs)))
                continue
            gap = abs(ours[index] - theirs[index])
            shifts.append(min(1.0, gap / unit) if unit else float(gap > 1e-9))
    return fmean(shifts)


def weighted(rows: list[dict[str, Spread]], name: str) -> list[tuple[float, float]]:
    """The numbers of a column in order, each with the rows it counts for."""
    found: dict[float, float] = {}
    for row in rows:
        for value, p in row[name].items():
            if value is not None:
                found[float(value)] = found.get(float(value), 0.0) + p
    return sorted(found.items())


def five(numbers: list[tuple[float, float]]) -> list[float]:
    """Mean, variance, median (the first number with half of the rows up to it), least and greatest."""
    total = sum(weight for _, weight in numbers)
    if not total:
        return []
    mean = sum(x * w for x, w in numbers) / total
    variance = sum(w * (x - mean) ** 2 for x, w in numbers) / total
    upto, median = 0.0, numbers[-1][0]
    for x, w in numbers:
        upto += w
        if upto >= total / 2 - 1e-9:
            median = x
            break
    return [mean, variance, median, numbers[0][0], numbers[-1][0]]
