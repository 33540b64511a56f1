"""The own options of methods, attacks and measures, as keywords of the public functions.

Which method, attack or measure takes which is said by `tokumei parts`; one from another package takes its options as
fields of the part itself. A test holds these against what the registries find.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypedDict

Ranges = Literal["grid", "tight"]


class TableMethodOptions(TypedDict, total=False):
    """Options of the methods that anonymize tables."""

    below: bool
    block: int
    bottom: float
    budget: float | None
    columns: Sequence[str]
    cuts: Literal["checked", "safe"]
    earlier: Sequence[str]
    epsilon: float
    finer: bool
    high: Sequence[float]
    is_clamped: bool
    kind: Literal["strict", "relaxed", "laplace", "gaussian", "bottom-up", "top-down"]
    levels: Sequence[str]
    low: Sequence[float]
    margin: float
    n_way: int
    neighbors: Literal["add-or-remove", "replace"]
    noise: Literal["geometric", "laplace"]
    order: Literal["smallest", "random"]
    p: float
    pk: float | None
    predictor: str
    publish: Literal["tables", "rows"]
    ranges: Ranges
    retain: float | None
    scale: float | None
    seconds: float
    share: float
    table: str
    top: float
    ways: int
    within: Sequence[str]
    write: Literal["mean", "median", "bound"]
    z: int


class HistoryMethodOptions(TypedDict, total=False):
    """Options of the methods that anonymize histories."""

    alpha: float | None
    among: int
    bound: float
    characters: int
    clusters: int | Literal["best"] | None
    days: int
    deals: Literal["rows", "baskets"]
    every: int
    hides_times: bool
    items: float
    k: int
    known: float
    level: int
    lifetime: int
    m: int
    most: float
    most_open: float
    once: bool
    price_deviations: float
    prices: float
    quantities: float
    random: float
    ranges: Ranges
    risk_limit: float | None
    rounds: int
    share: float
    smallest: int
    telling: float
    unhidden: int
    whole_baskets: bool


class TableAttackOptions(TypedDict, total=False):
    """Options of the attacks on tables."""

    alpha: float
    beta: float
    c: float
    complete: bool
    distance: Literal["equal", "ordered", "hierarchical"]
    draws: int
    excludes: int
    kind: Literal["distinct", "entropy", "recursive"]
    l: float  # noqa: E741 - as the requirement is called.
    ranges: Literal["", "grid", "tight"]
    rounds: Literal["", "any", "finest"]
    seconds: float
    t: float


class HistoryAttackOptions(TypedDict, total=False):
    """Options of the attacks on histories."""

    alpha: str | float
    each_once: bool
    fields: Sequence[str]
    n_guesses: int
    p: str | float
    rounds: int
    submit_all: bool


class ThreatOptions(TypedDict, total=False):
    """Changes to a threat: the fields of `HistoryThreat`."""

    days: int
    draw: Literal["contest", "uniform", "basket", "memorable"]
    is_told: bool
    item_characters: int | None
    knows_places: bool
    period: Literal["same", "other"]
    price_share: float
    rows: int | None
    share: float
    who: str


class TableMeasureOptions(TypedDict, total=False):
    """Options of the measures of tables; what an original says of itself is not asked again."""

    classifier: Literal["logistic", "tree"]
    held_out: float
    metric: Literal["auc", "accuracy"]
    most_rows: int
    n_compared: int
    seed: int
    target: str


class HistoryMeasureOptions(TypedDict, total=False):
    """Options of the measures of histories; of a list of values each is measured."""

    by: Sequence[str]
    column: Literal["date", "price", "quantity"] | Sequence[str]
    count: Literal["purchases", "pieces"]
    diagonal: bool
    k: int | Sequence[int]
    kind: Literal["wholesale", "retail", "top"]
    largest_size: int
    least_confidence: float
    least_support: float | None
    most_dozens: int
    n_items: int
    n_ranks: int
    n_rules: int
    n_sets: int
    normalize: Literal["worst", "range"]
    released_master: Any
    statistic: str | Sequence[str]
