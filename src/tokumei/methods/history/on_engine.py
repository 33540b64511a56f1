"""A history from original to release where its rows are: steps as functions of the row, or customers written alike.

What steps change is decided by group-bys. To generalize, the numbers of all rows come here, about a hundred bytes of
each: grouping and aligning compute with them alone, as in memory, and decide the same. Cells are text of ten times the
size; they are written group after group, dealt out by the number of their row, and read again piece after piece.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError, PromiseBroken
from tokumei.core.progress import Bar, step
from tokumei.core.registry import part_name
from tokumei.core.seeds import key_of
from tokumei.core.text import Text
from tokumei.data.files.released_histories import text_of
from tokumei.data.release import DELETED, Recipe
from tokumei.engines.draws import DrawnBeside, whole_number
from tokumei.engines.engine_history import EngineHistory
from tokumei.methods.history.alignment import GRID, Floats, Indices, Purchases
from tokumei.methods.history.delete import Delete
from tokumei.methods.history.dummies import Dummies
from tokumei.methods.history.generalize import Generalize, draw_pseudonyms, whole_texts
from tokumei.methods.history.perturb import Perturb
from tokumei.methods.history.public_cells import PublicCells, in_parts, write_groups
from tokumei.methods.history.steps import HistoryStep, Pseudonyms, recipe_of
from tokumei.methods.history.steps_on_engine import (
    DAYS,
    Naming,
    delete,
    drawn_for_delete,
    drawn_for_perturb,
    dummies,
    perturb,
)
from tokumei.methods.pipeline import Pipeline, seed_of

if TYPE_CHECKING:
    from tokumei.engines.engine import EngineTable

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


# How a recipe says that its numbers were drawn.
DRAWN_BY = "philox of key and row, md5 of key and name"
STEPS: dict[type, Callable[..., EngineHistory]] = {Delete: delete, Dummies: dummies, Perturb: perturb}
DRAWN_FOR: dict[type, Callable[..., dict[tuple[str, ...], int]]] = {
    Delete: drawn_for_delete,
    Perturb: drawn_for_perturb,
}


@dataclass(frozen=True, eq=False)
class NamedRows:
    """The rows of a release, not yet named and written, and who is who."""

    history: EngineHistory
    naming: Naming
    # Customer, period and pseudonym, once each.
    truth: EngineTable
    n_lives: int
    recipe: Recipe


def check_engine_can(pipeline: Pipeline) -> None:
    """Refuse methods that need their rows in this process."""
    for method in pipeline.methods:
        if type(method) not in (*STEPS, Pseudonyms, Generalize):
            names = ", ".join(map(part_name, (*STEPS, Pseudonyms, Generalize)))
            form = "the local engine, which {what} needs; others have {names}"
            raise InputError.of(Text(form, what=part_name(method), names=names), option="engine")


def drawn_beside(pipeline: Pipeline, *, seed: int) -> DrawnBeside:
    """Return what must be drawn for the rows before any step is taken."""
    of_rows: dict[str, int] = {}
    basket_key = ""
    moves_dates = False
    for at, method in enumerate(_steps_of(pipeline), 1):
        own = seed_of(seed, at)
        purposes = DRAWN_FOR[type(method)](method) if type(method) in DRAWN_FOR else {}
        of_rows |= {key_of(own, *purpose): n for purpose, n in purposes.items()}
        # Once dates were moved, what a customer bought on a day is no longer what it was.
        if isinstance(method, Perturb) and method.days and not moves_dates:
            basket_key, moves_dates = key_of(own, *DAYS) if method.whole_baskets else "", True
    return DrawnBeside(of_rows, basket_key)


def release_on_engine(pipeline: Pipeline, history: EngineHistory, *, seed: int) -> NamedRows:
    """Decide all steps of a pipeline, and count that no two customers share a pseudonym in a month."""
    check_engine_can(pipeline)
    steps = _steps_of(pipeline)
    with step("deciding", len(steps) + 1) as bar:
        history, recipes = _changed(steps, history, seed, bar)
        last = pipeline.methods[-1] if pipeline.methods else None
        method = last if isinstance(last, Pseudonyms) else None
        own = seed_of(seed, len(steps) + 1)
        lives = history.keep("lives", history.kept.select("customer", "period").distinct())
        naming = Naming.of(method, history, lives, seed=own)
        truth = history.keep("truth", naming.named(lives).select("customer", "period", "pseudonym"))
        n_lives = _check_names(history, truth)
        shown = naming.named(history.kept).select(customer="pseudonym", item="item")
        _check_shared(steps, lambda: history.fetch(shown.distinct()))
        bar.advance()
    recipes.append(Recipe("pseudonyms for the whole time", {}, own) if method is None else recipe_of(method, own))
    return NamedRows(history, naming, truth, n_lives, _recipe(recipes, seed))


def generalize_on_engine(
    pipeline: Pipeline, history: EngineHistory, *, seed: int
) -> tuple[EngineHistory, GeneralizedRows, Recipe]:
    """Decide all steps of a pipeline whose last method writes customers alike, and write the cells of its release."""
    check_engine_can(pipeline)
    steps, method = _steps_of(pipeline), pipeline.methods[-1]
    if not isinstance(method, Generalize):
        raise TypeError(f"{part_name(method)} does not write customers alike")
    own = seed_of(seed, len(steps) + 1)
    with step("deciding", len(steps) + 1) as bar:
        history, recipes = _changed(steps, history, seed, bar)
        rows = generalize(method, history, seed=own)
        # Each cell counts as an item: who shares a cell fits whoever has one of the items in it.
        _check_shared(steps, lambda: rows.cells().unique().collect(engine="streaming"))
        bar.advance()
    recipe = _recipe([*recipes, Recipe("generalize", asdict(method), own)], seed)
    return history, rows, replace(recipe, found={"ranges": method.ranges})


def _steps_of(pipeline: Pipeline) -> list[HistoryStep]:
    return [method for method in pipeline.methods if isinstance(method, HistoryStep)]


def _changed(
    steps: Sequence[HistoryStep], history: EngineHistory, seed: int, bar: Bar
) -> tuple[EngineHistory, list[Recipe]]:
    """Take the steps that change rows, one after the other."""
    recipes = []
    for at, method in enumerate(steps, 1):
        own = seed_of(seed, at)
        history = STEPS[type(method)](method, history, seed=own, name=f"step-{at}")
        recipes.append(recipe_of(method, own))
        bar.advance()
    return history, recipes


def _check_shared(steps: Sequence[HistoryStep], shown: Callable[[], pl.DataFrame]) -> None:
    """Count again what dummies promise, on the pseudonyms and items that are shown."""
    for method in steps:
        if isinstance(method, Dummies):
            method.check_shared(shown())


def _recipe(recipes: Sequence[Recipe], seed: int) -> Recipe:
    taken = [{"method": one.method, "options": one.options, "seed": one.seed} for one in recipes]
    return Recipe("pipeline", {"steps": taken, "drawn_by": DRAWN_BY}, seed)


def _check_names(history: EngineHistory, truth: EngineTable) -> int:
    """Count the pseudonyms; two customers who share one are a broken promise, however unlikely."""
    owners = truth.select("customer", "pseudonym").distinct()
    by_name = owners.group_by("pseudonym").aggregate(n=lambda some: some.count())
    found = history.fetch(by_name.aggregate(n=by_name.count(), most=by_name.n.max()))
    if (found["most"][0] or 0) > 1:
        raise PromiseBroken("Two customers would share a pseudonym.")
    return int(found["n"][0])
