"""Releases that are written to files: read what is needed, anonymize, write drafts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tokumei.core.errors import InputError
from tokumei.core.registry import part_name
from tokumei.data.files.formats import scan_frame
from tokumei.data.files.reading import Reading
from tokumei.data.table import Table, check_column
from tokumei.job.anonymize_table import anonymize_table, write_table_on_engine
from tokumei.job.asked import split_asked
from tokumei.job.table_release import TableRelease


def anonymize_to_files(
    source: str,
    qi: Sequence[str],
    drafts: Mapping[str, Path],
    *,
    engine: str,
    reading: Reading,
    hierarchies: Any,
    numeric: Sequence[str] | None,
    method: Any,
    keep: Sequence[str],
    keep_anyway: bool,
    keep_order: bool,
    seed: int | None,
    reproducible: bool = False,
    **options: Any,
) -> TableRelease:
    """Anonymize a file, or a table where it is, and write the release, its recipe and its rows as drafts."""
    asked, _ = split_asked(options)
    if engine == "local":
        table = table_of_file(source, qi, [*asked.sensitive_columns(), *keep], reading, hierarchies, numeric)
        how: dict[str, Any] = {"keep_anyway": keep_anyway, "keep_order": keep_order, "reproducible": reproducible}
        made = anonymize_table(table, method=method, keep=keep, seed=seed, **how, **options)
        if "rows" in drafts and made.rows is None:
            raise InputError.of(f"a method that releases rows of people, for the rows, not {part_name(method)}")
        made.write(drafts["out"], drafts.get("recipe"), drafts.get("rows"))
        return made
    if "rows" in drafts:
        raise InputError.of("the local engine, which --rows needs", option="--engine", value=engine)
    done = write_table_on_engine(
        source,
        qi,
        drafts["out"],
        engine=engine,
        reading=reading,
        hierarchies=hierarchies,
        numeric=numeric,
        method=method,
        keep=keep,
        keep_anyway=keep_anyway,
        keep_order=keep_order,
        **options,
    )
    done.write(None, drafts.get("recipe"), None)
    return done


def table_of_file(
    source: str,
    qi: Sequence[str],
    more: Sequence[str],
    reading: Reading,
    hierarchies: Any = None,
    numeric: Sequence[str] | None = None,
) -> Table:
    """Read of a file the columns that a job needs, and none of the others."""
    rows = scan_frame(source, reading)
    present = rows.collect_schema().names()
    for what, columns in (("a quasi-identifier", qi), ("a column of the job", more), ("numeric", numeric or ())):
        for column in columns:
            check_column(column, present, what, source)
    wanted = {*qi, *more, *(numeric or ())}
    frame = rows.select(name for name in present if name in wanted).collect()
    return Table(frame, qi, hierarchies=hierarchies, numeric=numeric, name=source)
