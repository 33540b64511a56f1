"""Formats of purchase histories that are asked for by name, as those of contests.

A room above brings the formats: each edition of a contest has a module `files.py`, which is imported when its format
is asked for and not before. What such a module may have is what `HistoryFormat` says.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import Protocol, cast

import polars as pl

from tokumei.core.errors import InputError, UnknownPart
from tokumei.data.history import History

PACKAGE = "tokumei.contest.editions"


class HistoryFormat(Protocol):
    """The files of a contest: an original, a release, an attacker's knowledge, and the pseudonyms of customers."""

    PERIODS: tuple[str, ...]

    def read_history(self, path: Path | str) -> History:
        """Read an original."""

    def read_released_history(self, path: Path | str) -> History:
        """Read a release of a contest that has customers besides."""

    def write_released_history(self, history: History, path: Path | str) -> None:
        """Write a release of a contest that has customers besides."""

    def read_release(self, path: Path | str) -> History:
        """Read a release."""

    def write_release(self, release: History, path: Path | str) -> None:
        """Write a release."""

    def read_known_history(self, path: Path | str) -> History:
        """Read what an attacker knows, be it the original itself."""

    def write_knowledge(self, knowledge: History, path: Path | str) -> None:
        """Write what an attacker knows."""

    def read_truth(self, path: Path | str) -> pl.DataFrame:
        """Read the pseudonym of each customer in each period."""

    def write_truth(self, truth: pl.DataFrame, path: Path | str) -> None:
        """Write the pseudonym of each customer in each period."""


def format_names() -> list[str]:
    """Name the formats that histories can be read in."""
    folder = importlib.import_module(PACKAGE)
    names = sorted(module.name for module in pkgutil.iter_modules(folder.__path__) if module.ispkg)
    return [name for name in names if hasattr(_module(name), "read_history")]


def history_format(name: str, *needed: str) -> HistoryFormat:
    """Return the format of a name that has the functions needed; a contest has not every kind of file."""
    if name not in format_names():
        raise UnknownPart("format of histories", name, format_names())
    found = _module(name)
    for function in needed:
        if not hasattr(found, function):
            raise InputError.of(f"a format that can {function.replace('_', ' ')}", option="format", value=name)
    return cast("HistoryFormat", found)


def _module(name: str) -> object:
    return importlib.import_module(f"{PACKAGE}.{name}.files")
