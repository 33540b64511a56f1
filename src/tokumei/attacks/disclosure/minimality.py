"""The attacker who knows that a method makes groups no larger than the promise needs.

What is found is held against the largest share of a sensitive value that the promise allows in any class.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from tokumei.attacks.attribute_inference import sensitive_column
from tokumei.attacks.candidates import (
    CandidateRecords,
    Candidates,
    Floats,
    People,
    riskiest_of,
    share_of,
    share_score,
)
from tokumei.attacks.disclosure.possible_worlds import Beliefs, Worlds, beliefs
from tokumei.attacks.disclosure.refused_groupings import RETRACED, Kinds, check_safe_cuts, refused_groupings
from tokumei.attacks.threat_model import NOBODY, KnownMethod, ThreatModel, column_of
from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.class_counts import Histogram, encode
from tokumei.hierarchies.label_semantics import Bools, Ints
from tokumei.measures.requirement import ROUNDING, Requirement, in_words, sees_whole_release
from tokumei.measures.safety.closeness import BetaLikeness, DeltaDisclosure, TCloseness
from tokumei.measures.safety.diversity import AlphaK, LDiversity
from tokumei.methods.local.task import counts_of_groups
from tokumei.methods.recipes import against_original

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


# Shares are given to measures of whole rows as so many rows.
WHOLE = 10**12


@dataclass(frozen=True)
class Minimality:
    """Learn sensitive values from knowing that the method would have released finer groups if it could.

    Knowledge: the release, the quasi-identifiers of everybody in it but not their sensitive values (a list of
    voters), the hierarchies, the method with its options, and what was asked for. Aim: the sensitive value. A
    grouping that the method would have taken before the released one breaks the promise somewhere. So of all ways
    to hand out the values of each class to its people, which are alike at first, those are ruled out in which such
    a grouping holds, and what is left says how likely each value is for each person (Wong, Fu, Wang and Pei 2007).
    That is counted exactly where tables are few, else drawn, and then a share counts as another one only if it
    clearly differs. Retraced are `optimal`, `exhaustive`, `ola`, `incognito`, `prediction-guided`, `pak`, `datafly`
    and strict `mondrian`, where nobody is left out.

    Success: `above-bound` is the share of people whose own value is likelier than the promise allows: 1/ℓ for
    distinct ℓ-diversity, α, p + t for a value of share p by equal distances, p(1 + β), and so on. Baseline: the
    same by the shares of the class alone. `broken` is the share of people of whom what is believed, taken as a
    class, breaks the promise; of the classes themselves none does, so its baseline is 0. `certain`: one value is
    left, by counting, and it is theirs; baseline: the class has one value alone. Control: people who are not in the
    release and would stand in one of its classes.

    Example: two men have HIV; of four women one has HIV, two have flu and one a cold. 2-diversity makes all six one
    class. Its shares say 1/2 of HIV, which is what 2-diversity allows. But by sex the men would have stood alone,
    and so their values are alike: both have HIV, in 3 of 15 ways to choose them, or both have flu, in 1. HIV is
    likely by 3/4 for both: `above-bound` is 2/6, and 0 by the shares.
    """

    sensitive: str = field(default="", metadata={"help": "Column to learn; the only sensitive one if none is named."})
    l: float = field(  # noqa: E741 - its name
        default=0.0, metadata={"help": "The ℓ that was asked for, where the release does not say."}
    )
    kind: Literal["distinct", "entropy", "recursive"] = field(
        default="distinct", metadata={"help": "The kind of ℓ-diversity."}
    )
    c: float = field(default=0.0, metadata={"help": "The c of recursive ℓ-diversity."})
    t: float = field(default=-1.0, metadata={"help": "The t that was asked for."})
    distance: Literal["equal", "ordered", "hierarchical"] = field(
        default="equal", metadata={"help": "The distance of t-closeness."}
    )
    alpha: float = field(default=0.0, metadata={"help": "The α that was asked for."})
    beta: float = field(default=0.0, metadata={"help": "The β that was asked for."})
    draws: int = field(default=2000, metadata={"help": "Worlds that are drawn where there are too many to count."})

    needs: ClassVar[tuple[str, ...]] = ("sensitive",)

    def __post_init__(self) -> None:
        if self.draws < 1:
            raise InputError.of("1 or more", option="draws", value=self.draws)

    def lacks(self, threat_model: ThreatModel) -> str | None:
        """Return what keeps this attack from being tried, or None."""
        method = threat_model.method
        if method.name not in RETRACED or (method.options or {}).get("kind") == "relaxed":
            return f"the name of a method that can be retraced: {', '.join(RETRACED)}"
        if method.is_hardened:
            return "a release that was not hardened"
        if threat_model.known_share < 1 or threat_model.known_cells is not None or threat_model.is_inexact:
            return "all quasi-identifiers of everybody in the release"
        try:
            scene = self._scene(threat_model)
        except InputError as error:
            return error.faults[0].expected
        return None if scene else "a requirement of the sensitive column, such as ℓ-diversity"

    def measure(self, threat_model: ThreatModel, *, seed: int) -> Mapping[str, Score]:
        """Retrace the method, and hold what follows against the true values."""
        lack = self.lacks(threat_model)
        scene = self._scene(threat_model)
        if lack is not None or scene is None:
            raise InputError.of(lack or "", option="attack", value="minimality")
        found = beliefs(scene.worlds, scene.refused, n_draws=self.draws, seed=seed)
        return scene.scores(found)

    def _scene(self, threat_model: ThreatModel) -> Scene | None:
        return threat_model.once(("minimality", self), lambda: scene_of(self, threat_model))

    def asked(self, column: str) -> list[Requirement]:
        """Return the requirements that the options name."""
        out: list[Requirement] = []
        if self.l:
            out.append(LDiversity(column, self.l, self.kind, self.c or None))
        if self.t >= 0:
            out.append(TCloseness(column, self.t, self.distance))
        if self.alpha:
            out.append(AlphaK(column, self.alpha, 1))
        if self.beta:
            out.append(BetaLikeness(column, self.beta))
        return out


def scene_of(attack: Minimality, threat_model: ThreatModel) -> Scene | None:
    """Return what the attacker works with; None where nothing was asked of the sensitive column."""
    column = sensitive_column(threat_model, attack.sensitive)
    return Scene.of(threat_model, column, attack.asked(column))


@dataclass(frozen=True, eq=False)
class Scene:
    """What the attacker works with, and the true values for the judge."""

    column: str
    requirements: Sequence[Requirement]
    method: KnownMethod
    worlds: Worlds
    refused: Sequence[Any]
    values: pl.Series
    kind_of_person: Ints
    value_of_person: Ints
    # The kind of each control person, the class where none is the same, NOBODY where none fits; and their values.
    control: tuple[Ints, Ints, Ints] | None

    @classmethod
    def of(cls, threat_model: ThreatModel, column: str, named: Sequence[Requirement]) -> Scene | None:
        """Look up people and records; None where nothing was asked of the column."""
        method = threat_model.method
        if method.ranged is None:
            method = replace(method, ranged=list(threat_model.numeric))
        requirements = list(named) or [one for one in method.requirements if one.sensitive_columns]
        if not any(column in one.sensitive_columns for one in requirements):
            return None
        others = {name for one in requirements for name in one.sensitive_columns} - {column}
        if others:
            raise InputError.of(f"requirements of {column} alone, not of {', '.join(sorted(others))}")
        if not all(one.is_monotone for one in requirements):
            raise InputError.of("requirements that coarser groups keep")
        table, original = threat_model.published.table, threat_model.original
        columns = threat_model.known_columns
        if set(columns) != {name for name in table.frame.columns if name in original.quasi_identifiers}:
            raise InputError.of("all released quasi-identifiers as known columns", value=", ".join(columns))
        owners = threat_model.published.owners(original.n_rows)
        is_fewer = method.may_leave_out(table.n_rows - 1)
        if is_fewer or len(threat_model.released) != original.n_rows or (owners == NOBODY).any():
            raise InputError.of("a release that leaves nobody out")
        k = method.k or (1 if method.requirements else 0)
        records = CandidateRecords.of(threat_model, table.frame, table.name)
        k = max([k or int(records.sizes.min()), *(one.k for one in requirements if isinstance(one, AlphaK))])
        people = People.of(threat_model, original.frame, original.name)
        own_class = _only_classes(people, records)
        if (own_class == NOBODY).any() or (np.bincount(own_class, minlength=records.n_classes) != records.sizes).any():
            raise InputError.of("a release in which everybody fits one class alone, that of their record")
        kinds = Kinds.of(original.frame.select(columns), threat_model.hierarchies, method, k)
        class_of = np.zeros(kinds.task.n_classes, np.int64)
        class_of[kinds.kind_of] = own_class
        values, codes = _encoded(*(column_of(one.frame, column, one.name) for one in (table, original)))
        told, true = codes[: table.n_rows], codes[table.n_rows :]
        shape = (records.n_classes, len(values))
        counts = np.bincount(records.class_of * shape[1] + told, minlength=shape[0] * shape[1]).reshape(shape)
        against = against_original(requirements, _as_counts(column, values, counts))
        alone = [one for one in against if not sees_whole_release(one)]
        if len(alone) < len(against):
            raise InputError.of("requirements of single classes")
        if (method.options or {}).get("cuts") == "safe":
            check_safe_cuts(kinds, class_of, values, counts, alone, method)
            refused = []
        else:
            labels = {name: table.frame[name].cast(pl.String).unique().to_list() for name in columns}
            refused = refused_groupings(kinds, class_of, labels, method, k)
        worlds = Worlds(kinds.task.sizes, class_of, counts, _Judge(column, values, alone).holds)
        control = _control(threat_model, kinds, records, column, values)
        return cls(column, alone, method, worlds, refused, values, kinds.kind_of, true, control)

    def scores(self, found: Beliefs) -> dict[str, Score]:
        """Judge what is believed by the true values."""
        worlds, people, true = self.worlds, self.kind_of_person, self.value_of_person
        shares = (worlds.counts / worlds.counts.sum(axis=1)[:, None])[worlds.class_of]
        bounds = bounds_of(self.requirements, self.values, worlds.counts.sum(axis=0))
        above, blind = ((one > bounds + ROUNDING)[people, true] for one in (found.shares, shares))
        broken = self._broken(found, shares)
        sure = np.zeros(len(worlds.sizes), np.int64) - 1
        for kind, one in found.exact.items():
            if 1 in one:
                sure[kind] = one.index(1)
        one_value = np.where((shares == 1).any(axis=1), shares.argmax(axis=1), -1)
        sure = np.where(sure < 0, one_value, sure)
        is_exact = np.zeros(len(worlds.sizes), bool)
        is_exact[list(found.exact)] = True
        gain = np.abs(found.shares - shares).max(axis=1)
        facts = {
            "sensitive": self.column,
            "promise": [in_words(one) for one in self.requirements],
            "method": self.method.name,
            "groupings_refused": len(self.refused),
            "groupings_used": found.n_used,
            "groupings_left_out": found.n_left_out,
            "groupings_contradicted": found.n_contradicted,
            "share_counted": share_of(is_exact[people]),
            "share_drawn": share_of(found.is_drawn[people]),
            "likeliest": float(found.shares.max()),
            "likeliest_blindly": float(shares.max()),
            "largest_gain": float(gain.max()),
            "mean_gain": float(gain[people].mean()),
            **riskiest_of(np.arange(len(people)), found.shares[people, true]),
        }
        n = len(people)
        out = {
            "above-bound": share_score("above-bound", int(above.sum()), n, share_of(blind), inputs=facts),
            "broken": share_score("broken", int(broken[people].sum()), n, 0.0),
            "certain": share_score(
                "certain", int((sure[people] == true).sum()), n, share_of(one_value[people] == true)
            ),
        }
        if self.control is not None and len(self.control[0]):
            out["above-bound"] = replace(out["above-bound"], control=self._control_above(found, bounds))
        return out

    def _broken(self, found: Beliefs, shares: Floats) -> Bools:
        """Return of which kinds of people what is believed would break the promise if it were a class."""
        out = np.zeros(len(self.worlds.sizes), bool)
        changed = np.flatnonzero((np.abs(found.shares - shares) > ROUNDING).any(axis=1))
        if not len(changed):
            return out
        rows = np.round(found.shares[changed] * WHOLE).astype(np.int64)
        judge = _Judge(self.column, self.values, self.requirements)
        out[changed] = ~judge.holds(np.maximum(rows, found.shares[changed] > 0))
        return out

    def _control_above(self, found: Beliefs, bounds: Floats) -> float:
        assert self.control is not None  # noqa: S101 - asked before.
        kinds, classes, values = self.control
        of_class = self.worlds.counts / self.worlds.counts.sum(axis=1)[:, None]
        believed = np.where((kinds >= 0)[:, None], found.shares[kinds], of_class[classes])
        known = (values >= 0) & (classes >= 0)
        above = believed[np.arange(len(values)), values] > bounds[values] + ROUNDING
        return share_of(above & known)


@dataclass(frozen=True, eq=False)
class _Judge:
    """Whether groups meet what was asked, by the rows of each value."""

    column: str
    values: pl.Series
    requirements: Sequence[Requirement]

    def holds(self, rows: Ints) -> Bools:
        """Whether each group meets the requirement; its size alone was judged before."""
        counts = _as_counts(self.column, self.values, rows)
        out = np.ones(len(rows), bool)
        for one in self.requirements:
            out &= one.holds_in(counts)
        return out


def _as_counts(column: str, values: pl.Series, rows: Ints) -> Any:
    group, value = np.nonzero(rows)
    histogram = Histogram(values, group, value.astype(np.int32), rows[group, value].astype(np.int64))
    return counts_of_groups(rows.sum(axis=1), {column: histogram})


def _encoded(told: pl.Series, true: pl.Series) -> tuple[pl.Series, Ints]:
    """Return all values of both, and the number of each cell's value; as text where they were read differently."""
    both = [told, true] if told.dtype == true.dtype else [told.cast(pl.String), true.cast(pl.String)]
    domain, codes = encode(pl.concat(both))
    return domain, codes.astype(np.int64)


def _only_classes(people: People, records: CandidateRecords) -> Ints:
    """Return the one class of records that each person fits, NOBODY where none or several do."""
    out = np.full(len(people.indices), NOBODY)
    for own, fits in Candidates(people, records).matrices():
        is_one = np.diff(fits.indptr) == 1
        out[own[is_one]] = fits.indices[fits.indptr[:-1][is_one]]
    found: Ints = out[people.class_of]
    return found


def _control(
    threat_model: ThreatModel, kinds: Kinds, records: CandidateRecords, column: str, values: pl.Series
) -> tuple[Ints, Ints, Ints] | None:
    frame = threat_model.control
    if frame is None or not frame.height or column not in frame.columns:
        return None
    classes = _only_classes(People.of(threat_model, frame, "control"), records)
    columns = kinds.frame.columns
    people = kinds.frame.with_columns(pl.Series("kind", kinds.kind_of)).unique(columns, maintain_order=True)
    asked = frame.select(pl.col(name).cast(kinds.frame.schema[name], strict=False) for name in columns)
    found = asked.join(people, on=columns, how="left", nulls_equal=True, maintain_order="left")["kind"]
    at = {value: code for code, value in enumerate(values.cast(pl.String).to_list())}
    true = np.array([at.get(value, -1) for value in frame[column].cast(pl.String).to_list()], np.int64)
    return found.fill_null(-1).to_numpy(), classes, true
