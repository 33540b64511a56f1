"""What every method has in common that draws rows of nobody: who is kept out of fitting, and what is handed over."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.registry import part_name
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.core.text import Text
from tokumei.hierarchies.label_semantics import Bools
from tokumei.methods.perturbing.perturbation import Ints, Original, Perturbed

# Kept out unless somebody says how many: more of few people, since membership is judged by 400 or more.
USUAL_SHARE, LARGEST_SHARE, FEWEST_OUTSIDE = 0.1, 0.25, 400
# What attacks may find of people beyond what they find of others.
USUAL_BOUND = 0.02


@dataclass(frozen=True, eq=False)
class Drawn:
    """New rows, what the method proves of them, and what goes into the recipe."""

    frame: pl.DataFrame
    promises: Mapping[str, Score] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Synthesizer(ABC):
    """A method that fits a model to rows and draws new ones; every column that is released is drawn."""

    hold_out: float | None = field(
        default=None,
        metadata={
            "help": "Share of the rows, or of the people, kept out of fitting, beside whom drawn rows are attacked; a "
            "tenth, of fewer than 4,000 more."
        },
    )
    bound: float = field(
        default=USUAL_BOUND,
        metadata={"help": "The share of people that an attack may find beyond what it finds of those kept out."},
    )
    anyway: bool = field(default=False, metadata={"help": "Release rows that attacks find people by all the same."})
    n_rows: int = field(default=0, metadata={"help": "Rows to draw; 0 draws as many as there are."})

    # No column goes through unchanged, so that none can single a row out.
    draws_all_columns: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.hold_out is not None and not 0 <= self.hold_out < 1:
            raise InputError.of("a share from 0 to less than 1", option="hold_out", value=self.hold_out)
        if not 0 < self.bound <= 1:
            raise InputError.of("a share above 0, of at most 1", option="bound", value=self.bound)
        if self.n_rows < 0:
            raise InputError.of("0 or a number of rows", option="n_rows", value=self.n_rows)

    @abstractmethod
    def draw(self, original: Original, n_rows: int, *, seed: int) -> Drawn:
        """Fit the model to the rows and draw so many new ones; where 0 is asked, as many as there are."""

    def perturb(self, original: Original, *, seed: int) -> Perturbed:
        """Keep the control out of fitting, and draw the release from the rest."""
        held_out = self.control(original, seed)
        is_fitted = np.ones(original.n_rows, np.bool_)
        is_fitted[held_out] = False
        if not is_fitted.any():
            raise InputError.of("a share that leaves rows to fit", option="hold_out", value=self.hold_out)
        told = original if not len(held_out) else only_rows(original, is_fitted)
        drawn = self.draw(told, self.n_rows, seed=seed)
        facts = {**drawn.facts, "held_out": len(held_out)}
        return Perturbed(drawn.frame, None, drawn.promises, facts, pl.Series("row", held_out))

    def control(self, original: Original, seed: int) -> Ints:
        """Draw the rows that are kept out of fitting: all rows of a person, or none."""
        people = np.arange(original.n_rows)
        if original.whose is not None:
            people = original.whose.rank("dense").fill_null(0).to_numpy().astype(np.int64)
        random = generator(seed, part_name(self), "control")
        return np.flatnonzero(self.outside(int(people.max(initial=-1)) + 1, random)[people])

    def outside(self, n: int, random: np.random.Generator) -> Bools:
        """Draw who of so many people is kept out: a share, rounded up."""
        share = self.hold_out
        if share is None:
            share = max(USUAL_SHARE, min(LARGEST_SHARE, FEWEST_OUTSIDE / max(1, n)))
        is_drawn = np.zeros(n, np.bool_)
        is_drawn[random.permutation(n)[: math.ceil(share * n)]] = True
        return is_drawn


def check_drawable(original: Original, method: object) -> None:
    """Refuse people with several rows, where a method draws rows one by one."""
    if original.whose is not None:
        expected = "no column that tells whose a row is: {name} draws rows one by one; mst and aim protect people"
        raise InputError.of(Text(expected, name=part_name(method)), option="person", value=original.whose.name)


def only_rows(original: Original, is_taken: Any) -> Original:
    """Return an original with some of its rows."""
    taken = pl.Series(is_taken)
    whose = None if original.whose is None else original.whose.filter(taken)
    return replace(original, frame=original.frame.filter(taken), whose=whose)
