"""Attackers who hold a list of everybody who might be in a release, and do not know who is.

Such a list is a register of voters, a customer file or a telephone book. Records are looked up in it, or people in it
are told to be in the release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from tokumei.attacks.candidates import (
    CandidateRecords,
    Candidates,
    Floats,
    People,
    classes_of,
    drawn_success,
    n_own_fitting,
    own_records,
    riskiest_of,
    share_of,
    share_score,
    target_people,
)
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
    whom the likelier answer is right; `certain` is the share of released people whose chance is 1, its control the
    share of people outside of whom that is believed. Baseline: one answer for all, the better one. The least and the
    largest chance, which δ-presence bounds, are among the inputs (Nergiz, Atzori and Clifton 2007).

    Example: of a population of two women and four men, one woman and three men are released by sex. A woman's chance is
    1/2, so women are said to be out, which is right for one; a man's is 3/4, so men are said to be in, which is right
    for three. That is 4 of 6, as many as if all were said to be in: this release tells nothing.
    """

    needs: ClassVar[tuple[str, ...]] = ("population",)

    def measure(self, threat_model: ThreatModel, *, seed: int) -> Mapping[str, Score]:
        """Work out the chance of everybody in the population, and answer."""
        table, everybody = threat_model.published.table, _population(threat_model)
        known = threat_model.known_mask(everybody.height, "population", seed)
        people, records = (
            People.of(threat_model, threat_model.as_known(everybody, "population", seed), "population", known),
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
            "certain": share_score("certain", certain, n_in, control=share_of(chances[~is_in] >= 1 - ROUNDING)),
        }


def presence_chances(people: People, records: CandidateRecords) -> Floats:
    """Return for each class of people the chance that one of them is in the release."""
    shares = records.sizes / np.maximum(fitting_people(people, records), 1)
    chances = np.zeros(len(people.indices))
    for classes, fitting in Candidates(people, records).matrices():
        chances[classes] = fitting @ shares
    # Where records were changed, a class may have more of them than people fit it.
    return np.minimum(chances, 1.0)


def members(threat_model: ThreatModel, everybody: pl.DataFrame, seed: int) -> Bools:
    """Guess who of the population is in the release: as many of each kind as the release has.

    Nobody can tell people apart whose known values are equal, so it does not matter who of them it is.
    """
    released = threat_model.original.frame[threat_model.released]
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


@dataclass(frozen=True)
class PopulationLinkage:
    """Find whose a released record is, in a list of everybody who might be in the release.

    Knowledge: the known columns of everybody in the population, and not who of them is in the release. Aim: whose each
    record is. A person fits a record if each known value is one that its label stands for. Success: `success` is the
    share of people in the release whom a draw among those that fit their record names, which is what a marketer finds
    (Dankar and El Emam 2010); `highest` among its inputs is the highest chance of one of them, 1 over the fewest people
    who fit, the journalist's risk of El Emam and Dankar (2008). `certain` is the share whose record exactly one person
    of the population fits, and it is them. Baseline: drawing anybody of the population. Nobody outside the release has
    a record, so there is no control.

    Example: of three women and one man one woman and the man are released by sex. Whoever looks for the man's record
    finds him, and the woman with the chance 1/3: `success` is expected to be 2/3 and the highest risk is 1.
    """

    needs: ClassVar[tuple[str, ...]] = ("population",)

    def measure(self, threat_model: ThreatModel, *, seed: int) -> Mapping[str, Score]:
        """Count the people who fit each record, and whether its own person does."""
        everybody = _population(threat_model)
        members(threat_model, everybody, seed)
        table = threat_model.published.table
        known = threat_model.known_mask(everybody.height, "population", seed)
        people = People.of(threat_model, threat_model.as_known(everybody, "population", seed), "population", known)
        records = CandidateRecords.of(threat_model, table.frame, table.name)
        n_fitting = fitting_people(people, records)
        owners, own = own_records(threat_model.published, threat_model.targets, threat_model.original.n_rows)
        targets = target_people(threat_model, seed)
        # Of several records of one person any may be looked up.
        n_records = np.bincount(owners, minlength=len(threat_model.targets))
        alike = np.maximum(1.0, n_fitting[records.class_of[own]])
        is_own = records.fit(targets, owners, own)
        chances = np.bincount(owners, is_own / alike, len(threat_model.targets)) / np.maximum(1, n_records)
        is_certain = np.bincount(owners, is_own & (alike == 1), len(threat_model.targets)) > 0
        n_lost = int((n_own_fitting(targets, records, owners, own) == 0).sum())
        inputs = {"without_fitting_own": n_lost, **riskiest_of(threat_model.targets, chances)}
        blind, n = 1 / everybody.height, len(chances)
        return {
            "certain": share_score("certain", int(is_certain.sum()), n, blind),
            "success": drawn_success("success", chances, blind, purpose="population-linkage", seed=seed, inputs=inputs),
        }


def fitting_people(people: People, records: CandidateRecords) -> Floats:
    """Count the people who fit each class of records."""
    n_fitting = np.zeros(records.n_classes)
    for classes, fitting in Candidates(people, records).matrices():
        n_fitting += people.sizes[classes] @ fitting
    return n_fitting


def _population(threat_model: ThreatModel) -> pl.DataFrame:
    if threat_model.population is None or not threat_model.population.height:
        raise InputError.of("a population, which tells who might be in the release")
    return threat_model.population
