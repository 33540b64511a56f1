"""Ranges and sets written as in 2018, the only form that has them, where the rows do not fit into memory."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.anonymize.on_engine.generalize import GeneralizedRows
from tokumei.data.files.generalized import cells_of
from tokumei.data.files.histories import CONTEST_2018
from tokumei.data.files.history_formats import history_format
from tokumei.data.generalized import GeneralizedHistory


def write_generalized(rows: GeneralizedRows, drafts: Mapping[str, Path]) -> None:
    """Write the release and, where asked for, what is published of it and who is who."""
    form: Any = history_format(CONTEST_2018, "write_release", "write_published", "write_guess")
    _write_parts(rows.pieces(), form.write_release, drafts["out"], rows.folder)
    if "published" in drafts:
        # Rows are published sorted as text, which begins with the pseudonym: parts by pseudonym follow each other.
        _write_parts(rows.by_pseudonym(), form.write_published, drafts["published"], rows.folder)
    if "truth" in drafts:
        names = pl.DataFrame({"pseudonym": list(rows.pseudonyms.values()), "customer": list(rows.pseudonyms)})
        form.write_guess(names.sort("pseudonym"), drafts["truth"])


def _write_parts(
    parts: Iterable[pl.DataFrame], write: Callable[[GeneralizedHistory, Path], None], out: Path, folder: Path
) -> None:
    """Write part after part and put them together; the form has no header, and packed files may follow each other."""
    part_file = folder / out.name
    with out.open("wb") as whole:
        for part in parts:
            write(cells_of(part, "release"), part_file)
            with part_file.open("rb") as written:
                shutil.copyfileobj(written, whole)
            part_file.unlink()
