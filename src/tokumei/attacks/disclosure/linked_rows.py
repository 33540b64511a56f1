"""An attacker who knows a few rows of a person, where a released column is the same in all rows of one person.

Such a column, a pseudonym or a code that was kept, makes of a table a history: whoever finds a person's value of it has
all of their rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import polars as pl
from scipy import sparse

from tokumei.attacks.candidates import (
    CandidateRecords,
    Candidates,
    People,
    drawn_success,
    riskiest_of,
    share_score,
    target_people,
)
from tokumei.attacks.threat_model import NOBODY, ThreatModel, column_of
from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.core.text import Json
from tokumei.engines.class_counts import encode
from tokumei.hierarchies.label_semantics import Bools, Ints

# Of more people so many are drawn, and compared so many at once.
MOST_PEOPLE, AT_ONCE = 2_000, 256


@dataclass(frozen=True)
class LinkedRows:
    """Find all rows of a person by a few of them, where a released column is the same in all rows of one person.

    Knowledge: the known columns of `points` rows of each person, drawn by the seed, all rows of who has fewer. Aim:
    which value of the linking column is theirs. A value fits if it has a record that fits each known row. Success:
    `certain` is the share of people whom exactly one value fits, which is theirs; `success` is the share whose value is
    drawn among those that fit. Baseline: drawing any value. Of many people 2,000 are drawn.

    Example: by age and town every row looks like another one's. Ann and Bea were in Nara and in Kobe, Cal was twice in
    Nara. Who knows Ann's two visits finds her and Bea, and draws the right one of them with chance 1/2; who knows Cal's
    finds all three, since each of them has a visit in Nara. By one more column that tells visits apart all are found.
    """

    column: str = field(default="", metadata={"help": "The released column that links the rows of a person."})
    points: int = field(default=3, metadata={"help": "Known rows of each person."})

    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.points < 1:
            raise InputError.of("a known row or more", option="points", value=self.points)

    def lacks(self, threat_model: ThreatModel) -> str | None:
        """Return what keeps this attack from being tried: a column that links rows."""
        is_there = self.column and self.column in threat_model.published.table.frame.columns
        return None if is_there else "a released column that links the rows of a person"

    def measure(self, threat_model: ThreatModel, *, seed: int) -> Mapping[str, Score]:
        """Look for the values of the linking column that fit all known rows of each person."""
        links, n_links = self._links(threat_model)
        known = self._known_rows(threat_model, links, seed)
        own = known.group_by("link", maintain_order=True).agg("target")
        n_fitting, is_own = _fitting(
            threat_model, links, n_links, own["link"].to_numpy(), own["target"].to_list(), seed
        )
        inputs: Json = {"column": self.column, "points": self.points}
        is_certain, blind = is_own & (n_fitting == 1), 1 / max(1, n_links)
        chances = is_own / np.maximum(n_fitting, 1)
        first = np.array([rows[0] for rows in own["target"].to_list()], np.int64)
        inputs |= riskiest_of(threat_model.targets[first], chances)
        certain = share_score("certain", int(is_certain.sum()), len(is_certain), blind, inputs=inputs)
        return {
            "certain": certain,
            "success": drawn_success("success", chances, blind, purpose="linked-rows", seed=seed, inputs=inputs),
        }

    def _links(self, threat_model: ThreatModel) -> tuple[Ints, int]:
        """Return the number of each record's value of the linking column; without one each record is for itself."""
        published = threat_model.published
        if self.column:
            values, codes = encode(column_of(published.table.frame, self.column, published.table.name))
            return codes.astype(np.int64), len(values)
        owners = published.owners(threat_model.original.n_rows)
        order = np.argsort(owners, kind="stable")
        alone: Ints = np.empty(len(order), np.int64)
        alone[order] = np.arange(len(order))
        return alone, len(order)

    def _known_rows(self, threat_model: ThreatModel, links: Ints, seed: int) -> pl.DataFrame:
        """Draw people, and of each the rows that are known, as targets of the threat model."""
        owners = threat_model.published.owners(threat_model.original.n_rows)
        owned = owners != NOBODY
        rows = pl.DataFrame({"link": links[owned], "row": owners[owned]}).unique().sort("row")
        rows = rows.filter(pl.col("row").is_in(pl.Series(threat_model.targets).implode()))
        draw = generator(seed, "linked rows")
        rows = rows.with_columns(order=pl.Series(draw.random(rows.height))).sort("order")
        known = rows.group_by("link", maintain_order=True).head(self.points)
        people = known["link"].unique(maintain_order=True).head(MOST_PEOPLE)
        known = known.filter(pl.col("link").is_in(people.implode()))
        place = np.searchsorted(threat_model.targets, known["row"].to_numpy())
        return known.with_columns(target=pl.Series(place))


def _fitting(
    threat_model: ThreatModel, links: Ints, n_links: int, own: Ints, targets: list[list[int]], seed: int
) -> tuple[Ints, Bools]:
    """Count for each person the values that fit all known rows, and say whether their own is among them."""
    table = threat_model.published.table
    people, records = target_people(threat_model, seed), CandidateRecords.of(threat_model, table.frame, table.name)
    n_points = max(map(len, targets), default=1)
    # Who has fewer rows is known by the last one again, which rules nobody out.
    at = np.array([[*one, *one[-1:] * (n_points - len(one))] for one in targets], np.int64).reshape(-1, n_points)
    used, class_at = np.unique(people.class_of[at], return_inverse=True)
    class_at = class_at.reshape(at.shape)
    ones = np.ones(len(links), np.int32)
    has = sparse.csr_array(sparse.coo_array((ones, (records.class_of, links)), shape=(records.n_classes, n_links)))
    fits = sparse.csr_array((len(used), n_links), dtype=bool)
    asked = People(people.indices[used], np.arange(len(used)))
    found = [
        (classes, sparse.csr_array((matrix @ has) > 0)) for classes, matrix in Candidates(asked, records).matrices()
    ]
    if found:
        order = np.argsort(np.concatenate([classes for classes, _ in found]))
        fits = sparse.csr_array(sparse.vstack([matrix for _, matrix in found]))[order]
    n_fitting, is_own = np.zeros(len(own), np.int64), np.zeros(len(own), bool)
    for start in range(0, len(own), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        left = fits[class_at[part, 0]]
        for point in range(1, n_points):
            left = left.multiply(fits[class_at[part, point]])
        left = sparse.csr_array(left)
        n_fitting[part] = np.diff(left.indptr)
        is_own[part] = left[np.arange(left.shape[0]), own[part]] > 0
    return n_fitting, is_own
