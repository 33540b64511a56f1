"""Long work on one source that is kept piece after piece, without the work knowing who will go on with it.

Whoever may be broken off writes `with keeping(source, folder, n_rows): …`. Reading that source then leaves what it
counted, slice after slice of its rows, in the folder, and takes from there what an earlier run left.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

import polars as pl

# What is done again at most: seconds of work, and far more rows than opening a slice costs.
SLICE_ROWS = 20_000_000


@dataclass(frozen=True)
class KeptWork:
    """The folder of what is done, and the rows of the source where slices of them can be read."""

    source: str
    folder: Path
    n_rows: int | None

    @property
    def slices(self) -> list[tuple[int, int]]:
        """Where each slice starts, and how many rows it has; none where the source is read as a whole."""
        starts = range(0, self.n_rows or 0, SLICE_ROWS)
        return [(start, SLICE_ROWS) for start in starts] if len(starts) > 1 else []

    def frame(self, key: str, compute: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        """Compute a frame, or take the one that was kept under the same key."""
        file = self.place(key).with_suffix(".parquet")
        if not file.exists():
            draft = file.with_suffix(".draft")
            compute().write_parquet(draft, compression="lz4")
            draft.replace(file)
        return pl.read_parquet(file)

    def place(self, key: str) -> Path:
        """Return the path of what is kept under a key."""
        return self.folder / hashlib.blake2b(key.encode(), digest_size=16).hexdigest()


_current: ContextVar[KeptWork | None] = ContextVar("kept_work", default=None)


@contextmanager
def keeping(source: str, folder: Path, n_rows: int | None) -> Iterator[None]:
    """Keep what is done with a source; `n_rows` where any of its rows can be read without those before."""
    token = _current.set(KeptWork(source, folder, n_rows))
    try:
        yield
    finally:
        _current.reset(token)


def name_of_part(part: str, column: str, values: pl.Series) -> str:
    """Name the rows of a part whose value of a column is one of these."""
    told = repr((part, column, str(values.dtype), sorted(map(repr, values))))
    return hashlib.blake2b(told.encode(), digest_size=16).hexdigest()


def kept_work(source: str) -> KeptWork | None:
    """Return where work on a source is kept; a release that is read again to be checked is another source."""
    work = _current.get()
    return work if work is not None and work.source == source else None
