"""Compare a release with the one before: how far the data moved, what is new, and what both give away together.

The dossier of the release before says where its files lie. Where its input is still there as it was, inputs are
compared, else the releases. People are matched by a column that tells whose a row is, or an identifier; without one
nobody can try what an attacker could who knows somebody in both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Json
from tokumei.data.files.disk import file_hash
from tokumei.data.files.formats import read_frame
from tokumei.data.files.reading import Reading
from tokumei.data.files.strict import read_rows
from tokumei.tasks.attack_table import attack_table
from tokumei.tasks.job_file import JOB, Job, table_of

ATTACK, ATTACKER = "intersection", "somebody who has the release before"
RELEASES = ("release.csv", "release.parquet")
ROWS = Path("secret") / "rows.txt"


class Earlier:
    """The release before: its dossier, and of its files those that are still as they were."""

    def __init__(self, file: Path) -> None:
        self.file, self.folder = file, file.parent
        try:
            self.dossier: Json = json.loads(file.read_text(encoding="utf-8"))
            self.results = self.dossier["results"]
            names = [name for name in RELEASES if name in self.dossier["files"]]
            self.release_file = self.folder / names[0]
            source = self.dossier["input"]
        except (ValueError, KeyError, TypeError, IndexError):
            raise InputError.of("the dossier of a table, as tokumei run writes it", file=file) from None
        if not self._is_same(self.release_file, self.dossier["files"][names[0]]):
            raise InputError.of("the release beside the dossier, as it was written", file=self.release_file)
        given = self.folder / source["file"]
        self.input_file = given if self._is_same(given, source["sha256"]) else None

    @staticmethod
    def _is_same(file: Path, wanted: str) -> bool:
        return file.is_file() and file_hash(file) == wanted

    @property
    def release(self) -> pl.DataFrame:
        """The release before, as it was written."""
        is_text = self.release_file.suffix == ".csv"
        return read_frame(self.release_file, Reading(delimiter=",") if is_text else Reading())

    @property
    def input(self) -> pl.DataFrame | None:
        """The file that it was made of; None where that is gone or was changed."""
        job = self.folder / JOB
        if self.input_file is None or not job.is_file():
            return None
        folder = self.folder / str(self.dossier["folder"])
        return read_frame(self.input_file, Job.of(job.read_text(encoding="utf-8"), folder=folder).reading)


def compare_earlier(before: Earlier, original: pl.DataFrame, released: pl.DataFrame) -> Json:
    """Measure how far each column moved, and count the labels of the release that the one before did not have.

    Drift is the total variation of the shares of a column: 0 if all are the same, 1 if no value is in both.
    """
    then = before.input
    of = "releases" if then is None else "files"
    now, earlier = (released, before.release) if then is None else (original, then)
    both = [name for name in released.columns if name in earlier.columns and name in now.columns]
    drift = {name: total_variation(earlier[name], now[name]) for name in both}
    moved = max(drift, key=lambda name: drift[name], default=None)
    labels = before.release
    new = {
        name: int((~released[name].cast(pl.String).drop_nulls().unique().is_in(_labels(labels[name]))).sum())
        for name in released.columns
        if name in labels.columns
    }
    return {
        "date": before.dossier.get("date"),
        "compared": of,
        "drift": drift,
        "moved_most": moved,
        "largest_drift": 0.0 if moved is None else drift[moved],
        "new_labels": new,
        "n_new_labels": sum(new.values()),
        "new_columns": [name for name in released.columns if name not in labels.columns],
        "review_on": before.dossier.get("context", {}).get("review_on"),
    }


def total_variation(one: pl.Series, other: pl.Series) -> float:
    """Half the sum of the differences of all shares.

    Example: of (a, a, b, b) and (a, b, b, c) the shares differ by 1/4, 0 and 1/4, of which half the sum is 1/4.
    """
    sides = [
        column.cast(pl.String).alias("value").value_counts(normalize=True, name=name)
        for column, name in ((one, "one"), (other, "other"))
    ]
    joined = sides[0].join(sides[1], on="value", how="full", nulls_equal=True).fill_null(0.0)
    return float((joined["one"] - joined["other"]).abs().sum()) / 2


def _labels(column: pl.Series) -> list[str]:
    return column.cast(pl.String).drop_nulls().unique().to_list()


def attack_both(
    before: Earlier, original: pl.DataFrame, released: pl.DataFrame, rows: pl.Series | None, job: Job
) -> list[dict[str, object]]:
    """Attack people who are in both releases, by what the two leave together; nothing where that cannot be tried.

    Values that only the file before had are values of the columns all the same, since its release shows them.
    """
    matched = _matched(before, original, job)
    if rows is None or matched is None:
        return []
    earlier_rows, left = matched
    then, kept = before.release, earlier_rows.is_not_null()
    try:
        table = table_of(job, pl.concat([original, left], how="diagonal_relaxed").select(original.columns))[0]
        known = [name for name in table.quasi_identifiers if name in released.columns and name in then.columns]
        if not known or not kept.any():
            return []
        found = attack_table(
            table,
            released,
            ATTACK,
            known=known,
            rows=rows,
            earlier=[then.filter(kept)],
            earlier_rows=[earlier_rows.filter(kept)],
            hierarchies=table.hierarchies,
            seed=1,
        )
    except InputError:
        # Labels of the release before that mean nothing in the hierarchies of this one.
        return []
    return found.as_records(ATTACKER)


def _matched(before: Earlier, original: pl.DataFrame, job: Job) -> tuple[pl.Series, pl.DataFrame] | None:
    """Return for each row of the release before the row of the same person now, and the rows of those who are gone.

    None where no column says who is in both files.
    """
    then, file = before.input, before.folder / ROWS
    if then is None or not file.is_file():
        return None
    key = next((name for name in _keys(job) if _tells_apart(then, name) and _tells_apart(original, name)), None)
    if key is None:
        return None
    now: Mapping[str, int] = {value: at for at, value in enumerate(original[key].cast(pl.String))}
    people = then[key].cast(pl.String)
    owners = [now.get(one) for one in people.gather(read_rows(file) - 1)]
    return pl.Series(owners, dtype=pl.Int64), then.filter(~people.is_in(list(now)))


def _keys(job: Job) -> list[str]:
    return [*job.columns_with("person"), *job.columns_with("identifier")]


def _tells_apart(frame: pl.DataFrame, name: str) -> bool:
    """Whether each row has a value of its own."""
    return name in frame.columns and not frame[name].null_count() and frame[name].n_unique() == frame.height
