"""The attacker who asks whether somebody is in the release at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from tokumei.attacks.candidates import CandidateRecords, Candidates, People, classes_of
from tokumei.attacks.targets import Floats, share_score
from tokumei.attacks.threat_model import ThreatModel, column_of
from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.hierarchies.label_semantics import Bools, Ints

# Chances are sums of shares, which rounding may leave a hair off.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Presence:
    """Infer who of a population is in the release.

    Knowledge: the known columns of everybody in the population. Aim: whether each of them is in the release. A record
    is as likely any of the people that fit it, so a person's chance to be in is the sum, over the classes that fit, of
    released records over people that fit. Success: `success` is the share of the population, in the release or not, of
    whom the likelier answer is right; `certain` is the share of released people whose chance is 1. Baseline: one answer
    for all, the better one. The least and the largest chance, which δ-presence bounds, are among the inputs (Nergiz,
    Atzori and Clifton 2007).

    Example: of a population of two women and four men, one woman and three men are released by sex. A woman's chance is
    1/2, so women are said to be out, which is right for one; a man's is 3/4, so men are said to be in, which is right
    for three. That is 4 of 6, as many as if all were said to be in: this release tells nothing.
    """

    needs: ClassVar[tuple[str, ...]] = ("population",)

    def measure(self, threat_model: ThreatModel, *, seed: int) -> Mapping[str, Score]:
        """Work out the chance of everybody in the population, and answer."""
        if threat_model.population is None or not threat_model.population.height:
            raise InputError.of("a population, which tells who might be in the release")
        table, everybody = threat_model.published.table, threat_model.population
        known = threat_model.known_mask(everybody.height, "population", seed)
        people, records = (
            People.of(threat_model, everybody, "population", known),
            CandidateRecords.of(threat_model, table.frame, table.name),
        )
        chances = presence_chances(people, records)[people.class_of]
        is_in = members(threat_model, everybody, seed)
        n_right = int(((chances > 0.5 + ROUNDING) == is_in).sum())
        n_in = int(is_in.sum())
        blind = max(n_in, len(is_in) - n_in) / len(is_in)
        inputs = {"least": float(chances.min()), "largest": float(chances.max())}
        certain = int((chances[is_in] >= 1 - ROUNDING).sum())
        return {
            "success": share_score("success", n_right, len(is_in), blind, inputs=inputs),
            "certain": share_score("certain", certain, n_in),
        }


def presence_chances(people: People, records: CandidateRecords) -> Floats:
    """Return for each class of people the chance that one of them is in the release."""
    candidates = Candidates(people, records)
    n_fitting = np.zeros(records.n_classes)
    for classes, fitting in candidates.matrices():
        n_fitting += people.sizes[classes] @ fitting
    shares = records.sizes / np.maximum(n_fitting, 1)
    chances = np.zeros(len(people.indices))
    for classes, fitting in candidates.matrices():
        chances[classes] = fitting @ shares
    # Where records were changed, a class may have more of them than people fit it.
    return np.minimum(chances, 1.0)


def members(threat_model: ThreatModel, everybody: pl.DataFrame, seed: int) -> Bools:
    """Guess who of the population is in the release: as many of each kind as the release has.

    Nobody can tell people apart whose known values are equal, so it does not matter who of them it is.
    """
    released = threat_model.original.frame[threat_model.targets]
    columns = []
    for column in threat_model.known_columns:
        vocabulary = threat_model.vocabulary(column)
        theirs = vocabulary.indices(column_of(everybody, column, "population"), file="population")
        columns.append(np.concatenate([theirs, vocabulary.indices(released[column])]))
    first, class_of = classes_of(columns, everybody.height + released.height)
    ours, wanted = class_of[: everybody.height], np.bincount(class_of[everybody.height :], minlength=len(first))
    missing = np.flatnonzero(wanted > np.bincount(ours, minlength=len(first)))
    if len(missing):
        row = int(np.flatnonzero(class_of[everybody.height :] == missing[0])[0])
        values = ", ".join(str(released[column][row]) for column in threat_model.known_columns)
        raise InputError.of("a population that holds everybody in the release", file="population", value=values)
    order = generator(seed, "members").permutation(everybody.height)
    order = order[np.argsort(ours[order], kind="stable")]
    rank: Ints = np.empty(everybody.height, np.int64)
    starts = np.searchsorted(ours[order], np.arange(len(first)))
    rank[order] = np.arange(everybody.height) - starts[ours[order]]
    return rank < wanted[ours]
