"""What use of a purchase history is left: the measures of PWSCUP 2017 (E1 to E6) and of the use cases of 2018."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations, product
from statistics import fmean, median, pstdev, pvariance

FIRST_DAY = datetime.date(2010, 1, 1)


@dataclass(frozen=True)
class Purchase:
    """A row; in a release the customer is a pseudonym."""

    customer: str
    date: datetime.date
    item: str
    price: float
    quantity: int


# Row by row, None where it was deleted.
Rows = list[Purchase | None]


def kept(rows: Rows) -> list[Purchase]:
    return [row for row in rows if row is not None]


def buyers_of(item: str, rows: Rows) -> set[str]:
    return {row.customer for row in kept(rows) if row.item == item}


def top_items(rows: Rows, k: int) -> list[str]:
    """By their number of buyers; of equally many the larger id first."""
    items = sorted({row.item for row in kept(rows)}, reverse=True)
    return sorted(items, key=lambda item: -len(buyers_of(item, rows)))[:k]


def lost_top_items(before: Rows, after: Rows, k: int) -> float:
    return len(set(top_items(before, k)) - set(top_items(after, k))) / k


Weigh = Callable[[int], int]


def cosine(one: str, other: str, rows: Rows, weigh: Weigh) -> float:
    users = sorted({row.customer for row in kept(rows)})

    def column(item: str) -> list[int]:
        bought = [[row.quantity for row in kept(rows) if row.customer == user and row.item == item] for user in users]
        return [weigh(sum(quantities)) if quantities else 0 for quantities in bought]

    a, b = column(one), column(other)
    size = math.hypot(*a) * math.hypot(*b)
    return sum(x * y for x, y in zip(a, b, strict=True)) / size if size else 0.0


def item_cf(before: Rows, after: Rows, weigh: Weigh, items: list[str] | None = None) -> float:
    """Σ|w − w′| / Σw over the pairs of items that are similar in the original, at most 1."""
    items = sorted({row.item for row in kept(before)}) if items is None else items
    pairs = [(a, b, w) for a, b in combinations(items, 2) if (w := cosine(a, b, before, weigh)) > 0]
    total = sum(w for *_, w in pairs)
    moved = sum(abs(w - cosine(a, b, after, weigh)) for a, b, w in pairs)
    return min(1.0, moved / total) if total else 0.0


def plain_item_cf(before: Rows, after: Rows, *, counts_rows: bool = True, diagonal: bool = True) -> float:
    """Equation 2 of the paper of 2017 over all cells (i, j) of the matrix that are not 0, the diagonal among them."""
    if counts_rows:
        before, after = ([row and replace(row, quantity=1) for row in rows] for rows in (before, after))
    items = sorted({row.item for row in kept(before)})
    moved = total = 0.0
    for a, b in product(items, items):
        if a == b and not diagonal:
            continue
        was = cosine(a, b, before, lambda n: n)
        if was:
            moved += abs(was - cosine(a, b, after, lambda n: n))
            total += was
    return min(1.0, moved / total) if total else 0.0


def date(before: Rows, after: Rows) -> float:
    days = [abs((b.date - a.date).days) for a, b in zip(before, after, strict=True) if a and b]
    return min(1.0, sum(days) / (31 * max(1, len(before))))


def price(before: Rows, after: Rows) -> float:
    pairs = [(a.price, b.price) for a, b in zip(before, after, strict=True) if a and b]
    return sum(1 - min(pair) / max(pair) for pair in pairs) / max(1, len(before))


def rows_gone(before: Rows, after: Rows) -> float:
    return round(1 - len(kept(after)) / max(1, len(before)), 4)


def statistic(name: str, column: str, rows: Rows) -> float:
    found = [getattr(row, column) for row in kept(rows)]
    numbers = [float((value - FIRST_DAY).days) if column == "date" else float(value) for value in found]
    if name == "rows" or not numbers:
        return len(numbers)
    of: dict[str, Callable[[list[float]], float]] = {
        "sum": sum,
        "mean": fmean,
        "variance": pvariance,
        "deviation": pstdev,
        "maximum": max,
        "minimum": min,
        "median": median,
    }
    return of[name](numbers)


def invoices(rows: Rows) -> list[set[str]]:
    """What one customer bought on one day."""
    keys = sorted({(row.customer, row.date) for row in kept(rows)})
    return [{row.item for row in kept(rows) if (row.customer, row.date) == key} for key in keys]


def holding(items: tuple[str, ...], baskets: list[set[str]]) -> int:
    return sum(set(items) <= one for one in baskets)


def itemsets(rows: Rows, items: list[str], largest: int) -> dict[tuple[str, ...], int]:
    """All sets that some invoice holds, with how many do."""
    baskets = invoices(rows)
    every = [one for size in range(1, largest + 1) for one in combinations(items, size)]
    return {one: n for one in every if (n := holding(one, baskets))}


def lost_itemsets(before: Rows, after: Rows, n_sets: int, largest: int) -> float:
    """The share of the most frequent sets, smaller ones first where as many hold them, that is gone from the others."""
    items = sorted({row.item for row in kept(before)})

    def most(rows: Rows) -> list[tuple[str, ...]]:
        found = itemsets(rows, items, largest)
        return sorted(found, key=lambda one: (-found[one], len(one), one))[:n_sets]

    ours = most(before)
    return len(set(ours) - set(most(after))) / len(ours) if ours else 0.0


def lost_supported_itemsets(before: Rows, after: Rows, share: float, largest: int) -> float:
    """The share of the sets in a share of the invoices that is in fewer than that share of the others."""
    items = sorted({row.item for row in kept(before)})

    def frequent(rows: Rows) -> set[tuple[str, ...]]:
        least = max(1, math.ceil(share * len(invoices(rows)) - 1e-9))
        return {one for one, n in itemsets(rows, items, largest).items() if n >= least}

    ours = frequent(before)
    return len(ours - frequent(after)) / len(ours) if ours else 0.0


def rule_values(if_items: tuple[str, ...], item: str, rows: Rows) -> tuple[float, float, float]:
    """Support, confidence and lift; all 0 where no invoice has the rule."""
    baskets = invoices(rows)
    both, first, last = (holding(one, baskets) for one in ((*if_items, item), if_items, (item,)))
    if not both:
        return 0.0, 0.0, 0.0
    return both / len(baskets), both / first, both * len(baskets) / (first * last)


def changed_rules(before: Rows, after: Rows, support: float, confidence: float, n_rules: int) -> float:
    """The mean change of the rules with the greatest lift, of support, confidence and lift alike."""
    items = sorted({row.item for row in kept(before)})
    least = max(1, math.ceil(support * len(invoices(before)) - 1e-9))
    rules = {}
    for one, n in itemsets(before, items, 3).items():
        for item in one if n >= least and len(one) > 1 else ():
            rule = tuple(other for other in one if other != item), item
            if (values := rule_values(*rule, before))[1] >= confidence:
                rules[rule] = values
    best = sorted(rules, key=lambda rule: (-rules[rule][2], -rules[rule][0], rule))[:n_rules]
    changes = []
    for rule in best:
        now = rule_values(*rule, after)
        changes.append(fmean(1 - min(a, b) / max(a, b) for a, b in zip(rules[rule], now, strict=True)))
    return fmean(changes) if changes else 0.0


def rfm(rows: Rows) -> list[tuple[int, int, int]]:
    """Day of the last purchase, number of days with one, and money in ten-thousandths, of each customer."""
    found = []
    for customer in sorted({row.customer for row in kept(rows)}):
        own = [row for row in kept(rows) if row.customer == customer]
        money = sum(round(row.price * 10_000) * row.quantity for row in own)
        found.append((max(row.date for row in own).toordinal(), len({row.date for row in own}), money))
    return found


def rfm_error(before: Rows, after: Rows, n_ranks: int) -> float:
    """The error of the counts by ranks with equally many of the original's customers, over the worst there can be."""
    ours, theirs = rfm(before), rfm(after)
    if not ours:
        return float(bool(theirs))

    def cell(customer: tuple[int, int, int]) -> tuple[int, ...]:
        return tuple(rank(value, sorted(one[at] for one in ours)) for at, value in enumerate(customer))

    def rank(value: int, ordered: list[int]) -> int:
        """The first rank whose last value is as large; the first i ranks have ⌈n·i/ranks⌉ customers, ties together."""
        last = [ordered[max(1, math.ceil(len(ordered) * i / n_ranks)) - 1] for i in range(1, n_ranks)]
        return sum(edge < value for edge in last)

    one, other = ([cell(customer) for customer in side] for side in (ours, theirs))
    cells = {*one, *other}
    error = sum((one.count(where) - other.count(where)) ** 2 for where in cells)
    worst = sum(one.count(where) ** 2 + other.count(where) ** 2 for where in cells)
    return math.sqrt(error / worst)


# What is known of a customer, such as sex and decade of birth.
Master = dict[str, tuple[str, ...]]


def buyers_error(before: Rows, after: Rows, master: Master, n_items: int) -> float:
    """The mean over items of the total variation of their buyers' groups; a released row belongs to whom it did."""
    pairs = list(zip(before, after, strict=True))

    def groups(found: set[tuple[str, str]]) -> dict[tuple[str, ...], float]:
        own = [master[customer] for _, customer in found]
        return {group: own.count(group) / len(own) for group in own}

    distances = []
    for item in top_items(before, n_items):
        ours = groups({(a.customer, a.customer) for a, _ in pairs if a and a.item == item})
        theirs = groups({(b.customer, a.customer) for a, b in pairs if a and b and b.item == item})
        gaps = sum(abs(ours.get(one, 0) - theirs.get(one, 0)) for one in {*ours, *theirs}) / 2
        distances.append(gaps if theirs else 1.0)
    return fmean(distances) if distances else 0.0


def mean_price_error(before: Rows, after: Rows, master: Master) -> float:
    """The mean over the cells that the original fills of |mean price − released mean price|, 0 for an empty one."""
    owners = [row.customer if row else None for row in before]

    def cells(rows: Rows) -> dict[tuple[str, ...], float]:
        prices: dict[tuple[str, ...], list[float]] = {}
        for owner, row in zip(owners, rows, strict=True):
            if owner and row:
                prices.setdefault(master[owner], []).append(row.price)
        return {where: fmean(found) for where, found in prices.items()}

    ours, theirs = cells(before), cells(after)
    return fmean(abs(mean - theirs.get(where, 0.0)) for where, mean in ours.items()) if ours else 0.0
