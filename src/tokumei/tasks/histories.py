"""Histories as jobs take them and give them.

A job takes an object, a frame or the name of a file; on an engine, the files are open for as long as the job needs
them. Anonymizing gives the release, who is who in it, and how it came about.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from tokumei.attacks.judge import published, truth_of
from tokumei.core.errors import InputError
from tokumei.core.result import Facts, Result, Rows, Section, Sentence, UserFrame, as_kind
from tokumei.core.text import Json, JsonView, counted
from tokumei.data.files.disk import write_text
from tokumei.data.files.histories import CONTEST_2018, TABLE, WITHOUT_RANGES, form_of, write_released_history
from tokumei.data.files.outputs import guarded
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.files.released_histories import cells_of, write_generalized, write_pairs, write_pseudonyms
from tokumei.data.files.strict import write_rows
from tokumei.data.history import (
    KNOWN_ITEM_CHARACTERS,
    History,
    read_history,
    read_known_history,
    read_released_history,
)
from tokumei.data.release import GeneralizedHistory, Recipe, Release
from tokumei.engines.connect import check_engine, connect
from tokumei.engines.engine_history import EngineHistory, open_history, open_in_place
from tokumei.engines.staging import stage_history
from tokumei.tasks.table_release import told_of_audit


def history_of(data: object, reading: Reading = AS_IT_IS) -> History:
    """Convert whatever was given to the original history."""
    if isinstance(data, History):
        return data
    return read_history(data, reading) if isinstance(data, (str, Path)) else History(data)


def released_of(data: object, reading: Reading = AS_IT_IS) -> History:
    """Convert whatever was given to a released history: of `tk.anonymize`, a history, a frame or a file."""
    if isinstance(data, (str, Path)):
        return read_released_history(data, reading)
    return history_of(getattr(data, "history", data))


def known_of(data: object, reading: Reading = AS_IT_IS) -> History:
    """Read what an attacker knows."""
    return read_known_history(data, reading) if isinstance(data, (str, Path)) else history_of(data)


def check_engine_reads(engine: str, **sides: object) -> None:
    """Refuse an engine that is not there, and what it cannot read: all but files."""
    check_engine(engine)
    for name, data in sides.items():
        if data is not None and not isinstance(data, (str, Path)):
            expected = "a file, which another engine than the local one reads"
            raise InputError.of(expected, option=name, value=type(data).__name__)


# What an engine in this process may hold; the rest goes to files.
MEMORY = "2GB"


@contextmanager
def histories_on_engine(
    sources: Mapping[str, tuple[Path | str, str]], reading: Reading, engine: str
) -> Iterator[dict[str, EngineHistory]]:
    """Open histories (name → file and kind: original, release or knowledge) on one engine.

    Rows that are not read where they are go to a folder for temporary files, which the environment may name (TMPDIR).
    """
    with tempfile.TemporaryDirectory(prefix="tokumei-") as place, connect(engine) as opened:
        folder = Path(place)
        bound(opened, folder)
        # Each has a folder of its own for what is kept of it.
        for name in sources:
            (folder / name).mkdir()
        yield {
            name: open_on_engine(opened, source, reading, folder / name / "rows", kind)
            for name, (source, kind) in sources.items()
        }


def open_on_engine(opened: object, source: Path | str, reading: Reading, place: Path, kind: str) -> EngineHistory:
    """Open a history on an engine: where it is if it can be, else as rows that were read and checked here."""
    if reading == AS_IT_IS and (found := open_in_place(opened, source, place.parent)) is not None:
        return found
    return open_history(opened, stage_history(source, reading, place, kind=kind), place.parent)


def bound(opened: object, folder: Path) -> None:
    """Keep an engine that runs in this process within some memory."""
    if hasattr(opened, "bound"):
        opened.bound(folder, MEMORY)


TIGHT_CELLS = (
    "Ranges and sets are tight: both ends of each range, and every item of a set, are purchases of the group, so that "
    "some of them can be singled out. 'tokumei attack history generalized' tells how many; --set ranges=grid hides "
    "them."
)
CONTEST_ITEM = re.compile("[A-Z0-9]{1,9}")


@dataclass(frozen=True, eq=False, repr=False)
class HistoryRelease(Result):
    """The release of a history, row for row as the original where the method keeps rows.

    `release` holds the rows each came from and the pseudonyms of the customers: secrets of the publisher, as the
    recipe with its seed is.
    """

    original: History
    release: Release
    facts: JsonView
    form: str = TABLE
    frame_kind: str = "polars"
    carried: pl.DataFrame | None = None
    # Customers whom a method that drew all rows never saw: a control for attacks.
    held_out: tuple[str, ...] = ()

    @property
    def frame(self) -> UserFrame:
        """The released rows, deleted ones missing in every column, as a frame of the kind that the original was."""
        rows = self.release.frame
        return as_kind(rows if self.carried is None else rows.hstack(self.carried), self.frame_kind)

    @property
    def recipe(self) -> Recipe:
        """How the release came about, seed and all."""
        return self.release.recipe

    @property
    def seed(self) -> int:
        """What the release was drawn by; who has it can make the release again. 0 where it is kept by nobody."""
        return int(self.facts["seed"] or 0)

    @property
    def is_made_up(self) -> bool:
        """Whether no row is anybody's: there is no pseudonym to find."""
        rows = self.release.rows
        return rows is not None and 0 < len(rows) == rows.null_count()

    @property
    def is_generalized(self) -> bool:
        """Whether cells are ranges and sets, written as text."""
        return self.release.frame.schema["date"] == pl.String()

    @cached_property
    def history(self) -> History:
        """The release as a history; a generalized one is none."""
        if self.is_generalized:
            raise InputError.of(WITHOUT_RANGES, file="release")
        return History(self.release.frame, "release").with_more(self.carried)

    @cached_property
    def cells(self) -> GeneralizedHistory:
        """The release as generalized cells."""
        return cells_of(self.release.frame, "release") if self.is_generalized else GeneralizedHistory.of(self.history)

    @cached_property
    def truth(self) -> pl.DataFrame:
        """The pseudonym of each customer in each month: customer, period, pseudonym."""
        # Rows that a method adds have no row of the original beside them, but their customers have names.
        named = self.release.pseudonyms
        return truth_of(self.original, self.history) if named is None else named

    @cached_property
    def published(self) -> History:
        """What is published: the rows that are left, in an order that tells nothing."""
        return published(self.history, seed=self.seed)

    def to_dict(self) -> Json:
        """Return all facts as `tokumei anonymize history --json` prints them."""
        return dict(self.facts)

    def sections(self) -> Sequence[Section]:
        """Return the facts, and what tight ranges give away."""
        return release_sections(self.facts)

    def __repr__(self) -> str:
        said = f"{counted(self.facts['rows'], 'row')}, {self.facts['released']:,} released, by {self.facts['method']}"
        said += f", {counted(self.facts['customers'], 'customer')}, {counted(self.facts['pseudonyms'], 'pseudonym')}"
        without = f", without {', '.join(self.original.left_out)}" if self.original.left_out else ""
        return f"HistoryRelease({said}{without})"

    def to_frame(self) -> UserFrame:
        """Return the released rows."""
        return self.frame

    def save(
        self,
        out: Path | str,
        *,
        published: Path | str | None = None,
        truth: Path | str | None = None,
        recipe: Path | str | None = None,
        rows: Path | str | None = None,
        force: bool = False,
    ) -> None:
        """Write the release and, where named, what is published of it, who is who, and how it came about.

        rows: the row of the original that each row's purchase came from, counted from 1; a secret as the truth is.

        A file that exists is replaced only with `force`; all files get their names together.
        """
        outputs = {"out": out, "published": published, "truth": truth, "recipe": recipe, "rows": rows}
        with guarded(outputs, force=force) as drafts:
            self.write(drafts["out"], drafts.get("published"), drafts.get("truth"), drafts.get("rows"))
            if recipe is not None:
                write_text(drafts["recipe"], json.dumps(self.recipe.as_dict()) + "\n")

    def write(self, out: Path, published: Path | None, truth: Path | None, rows: Path | None = None) -> None:
        """Write the files without a guard, for who has one."""
        if rows is not None:
            if self.release.rows is None or self.release.rows.null_count():
                raise InputError.of("a method whose rows all come from rows of the original", option="rows")
            write_rows(self.release.rows + 1, rows)
        if self.is_generalized:
            self._write_generalized(out, published, truth)
            return
        write_released_history(self.history, out, self.form)
        if published is not None:
            write_released_history(self.published, published, self.form)
        if truth is not None:
            write_pseudonyms(self.truth, self.original.customers, truth, self.form, self.original.periods)

    def _write_generalized(self, out: Path, published: Path | None, truth: Path | None) -> None:
        """Write the release, what is published of it and who is who, for all months at once."""
        if self.form == CONTEST_2018:
            # The form has no other items; said of the original, since nobody has seen the release yet.
            check_items_fit(self.original.kept["item"].unique().sort(), self.original.name)
        write_generalized(self.release.frame, out, self.form)
        if published is not None:
            write_generalized(self.release.frame, published, self.form, is_published=True)
        pseudonyms = self.release.pseudonyms
        if truth is not None and pseudonyms is not None:
            write_pairs(pseudonyms.select("pseudonym", "customer").unique().sort("pseudonym"), truth, self.form)


def release_sections(facts: Mapping[str, object]) -> list[Section]:
    """Return the facts of a release, and what tight ranges give away; a seed is a name, not an amount."""
    parts = {"audit", "noise", *(["seed"] if facts["seed"] is None else [])}
    said: list[Section] = [
        Facts({name: str(one) if name == "seed" else one for name, one in facts.items() if name not in parts})
    ]
    if isinstance(noise := facts.get("noise"), Mapping):
        said.append(Rows(["counted", "deviation of the noise"], [list(pair) for pair in noise.items()]))
    if isinstance(audit := facts.get("audit"), Mapping):
        said += told_of_audit(audit)
    return [*said, Sentence(TIGHT_CELLS)] if facts.get("ranges") == "tight" else said


def check_items_fit(items: Iterable[str], name: str) -> None:
    """Refuse items that the contest's files have no place for."""
    for item in items:
        if not CONTEST_ITEM.fullmatch(item):
            expected = "an item of 1 to 9 upper-case letters or digits, as pwscup2018 has them, or --out-format table"
            raise InputError.of(expected, file=name, column="item", value=item)


def characters_known(original: object, reading: Reading) -> int | None:
    """Return by how many characters items are known where knowledge is drawn: two of a contest's, else all (None).

    In the contests these were the kind of an item. What they are elsewhere depends on how a shop names its items.
    """
    is_contests = isinstance(original, str | Path) and form_of(original, reading) != TABLE
    return KNOWN_ITEM_CHARACTERS if is_contests else None
