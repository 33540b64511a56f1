"""Gradient-boosted trees as XGBoost writes them in JSON: what is wrong with a file, and what a model predicts.

A team's model is read here and by nothing that runs it, so that no file can bring the scorer down.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tokumei.core.text import Json, JsonView

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

NEWEST = [3, 0, 5]
LARGEST_TREE, MOST_TREES = 100_000, 10_000
FIELDS = ("left_children", "right_children", "split_indices", "split_conditions")


@dataclass(frozen=True)
class _Tree:
    left: Ints
    right: Ints
    feature: Ints
    value: npt.NDArray[np.float32]

    @classmethod
    def of(cls, found: JsonView) -> _Tree:
        left, right, feature = (np.array(found[name], np.int64) for name in FIELDS[:3])
        return cls(left, right, feature, np.array(found[FIELDS[3]], np.float32))

    def leaves(self, rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Value of the leaf that each row comes to."""
        at, every = np.zeros(len(rows), np.int64), np.arange(len(rows))
        for _ in range(len(self.left)):
            is_inner = self.left[at] >= 0
            if not is_inner.any():
                break
            goes_left = rows[every, self.feature[at]] < self.value[at]
            at = np.where(is_inner, np.where(goes_left, self.left[at], self.right[at]), at)
        found: npt.NDArray[np.float32] = self.value[at]
        return found


@dataclass(frozen=True)
class Model:
    """A model that keeps the rules."""

    names: tuple[str, ...]
    target: str
    start: float
    trees: tuple[_Tree, ...]

    @classmethod
    def of(cls, found: JsonView) -> Model:
        """Take a model out of a file in which nothing is wrong."""
        learner = found["learner"]
        attributes = _attributes(found)
        trees = tuple(_Tree.of(one) for one in learner["gradient_booster"]["model"]["trees"])
        start = _base_score(learner)
        return cls(tuple(json.loads(attributes["feature_names"])), str(attributes["target"]), start, trees)

    def chances(self, features: Mapping[str, Floats]) -> Floats:
        """Chance of each row; a feature that the rows lack is 0 in all, one that the model lacks is left out."""
        n = len(next(iter(features.values()), ()))
        rows = np.zeros((n, len(self.names)), np.float32)
        for place, name in enumerate(self.names):
            if name in features:
                rows[:, place] = features[name].astype(np.float32)
        margin = np.full(n, math.log(self.start / (1 - self.start)), np.float32)
        for tree in self.trees:
            margin += tree.leaves(rows)
        found: Floats = 1 / (1 + np.exp(-margin.astype(np.float64)))
        return found


def _attributes(found: JsonView) -> Json:
    """Attributes stand at the top or under the learner; a missing one is an empty object."""
    learner = found.get("learner")
    places = [found.get("attributes"), learner.get("attributes") if isinstance(learner, dict) else None]
    merged: Json = {}
    for place in places:
        merged |= place if isinstance(place, dict) else {}
    return merged


def _base_score(learner: JsonView) -> float:
    """Return the chance that the trees start from; newer versions write it in brackets."""
    return float(str(learner["learner_model_param"]["base_score"]).strip("[]"))


def model_faults(found: Any) -> str | None:
    """Say what a model file should have and has not; None if nothing is wrong."""
    if not isinstance(found, dict):
        return "an object with a learner"
    attributes = _attributes(found)
    for name in ("feature_names", "target", "xgboost_version"):
        if not isinstance(attributes.get(name), str) or not attributes[name]:
            return f"the attribute {name}"
    try:
        names = json.loads(attributes["feature_names"])
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        return "a list of names in the attribute feature_names"
    if len(set(names)) < len(names):
        return "distinct names in the attribute feature_names"
    version = found.get("version")
    if isinstance(version, list) and all(isinstance(part, int) for part in version) and version > NEWEST:
        return f"a model of XGBoost {'.'.join(map(str, NEWEST))} or older"
    try:
        return _learner_faults(found["learner"], names)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        return "the fields of a model of trees as XGBoost writes them"


def _learner_faults(learner: JsonView, names: list[str]) -> str | None:
    if learner["objective"]["name"] != "binary:logistic":
        return "the objective binary:logistic"
    if learner.get("feature_names") and learner["feature_names"] != names:
        return "the names of the attribute feature_names in the learner, too"
    if int(learner["learner_model_param"]["num_feature"]) != len(names):
        return "as many features as names"
    if not 0 < _base_score(learner) < 1:
        return "a base_score between 0 and 1"
    if learner["gradient_booster"]["name"] != "gbtree":
        return "a booster of trees (gbtree)"
    trees = learner["gradient_booster"]["model"]["trees"]
    if not isinstance(trees, list) or not 1 <= len(trees) <= MOST_TREES:
        return f"from 1 to {MOST_TREES:,} trees"
    return next((fault for fault in (_tree_faults(tree, len(names)) for tree in trees) if fault), None)


def _tree_faults(tree: JsonView, n_features: int) -> str | None:
    left, right, feature = (np.array(tree[name], np.int64) for name in FIELDS[:3])
    value = np.array(tree["split_conditions"], np.float64)
    n = len(left)
    if not 1 <= n <= LARGEST_TREE or any(part.shape != (n,) for part in (left, right, feature, value)):
        return "trees whose lists are of one length"
    if any(kind != 0 for kind in tree.get("split_type", [])):
        return "splits by numbers"
    if not np.isfinite(value).all():
        return "finite splits and leaves"
    inner = left >= 0
    nodes = np.arange(n)
    # A child comes after its parent, so that no walk goes round in a circle.
    if not ((left[inner] > nodes[inner]) & (left[inner] < n)).all() or (inner != (right >= 0)).any():
        return "trees that end in leaves"
    if not ((right[inner] > nodes[inner]) & (right[inner] < n)).all():
        return "trees that end in leaves"
    if not ((feature[inner] >= 0) & (feature[inner] < n_features)).all():
        return "splits by the features that there are"
    return None
