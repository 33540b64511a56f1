"""(k,t)-privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.engines.item_sets import Ints, Matrix, positions

# Pairs of who may be whom that are kept at once: about a gigabyte.
MOST_PAIRS = 50_000_000


@dataclass(frozen=True)
class KTPrivacy:
    """Who follows a pseudonym from any purchase finds after t days at least k places where the person may be.

    Answers tracing: people who are at one place at one time may exchange their pseudonyms there, so that the path of a
    pseudonym is not the path of a person (Mano, Minami and Maruyama 2013, k-confusing paths). A place is an item, a
    meeting is several pseudonyms who buy it on one day. From a purchase on a day a person may be whoever was met since,
    and whoever those met; where they may be after t days is what all of these buy on their first day from then on.
    Measures the fewest places; 0 if nobody can be followed so long, 1 if somebody can be followed with certainty; the
    more the better. It holds only if pseudonyms were exchanged at meetings, such as by `exchange-pseudonyms`.

    Example: p and q meet at a. On the next day one of them buys b and the other c, and nobody can tell who is who: with
    t = 1 the measure is 2. Had q bought x on the first day, p would be followed to b: the measure would be 1.

    | day | pseudonym | item |
    |-----|-----------|------|
    | 1   | p         | a    |
    | 1   | q         | a    |
    | 2   | p         | b    |
    | 2   | q         | c    |
    """

    k: int = field(metadata={"help": "Fewest places where a person may be after t days."})
    t: int = field(metadata={"help": "Days that a person is followed; at least 1."})

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError.of("at least 1", option="k", value=self.k)
        if self.t < 1:
            raise InputError.of("at least 1", option="t", value=self.t)

    def holds(self, released: History) -> bool:
        """Whether everybody who can be followed may be at k places."""
        fewest = self.measure(released).value
        return fewest >= self.k or fewest == 0

    def measure(self, released: History) -> Score:
        """Return the fewest places where somebody may be."""
        kept = released.kept.filter(pl.col("date").is_not_null())
        day = kept["date"].to_physical().cast(pl.Int64).to_numpy()
        visits = _Visits(positions(kept["customer"]), positions(kept["item"]), day)
        fewest = 0
        days = np.unique(day)
        with step("following pseudonyms", len(days)) as bar:
            for start in days.tolist():
                found = visits.n_places(start, self.t, days)
                fewest = min([fewest or math.inf, *found[found > 0].tolist()], default=0) if len(found) else fewest
                fewest = 0 if fewest == math.inf else int(fewest)
                bar.advance()
        return Score("k-t-privacy", fewest, best=math.inf, worst=0, inputs={"t": self.t})


@dataclass(frozen=True, eq=False)
class _Visits:
    """Who was where on which day, by numbers."""

    person: Ints
    place: Ints
    day: Ints

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.person.max()) + 1, int(self.place.max()) + 1

    def n_places(self, start: int, t: int, days: Ints) -> Ints:
        """Count the places where each person who was somewhere on a day may be t days later."""
        between = days[(days >= start) & (days < start + t)]
        reach = self._meetings(int(between[0]))
        for one in between[1:].tolist():
            reach = sparse.csr_array(((reach @ self._meetings(one)) > 0).astype(np.float64))
            if reach.nnz > MOST_PAIRS:
                expected = f"at most {MOST_PAIRS:,} pairs of who may be whom: fewer days or fewer customers"
                raise InputError.of(expected, value=f"{reach.nnz:,}")
        places = sparse.csr_array(reach @ self._places(start + t))
        n_places: Ints = np.diff(places.indptr).astype(np.int64)
        out: Ints = n_places[np.unique(self.person[self.day == start])]
        return out

    def _meetings(self, day: int) -> Matrix:
        """Return who may be whom after a day: all who are joined by meetings, and everybody themselves."""
        n_people, n_places = self.shape
        is_here = self.day == day
        people, places = self.person[is_here], self.place[is_here]
        edges = sparse.coo_array((np.ones(len(people)), (people, n_people + places)), shape=(n_people + n_places,) * 2)
        group = connected_components(edges, directed=False)[1][:n_people]
        member = sparse.csr_array((np.ones(n_people), (np.arange(n_people), positions(pl.Series(group)))))
        return sparse.csr_array(member @ member.T)

    def _places(self, day: int) -> Matrix:
        """Return where each person is on their first day from one on."""
        later = pl.DataFrame({"person": self.person, "place": self.place, "day": self.day}).filter(pl.col("day") >= day)
        first = later.filter(pl.col("day") == pl.col("day").min().over("person")).unique(["person", "place"])
        cells = (first["person"].to_numpy(), first["place"].to_numpy())
        return sparse.csr_array((np.ones(first.height), cells), shape=self.shape)
