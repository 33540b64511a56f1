"""The largest share of a sensitive value that a promise allows in any class."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from tokumei.attacks.targets import Floats
from tokumei.hierarchies.label_semantics import Ints
from tokumei.measures.requirement import Requirement
from tokumei.measures.safety.alpha_k import AlphaK
from tokumei.measures.safety.beta_likeness import BetaLikeness
from tokumei.measures.safety.delta_disclosure import DeltaDisclosure
from tokumei.measures.safety.l_diversity import LDiversity
from tokumei.measures.safety.t_closeness import TCloseness

HALVINGS = 60


def bounds_of(requirements: Sequence[Requirement], values: pl.Series, totals: Ints) -> Floats:
    """Return for each value the largest share that all requirements allow; a missing value is never bounded.

    values: the domain of the sensitive column. totals: the rows of each value in the whole table.
    """
    is_value = values.is_not_null().to_numpy()
    shares = np.where(is_value, totals, 0) / max(1, int(totals[is_value].sum()))
    out = np.ones(len(values))
    for one in requirements:
        out = np.minimum(out, _bounds(one, shares, int(is_value.sum())))
    out[~is_value] = 1.0
    return out


def _bounds(requirement: Requirement, shares: Floats, n_values: int) -> Floats:
    even = np.ones(len(shares))
    if isinstance(requirement, LDiversity):
        return even * _diverse(requirement, n_values)
    if isinstance(requirement, AlphaK):
        return even * requirement.alpha
    if isinstance(requirement, TCloseness):
        # Mass that is moved goes as far as the nearest other value at least.
        nearest = 1.0
        if requirement.distance == "ordered":
            nearest = 1 / max(1, n_values - 1)
        elif requirement.distance == "hierarchical" and requirement.hierarchy is not None:
            nearest = 1 / max(1, requirement.hierarchy.height)
        return shares + requirement.t / nearest
    if isinstance(requirement, BetaLikeness):
        with np.errstate(divide="ignore"):
            cap = -np.log(shares) if requirement.kind == "enhanced" else np.full(len(shares), math.inf)
        gains: Floats = shares * (1 + np.minimum(requirement.beta, np.where(shares > 0, cap, 0.0)))
        return gains
    if isinstance(requirement, DeltaDisclosure):
        bounds: Floats = shares * 2.0**requirement.delta
        return bounds
    return even


def _diverse(requirement: LDiversity, n_values: int) -> float:
    """Return the largest share of one value in a class that is ℓ-diverse."""
    if requirement.kind == "distinct":
        # As ℓ-diversity is commonly read; literally ℓ − 1 rows with other values would do.
        return 1 / requirement.l
    if requirement.kind == "recursive":
        c = requirement.c or 0.0
        return c / (1 + c) if requirement.l > 1 else 1.0
    low, high = 1 / max(1, n_values), 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        rest = (1 - middle) / max(1, n_values - 1)
        entropy = -middle * math.log(middle) - (n_values - 1) * (rest * math.log(rest) if rest > 0 else 0.0)
        low, high = (middle, high) if entropy >= math.log(requirement.l) else (low, middle)
    return high
