"""What the paper on Jaccard re-identification and dummy records prints: its numbers, and its formula in full."""

from __future__ import annotations

from dataclasses import dataclass

from tokumei.methods.history.dummies import expected_dummies

PAPER = "Ito, Kikuchi et al., Jaccard re-identification and dummy records (after PWSCUP 2016)"
HISTORY = "pwscup2016/T.csv.gz"
# Customers, rows, items a customer, items two customers share, and the mean Jaccard similarity of two: section 2.1.
N, M, B, H, MU = 400, 38_087, 65, 4, 0.03


@dataclass(frozen=True)
class Printed:
    """One row of table 2 for one number of clusters; `smallest` 1 is method 1."""

    clusters: int
    smallest: int
    n_dummies: int
    jaccard: float
    reid: float


TABLE_2 = (
    Printed(50, 1, 182_897, 0.1728, 0.1235),
    Printed(50, 2, 183_902, 0.1729, 0.1223),
    Printed(50, 3, 175_449, 0.1726, 0.1222),
    Printed(50, 4, 162_474, 0.1723, 0.1218),
    Printed(50, 8, 125_798, 0.1681, 0.1218),
    Printed(75, 1, 141_696, 0.2402, 0.1858),
    Printed(75, 2, 136_526, 0.2403, 0.1860),
    Printed(75, 3, 112_781, 0.2394, 0.1855),
    Printed(75, 4, 91_946, 0.2382, 0.1855),
    Printed(100, 1, 128_568, 0.3060, 0.2488),
    Printed(100, 2, 99_228, 0.3061, 0.2475),
    Printed(100, 3, 68_357, 0.3041, 0.2480),
    Printed(100, 4, 59_374, 0.3044, 0.2465),
    Printed(125, 1, 97_581, 0.3692, 0.3120),
    Printed(125, 2, 60_492, 0.3687, 0.3105),
    Printed(125, 3, 46_101, 0.3667, 0.3102),
)


def shared_items(b: float, mu: float) -> float:
    """Return the items that two customers share, h = 2bµ/(1 + µ): two sets of b have h of 2b − h in common."""
    return 2 * b * mu / (1 + mu)


def dummies_with_overlaps(n: int, c: int, b: float, h: float) -> float:
    """Predict the added rows where every two customers of a cluster share h items: n·(s·b − s(s − 1)/2·h − b), s = n/c.

    The paper's formula (1) is the first term of it, (b + h/2)·n²/c.
    """
    return expected_dummies(n, c, b, h) - h * n**3 / (2 * c**2)


def fewest_clusters(n: int, b: float, h: float) -> float:
    """Return the number of clusters below which a cluster's union would shrink as members join: n·h/(b + h/2)."""
    return n * h / (b + h / 2)
