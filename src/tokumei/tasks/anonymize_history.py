"""A history from original to release, by one method or a pipeline: here, or on an engine.

On an engine the release is decided there and written here piece after piece. A piece is the rows of some numbers.
Pieces that are written are not made again, so that a run which was broken off goes on with the next one; no more than
a piece is in memory. Ranges and sets are written as a table or in the form of 2018.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from polars.io.plugins import register_io_source

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.progress import step
from tokumei.core.registry import part_name
from tokumei.core.result import Result, Section
from tokumei.core.seeds import fresh_seed, key_of
from tokumei.core.text import Json, JsonView, Text, counted
from tokumei.data.files.formats import PARQUET, TEXT_SUFFIXES, write_file_or_folder, write_parquet
from tokumei.data.files.histories import CONTEST_2018, TABLE, format_of_name
from tokumei.data.files.reading import Reading
from tokumei.data.files.released_histories import published_text, write_generalized, write_pairs, write_pseudonyms
from tokumei.data.history import History
from tokumei.data.release import Recipe, Release
from tokumei.engines import engine_history
from tokumei.engines.connect import connect
from tokumei.engines.draws import drawn_numbers
from tokumei.engines.engine import without_password
from tokumei.engines.engine_history import EngineHistory, open_history
from tokumei.engines.staging import stage_history
from tokumei.hierarchies.files import item_hierarchy
from tokumei.methods.history.dp_baskets import DpBaskets
from tokumei.methods.history.drawn_customers import CustomerSynthesizer
from tokumei.methods.history.generalize import Generalize
from tokumei.methods.history.on_engine import (
    GeneralizedRows,
    NamedRows,
    check_engine_can,
    generalize_on_engine,
    keys_beside,
    release_on_engine,
)
from tokumei.methods.history.steps import RollUp
from tokumei.methods.pipeline import Pipeline, pipeline_of, read_pipeline
from tokumei.methods.registry import HISTORY_ANONYMIZERS, HistoryAnonymizer
from tokumei.reports.needs import check_needs
from tokumei.tasks.audit_drawn_history import audit_drawn_history
from tokumei.tasks.histories import HistoryRelease, bound, check_items_fit, release_sections
from tokumei.tasks.long_work import kept_seed, resumable
from tokumei.tasks.table_release import check_carried


def anonymize_history(
    history: History,
    *,
    method: object = None,
    pipeline: Path | str | Mapping[str, object] | None = None,
    seed: int | None = None,
    form: str = TABLE,
    carry_anyway: bool = False,
    hierarchy: object = None,
    **options: object,
) -> HistoryRelease:
    """Anonymize a history by a method and its options, or by a pipeline: its file, or what would stand in it.

    The same seed gives the same release; a secret one is drawn if none is given. Columns that the history carries are
    released as they are, unless they single customers out; with `carry_anyway` even then. The file of an item
    `hierarchy` is that of every `roll-up` which names none.
    """
    started = time.perf_counter()
    steps = steps_of(method, pipeline, hierarchy, options)
    given = seed if seed is not None else steps.seed
    # Who can guess the seed can make the release again, and sees whose each pseudonym is.
    used = fresh_seed() if given is None else given
    for one in steps.methods:
        check_needs(history, one)
    if history.carried is not None and form != TABLE:
        raise InputError.of(f"no column to carry, since {form} has no place for it", option="--carry")
    if not carry_anyway:
        check_carried(history)
    for one in steps.methods:
        if (estimate := getattr(one, "estimate", None)) is not None:
            estimate(history).say(part_name(one))
    if isinstance(steps.methods[0], CustomerSynthesizer):
        done = _drawn(history, steps.methods[0], given)
        return replace(done, form=form, facts={**done.facts, "seconds": round(time.perf_counter() - started, 3)})
    release = steps.anonymize(history, seed=used)
    carried = carried_along(history, release)
    if carried is not None and not carry_anyway:
        _check_carried_tells_no_buyer(history, release, carried)
    kept = release.frame["customer"].drop_nulls()
    kept = kept.filter(kept != "*")
    name = "pipeline" if pipeline is not None else part_name(steps.methods[0])
    facts = {
        "method": name,
        "rows": history.n_rows,
        "released": len(kept),
        "made_up": 0 if release.rows is None else release.rows.null_count(),
        "customers": len(history.customers),
        "pseudonyms": kept.n_unique(),
        **release.recipe.found,
        "carried": [] if history.carried is None else history.carried.columns,
        "left_out": list(history.left_out),
        "seed": used,
        "seconds": round(time.perf_counter() - started, 3),
    }
    return HistoryRelease(history, release, facts, form, history.kind, carried)


def _drawn(history: History, method: CustomerSynthesizer, given: int | None) -> HistoryRelease:
    """Draw purchases of nobody, and attack them before anybody sees them."""
    if history.carried is not None:
        raise InputError.of("no column to carry, since every row is drawn", option="--carry")
    is_void = isinstance(method, DpBaskets) and method.reproducible
    spends = isinstance(method, DpBaskets) and not is_void
    if spends and given is not None:
        expected = "no seed: its promise rests on noise nobody knows; reproducible=true takes one and promises none"
        raise InputError.of(expected, option="seed", value=given)
    used = fresh_seed() if given is None else given
    release = method.anonymize(history, seed=used)
    if not release.frame.height:
        raise CannotAnonymize("No purchase was drawn.")
    outside = method.outside(history, seed=used)
    found = {**release.recipe.found, "audit": audit_drawn_history(history, History(release.frame), outside, method)}
    if is_void:
        found["promise"] = "void: whoever knows the seed subtracts the noise"
    # The seed of noise that a promise rests on is not kept at all: nobody has to be trusted with it.
    seed = None if spends else used
    facts = {
        "method": part_name(method),
        "rows": history.n_rows,
        "released": release.frame.height,
        "made_up": release.frame.height,
        "customers": len(history.customers),
        "pseudonyms": release.frame["customer"].n_unique(),
        **found,
        "carried": [],
        "left_out": list(history.left_out),
        "seed": seed,
    }
    release = replace(release, recipe=replace(release.recipe, found=found, seed=seed))
    return HistoryRelease(history, release, facts, frame_kind=history.kind, held_out=tuple(outside))


def steps_of(
    method: object, pipeline: Path | str | Mapping[str, object] | None, hierarchy: object, options: dict[str, Any]
) -> Pipeline:
    """Return the methods that are asked for: one with its options, or those of a pipeline."""
    if (method is None) == (pipeline is None):
        raise InputError.of("either a method, as method='pseudonyms', or a pipeline")
    steps = Pipeline((made_method(method, options),)) if pipeline is None else _pipeline(pipeline)
    return steps if hierarchy is None else _with_hierarchy(steps, hierarchy)


def generalizes(steps: Pipeline) -> bool:
    """Whether cells become ranges and sets, which not every form of file has."""
    return any(isinstance(method, Generalize) for method in steps.methods)


def carried_along(history: History, release: Release) -> pl.DataFrame | None:
    """Return the carried columns beside the rows of a release, missing where a row was deleted."""
    if history.carried is None:
        return None
    if release.rows is not None and release.rows.null_count():
        expected = "a method that makes up no rows, whose carried columns would be empty and give them away"
        raise InputError.of(expected, option="--carry")
    if release.frame.schema["date"] == pl.String() or (release.rows is None and release.frame.height != history.n_rows):
        raise InputError.of("a method that keeps rows as they are, beside which a column can stand", option="--carry")
    rows = history.carried if release.rows is None else history.carried[release.rows.to_numpy()]
    return rows.with_columns(pl.when(release.frame["customer"].is_not_null()).then(pl.all()))


def _check_carried_tells_no_buyer(history: History, release: Release, carried: pl.DataFrame) -> None:
    """Refuse a column that gives purchases to their buyers although these were moved to hide whose they are."""
    if release.rows is None:
        return
    # Costly to load, and seldom needed.
    from tokumei.attacks.attribution.judging import told_by_value

    rows = pl.DataFrame(
        {"owner": history.frame["customer"].gather(release.rows), "pseudonym": release.frame["customer"]}
    )
    for column in carried.columns:
        told, blind = told_by_value(rows.with_columns(value=carried[column]))
        if told > blind + TELLS_MORE:
            expected = Text(
                "a column that does not tell whose a purchase is: it gives {told:.0%} of the purchases that were dealt "
                "out to their buyers, guessing {blind:.0%} (--carry-anyway releases it all the same)",
                told=told,
                blind=blind,
            )
            raise InputError.of(expected, option="--carry", value=column)


def _pipeline(given: Path | str | Mapping[str, object]) -> Pipeline:
    return pipeline_of(given) if isinstance(given, Mapping) else read_pipeline(given)


def _with_hierarchy(steps: Pipeline, hierarchy: object) -> Pipeline:
    """Hand the file of an item hierarchy to the steps that roll items up."""
    item_hierarchy(hierarchy)
    file = hierarchy.get("item") if isinstance(hierarchy, Mapping) else hierarchy
    if not isinstance(file, (str, Path)):
        raise InputError.of("the file of a hierarchy, which a recipe can name", option="hierarchy")
    if not any(isinstance(one, RollUp) for one in steps.methods):
        raise InputError.of("roll-up among the methods, which an item hierarchy is for", option="hierarchy", value=file)
    methods = (
        replace(one, hierarchy=str(file)) if isinstance(one, RollUp) and one.hierarchy is None else one
        for one in steps.methods
    )
    return replace(steps, methods=tuple(methods))


def made_method(method: object, options: dict[str, Any]) -> Any:
    """Make the method of a name; options as typed on a command line are read by it."""
    if not isinstance(method, str):
        if not isinstance(method, HistoryAnonymizer):
            expected = "one method for histories by its name; several follow each other in the file of a pipeline"
            raise InputError.of(expected, option="method", value=method)
        return method
    if options and all(isinstance(value, str) for value in options.values()):
        return HISTORY_ANONYMIZERS.make_from_text(method, options)
    return HISTORY_ANONYMIZERS.make(method, **options)


# A carried column may give so much more of the purchases that were moved to their buyers than guessing does.
TELLS_MORE = 0.1
# Published rows are dealt to so many files by the first bits of their place in the new order.
DEAL_BITS = 6
# Names come again within so many rows, and are written once.
GROUP_ROWS = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class WrittenHistory(Result):
    """What was found out about the release of a history that was written on its way."""

    facts: JsonView
    recipe: Recipe

    def to_dict(self) -> Json:
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
    options |= {"pieces": engine_history.PIECE_ROWS, "published": "published" in drafts}
    with resumable(out, [source], options) as folder, connect(engine) as opened:
        used = kept_seed(folder, seed)
        bound(opened, folder)
        keys = keys_beside(pipeline, seed=used)
        history = open_history(opened, stage_history(source, reading, folder / "original", keys=keys), folder)
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
        write_pseudonyms(made.names, customers, drafts["truth"], periods=_periods(history))
    n_released = int(_scan(pieces).select(pl.col("customer").count()).collect(engine="streaming").item())
    n_made_up = made.history.staged.n_rows - history.staged.n_rows
    n_names = made.names["pseudonym"].n_unique()
    told = {"released": n_released, "made_up": n_made_up, "customers": len(customers), "pseudonyms": n_names}
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
    roles = made.history.roles
    key = key_of(seed, "publish")
    paths = [folder / f"piece-{number:06}.arrow" for number in range(made.history.n_pieces)]
    n_before = 0
    with step("anonymizing", len(paths)) as bar:
        for number, path in enumerate(paths):
            if path.exists():
                n_before += int(_scan([path]).select(pl.len()).collect().item())
            else:
                shown = made.piece(number, n_before).select(roles)
                if deals:
                    # By how many rows come before: of the numbers of rows most may stand for none.
                    _deal(shown, drawn_numbers(key, n_before, shown.height), folder, number)
                n_before += shown.height
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
