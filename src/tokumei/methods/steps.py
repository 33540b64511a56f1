"""Methods that change the rows of a history and leave its customers' names to whoever comes last."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.registry import part_name
from tokumei.data.history import History
from tokumei.data.release import Recipe, Release
from tokumei.methods.pseudonymizing import customer_periods, release_under_pseudonyms


@dataclass(frozen=True)
class Changed:
    """A history after a step, with the row of the history before that each row came from (missing if made up)."""

    history: History
    rows: pl.Series
    # What the step decided on its way, to be told with the release.
    found: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.rows) != self.history.n_rows:
            raise ValueError("rows must name one row before for each row after")


class HistoryStep(ABC):
    """A method that changes rows: one step of a pipeline.

    A step keeps the customers, so that any number of steps can follow each other; a pipeline ends with a method
    that names them. Alone, a step releases each customer under one pseudonym for the whole time.
    """

    @abstractmethod
    def change(self, history: History, *, seed: int) -> Changed:
        """Change the rows; customers keep their ids and rows stay in their month."""

    def check_promise(self, released: History) -> None:  # noqa: B027 - Most steps promise nothing to recount.
        """Recount on a finished release what the step promises; PromiseBroken if it does not hold."""

    def anonymize(self, original: History, *, seed: int) -> Release:
        """Change the rows and give every customer one pseudonym for the whole time."""
        changed = self.change(original, seed=seed)
        recipe = replace(recipe_of(self, seed), found=changed.found)
        release = name_for_the_whole_time(changed.history, recipe=recipe, seed=seed)
        self.check_promise(History(release.frame))
        return replace(release, rows=changed.rows)


def name_for_the_whole_time(history: History, *, recipe: Recipe, seed: int) -> Release:
    """Release each customer under one pseudonym."""
    lives = customer_periods(history).with_columns(life=pl.col("customer").rank("dense") - 1)
    return release_under_pseudonyms(history, lives, recipe=recipe, seed=seed)


def without_rows(history: History, is_deleted: npt.NDArray[np.bool_]) -> Changed:
    """Delete rows: they stay in their place, missing in every column."""
    frame = history.frame.with_columns(pl.when(~pl.Series(is_deleted)).then(pl.all()))
    return Changed(History(frame, history.name), all_rows(history))


def all_rows(history: History) -> pl.Series:
    """Count up the rows of a history, for a step that neither adds nor moves any."""
    return pl.Series("row", np.arange(history.n_rows, dtype=np.int64))


def recipe_of(method: Any, seed: int) -> Recipe:
    """Write the recipe of a registered method."""
    return Recipe(part_name(method), asdict(method), seed)
