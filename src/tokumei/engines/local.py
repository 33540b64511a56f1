"""Counting in this process, by Polars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType

import polars as pl
from polars._typing import MaintainOrderJoin

from tokumei.core.progress import step
from tokumei.data.files.disk import is_folder
from tokumei.data.files.formats import scan_frame, scan_in_turn, write_file_or_folder
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.frames import as_lazy
from tokumei.engines.class_counts import ClassRecoding, Recoding
from tokumei.engines.engine import NO_LABEL, WritePlan, kept_work, name_of_part
from tokumei.engines.writing import write_made, write_shuffled, write_slices_shuffled

# So many rows of ten columns take a third of a gigabyte as numbers; of more rows groups are counted as they are read.
MOST_ROWS_AT_ONCE = 4_000_000
# Of the part files of a folder, so many rows, or one file, are counted at once.
TURN_ROWS = 1_000_000


@dataclass(frozen=True)
class LocalRelation:
    """A lazy frame: a file that is scanned, or a frame in memory."""

    rows: pl.LazyFrame
    name: str
    # Which of the rows of its source these are, by a text that is another for others; empty for all.
    part: str = ""
    # The same rows as scans that follow each other, where one of all would hold several large files in memory at once.
    in_turn: tuple[pl.LazyFrame, ...] = ()
    writes_there = False

    @cached_property
    def schema(self) -> Mapping[str, pl.DataType]:
        """The columns and their types."""
        return dict(self.rows.collect_schema())

    def group_sizes(
        self, columns: Sequence[str], recodings: Mapping[str, Recoding], most: int | None = None
    ) -> pl.DataFrame:
        """Count the rows of each combination of the recoded columns."""
        work = kept_work(self.name)
        if work is None or recodings:
            return self._group_sizes(columns, recodings, most)
        key = repr((list(columns), most)) + self.part
        if not work.slices or self.part:
            return work.frame(key, lambda: self._group_sizes(columns, recodings, most))
        parts = []
        with step("counting rows", len(work.slices)) as bar:
            for start, n in work.slices:
                some = self._of(self.rows.slice(start, n))
                parts.append(work.frame(f"{key} from {start}", partial(some._group_sizes, columns, recodings, most)))
                bar.advance()
        return _together(parts)

    def _group_sizes(self, columns: Sequence[str], recodings: Mapping[str, Recoding], most: int | None) -> pl.DataFrame:
        if self.in_turn:
            return _together([self._of(rows)._group_sizes(columns, recodings, most) for rows in self.in_turn])
        # Places as names, so that no column of the user's can clash with the count.
        names = [str(index) for index in range(len(columns))]
        keys = [self._recoded(column, recodings).alias(name) for name, column in zip(names, columns, strict=True)]
        grouped = (
            self.rows.select(keys).group_by(names).agg(pl.len().alias("n"))
            if keys
            else self.rows.select(pl.len().alias("n"))
        )
        # Streaming, so that a table larger than memory counts as well.
        return (grouped if most is None else grouped.head(most + 1)).collect(engine="streaming")

    def few_texts(self, columns: Sequence[str]) -> pl.DataFrame | None:
        """Return the rows of columns of text, in categories, if all fit into memory; else None.

        To number texts as they are read takes less than to group by them and to number the groups.
        """
        kinds = [self.schema[column] for column in columns]
        is_kept = kept_work(self.name) is not None
        if is_kept or not columns or not all(kind == pl.String for kind in kinds):
            return None
        if self.rows.select(pl.len()).collect(engine="streaming").item() > MOST_ROWS_AT_ONCE:
            return None
        names = [str(index) for index in range(len(columns))]
        # Categories of their own: those of one name would be kept and looked through as long as the process lives.
        texts = [
            pl.col(column).cast(pl.Categorical(pl.Categories.random())).alias(name)
            for name, column in zip(names, columns, strict=True)
        ]
        return self.rows.select(texts).collect(engine="streaming")

    def distinct(self, column: str) -> pl.Series:
        """Return the distinct values of a column."""
        return self.rows.select(self._recoded(column, {}).unique()).collect(engine="streaming").to_series()

    def within(self, column: str, values: pl.Series) -> LocalRelation:
        """Return the rows whose value of a column is one of these."""
        is_one = self._recoded(column, {}).is_in(values.implode(), nulls_equal=True)
        return replace(self._of(self.rows.filter(is_one)), part=name_of_part(self.part, column, values))

    def write_made(self, combinations: pl.DataFrame, out: Path) -> None:
        """Make the rows here."""
        write_made(combinations, out)

    def write(self, plan: WritePlan, out: Path) -> None:
        """Write rows as planned, in their order or shuffled."""
        work = None if self.part else kept_work(self.name)
        if not plan.is_shuffled:
            write_file_or_folder(self.planned(plan), out)
        elif work is None or not work.slices:
            write_shuffled(self.planned(plan), out)
        else:
            slices = [self._of(self.rows.slice(*one)).planned(plan) for one in work.slices]
            write_slices_shuffled(slices, out, work.place(plan.fingerprint()))

    def planned(self, plan: WritePlan) -> pl.LazyFrame:
        """Return the rows that a plan writes, in their order."""
        if plan.classes is not None:
            return self._joined(plan, plan.classes)
        rows = self.rows.select(self._recoded(column, plan.recodings) for column in plan.columns)
        if plan.without is None or plan.without.is_empty():
            return rows
        on = plan.without.columns
        return rows.join(plan.without.lazy(), on=on, how="anti", nulls_equal=True, maintain_order="left")

    def _of(self, rows: pl.LazyFrame) -> LocalRelation:
        return replace(self, rows=rows, in_turn=())

    def _joined(self, plan: WritePlan, classes: ClassRecoding) -> pl.LazyFrame:
        """Return the rows of the classes that a plan has labels for."""
        known = classes.values.columns
        # The private-use character keeps them apart from the columns of any table.
        value, label = "\ue000value", "\ue000label"
        keys = [f"{value}{index}" for index in range(len(known))]
        carried = [column for column in plan.columns if column not in known]
        rows = self.rows.select(
            *(self._recoded(column, {}).alias(key) for column, key in zip(known, keys, strict=True)),
            *(self._recoded(column, {}) for column in carried),
        )
        order: MaintainOrderJoin = "none" if plan.is_shuffled else "left"
        table = classes.numbered(value, label).lazy()
        joined = rows.join(table, on=keys, how="inner", nulls_equal=True, maintain_order=order)
        return joined.select(
            pl.col(f"{label}{known.index(column)}").alias(column) if column in known else column
            for column in plan.columns
        )

    def _recoded(self, column: str, recodings: Mapping[str, Recoding]) -> pl.Expr:
        dtype = self.schema[column]
        value = pl.col(column)
        if isinstance(dtype, (pl.Categorical, pl.Enum)):
            value, dtype = value.cast(pl.String), pl.String()
        if column not in recodings:
            return value
        recoding = recodings[column]
        table = recoding.as_type(dtype)

        def labels(block: pl.Series) -> pl.Series:
            return block.replace_strict(table["value"], table["label"], default=NO_LABEL, return_dtype=pl.String)

        # Block by block: the same as an expression is done for all rows at once, which must then fit into memory.
        label = value.map_batches(labels, return_dtype=pl.String, is_elementwise=True)
        return pl.when(value.is_null()).then(pl.lit(recoding.label_of_missing)).otherwise(label).alias(column)


def _together(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Add up the counts of some rows and of others."""
    every = pl.concat(parts)
    return every.group_by(pl.exclude("n")).agg(pl.col("n").sum()) if every.width > 1 else every.sum()


class LocalEngine:
    """Polars in this process; it needs nothing installed and holds nothing open."""

    def open(self, source: object, reading: Reading = AS_IT_IS) -> LocalRelation:
        """Open a frame or a file."""
        if isinstance(source, (str, Path)):
            in_turn = scan_in_turn(source, TURN_ROWS) if reading == AS_IT_IS and is_folder(source) else []
            return LocalRelation(scan_frame(source, reading), str(source), in_turn=tuple(in_turn))
        return LocalRelation(as_lazy(source), "frame")

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass
