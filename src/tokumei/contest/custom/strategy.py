"""What contests of one's own with tables and those with purchases do each in their own way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

import polars as pl

from tokumei.contest.checks import RowFaults
from tokumei.contest.custom.settings import Settings
from tokumei.contest.edition import GuessScore, Measure, Rule
from tokumei.core.score import Score
from tokumei.data.files.columns import ColumnType

Play = Callable[[Settings, pl.DataFrame, int], pl.DataFrame]


class Strategy(Protocol):
    """One kind of data. A guess, as the truth, is a frame: cells of pseudonyms, or rows of T counted from 1."""

    what: ClassVar[str]
    what_ja: ClassVar[str]
    guess_measures: ClassVar[Sequence[Measure]]
    """What is told of a guess."""

    def make_frame(self, settings: Settings, source: Path | None, seed: int) -> pl.DataFrame:
        """Make the original from a source, or make one up."""

    def original_types(self, settings: Settings, columns: Sequence[str]) -> dict[str, ColumnType]:
        """Return the types of the original's columns."""

    def release_types(self, settings: Settings, original: pl.DataFrame) -> dict[str, ColumnType]:
        """Return the types of the release's columns."""

    def needed_columns(self, settings: Settings, original: pl.DataFrame) -> Sequence[str]:
        """Name the columns of the original in which no cell may be empty."""

    def release_rules(self, settings: Settings) -> Sequence[Rule]:
        """Return the rules of a release that only this kind of data has."""

    def check_cells(self, original: pl.DataFrame, cells: pl.DataFrame, faults: RowFaults) -> None:
        """Hold the cells of a release against those rules that look at no row of T."""

    def check_rows(self, settings: Settings, original: pl.DataFrame, cells: pl.DataFrame, faults: RowFaults) -> None:
        """Hold a release against the same rows of T."""

    def guess_rules(self) -> tuple[Rule, ...]:
        """Return the rules of a guess."""

    def check_guess(self, original: pl.DataFrame, published: pl.DataFrame, path: Path) -> None:
        """Raise one InputError with every fault of a guess."""

    def known_frame(self, settings: Settings, original: pl.DataFrame) -> pl.DataFrame:
        """Return what attackers may know of each row."""

    def measure(self, settings: Settings, original: pl.DataFrame, released: pl.DataFrame) -> dict[str, Score]:
        """Measure every metric of the contest."""

    def truth(self, original: pl.DataFrame, released: pl.DataFrame, rows: pl.Series) -> pl.DataFrame:
        """Return the truth of a release whose rows are published in a given order."""

    def guess(
        self, settings: Settings, attack: Any, known: pl.DataFrame, published: pl.DataFrame, seed: int
    ) -> pl.DataFrame:
        """Run an attack."""

    def judge(
        self,
        settings: Settings,
        guesses: pl.DataFrame,
        true: pl.DataFrame,
        original: pl.DataFrame,
        published: pl.DataFrame,
    ) -> GuessScore:
        """Hold a guess against the truth."""

    def write_guess(self, guesses: pl.DataFrame, original: pl.DataFrame, path: Path) -> None:
        """Write a guess, or the truth."""

    def read_guess(self, original: pl.DataFrame, path: Path) -> pl.DataFrame:
        """Read what `write_guess` wrote."""

    def anonymizers(self) -> Mapping[str, Play]:
        """Return the built-in anonymizers by name, simplest first; a deleted row is missing in every column."""
