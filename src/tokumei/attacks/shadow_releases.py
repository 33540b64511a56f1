"""Releases of other people by the method that is known, to learn what being in a release changes.

Whoever knows how a release was made can make more: of people who are surely not in it, and of half of those who are
asked about, another half each time, so that each of these is in every other shadow. What the records say of a person
where they are in and where they are not tells what to expect of the release that is attacked (Shokri et al. 2017,
Carlini et al. 2022). Members and others are treated alike: a release that tells nothing tells nothing here.

Example: of a person the likeliest record says 4, 5 where they are in and 1, 2 where they are not. In the release that
is attacked it says 4.5, which is 1.5 above the middle of both, where 3 more are expected of members: they are in.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from tokumei.attacks.candidates import Floats
from tokumei.attacks.threat_model import ThreatModel
from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.progress import step
from tokumei.core.seeds import generator
from tokumei.hierarchies.label_semantics import Bools, Ints
from tokumei.measures.requirement import SAFETY
from tokumei.methods.recipes import Goal
from tokumei.methods.registry import TABLE_ANONYMIZERS, Perturber, TableSearch
from tokumei.methods.rows import release_rows
from tokumei.methods.tables import generalize_rows

# Of fewer shadows nobody's mean is known, and of fewer people none is like a release of theirs.
FEWEST_SHADOWS, FEWEST_ROWS = 4, 50
Remake = Callable[[pl.DataFrame, int], pl.DataFrame]


@dataclass(frozen=True, eq=False)
class Shadows:
    """What was seen of people in shadows: told, shadows × people × numbers, and in which of these each was."""

    told: Floats
    is_in: Bools
    n_rows: int

    def likelihoods(self, seen: Floats) -> Floats:
        """Return how much likelier what is seen of each person is of a member (Carlini et al. 2022).

        seen: people × numbers. Both are taken to be normal about the person's own means, with one spread of all people;
        how far apart the means lie is drawn to the mean of all, the more the less it is known.
        """
        inside, outside = self._means(in_=True)[0], self._means(in_=False)[0]
        left = self.told - np.where(self.is_in[:, :, None], inside, outside)
        n, width = len(self.told), self.told.shape[2]
        spread = np.einsum("spi,spj->ij", left, left) / max(1, (n - 2) * self.told.shape[1])
        spread += np.eye(width) * (1e-9 + 1e-6 * np.trace(spread))
        apart = inside - outside
        mean, noise = apart.mean(axis=0), np.diag(spread) * 4 / n
        trust = np.clip(1 - noise / np.maximum(1e-12, apart.var(axis=0)), 0, 1)
        expected = mean + trust * (apart - mean)
        above: Floats = seen - (inside + outside) / 2
        said: Floats = ((expected @ np.linalg.inv(spread)) * above).sum(axis=1)
        return said

    def features(self, seen: Floats | None = None) -> Floats:
        """Return what a classifier may know: what is seen of each person, and above the means of those in and not in.

        seen: of each person, people × numbers; or else what was seen in each shadow, which is left out of its means.
        """
        told = self.told if seen is None else seen[None]
        inside, outside = (
            self._means(in_=in_, without=(self.is_in == in_) * 1.0 if seen is None else None) for in_ in (True, False)
        )
        out = np.concatenate([told, told - inside, told - outside], axis=2)
        return out.reshape(-1, out.shape[2])

    def _means(self, *, in_: bool, without: Floats | None = None) -> Floats:
        """Return each person's means over the shadows they are in, or not in; `without` takes each its own out."""
        which = (self.is_in == in_)[:, :, None]
        total, n = (self.told * which).sum(axis=0, keepdims=True), which.sum(axis=0, keepdims=True)
        if without is not None:
            total, n = total - self.told * without[:, :, None], n - without[:, :, None]
        means: Floats = total / np.maximum(1, n)
        return means


def shadows_of(
    remake: Remake,
    people: pl.DataFrame,
    others: pl.DataFrame,
    seen_by: Callable[[pl.DataFrame], Floats],
    *,
    n_rows: int,
    n_shadows: int,
    most_rows: int = 0,
    seconds: float = 0.0,
    seed: int,
) -> Shadows | str:
    """Make shadow releases, and see what each says of people; or return why there are none.

    n_rows: of the release that is attacked, of which shadows have as many if there are enough others.
    most_rows: how many rows all may release together, so that what is found depends on no machine; 0 for any number.
    seconds: how long all may take, by what the first one took; 0 for as long as it takes.

    Example: of 9,600 rows each, 200,000 rows are 20 shadows, though 32 were asked for.
    """
    n_in = len(people) // 2
    n_more = min(len(others), max(0, n_rows - n_in))
    if n_in + n_more < FEWEST_ROWS:
        return "more people outside"
    if most_rows:
        n_shadows = min(n_shadows, max(FEWEST_SHADOWS, most_rows // (n_in + n_more)))
    n_shadows -= n_shadows % 2
    told, is_in, half, started = [], [], np.zeros(0, bool), time.perf_counter()
    with step("shadow releases", n_shadows) as bar:
        for number in range(n_shadows):
            if number in (1, 2) and seconds:
                # In pairs, so that everybody is in half of them.
                affordable = int(seconds / max(1e-9, (time.perf_counter() - started) / number))
                n_shadows = min(n_shadows, affordable - affordable % 2)
            if number >= n_shadows:
                break
            rng = generator(seed, "shadow", number)
            half = ~half if number % 2 else rng.permutation(len(people)) < n_in
            drawn = others[rng.permutation(len(others))[:n_more]]
            frame = pl.concat([people.filter(half), drawn])
            try:
                made = remake(frame[rng.permutation(len(frame))], number)
            except (CannotAnonymize, InputError) as error:
                return f"a method that can release others, too ({error})"
            if not made.height:
                return "a method that releases others, too"
            told.append(seen_by(made))
            is_in.append(half)
            bar.advance(1)
    if len(told) < max(FEWEST_SHADOWS, 2):
        return f"more seconds, or {FEWEST_SHADOWS} shadows or more"
    return Shadows(np.stack(told), np.stack(is_in), n_in + n_more)


def remake_of(threat_model: ThreatModel, seed: int) -> Remake | str:
    """Return how other people are released as the known method does it; or what is missing for that."""
    known = threat_model.method
    if not known.name or known.is_hardened or known.on_grid:
        return "the method that made the release"
    original = threat_model.original
    columns = shadow_columns(threat_model)
    requirements = list(known.requirements)
    if not requirements and known.k is not None:
        requirements = [SAFETY.make("k-anonymity", k=known.k)]
    method = TABLE_ANONYMIZERS.make(known.name, **dict(known.options or {}))
    if not requirements and not isinstance(method, Perturber):
        return "the k that was asked for"
    if missing := [name for one in requirements for name in one.sensitive_columns if name not in columns]:
        return f"the column {missing[0]} of people outside"
    hierarchies = {name: one for name, one in threat_model.hierarchies.items() if name in original.quasi_identifiers}
    lacking = [name for name in original.quasi_identifiers if name in columns and name not in hierarchies]
    if isinstance(method, TableSearch) and lacking:
        return f"a hierarchy of {lacking[0]}"
    ranged = known.ranged
    if ranged is None:
        is_number = {name: original.frame[name].dtype.is_numeric() or name in threat_model.numeric for name in lacking}
        ranged = [name for name in lacking if is_number[name]]
    goal = Goal(
        requirements, method=method, suppression=known.suppression, numeric=list(ranged), preference=known.preference
    )
    if known.loss:
        from tokumei.measures.losses import LOSSES

        goal = replace(goal, loss=LOSSES.make(known.loss), weights=known.weights)
    known_to_method = [name for name in original.quasi_identifiers if name in columns]

    def remake(frame: pl.DataFrame, number: int) -> pl.DataFrame:
        told = {name: one for name, one in hierarchies.items() if name in columns}
        if isinstance(method, TableSearch):
            return generalize_rows(frame, told, goal)[0].frame
        own = int(generator(seed, "shadow method", number).integers(1 << 31))
        return release_rows(frame, known_to_method, told, goal, seed=own, is_reproducible=True).release.frame

    return remake


def shadow_columns(threat_model: ThreatModel) -> list[str]:
    """Return the columns of shadows: what was released by the method, as far as people outside have it."""
    control, table = threat_model.control, threat_model.published.table.frame
    wanted = [*threat_model.original.quasi_identifiers]
    wanted += [name for one in threat_model.method.requirements for name in one.sensitive_columns]
    there = set(table.columns) & set([] if control is None else control.columns)
    return [name for name in dict.fromkeys(wanted) if name in there]


def shadow_people(
    threat_model: ThreatModel, people: pl.DataFrame, others: pl.DataFrame, known: Bools | None, seed: int
) -> pl.DataFrame:
    """Return people as they may stand in shadows: what is not known of them is that of others, drawn at random."""
    rng, columns = generator(seed, "shadow people"), shadow_columns(threat_model)
    donor: Ints = rng.integers(0, len(others), len(people))
    out = {}
    for name in columns:
        drawn = others[name].gather(donor)
        if name not in threat_model.known_columns:
            out[name] = drawn
            continue
        own = people[name].cast(drawn.dtype)
        at = threat_model.known_columns.index(name)
        out[name] = own if known is None else own.zip_with(pl.Series(known[:, at]), drawn)
    return pl.DataFrame(out)
