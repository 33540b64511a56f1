"""An attacker who wants to know whether somebody is in the data that a release was made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import polars as pl
from scipy.optimize import minimize
from scipy.special import expit

from tokumei.attacks.candidates import UNKNOWN, Floats
from tokumei.attacks.compared_columns import values_together
from tokumei.attacks.disclosure.nearest_records import N_PEOPLE, N_RISKIEST, PEOPLE_HELP, drawn_people
from tokumei.attacks.judge import FALSE_ALARMS, judge_membership, told_at
from tokumei.attacks.likeness import Likeness
from tokumei.attacks.shadow_releases import remake_of, shadow_columns, shadow_people, shadows_of
from tokumei.attacks.threat_model import Published, ThreatModel
from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.core.text import Json, Text
from tokumei.data.table import Table
from tokumei.hierarchies.label_semantics import Bools, Ints

MOST_REFERENCE = 10_000
# Values of a column that the classifier tells apart; how much large weights cost it.
N_VALUES, RIDGE = 24, 1.0
# Half are known to be outside; of the others half choose the attacker, and a hundred must be left to judge by.
FEWEST_OUTSIDE = 400


@dataclass(frozen=True)
class Membership:
    """Tell whether a person is in the data that a release was made of.

    Knowledge: the known columns of a person, the release, and other people who are not in it: half of the control.
    Aim: who is in. Nine attackers order people by how much speaks for it: the record most like them (`nearest`, or
    `copies` if records are taken to be left alone), all records each as far as it is like them (`kernel`), both beside
    the same of the other people (`nearest-ratio`, `density-ratio`, after van Breugel et al. 2023), their values column
    by column (`marginals`), and a logistic regression that learned to tell records from the other people
    (`classifier`). Where the method and what was asked of it are known, it also releases the other people with half of
    those asked about, to learn what to expect of members (`shadows`, a likelihood ratio after Carlini et al. 2022, and
    `shadow-classifier`). Success: at a threshold that takes one in a hundred of those outside for members, the share of
    people in the release who are taken for members, `success`; at one in a thousand `at-0.1%`; over all thresholds
    `auc`. Each of the attacker who does best on half of the people, counted by the other half. Baseline: the share
    outside. What is often printed instead, how many people some record copies exactly, is `proxy` among the inputs and
    decides nothing.

    Example: of the release (20), (30) somebody of 20 speaks for being in it by the nearest record, somebody of 25
    less; if people outside have 24, 25, 26 …, none of them comes as near, and everybody in it is told.
    """

    people: int = field(default=N_PEOPLE, metadata={"help": PEOPLE_HELP})
    shadows: int = field(
        default=32, metadata={"help": "Releases of other people that are made to learn from, if the method is known."}
    )
    seconds: float = field(
        default=0.0,
        metadata={"help": "Fewer shadows if these take longer by what the first one takes; 0 for all on any machine."},
    )
    most_rows: int = field(
        default=200_000,
        metadata={"help": "Rows that all shadows may release together, beyond the first four; 0 for any number."},
    )

    asks_whose: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("control",)

    def __post_init__(self) -> None:
        if self.shadows < 0:
            raise InputError.of(Text("a whole number of {n} or more", n=0), option="shadows", value=self.shadows)
        if self.most_rows < 0:
            raise InputError.of(Text("a whole number of {n} or more", n=0), option="most_rows", value=self.most_rows)
        if not self.seconds >= 0:
            raise InputError.of("0 seconds or more", option="seconds", value=self.seconds)

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
        members, outside, others = _sides(threat_model, members, seed)
        reference = others[:MOST_REFERENCE]
        spoken, shadows = self._spoken(threat_model, members, outside, others, seed)
        rng = generator(seed, "halves")
        halves = [rng.permutation(len(each)) % 2 == 0 for each in (members, outside)]
        told = {name: (one[: len(members)], one[len(members) :]) for name, one in spoken.items()}
        scores = judge_membership(told, (halves[0], halves[1]))
        if "success" not in scores:
            return scores
        best = scores["success"].inputs["by"]
        inside = told[best][0]
        sure = np.where(told_at(*told[best], FALSE_ALARMS["success"]), inside - inside.min() + 1, 0.0)
        more = {
            "riskiest": [int(members[at]) + 1 for at in np.argsort(-sure)[:N_RISKIEST] if sure[at] > 0],
            "shadows": shadows,
            "proxy": {"exact_copies": _copies(threat_model), "exact_copies_outside": _copies(threat_model, reference)},
        }
        scores["success"] = replace(scores["success"], inputs={**scores["success"].inputs, **more})
        return scores

    def _spoken(
        self, threat_model: ThreatModel, members: Ints, outside: Ints, others: Ints, seed: int
    ) -> tuple[dict[str, Floats], Json]:
        """Return what each attacker says for each of these people, those outside last, and what shadows were made."""
        columns, control = threat_model.known_columns, threat_model.control
        if control is None:
            return {}, {}
        # Whoever is judged by what they are like to others must not be told by who these others are: all are alike.
        frames = [
            threat_model.as_known(threat_model.original.frame, "original", seed)[members],
            threat_model.as_known(control, "control", seed)[outside],
        ]
        together = [values_together(name, frames, threat_model.original.name) for name in columns]
        scene = ThreatModel(
            original=Table(pl.DataFrame(together), qi=list(columns)),
            published=Published.made_up(threat_model.published.table),
            hierarchies=threat_model.hierarchies,
            numeric=threat_model.numeric,
            known_share=threat_model.known_share,
        )
        likeness, people = Likeness.of(scene, seed=seed), np.arange(len(members) + len(outside))
        beside = likeness.beside(scene, Table(control[others[:MOST_REFERENCE]], qi=list(columns)))
        nearest, kernel = _near(likeness, people)
        nearest_else, kernel_else = _near(beside, people)
        marginals = np.zeros(len(people))
        for index in range(len(likeness.columns)):
            marginals += likeness.says_of_column(index, people) - beside.says_of_column(index, people)
        told = {
            "nearest": nearest,
            "copies": _near(likeness.unlearned(), people)[0],
            "kernel": kernel,
            "nearest-ratio": nearest - nearest_else,
            "density-ratio": kernel - kernel_else,
            "marginals": marginals,
            "classifier": _classified(likeness, beside, people, seed),
        }
        by_shadows, made = self._by_shadows(threat_model, scene, likeness, control[others], seed)
        return told | by_shadows, made

    def _by_shadows(
        self, threat_model: ThreatModel, scene: ThreatModel, likeness: Likeness, others: pl.DataFrame, seed: int
    ) -> tuple[dict[str, Floats], Json]:
        """Return what releases of others by the same method teach of these people, and how many were made."""
        remake = remake_of(threat_model, seed) if self.shadows else "shadows to be asked for"
        if isinstance(remake, str):
            return {}, {"made": 0, "for_lack_of": remake}
        columns, everybody = scene.known_columns, np.arange(scene.original.n_rows)

        def seen_by(released: pl.DataFrame) -> Floats:
            records = Table(released, qi=[name for name in columns if name in released.columns])
            near = replace(likeness.beside(scene, records), most_pairs=0)
            return np.column_stack([*_near(near, everybody), _near(near.unlearned(), everybody)[0]])

        known = scene.known_mask(scene.original.n_rows, "original", seed)
        found = shadows_of(
            remake,
            shadow_people(threat_model, scene.original.frame, others, known, seed),
            others.select(shadow_columns(threat_model)),
            seen_by,
            n_rows=threat_model.published.table.n_rows,
            n_shadows=self.shadows,
            most_rows=self.most_rows,
            seconds=self.seconds,
            seed=seed,
        )
        if isinstance(found, str):
            return {}, {"made": 0, "for_lack_of": found}
        seen = seen_by(threat_model.published.table.frame)
        learned, wanted = found.features(), found.features(seen)
        middle, width = learned.mean(axis=0), np.maximum(1e-9, learned.std(axis=0))
        weights = _logistic((learned - middle) / width, found.is_in.reshape(-1))
        told = {"shadows": found.likelihoods(seen), "shadow-classifier": (wanted - middle) / width @ weights}
        return told, {"asked": self.shadows, "made": len(found.told), "rows": found.n_rows}


def _sides(threat_model: ThreatModel, members: Ints, seed: int) -> tuple[Ints, Ints, Ints]:
    """Return as many people in the release as outside who are judged, and all others who are known to be outside."""
    n = 0 if threat_model.control is None else threat_model.control.height
    order = generator(seed, "outside").permutation(n)
    n_each = min(len(members), n // 2)
    kept = np.sort(generator(seed, "inside").permutation(len(members))[:n_each])
    return members[kept], np.sort(order[:n_each]), order[n_each:]


def _near(likeness: Likeness, people: Ints) -> tuple[Floats, Floats]:
    nearest, kernel = np.zeros(len(people)), np.zeros(len(people))
    for near in likeness.near(people, "comparing"):
        nearest[near.part] = near.best
        every = np.exp((near.told - near.best[near.who]).astype(np.float64)) * likeness.sizes[near.records]
        kernel[near.part] = near.best + np.log(near.sums(every))
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


def _copies(threat_model: ThreatModel, places: Ints | None = None) -> float | None:
    """Return the share of people, of the original or of some outside, whose known values some record copies exactly."""
    columns, control = threat_model.known_columns, threat_model.control
    released = threat_model.published.table.frame.select(pl.col(columns).cast(pl.String)).unique()
    people = threat_model.original.frame if places is None or control is None else control[places]
    found = people.select(pl.col(columns).cast(pl.String)).join(released, on=columns, how="semi", nulls_equal=True)
    return round(found.height / max(1, people.height), 4)
