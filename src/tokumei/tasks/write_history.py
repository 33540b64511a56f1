"""A history from original to release on an engine: decided there, written here piece after piece.

A piece is the rows of some numbers. Pieces that are written are not made again, so that a run which was broken off goes
on with the next one; no more than a piece is in memory.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from polars.io.plugins import register_io_source

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.registry import part_name
from tokumei.core.result import Result, Section
from tokumei.core.seeds import key_of
from tokumei.core.wording import counted
from tokumei.data.files.formats import PARQUET, TEXT_SUFFIXES, write_file_or_folder
from tokumei.data.files.histories import CONTEST_2018, TABLE, format_of_name
from tokumei.data.files.parquet import write_parquet
from tokumei.data.files.pseudonyms import write_pseudonyms
from tokumei.data.files.reading import Reading
from tokumei.data.release import Recipe
from tokumei.engines.chance import drawn_numbers
from tokumei.engines.engine import connect, without_password
from tokumei.engines.engine_history import EngineHistory, open_history
from tokumei.engines.staging import as_history_columns, stage_history
from tokumei.methods.on_engine.histories import (
    NamedRows,
    check_engine_can,
    drawn_beside,
    generalize_on_engine,
    release_on_engine,
)
from tokumei.methods.pipeline import Pipeline
from tokumei.report.needs import check_needs
from tokumei.tasks.anonymize_history import generalizes
from tokumei.tasks.histories_on_engine import bound
from tokumei.tasks.history_release import check_items_fit, release_sections
from tokumei.tasks.resuming import kept_seed, resumable
from tokumei.tasks.write_generalized import write_generalized_rows

PIECE_ROWS = 4_000_000
# Published rows are dealt to so many files by the first bits of their place in the new order.
DEAL_BITS = 6
# Names come again within so many rows, and are written once.
GROUP_ROWS = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class WrittenHistory(Result):
    """What was found out about the release of a history that was written on its way."""

    facts: Mapping[str, Any]
    recipe: Recipe

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as `tokumei anonymize history --json` prints them."""
        return dict(self.facts)

    def sections(self) -> Sequence[Section]:
        """Return the facts, and what tight ranges give away."""
        return release_sections(self.facts)

    def __repr__(self) -> str:
        said = f"{counted(self.facts['rows'], 'row')}, {self.facts['released']:,} released, by {self.facts['method']}"
        return f"WrittenHistory({said}, {counted(self.facts['customers'], 'customer')})"


def write_history_on_engine(
    source: Path | str,
    pipeline: Pipeline,
    drafts: Mapping[str, Path],
    *,
    out: Path,
    engine: str,
    reading: Reading,
    seed: int | None = None,
    form: str = TABLE,
) -> WrittenHistory:
    """Anonymize a history on an engine; `drafts` has `out` and, where asked for, `published` and `truth`.

    `out` is where the release will be: work is kept beside it, for the same command to go on with.
    """
    started = time.perf_counter()
    check_engine_can(pipeline)
    is_generalized = generalizes(pipeline)
    _check_asked(reading, form, [TABLE, CONTEST_2018] if is_generalized else [TABLE])
    seed = pipeline.seed if seed is None else seed
    methods = [(part_name(method), method) for method in pipeline.methods]
    options = {"engine": without_password(engine), "methods": methods, "seed": seed, "reading": reading.as_dict()}
    options |= {"pieces": PIECE_ROWS, "published": "published" in drafts}
    with resumable(out, [source], options) as folder, connect(engine) as opened:
        used = kept_seed(folder, seed)
        bound(opened, folder)
        drawn = drawn_beside(pipeline, seed=used)
        history = open_history(opened, stage_history(source, reading, folder / "original", drawn=drawn), folder)
        for _, method in methods:
            check_needs(history, method)
        write = partial(_generalized, form=form) if is_generalized else _named
        told, recipe = write(pipeline, history, drafts, used)
    facts = {
        "method": "pipeline" if len(methods) > 1 else methods[0][0],
        "rows": history.staged.n_rows,
        **told,
        "carried": [],
        "left_out": list(history.staged.left_out),
        "engine": without_password(engine),
        "seed": used,
        "seconds": round(time.perf_counter() - started, 3),
    }
    return WrittenHistory(facts, recipe)


def _named(
    pipeline: Pipeline, history: EngineHistory, drafts: Mapping[str, Path], seed: int
) -> tuple[dict[str, int], Recipe]:
    """Write rows under pseudonyms, and tell how many there are."""
    folder = history.folder
    made = release_on_engine(pipeline, history, seed=seed)
    pieces = _write_pieces(made, folder, seed, deals="published" in drafts)
    with step("writing"):
        rows = _scan(pieces)
        _write_whole(rows, drafts["out"], rows)
        if "published" in drafts:
            _write_whole(_shuffled(folder, rows.collect_schema()), drafts["published"], rows)
    customers = _customers(history)
    if "truth" in drafts:
        truth = history.fetch(made.truth).cast({"period": pl.Int32})
        write_pseudonyms(truth, customers, drafts["truth"], periods=_periods(history))
    n_released = int(_scan(pieces).select(pl.col("customer").count()).collect(engine="streaming").item())
    n_made_up = made.history.staged.n_rows - history.staged.n_rows
    told = {"released": n_released, "made_up": n_made_up, "customers": len(customers), "pseudonyms": made.n_lives}
    return {**told, **made.history.found}, made.recipe


def _generalized(
    pipeline: Pipeline, history: EngineHistory, drafts: Mapping[str, Path], seed: int, *, form: str
) -> tuple[dict[str, int], Recipe]:
    """Write rows whose cells are ranges and sets, and tell how many there are."""
    if form == CONTEST_2018:
        check_items_fit(history.fetch(history.kept.select("item").distinct())["item"].sort(), history.staged.name)
    changed, rows, recipe = generalize_on_engine(pipeline, history, seed=seed)
    with step("writing"):
        write_generalized_rows(rows, drafts, form)
    n_made_up, n_names = changed.staged.n_rows - history.staged.n_rows, len(rows.pseudonyms)
    told = {"released": rows.n_released(), "made_up": n_made_up, "customers": len(_customers(history))}
    return {**told, "pseudonyms": n_names, **changed.found, **recipe.found}, recipe


def _check_asked(reading: Reading, form: str, forms: Sequence[str]) -> None:
    if reading.carry:
        raise InputError.of("the local engine, which --carry needs", option="--engine")
    if form not in forms:
        raise InputError.of(f"the local engine, or --out-format {TABLE}", option="--out-format", value=form)


def _customers(history: EngineHistory) -> list[str]:
    return history.fetch(history.kept.select("customer").distinct())["customer"].sort().to_list()


def _periods(history: EngineHistory) -> range:
    """Return all months from the first purchase to the last."""
    rows = history.kept
    first, last = history.fetch(rows.aggregate(first=rows.period.min(), last=rows.period.max())).row(0)
    return range(0) if first is None else range(int(first), int(last) + 1)


def _write_pieces(made: NamedRows, folder: Path, seed: int, *, deals: bool) -> list[Path]:
    """Write the rows of the release, piece after piece, in their order."""
    roles, table = made.history.roles, made.history.table
    columns = ["row", "period", *dict.fromkeys([*roles, "invoice"])]
    key = key_of(seed, "publish")
    n_rows, n_numbers = made.history.staged.n_rows, made.history.n_numbers
    # About as many rows in each piece, also where not every number is a row's.
    width = PIECE_ROWS if n_rows == n_numbers else max(1, PIECE_ROWS * n_numbers // n_rows)
    starts = range(0, max(1, n_numbers), width)
    paths = [folder / f"piece-{number:06}.arrow" for number in range(len(starts))]
    n_before = 0
    with step("anonymizing", len(paths)) as bar:
        for number, (start, path) in enumerate(zip(starts, paths, strict=True)):
            if path.exists():
                n_before += int(_scan([path]).select(pl.len()).collect().item())
            else:
                some = table.filter((table.row >= start) & (table.row < start + width)).select(*columns)
                rows = made.history.fetch(some).sort("row")
                shown = as_history_columns(made.naming.named_here(rows), roles)
                if deals:
                    # By how many rows come before: of the numbers of rows most may stand for none.
                    _deal(shown, drawn_numbers(key, n_before, rows.height), folder, number)
                n_before += rows.height
                draft = path.with_suffix(".draft")
                shown.write_ipc(draft, compression="lz4")
                draft.replace(path)
            bar.advance()
    return paths


def _deal(rows: pl.DataFrame, places: npt.NDArray[np.uint64], folder: Path, number: int) -> None:
    """Deal the rows that are published out to files, by the first bits of where they will stand."""
    file = pl.Series(places >> np.uint64(64 - DEAL_BITS))
    dealt = rows.with_columns(place=pl.Series(places), file=file).filter(pl.col("customer").is_not_null())
    for (name,), part in dealt.partition_by("file", as_dict=True, include_key=False).items():
        # Not packed, which would take longer than all the rest.
        part.write_ipc(folder / f"dealt-{name:02}-{number:06}.arrow")


def _shuffled(folder: Path, schema: pl.Schema) -> pl.LazyFrame:
    """Return the published rows in their new order, the rows of one file after those of another."""

    def blocks(columns: list[str] | None, *_: object) -> Iterator[pl.DataFrame]:
        for file in range(1 << DEAL_BITS):
            parts = sorted(folder.glob(f"dealt-{file:02}-*.arrow"))
            if parts:
                # Rows that drew the same place stay as they were, in the order of their numbers.
                rows = _scan(parts).collect().sort("place", maintain_order=True).drop("place")
                yield rows if columns is None else rows.select(columns)

    return register_io_source(blocks, schema=schema)


def _write_whole(rows: pl.LazyFrame, out: Path, alike: pl.LazyFrame) -> None:
    """Write rows; whether times have fractions is looked up in rows with the same times that cost less to read."""
    if format_of_name(out) in TEXT_SUFFIXES and "time" in rows.collect_schema().names():
        has_fractions = alike.select((pl.col("time").dt.nanosecond() != 0).any()).collect(engine="streaming").item()
        rows = rows.with_columns(pl.col("time").dt.to_string("%H:%M:%S%.f" if has_fractions else "%H:%M:%S"))
    if format_of_name(out) == PARQUET:
        write_parquet(rows, out, row_group_size=GROUP_ROWS)
    else:
        write_file_or_folder(rows, out)


def _scan(paths: Sequence[Path]) -> pl.LazyFrame:
    return pl.concat([pl.scan_ipc(path, glob=False) for path in paths])
