"""Ranges and sets written where the rows do not fit into memory: as a table, or in the form of 2018."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from tokumei.data.files.formats import write_file_or_folder
from tokumei.data.files.generalized import published_text, write_generalized
from tokumei.data.files.histories import CONTEST_2018, TABLE
from tokumei.data.files.pseudonyms import write_pairs
from tokumei.methods.on_engine.generalize import GeneralizedRows


def write_generalized_rows(rows: GeneralizedRows, drafts: Mapping[str, Path], form: str) -> None:
    """Write the release and, where asked for, what is published of it and who is who."""
    write = _write_table if form == TABLE else _write_contest
    write(rows.pieces(), drafts["out"], rows.folder, is_published=False)
    if "published" in drafts:
        # Rows are published sorted as text, which begins with the pseudonym: parts by pseudonym follow each other.
        write(rows.by_pseudonym(), drafts["published"], rows.folder, is_published=True)
    if "truth" in drafts:
        names = pl.DataFrame({"pseudonym": list(rows.pseudonyms.values()), "customer": list(rows.pseudonyms)})
        write_pairs(names.sort("pseudonym"), drafts["truth"], form)


def _write_table(parts: Iterable[pl.DataFrame], out: Path, folder: Path, *, is_published: bool) -> None:
    """Keep part after part and write them as one."""
    kept = []
    for number, part in enumerate(parts):
        kept.append(folder / f"part-{number:06}.parquet")
        (published_text(part) if is_published else part).write_parquet(kept[-1])
    write_file_or_folder(pl.scan_parquet(kept, glob=False), out)
    for one in kept:
        one.unlink()


def _write_contest(parts: Iterable[pl.DataFrame], out: Path, folder: Path, *, is_published: bool) -> None:
    """Write part after part and put them together; the form has no header, and packed files may follow each other."""
    part_file = folder / out.name
    with out.open("wb") as whole:
        for part in parts:
            write_generalized(part, part_file, CONTEST_2018, is_published=is_published)
            with part_file.open("rb") as written:
                shutil.copyfileobj(written, whole)
            part_file.unlink()
