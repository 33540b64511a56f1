"""A history from original to release where its rows are: steps and pseudonyms, or customers written alike.

What steps change is decided by group-bys; cells are changed and customers named piece after piece, as in memory. To
generalize, the numbers of all rows come here, about a hundred bytes of each: grouping and aligning compute with them
alone, as in memory, and decide the same. Cells are text of ten times the size; they are written group after group,
dealt out by the number of their row, and read again piece after piece.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import Bar, step
from tokumei.core.registry import part_name
from tokumei.core.text import Text
from tokumei.data.files.released_histories import text_of
from tokumei.data.release import DELETED, Recipe
from tokumei.engines.draws import whole_number
from tokumei.engines.engine_history import EngineHistory
from tokumei.methods.history.alignment import GRID, Floats, Indices, Purchases
from tokumei.methods.history.dummies import Dummies
from tokumei.methods.history.generalize import Generalize, draw_pseudonyms, whole_texts
from tokumei.methods.history.perturb import Perturb
from tokumei.methods.history.public_cells import PublicCells, in_parts, write_groups
from tokumei.methods.history.steps import (
    Pseudonyms,
    StepAnywhere,
    invoice_key,
    name_lives,
    recipe_for_the_whole_time,
    recipe_of,
    under_names,
    whole_lives,
)
from tokumei.methods.pipeline import Pipeline, seed_of

# Methods that run where the rows are.
ANYWHERE = ("delete", "dummies", "generalize", "perturb", "pseudonyms")
PIECE_ROWS = 2_000_000
# Of a row that is in memory.
ROW_BYTES = 120
# Rows whose cells are written at once.
BATCH_ROWS = 200_000
COLUMNS = ["customer", "date", "item", "price", "quantity"]


@dataclass(frozen=True, eq=False)
class GeneralizedRows:
    """A release whose cells lie in files, and the pseudonym of each customer."""

    folder: Path
    n_rows: int
    pseudonyms: Mapping[str, str]

    @property
    def n_pieces(self) -> int:
        """In how many pieces the rows are read."""
        return max(1, -(-self.n_rows // PIECE_ROWS))

    def pieces(self) -> Iterator[pl.DataFrame]:
        """Yield the rows in their order, piece after piece; those that nobody wrote are deleted."""
        for piece in range(self.n_pieces):
            rows = np.arange(piece * PIECE_ROWS, min(self.n_rows, (piece + 1) * PIECE_ROWS))
            found = self._read(f"cells-{piece:06}-*.parquet")
            whole = pl.DataFrame({"row": rows}).join(found, on="row", how="left", maintain_order="left")
            yield whole.drop("row").fill_null(DELETED)

    def by_pseudonym(self) -> Iterator[pl.DataFrame]:
        """Yield the rows that are left, in parts by how their pseudonyms begin, those that begin lower first."""
        for start in sorted({name[:2] for name in self.pseudonyms.values()}):
            found = self._read(f"names-{start}-*.parquet")
            if found.height:
                yield found.drop("row")

    def cells(self) -> pl.LazyFrame:
        """Return the pseudonym and the item cell of each row that is left."""
        left = pl.scan_parquet([*self.folder.glob("names-*.parquet")], glob=False)
        return left.select("customer", "item")

    def n_released(self) -> int:
        """Count the rows that are left."""
        return int(self.cells().select(pl.len()).collect().item())

    def _read(self, pattern: str) -> pl.DataFrame:
        parts = sorted(self.folder.glob(pattern))
        empty = pl.DataFrame(schema={"row": pl.Int64, **dict.fromkeys(COLUMNS, pl.String)})
        return pl.concat([empty, *(pl.read_parquet(part) for part in parts)])


def generalize(method: Generalize, history: EngineHistory, *, seed: int) -> GeneralizedRows:
    """Group and align customers, and write the cells of their rows to files beside the work."""
    items, customers = (
        history.fetch(history.kept.select(column).distinct())[column].sort() for column in ("item", "customer")
    )
    method.check_options(len(customers))
    rows = _Rows(history, items, customers)
    cells = method.public_cells(rows.raw, rows.owner >= 0, items.to_list())
    rows.purchases = in_parts(rows.purchases, cells)
    groups, alignments = _decided(method, rows.purchases, seed, history.folder / "aligned.npz")
    pseudonyms = draw_pseudonyms(rows.purchases.customers, seed)
    folder = history.folder / "generalized"
    folder.mkdir(exist_ok=True)
    for stale in folder.iterdir():
        stale.unlink()
    n_alike: Counter[bytes] = Counter()
    with step("writing cells", history.staged.n_rows) as bar:
        for number, some in enumerate(_batches(rows.purchases, groups)):
            written = rows.written([groups[at] for at in some], [alignments[at] for at in some], pseudonyms, cells)
            _deal(written, folder, number)
            # Who is not hidden comes first, and fits nobody else.
            hidden = {pseudonyms[customers[one]] for at in some if at >= method.unhidden for one in groups[at]}
            for text in whole_texts(written.filter(pl.col("customer").is_in(hidden))):
                n_alike[hashlib.blake2b(text.encode(), digest_size=16).digest()] += 1
            bar.advance(written.height)
    method.check_k(min(n_alike.values()))
    return GeneralizedRows(folder, history.staged.n_rows, pseudonyms)


def _decided(method: Generalize, purchases: Purchases, seed: int, file: Path) -> tuple[list[list[int]], list[Indices]]:
    """Decide which rows are written alike, or take what a run decided that was broken off later."""
    if not file.exists():
        method.cost(purchases, row_bytes=ROW_BYTES).say(part_name(method))
        groups, alignments = method.decide(purchases, seed=seed)
        draft = file.with_suffix(".draft.npz")
        np.savez(
            draft,
            shapes=np.array([one.shape for one in alignments]),
            members=np.concatenate(groups),
            rows=np.concatenate([one.ravel() for one in alignments]),
        )
        draft.replace(file)
    with np.load(file) as kept:
        n_lines, n_members = kept["shapes"].T
        members = np.split(kept["members"], np.cumsum(n_members)[:-1])
        rows = np.split(kept["rows"], np.cumsum(n_lines * n_members)[:-1])
    shaped: list[Indices] = [one.reshape(-1, n) for one, n in zip(rows, n_members, strict=True)]
    return [one.tolist() for one in members], shaped


class _Rows:
    """The rows of a history as numbers, by their place."""

    def __init__(self, history: EngineHistory, items: pl.Series, customers: pl.Series) -> None:
        n_rows = history.staged.n_rows
        self.items, self.is_whole = items, history.staged.is_whole
        self.absent = [name for name in GRID if name in history.absent]
        self.raw: Floats = np.zeros((len(GRID), n_rows))
        item: Indices = np.zeros(n_rows, np.int64)
        self.owner: npt.NDArray[np.int32] = np.full(n_rows, -1, np.int32)
        end = 0
        for piece in _fetched(history):
            start, end = end, end + piece.height
            for number, column in enumerate(GRID):
                self.raw[number, start:end] = piece[column].cast(pl.Float64).fill_null(0.0).to_numpy()
            # From 1, as ranks are; 0 where a row is deleted.
            item[start:end] = _codes(piece["item"], items) + 1
            self.owner[start:end] = _codes(piece["customer"], customers)
        kept = self.owner >= 0
        by_owner = np.argsort(self.owner, kind="stable")[int((~kept).sum()) :]
        ends = np.cumsum(np.bincount(self.owner[kept], minlength=len(customers)))
        of_customer = np.split(by_owner, ends[:-1]) if len(customers) else []
        self.purchases = Purchases.of_numbers(
            self.raw, kept, items=item, customers=customers.to_list(), rows=of_customer
        )

    def written(
        self,
        groups: Sequence[Sequence[int]],
        alignments: Sequence[Indices],
        pseudonyms: Mapping[str, str],
        public: PublicCells | None,
    ) -> pl.DataFrame:
        """Write the cells of some groups: `row` and the columns of a release, in the order of the rows."""
        purchases, members = self.purchases, [one for group in groups for one in group]
        at = np.sort(np.concatenate([purchases.rows[one] for one in members]))
        date, price, quantity = self.raw[:, at]
        names = {purchases.customers[one]: pseudonyms[purchases.customers[one]] for one in members}
        # The cells of these rows alone, which get the numbers 0, 1, ….
        original = pl.DataFrame(
            {
                "customer": pl.Series(purchases.customers, dtype=pl.String).gather(self.owner[at]),
                "date": pl.Series(date).cast(pl.Int32).cast(pl.Date),
                "item": self.items.gather(purchases.items[at] - 1),
                "price": price,
                "quantity": pl.Series(quantity).cast(pl.Int64) if self.is_whole else pl.Series(quantity),
            }
        )
        few = replace(purchases, values=purchases.values[:, at], items=purchases.items[at], rows=[])
        original = original.with_columns(pl.lit(None, original.schema[name]).alias(name) for name in self.absent)
        cells = write_groups(original, few, [np.searchsorted(at, lines) for lines in alignments], names, public)
        return text_of(cells).with_columns(row=pl.Series(at))


def _fetched(history: EngineHistory) -> Iterator[pl.DataFrame]:
    """Fetch the rows in their order, as many at a time as a piece has numbers."""
    table = history.table
    for start in range(0, history.n_numbers, PIECE_ROWS):
        some = table.filter((table.row >= whole_number(start)) & (table.row < whole_number(start + PIECE_ROWS)))
        yield history.fetch(some.select("row", *COLUMNS)).sort("row")


def _codes(values: pl.Series, domain: pl.Series) -> npt.NDArray[Any]:
    """Return the place of each value in a domain, −1 where it is missing."""
    return values.cast(pl.Enum(domain)).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()


def _batches(purchases: Purchases, groups: Sequence[Sequence[int]]) -> Iterator[range]:
    """Divide the groups into runs of about as many rows."""
    n_rows, first = 0, 0
    for at, group in enumerate(groups):
        n_rows += sum(len(purchases.rows[one]) for one in group)
        if n_rows >= BATCH_ROWS or at + 1 == len(groups):
            yield range(first, at + 1)
            n_rows, first = 0, at + 1


def _deal(written: pl.DataFrame, folder: Path, batch: int) -> None:
    """Deal rows out by their place, and those that are left by the first digits of their pseudonyms as well."""
    ordered = written.select("row", *COLUMNS)
    by_place = ordered.with_columns(piece=pl.col("row") // PIECE_ROWS).partition_by("piece", as_dict=True)
    for (piece,), part in by_place.items():
        part.drop("piece").write_parquet(folder / f"cells-{piece:06}-{batch:06}.parquet", compression="lz4")
    left = ordered.filter(pl.col("customer") != DELETED)
    by_name = left.with_columns(start=pl.col("customer").str.slice(0, 2)).partition_by("start", as_dict=True)
    for (start,), part in by_name.items():
        part.drop("start").write_parquet(folder / f"names-{start}-{batch:06}.parquet", compression="lz4")


@dataclass(frozen=True, eq=False)
class NamedRows:
    """The rows of a release, not yet changed, named and written, and who is who."""

    history: EngineHistory
    # Customer, period and pseudonym, once each.
    names: pl.DataFrame
    # By which invoices are named; None where they stay.
    key: str | None
    recipe: Recipe

    def piece(self, number: int, first: int) -> pl.DataFrame:
        """Fetch a piece of the release, given how many rows stand before it."""
        return under_names(self.history.piece(number, first), self.names, self.key)


def check_engine_can(pipeline: Pipeline) -> None:
    """Refuse methods, and options of them, that need all rows in this process."""
    for method in pipeline.methods:
        if not isinstance(method, (StepAnywhere, Pseudonyms, Generalize)):
            names = ", ".join(ANYWHERE)
            form = "the local engine, which {what} needs; others have {names}"
            raise InputError.of(Text(form, what=part_name(method), names=names), option="engine")
        if isinstance(method, Perturb) and method.items:
            raise InputError.of("items=0 on an engine: exchanging items needs the local one", option="engine")
        if isinstance(method, Pseudonyms):
            method.check_options()


def keys_beside(pipeline: Pipeline, *, seed: int) -> list[str]:
    """Return the keys of what must be drawn for the rows before any step is taken."""
    return _keys(_steps_of(pipeline), seed, 1)


def _keys(steps: Sequence[StepAnywhere], seed: int, at: int) -> list[str]:
    """Return the keys of what a step draws beforehand, and those that follow it as long as each does."""
    found = [step.chance_keys(seed_of(seed, number)) for number, step in enumerate(steps[at - 1 :], at)]
    return [key for keys in takewhile(bool, found) for key in keys]


def release_on_engine(pipeline: Pipeline, history: EngineHistory, *, seed: int) -> NamedRows:
    """Decide all steps of a pipeline, and name the customers."""
    steps = _steps_of(pipeline)
    with step("deciding", len(steps) + 1) as bar:
        history, recipes = _changed(steps, history, seed, bar)
        last = pipeline.methods[-1] if pipeline.methods else None
        own = seed_of(seed, len(steps) + 1)
        if isinstance(last, Pseudonyms) and last.risk_limit is not None:
            # Lives are halved by the dates and quantities that steps gave.
            history = history.settled()
        months = history.fetch(history.kept.select("customer", "period").distinct())
        months = months.cast({"period": pl.Int32}).sort("customer", "period")
        if isinstance(last, Pseudonyms):
            names, recipe = name_lives(last.lives(months, history), own), recipe_of(last, own)
        else:
            names, recipe = name_lives(whole_lives(months), own), recipe_for_the_whole_time(own)
        _check_shared(steps, lambda: _shown(history, names))
        bar.advance()
    key = invoice_key(own) if history.has_many_invoices() else None
    return NamedRows(history, names, key, _recipe([*recipes, recipe], seed))


def _shown(history: EngineHistory, names: pl.DataFrame) -> pl.DataFrame:
    """Fetch the pseudonyms and their items, each pair once."""
    lives = history.given("names", names.select(who="customer", at=pl.col("period").cast(pl.Int64), name="pseudonym"))
    kept = history.kept
    named = kept.inner_join(lives, [kept.customer == lives.who, kept.period == lives.at])
    return history.fetch(named.select(customer="name", item="item").distinct())


def generalize_on_engine(
    pipeline: Pipeline, history: EngineHistory, *, seed: int
) -> tuple[EngineHistory, GeneralizedRows, Recipe]:
    """Decide all steps of a pipeline whose last method writes customers alike, and write the cells of its release."""
    steps, method = _steps_of(pipeline), pipeline.methods[-1]
    if not isinstance(method, Generalize):
        raise TypeError(f"{part_name(method)} does not write customers alike")
    own = seed_of(seed, len(steps) + 1)
    with step("deciding", len(steps) + 1) as bar:
        history, recipes = _changed(steps, history, seed, bar)
        history = history.settled()
        rows = generalize(method, history, seed=own)
        # Each cell counts as an item: who shares a cell fits whoever has one of the items in it.
        _check_shared(steps, lambda: rows.cells().unique().collect(engine="streaming"))
        bar.advance()
    recipe = _recipe([*recipes, Recipe("generalize", asdict(method), own)], seed)
    return history, rows, replace(recipe, found={"ranges": method.ranges})


def _steps_of(pipeline: Pipeline) -> list[StepAnywhere]:
    return [method for method in pipeline.methods if isinstance(method, StepAnywhere)]


def _changed(
    steps: Sequence[StepAnywhere], history: EngineHistory, seed: int, bar: Bar
) -> tuple[EngineHistory, list[Recipe]]:
    """Take the steps that change rows, one after the other."""
    recipes = []
    for at, method in enumerate(steps, 1):
        own = seed_of(seed, at)
        history = method.change_rows(history.settled(_keys(steps, seed, at)), seed=own)
        recipes.append(recipe_of(method, own))
        bar.advance()
    return history, recipes


def _check_shared(steps: Sequence[StepAnywhere], shown: Callable[[], pl.DataFrame]) -> None:
    """Count again what dummies promise, on the pseudonyms and items that are shown."""
    for method in steps:
        if isinstance(method, Dummies):
            method.check_shared(shown())


def _recipe(recipes: Sequence[Recipe], seed: int) -> Recipe:
    taken = [{"method": one.method, "options": one.options, "seed": one.seed} for one in recipes]
    return Recipe("pipeline", {"steps": taken}, seed)
