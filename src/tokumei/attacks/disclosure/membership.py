"""An attacker who wants to know whether somebody is in the data that a release was made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import polars as pl
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from tokumei.attacks.candidates import UNKNOWN, Floats, share_score
from tokumei.attacks.disclosure.nearest_records import N_PEOPLE, N_RISKIEST, PEOPLE_HELP, drawn_people
from tokumei.attacks.likeness import Likeness, values_together
from tokumei.attacks.threat_model import Published, ThreatModel
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.data.table import Table
from tokumei.hierarchies.label_semantics import Bools, Ints

# Shares of people outside who are taken for members; how many of them must be there for the share to be told.
FALSE_ALARMS = {"success": 0.01, "at-0.1%": 0.001}
MOST_REFERENCE = 10_000
# Values of a column that the classifier tells apart; how much large weights cost it.
N_VALUES, RIDGE = 24, 1.0
# Half are known to be outside; of the others half choose the attacker, and a hundred must be left to judge by.
FEWEST_OUTSIDE = 400


@dataclass(frozen=True)
class Membership:
    """Tell whether a person is in the data that a release was made of.

    Knowledge: the known columns of a person, the release, and other people who are not in it: half of the control.
    Aim: who is in. Seven attackers order people by how much speaks for it: the record most like them (`nearest`, or
    `copies` if records are taken to be left alone), all records each as far as it is like them (`kernel`), both beside
    the same of the other people (`nearest-ratio`, `density-ratio`, after van Breugel et al. 2023), their values column
    by column (`marginals`), and a logistic regression that learned to tell records from the other people
    (`classifier`). Success: at a threshold that takes one in a hundred of those outside for members, the share of
    people in the release who are taken for members, `success`; at one in a thousand `at-0.1%`; over all thresholds
    `auc`. Each of the attacker who does best on half of the people, counted by the other half. Baseline: the share
    outside. What is often printed instead, how many people some record copies exactly, is `proxy` among the inputs and
    decides nothing.

    Example: of the release (20), (30) somebody of 20 speaks for being in it by the nearest record, somebody of 25
    less; if people outside have 24, 25, 26 …, none of them comes as near, and everybody in it is told.
    """

    people: int = field(default=N_PEOPLE, metadata={"help": PEOPLE_HELP})

    asks_whose: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("control",)

    def lacks(self, threat_model: ThreatModel) -> str | None:
        """Return what keeps this attack from being tried: enough people outside to set a threshold by."""
        n = 0 if threat_model.control is None else threat_model.control.height
        return None if n >= FEWEST_OUTSIDE else f"a control of {FEWEST_OUTSIDE} people or more"

    def measure(self, threat_model: ThreatModel, *, seed: int) -> Mapping[str, Score]:
        """Order people in the release and outside by what speaks for each, and find thresholds."""
        members = drawn_people(threat_model, self.people, seed)
        if threat_model.person_of is not None:
            # One row speaks for each person.
            members = members[np.unique(threat_model.person_of[members], return_index=True)[1]]
        members, outside, reference = _sides(threat_model, members, seed)
        spoken = _spoken(threat_model, members, outside, reference, seed)
        rng = generator(seed, "halves")
        halves = [rng.permutation(len(each)) % 2 == 0 for each in (members, outside)]
        told = {name: (one[: len(members)], one[len(members) :]) for name, one in spoken.items()}
        chosen = {name: (inside[halves[0]], out[halves[1]]) for name, (inside, out) in told.items()}
        judged = {name: (inside[~halves[0]], out[~halves[1]]) for name, (inside, out) in told.items()}
        each_auc = {name: auc_of(*both) for name, both in told.items()}
        proxy = {"exact_copies": _copies(threat_model), "exact_copies_outside": _copies(threat_model, reference)}
        out: dict[str, Score] = {}
        for name, rate in FALSE_ALARMS.items():
            if len(outside) / 2 * rate < 1:
                continue
            best = max(chosen, key=lambda one: (_rate_at(*chosen[one], rate).mean(), each_auc[one]))
            found = _rate_at(*judged[best], rate)
            inputs: dict[str, Any] = {"by": best}
            if name == "success":
                inside = told[best][0]
                sure = np.where(_rate_at(*told[best], rate), inside - inside.min() + 1, 0.0)
                inputs |= {
                    "each": {one: round(float(_rate_at(*both, rate).mean()), 4) for one, both in told.items()},
                    "riskiest": [int(members[at]) + 1 for at in np.argsort(-sure)[:N_RISKIEST] if sure[at] > 0],
                    "proxy": proxy,
                }
            out[name] = share_score(name, int(found.sum()), len(found), rate, inputs=inputs)
        best = max(chosen, key=lambda one: auc_of(*chosen[one]))
        auc, reach = auc_of(*judged[best]), _auc_interval(*judged[best])
        of_all = {"by": best, "each": {name: round(value, 4) for name, value in each_auc.items()}}
        out["auc"] = Score("auc", auc, best=0, worst=1, interval=reach, baseline=0.5, inputs=of_all)
        return out


def _sides(threat_model: ThreatModel, members: Ints, seed: int) -> tuple[Ints, Ints, Ints]:
    """Return as many people in the release as outside who are judged, and those who are known to be outside."""
    n = 0 if threat_model.control is None else threat_model.control.height
    order = generator(seed, "outside").permutation(n)
    n_each = min(len(members), n // 2)
    kept = np.sort(generator(seed, "inside").permutation(len(members))[:n_each])
    return members[kept], np.sort(order[:n_each]), np.sort(order[n // 2 :][:MOST_REFERENCE])


def _spoken(threat_model: ThreatModel, members: Ints, outside: Ints, reference: Ints, seed: int) -> dict[str, Floats]:
    """Return how much speaks for each of these people being in the release, those outside last, by each attacker."""
    columns, control = threat_model.known_columns, threat_model.control
    if control is None:
        return {}
    # Whoever is judged by what they are like to others must not be told by who these others are: all are alike here.
    frames = [threat_model.original.frame[members], control[outside]]
    together = [values_together(name, frames, threat_model.original.name) for name in columns]
    scene = ThreatModel(
        original=Table(pl.DataFrame(together), qi=list(columns)),
        published=Published.made_up(threat_model.published.table),
        hierarchies=threat_model.hierarchies,
        numeric=threat_model.numeric,
        known_share=threat_model.known_share,
    )
    likeness, people = Likeness.of(scene, seed=seed), np.arange(len(members) + len(outside))
    beside = likeness.beside(scene, Table(control[reference], qi=list(columns)))
    nearest, kernel = _near(likeness, people)
    nearest_else, kernel_else = _near(beside, people)
    marginals = np.zeros(len(people))
    for index in range(len(likeness.columns)):
        marginals += likeness.says_of_column(index, people) - beside.says_of_column(index, people)
    return {
        "nearest": nearest,
        "copies": _near(likeness.unlearned(), people)[0],
        "kernel": kernel,
        "nearest-ratio": nearest - nearest_else,
        "density-ratio": kernel - kernel_else,
        "marginals": marginals,
        "classifier": _classified(likeness, beside, people, seed),
    }


def _near(likeness: Likeness, people: Ints) -> tuple[Floats, Floats]:
    nearest, kernel = np.zeros(len(people)), np.zeros(len(people))
    for part, told in likeness.pieces(people, "comparing"):
        nearest[part] = told.max(axis=1)
        kernel[part] = logsumexp(told.astype(np.float64), axis=1, b=likeness.sizes)
    return nearest, kernel


def _classified(likeness: Likeness, beside: Likeness, people: Ints, seed: int) -> Floats:
    """Learn to tell records from the people who are not in the release, and say how like a record each person is."""
    sides, values = [], []
    for released, other in zip(likeness.columns, beside.columns, strict=True):
        n_values = int(released.values.max(initial=0)) + 1
        theirs = released.features(np.arange(n_values), N_VALUES)
        known = released.values[people]
        values.append(np.where((known == UNKNOWN)[:, None], 0.0, theirs[np.maximum(known, 0)]))
        sides.append((released.features_of_labels(N_VALUES), other.features_of_labels(N_VALUES)))
    rng = generator(seed, "classifier")
    seen, is_released = [], []
    for which, one in enumerate((likeness, beside)):
        records = one.drawn_records(MOST_REFERENCE, rng)
        seen.append(
            np.hstack([side[which][column.labels[records]] for side, column in zip(sides, one.columns, strict=True)])
        )
        is_released.append(np.full(len(records), which == 0))
    weights = _logistic(np.vstack(seen), np.concatenate(is_released))
    said: Floats = np.hstack(values) @ weights
    return said


def _logistic(features: Floats, is_one: Bools) -> Floats:
    """Fit a logistic regression in which both sides count alike; return its weights without the constant."""
    signs = np.where(is_one, 1.0, -1.0)
    counts = np.where(is_one, 0.5 / max(1, is_one.sum()), 0.5 / max(1, (~is_one).sum())) * len(signs)
    data = np.column_stack([np.ones(len(features)), features])

    def loss(weights: Floats) -> tuple[float, Floats]:
        margins = signs * (data @ weights)
        value = float((counts * np.logaddexp(0, -margins)).sum() + RIDGE / 2 * weights[1:] @ weights[1:])
        slope = -(data.T @ (counts * signs * expit(-margins)))
        slope[1:] += RIDGE * weights[1:]
        return value, slope

    found: Floats = minimize(loss, np.zeros(data.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    return found[1:]


def _rate_at(inside: Floats, outside: Floats, rate: float) -> Bools:
    """Whether each of those inside lies above a threshold that at most this share of those outside lie above."""
    order = np.sort(outside)
    threshold = order[len(order) - 1 - int(np.floor(rate * len(order) + 1e-9))]
    above: Bools = inside > threshold
    return above


def auc_of(inside: Floats, outside: Floats) -> float:
    """Return the chance that somebody inside comes before somebody outside; equal ones count half.

    Example: of 3 and 1 inside and 2 and 1 outside the first comes before both, the other before none and beside one:
    (2 + 1/2) / 4 = .625.
    """
    order = np.sort(outside)
    before = np.searchsorted(order, inside, side="left") + np.searchsorted(order, inside, side="right")
    return float(before.sum() / (2 * len(inside) * len(outside)))


def _auc_interval(inside: Floats, outside: Floats) -> tuple[float, float]:
    """Return the 95 % interval of the area under the curve (Hanley and McNeil 1982)."""
    auc, n, m = auc_of(inside, outside), len(inside), len(outside)
    spread = auc * (1 - auc) + (n - 1) * (auc / (2 - auc) - auc**2) + (m - 1) * (2 * auc**2 / (1 + auc) - auc**2)
    reach = 1.96 * float(np.sqrt(max(0.0, spread) / (n * m)))
    return max(0.0, auc - reach), min(1.0, auc + reach)


def _copies(threat_model: ThreatModel, places: Ints | None = None) -> float | None:
    """Return the share of people, of the original or of some outside, whose known values some record copies exactly."""
    columns, control = threat_model.known_columns, threat_model.control
    released = threat_model.published.table.frame.select(pl.col(columns).cast(pl.String)).unique()
    people = threat_model.original.frame if places is None or control is None else control[places]
    found = people.select(pl.col(columns).cast(pl.String)).join(released, on=columns, how="semi", nulls_equal=True)
    return round(found.height / max(1, people.height), 4)
