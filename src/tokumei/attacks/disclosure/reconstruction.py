"""The attacker who has nothing but published counts, and works out the rows behind them: fit many tables, then prove.

After Dinur and Nissim (2003), Garfinkel, Abowd and Martindale (2018) on the census of 2010, and Dick et al. (2023), who
rank rows by how many fits hold them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from tokumei.attacks.candidates import share_score
from tokumei.attacks.claims import summary_of
from tokumei.attacks.disclosure.count_fits import Floats, chance_of_match, exact_fits, independent, noisy_fits
from tokumei.attacks.disclosure.count_tables import CountedCells, CountLines, CountReading
from tokumei.attacks.disclosure.proven_counts import (
    FittingTables,
    Groups,
    Proofs,
    ProvenGroup,
    clear,
    least_within,
    prove_rows,
    prove_shared,
    prove_small,
)
from tokumei.attacks.public_knowledge import CLAIM_COLUMNS, Deductions, PublicKnowledge
from tokumei.attacks.threat_model import ThreatModel
from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.core.text import Json, Text, counted
from tokumei.data.table import Table
from tokumei.hierarchies.label_semantics import Ints
from tokumei.methods.perturbing.marginals import ROWS, counts_by_column

UNIQUE, UNDER_K, ROW, SHARED = "unique", "under k", "row", "sensitive value"
# A candidate that so many of the fits hold is claimed.
CLAIMED = 0.9
# Of the time to solve, so much is for fitting and for clearing groups; the rest for proving.
FOR_FITS, FOR_CLEARING = 0.3, 0.2
# The riskiest people that are named.
MOST_NAMED = 20
# Combinations of all values up to which the likeliest are looked for.
MOST_PRODUCTS = 2_000_000


@dataclass(frozen=True)
class Reconstruction:
    """Work out rows from published tables of counts: rank them by how many fitting tables hold them, and prove some.

    Knowledge: the counts, the hierarchies, and how counts were suppressed, rounded or made noisy; no person, no
    original. What a table does not list has no rows, unless `unlisted` says otherwise. Aim: the rows of the people
    behind the counts, and groups of fewer than k people.

    First tables are drawn that fit all counts (near the one of largest entropy); a row that many of them hold is a
    candidate with that confidence. Then groups that are small in every table found are proven: a program has a variable
    for each combination of values, and its bounds are checked in whole numbers, so that a claim is true of every table
    that fits. A group that is neither proven nor cleared in `seconds` is open, never safe. Of noisy counts nothing is
    proven. k is that of the release; 2, which is one person alone, if nobody said.

    Success: `certain` is the share of people proven to lie in a group of fewer than k; `values-certain` of those in a
    group all of whom are proven to have one sensitive value; with the original, `success` is the share of people whose
    whole row a fit holds, on average, and `claimed` the share of candidates that nine fits in ten hold and somebody is.
    Baseline: rows drawn from each column by itself, and the likeliest such rows. Control: the fits held against people
    who are not in the tables.

    Example: three tables of eight people.

    | sex by age | 20s | 30s |   | sex by smoking | yes | no |   | age by smoking | yes | no |
    |------------|-----|-----|---|----------------|-----|----|---|----------------|-----|----|
    | f          | 3   | 1   |   | f              | 3   | 1  |   | 20s            | 4   | 0  |
    | m          | 1   | 3   |   | m              | 1   | 3  |   | 30s            | 0   | 4  |

    Nobody in their twenties does not smoke and nobody in their thirties does: one woman is in her thirties and does not
    smoke, one man in his twenties smokes. Both are alone, and all eight rows are known.
    """

    counts: str = field(default=ROWS, metadata={"help": "The column of counts."})
    beside: tuple[str, ...] = field(
        default=(), metadata={"help": "Files of further count tables of the same people, as a.csv,b.csv."}
    )
    suppressed: int = field(
        default=0, metadata={"help": "Marks such as * hide fewer rows than this; any number if 0 (<5 says it itself)."}
    )
    least: int = field(default=1, metadata={"help": "The least count that is hidden: 0 where zeros are hidden, too."})
    rounded: int = field(default=0, metadata={"help": "Counts were rounded to multiples of this; exact if 0."})
    rounding: Literal["nearest", "random"] = field(
        default="nearest", metadata={"help": "nearest, or random: to either multiple beside the count."}
    )
    unlisted: Literal["none", "unknown"] = field(
        default="none", metadata={"help": "Rows of combinations that a table does not list: none or unknown."}
    )
    total: int = field(default=0, metadata={"help": "How many rows the tables are of, if that is known."})
    epsilon: float = field(
        default=0.0,
        metadata={"help": "The ε that all tables spent together, of noisy counts; of dp-counts it is known."},
    )
    ways: int = field(default=0, metadata={"help": "Prove groups by so many columns at most; by all if 0."})
    fits: int = field(default=20, metadata={"help": "Fitting tables that are drawn."})
    seconds: float = field(default=60.0, metadata={"help": "How long to fit and to prove; what is left open is said."})

    needs: ClassVar[tuple[str, ...]] = ("counts",)
    asks_whose: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if isinstance(self.beside, str):
            object.__setattr__(self, "beside", (self.beside,))
        for name in ("suppressed", "least", "rounded", "total", "ways"):
            if getattr(self, name) < 0:
                raise InputError.of("0 or more", option=name, value=getattr(self, name))
        if self.fits < 1:
            raise InputError.of("1 or more", option="fits", value=self.fits)
        if not self.seconds >= 0:
            raise InputError.of("0 seconds or more", option="seconds", value=self.seconds)
        if not 0 <= self.epsilon < math.inf:
            raise InputError.of("0 or more", option="epsilon", value=self.epsilon)
        for name, words in (("rounding", ("nearest", "random")), ("unlisted", ("none", "unknown"))):
            if getattr(self, name) not in words:
                raise InputError.of(" or ".join(words), option=name, value=getattr(self, name))

    def prove(self, public: PublicKnowledge) -> tuple[list[str], int]:
        """Return the groups of fewer than k people that counts prove, in words, and how many were left open."""
        deadline, rng, k = time.perf_counter() + self.seconds, generator(1, "reconstruction"), _k_of(public)
        cells = self._cells(public, is_noisy=False)
        proofs, groups = Proofs(), Groups.of(cells, self.ways, range(len(cells.columns)))
        tables = FittingTables(cells, deadline=deadline)
        fits, n_exact = exact_fits(cells, tables, 1, rng, FOR_FITS * self.seconds)
        if not n_exact:
            if tables.is_contradicted:
                raise _contradicted(public)
            return [], len(groups.every)
        groups.see([*fits[:n_exact], *tables.solutions])
        clear(groups, tables, k, rng, ends=time.perf_counter() + FOR_CLEARING * self.seconds)
        prove_small(groups, tables, k, proofs)
        proofs.small.sort(key=lambda one: (one.most, len(one.group.columns)))
        return [_in_words(cells, one) for one in proofs.small], proofs.n_out_of_time + proofs.n_inexact

    def measure(self, threat_model: ThreatModel, *, seed: int) -> Mapping[str, Score]:
        """Attack the counts, and judge by the original."""
        return self.deduce(PublicKnowledge.of(threat_model), seed=seed).scores

    def deduce(self, public: PublicKnowledge, *, seed: int) -> Deductions:
        """Draw tables that fit, rank rows by them and prove what they have in common."""
        deadline, rng = time.perf_counter() + self.seconds, generator(seed, "reconstruction")
        decay = self._decay(public)
        cells = self._cells(public, is_noisy=decay is not None)
        k = _k_of(public)
        proofs, groups, n_small, n_shared = Proofs(), None, 0, 0
        if decay is not None:
            decays = np.full(len(cells.low), decay ** (1 / max(1, sum(1 for one in cells.tables if one))))
            fits, n_exact = noisy_fits(cells, decays, self.fits, rng), 0
        else:
            tables = FittingTables(cells, deadline=deadline)
            fits, n_exact = exact_fits(cells, tables, self.fits, rng, FOR_FITS * self.seconds)
            if not n_exact and tables.is_contradicted:
                raise _contradicted(public)
            every = range(len(cells.columns))
            groups = Groups.of(cells, self.ways, every)
            groups.see([*fits[:n_exact], *tables.solutions])
            # Without any table that fits to the row nothing is ruled out.
            proofs.n_out_of_time = 0 if groups.n_seen else len(groups.every)
            if groups.n_seen:
                clear(groups, tables, k, rng, ends=time.perf_counter() + FOR_CLEARING * self.seconds)
                prove_small(groups, tables, k, proofs)
                n_small = least_within(tables, proofs.small)
                if sensitive := [at for at in every if cells.columns[at] in _sensitive(public)]:
                    known = Groups.of(cells, self.ways, [at for at in every if at not in sensitive])
                    known.see([*fits[:n_exact], *tables.solutions])
                    prove_shared(cells, known, tables, sensitive, proofs)
                    n_shared = least_within(tables, proofs.shared)
                prove_rows(cells, groups, tables, proofs)
        judge = _Judge(cells, public, fits)
        claims = _claims(cells, proofs, judge)
        scores: dict[str, Score] = {}
        # Of groups that no table was found for nothing was measured.
        if groups is not None and groups.n_seen:
            n_people = judge.n_people or cells.n_most
            told = (("certain", proofs.small, n_small), ("values-certain", proofs.shared, n_shared))
            for name, proven, n_found in told:
                if name == "certain" or _sensitive(public):
                    score = share_score(name, min(n_found, n_people), n_people, 0.0)
                    # What was left open may be proven by whoever has more time: the share is the least there is.
                    reach = None if proofs.n_out_of_time + proofs.n_inexact else score.interval
                    named = judge.riskiest(proven)
                    rows = [one["row"] for one in named]
                    inputs = {**score.inputs, "riskiest": rows, "riskiest_people": named}
                    scores[name] = replace(score, interval=reach, inputs=inputs)
        scores = {**judge.scores(), **scores}
        facts = {
            "assumed": self._assumed(k, decay),
            "tables": [" by ".join(one) or "all" for one in cells.tables],
            "cells": len(cells),
            "fits": len(fits),
            "fits_to_the_row": n_exact,
            "groups": 0 if groups is None else len(groups.every),
            "columns_of_groups": 0 if groups is None else groups.most_columns,
            "k_is_told": public.method.k is not None,
            "proven_under_k": len(proofs.small),
            "nothing_claimed_since": _why_nothing(n_exact, decay),
            "proof": "dual solutions checked in whole numbers",
            "programs": {
                "solved": proofs.n_programs,
                "open": proofs.n_out_of_time + proofs.n_inexact,
                "rows_open": proofs.n_rows_left,
            },
            **_summary(claims),
        }
        return Deductions(scores, claims, pl.DataFrame(), facts, judge.candidates())

    def _decay(self, public: PublicKnowledge) -> float | None:
        """Return by what each row of noise is less likely, were all ε one table's; None of counts without noise."""
        told = public.method.options or {}
        is_noisy = public.method.name == "dp-counts"
        if is_noisy and not self.epsilon and "epsilon" not in told:
            raise InputError.of("the ε that the tables spent together", option="epsilon")
        epsilon = self.epsilon or (float(str(told["epsilon"])) if is_noisy else 0.0)
        if not epsilon:
            return None
        return math.exp(-epsilon / (2 if told.get("neighbors") == "replace" else 1))

    def _cells(self, public: PublicKnowledge, *, is_noisy: bool) -> CountedCells:
        """Read all tables of counts, and list the cells that may have rows."""
        columns = list(dict.fromkeys([*public.columns, *_sensitive(public)]))
        tables = [public.release, *(_more(one, columns) for one in self.beside)]
        how = CountReading(
            self.counts, self.least, self.suppressed, self.rounded, self.rounding == "random", is_noisy=is_noisy
        )
        lines = CountLines.read(tables, columns, how, public.hierarchies)
        labels = Table(
            {name: lines.labels[name] for name in lines.labels}, list(lines.labels), name=public.release.name
        )
        is_complete = self.unlisted == "none"
        return CountedCells.of(replace(public, release=labels), lines, is_complete=is_complete, total=self.total)

    def _assumed(self, k: int, decay: float | None) -> Json:
        return {
            "k": k,
            "unlisted": self.unlisted,
            "suppressed": self.suppressed or None,
            "least_hidden": self.least,
            "rounded": self.rounded or None,
            "rounding": self.rounding if self.rounded else None,
            "epsilon": None if decay is None else round(-math.log(decay), 9),
        }


def _contradicted(public: PublicKnowledge) -> InputError:
    return InputError.of(
        "counts that one table can have: of rounded, suppressed or noisy ones say so (rounded=3, suppressed=5, "
        "epsilon=1), of tables that leave combinations out unlisted=unknown",
        file=public.release.name,
    )


def _more(file: str, columns: Sequence[str]) -> Table:
    """Read a further count table."""
    more = Table(file)
    own = counts_by_column(more.frame, columns)
    if not set(columns) & set(own.columns):
        raise InputError.of(f"a column of labels: {', '.join(columns)}", file=file)
    return Table(own, name=more.name)


def _sensitive(public: PublicKnowledge) -> list[str]:
    """Return the columns of labels that somebody wants to learn."""
    wanted = public.release.sensitive if public.truth is None else public.truth.sensitive
    return [name for name in wanted if name in public.release.frame.columns]


def _k_of(public: PublicKnowledge) -> int:
    """Return the k below which a group is small: that of the release, or 2, of one person alone."""
    own = (public.method.options or {}).get("k")
    k = public.method.k if public.method.k is not None else own
    # A release at k = 1 promises nobody anything, and may still show who is alone.
    return max(2, 2 if k is None else int(str(k)))


def _why_nothing(n_exact: int, decay: float | None) -> Text | None:
    if decay is not None:
        return Text("noisy counts prove nothing")
    return None if n_exact else Text("no table was found in time that has the counts, and none was ruled out")


class _Judge:
    """Holds fits and claims against the original, where that is there."""

    def __init__(self, cells: CountedCells, public: PublicKnowledge, fits: Sequence[Ints]) -> None:
        self._cells, self._fits, self._control = cells, fits, public.control
        shape = (len(fits), len(cells))
        self._mean = np.mean(fits, axis=0) if fits else np.zeros(len(cells))
        self._confidence = np.mean(np.array(fits).reshape(shape) > 0, axis=0) if fits else np.zeros(len(cells))
        truth = None if public.truth is None else public.truth.original
        self._codes = None if truth is None else cells.codes_of_people(truth.frame, truth.name)
        self._cell_of = None if self._codes is None else cells.numbers(self._codes)

    @property
    def n_people(self) -> int:
        """How many people the original has; 0 without one."""
        return 0 if self._cell_of is None else len(self._cell_of)

    def in_cells(self, cells: Ints) -> Ints | None:
        """Return the people who are in some cells, by their rows."""
        return None if self._cell_of is None else np.flatnonzero(np.isin(self._cell_of, cells))

    def holds(self, proven: ProvenGroup) -> bool | None:
        """Whether a claim is true of the original."""
        people = self.in_cells(proven.group.cells)
        if people is None or self._codes is None:
            return None
        is_true = proven.least <= len(people) <= proven.most
        if proven.shared is not None:
            column, cell = proven.shared
            is_true &= bool((self._codes[people, column] == self._cells.codes[cell, column]).all())
        return is_true

    def riskiest(self, proven: Sequence[ProvenGroup]) -> list[Json]:
        """Name the people of the smallest groups that were proven, by their rows in the original, counted from 1."""
        out: dict[int, Json] = {}
        for one in sorted(proven, key=lambda one: (one.most, -len(one.group.columns))):
            people = self.in_cells(one.group.cells)
            for row in [] if people is None else people.tolist():
                out.setdefault(row, {"row": row + 1, "class": one.most, "claim": _in_words(self._cells, one)})
        return sorted(out.values(), key=lambda one: (one["class"], one["row"]))[:MOST_NAMED]

    def scores(self) -> dict[str, Score]:
        """Score the fits as guesses at whole rows."""
        if self._cell_of is None or self._codes is None or not self._fits:
            return {}
        n_people, n_cells = len(self._cell_of), len(self._cells)
        own = np.bincount(self._cell_of[self._cell_of >= 0], minlength=n_cells)
        there, n_rows = np.flatnonzero(own), max(float(self._mean.sum()), 1e-9)
        # Of noisy counts it is not known how many people there are: their rows are taken as shares of all.
        drawn = independent(self._cells, self._mean)[there] * n_people / n_rows
        blind = chance_of_match(drawn, own[there]) / max(1, n_people)
        found = self._matched(own / max(1, n_people)) * n_people
        success = share_score("success", min(found, n_people), n_people, blind, self._of_control())
        claimed = np.flatnonzero(self._confidence >= CLAIMED)
        n_true, likeliest = int((own[claimed] > 0).sum()), self._likeliest(len(claimed))
        score = share_score("claimed", n_true, len(claimed), likeliest)
        tried = {"people": len(claimed)} if not len(claimed) else {}
        return {"success": success, "claimed": replace(score, inputs={"candidates": len(claimed), **tried})}

    def _of_control(self) -> float | None:
        """Return the share of people outside who are matched, by as many rows as they are."""
        if self._control is None or not self._control.height:
            return None
        codes = self._cells.codes_of_people(self._control, "control", are_known=False)
        outside = self._cells.numbers(codes)
        return self._matched(np.bincount(outside[outside >= 0], minlength=len(self._cells)) / len(outside))

    def _matched(self, shares: Floats) -> float:
        """Return which share of people the fits hold on average, whatever number of rows they have."""
        return float(np.mean([np.minimum(one / max(1, one.sum()), shares).sum() for one in self._fits]))

    def _likeliest(self, n: int) -> float | None:
        """Return which share of the n rows that single columns make likeliest somebody has."""
        if not n or self._codes is None:
            return None
        sizes = [len(atom.names) for atom in self._cells.atoms]
        shares = np.ones(1)
        for place, size in enumerate(sizes):
            if len(shares) * size > MOST_PRODUCTS:
                return None
            shares = np.multiply.outer(shares, np.bincount(self._cells.codes[:, place], self._mean, size)).reshape(-1)
        best = np.argsort(-shares, kind="stable")[:n]
        held = np.unique(np.ravel_multi_index(self._codes.T, sizes))
        return float(np.isin(best, held).mean())

    def candidates(self) -> pl.DataFrame:
        """List the rows that some fit holds, the surest first."""
        cells = self._cells
        order = np.lexsort((np.arange(len(cells)), -self._mean, -self._confidence))
        order = order[self._confidence[order] > 0]
        own = None if self._cell_of is None else np.isin(order, self._cell_of)
        columns = {
            name: [atom.names[code] for code in cells.codes[order, place].tolist()]
            for place, (name, atom) in enumerate(zip(cells.columns, cells.atoms, strict=True))
        }
        told = {"mean_rows": self._mean[order], "confidence": self._confidence[order]}
        return pl.DataFrame({**columns, **told}).with_columns(
            pl.Series("is_true", [None] * len(order) if own is None else own, pl.Boolean)
        )


def _in_words(cells: CountedCells, proven: ProvenGroup) -> str:
    """Say what was proven of a group.

    | least | most | shared | in words |
    |---|---|---|---|
    | 1 | 1 | | sex f, age 30s: 1 row |
    | 2 | 4 | | sex f, age 30s: 2 to 4 rows |
    | 2 | 4 | illness flu | sex f, age 30s: illness flu in all 2 to 4 rows |
    """
    first = int(proven.group.cells[0])
    n = counted(proven.most, "row") if proven.least == proven.most else f"{proven.least} to {proven.most} rows"
    columns, codings = proven.group.columns, proven.group.codings
    values = cells.values(first, columns, codings)
    named = ", ".join(f"{cells.columns[at]} {value}" for at, value in zip(columns, values, strict=True))
    if proven.shared is None:
        return f"{named}: {n}"
    column, cell = proven.shared
    value = cells.values(cell, [column], [0])[0]
    return f"{named}: {cells.columns[column]} {value} in {'the' if proven.most == 1 else 'all'} {n}"


def _summary(claims: pl.DataFrame) -> Json:
    """Count claims by kind, with one of each, which names its columns itself."""
    return summary_of(claims.with_columns(column=pl.lit(None, pl.String)))


def _claims(cells: CountedCells, proofs: Proofs, judge: _Judge) -> pl.DataFrame:
    """Return what was proven, the smallest groups first."""
    listed = [(UNIQUE if one.most == 1 else UNDER_K, one) for one in proofs.small]
    listed += [(SHARED, one) for one in proofs.shared] + [(ROW, one) for one in proofs.rows]
    order = {UNIQUE: 0, UNDER_K: 1, SHARED: 2, ROW: 3}
    listed.sort(key=lambda pair: (order[pair[0]], pair[1].most, pair[1].group.columns, pair[1].group.cells.tolist()))
    rows = []
    for kind, one in listed:
        first, columns, codings = int(one.group.cells[0]), one.group.columns, one.group.codings
        if one.shared is not None:
            first, columns, codings = one.shared[1], (one.shared[0],), (0,)
        rows.append(
            {
                "row": None,
                "rows": cells.n_most,
                "column": ", ".join(cells.columns[at] for at in columns),
                "label": None,
                "kind": kind,
                "value": ", ".join(cells.values(first, columns, codings)),
                "least": one.least,
                "most": one.most,
                "claim": _in_words(cells, one),
                "proven": True,
                "is_true": judge.holds(one),
            }
        )
    return pl.DataFrame(rows, schema=CLAIM_COLUMNS)
