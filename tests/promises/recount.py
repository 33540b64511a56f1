"""Promises recounted from a written file, by code that knows nothing of Tokumei: csv, counting, and the definitions."""

from __future__ import annotations

import csv
import math
from collections import Counter
from pathlib import Path

Rows = list[dict[str, str]]


def read(path: Path) -> Rows:
    """Read a CSV file; an empty cell is missing."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def classes(rows: Rows, columns: list[str]) -> list[Rows]:
    found: dict[tuple[str, ...], Rows] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in columns), []).append(row)
    return list(found.values())


def k(rows: Rows, columns: list[str]) -> int:
    return min((len(one) for one in classes(rows, columns)), default=0)


def distinct_l(rows: Rows, columns: list[str], sensitive: str, *, is_missing_a_value: bool) -> float:
    found = [[row[sensitive] for row in one] for one in classes(rows, columns)]
    return min((len({value for value in one if value or is_missing_a_value}) for one in found), default=math.inf)


def entropy_l(rows: Rows, columns: list[str], sensitive: str, *, is_missing_a_value: bool) -> float:
    least = math.inf
    for one in classes(rows, columns):
        values = [row[sensitive] for row in one if row[sensitive] or is_missing_a_value]
        shares = [n / len(values) for n in Counter(values).values()]
        least = min(least, math.exp(-sum(p * math.log(p) for p in shares)) if values else 0.0)
    return least


def recursive_holds(
    rows: Rows,
    columns: list[str],
    sensitive: str,
    *,
    c: float,
    least: int,
    is_missing_a_value: bool,
) -> bool:
    for one in classes(rows, columns):
        values = [row[sensitive] for row in one if row[sensitive] or is_missing_a_value]
        r = sorted(Counter(values).values(), reverse=True)
        if least > 1 and not (r and r[0] < c * sum(r[least - 1 :])):
            return False
    return True


def largest_share(rows: Rows, columns: list[str], sensitive: str) -> float:
    shares = [max(Counter(row[sensitive] for row in one).values()) / len(one) for one in classes(rows, columns)]
    return max(shares, default=0.0)


def t(rows: Rows, columns: list[str], sensitive: str, everybody: Rows) -> float:
    """The largest total variation between a class and everybody."""
    return max((_variation(one, everybody, sensitive) for one in classes(rows, columns)), default=0.0)


def _variation(one: Rows, everybody: Rows, sensitive: str) -> float:
    own, all_ = Counter(row[sensitive] for row in one), Counter(row[sensitive] for row in everybody)
    return sum(abs(own[value] / len(one) - all_[value] / len(everybody)) for value in own | all_) / 2


def ordered_t(rows: Rows, columns: list[str], sensitive: str, everybody: Rows) -> float:
    """The largest distance of numbers in a row, a missing one last."""
    values = sorted({row[sensitive] for row in [*rows, *everybody]}, key=lambda text: (text == "", float(text or 0)))
    furthest = 0.0
    for one in classes(rows, columns):
        own, all_ = Counter(row[sensitive] for row in one), Counter(row[sensitive] for row in everybody)
        running = work = 0.0
        for value in values:
            running += own[value] / len(one) - all_[value] / len(everybody)
            work += abs(running)
        furthest = max(furthest, work / max(1, len(values) - 1))
    return furthest


def largest_gain(rows: Rows, columns: list[str], sensitive: str, everybody: Rows) -> float:
    gain = 0.0
    all_ = Counter(row[sensitive] for row in everybody)
    for one in classes(rows, columns):
        for value, n in Counter(row[sensitive] for row in one).items():
            p, q = all_[value] / len(everybody), n / len(one)
            gain = max(gain, (q - p) / p if p else math.inf)
    return gain
