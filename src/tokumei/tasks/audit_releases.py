"""What several releases of the same people give away together, for `tokumei audit --against`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.text import JsonView, counted
from tokumei.data.files.formats import reading_beside, scan_frame
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.files.strict import read_rows
from tokumei.data.frames import as_lazy
from tokumei.data.table import Table, check_column
from tokumei.measures.safety.releases import MInvariance, MultiRKAnonymity, SequentialK
from tokumei.measures.several_releases import SeveralReleases
from tokumei.tasks.table_release import TableRelease

COUNTS_ROWS = "All other measures here count rows, not people."


@dataclass(frozen=True)
class Matching:
    """How the rows of several releases are told to be the same person's.

    person: a column of all releases that says whose each row is; a person may have several rows in one table.
    rows: the row of the original behind each row of the newest release, counted from 0, or a file with a line each,
        counted from 1; `against_rows` has the same of each earlier release, in order.
    in_order: row n of all releases is the same person, for releases that were not shuffled.
    """

    person: str | None = None
    rows: Any = None
    against_rows: Sequence[object] = ()
    in_order: bool = False

    def given(self) -> str | None:
        """Return the name of a way that was asked for."""
        ways = {"id": self.person, "rows": self.rows, "against-rows": self.against_rows or None}
        return next((name for name, way in ways.items() if way is not None), "in-order" if self.in_order else None)

    def rows_of_each(self, files: Sequence[object]) -> list[object] | None:
        """Return the rows of the original of each release; None where a column or the order matches them.

        Releases are shuffled unless they were asked to keep their order, so that row n of two is hardly ever one
        person: to compare them row by row unasked would call dangerous what is safe, or safe what is dangerous.
        """
        asked = [self.person is not None, self.rows is not None or bool(self.against_rows), self.in_order]
        if sum(asked) > 1:
            raise InputError.of("one of --id, --rows and --in-order", option="--against")
        if self.person is not None or self.in_order:
            return None
        each = [_own_rows(file) for file in files]
        if self.rows is not None:
            each[0] = self.rows
        for place, one in enumerate(self.against_rows, 1):
            if place >= len(files):
                expected = f"one file for each of {len(files) - 1} earlier releases"
                raise InputError.of(expected, option="--against-rows", value=len(self.against_rows))
            each[place] = one
        for place, (file, one) in enumerate(zip(files, each, strict=True)):
            if one is None:
                option = "--against-rows" if place else "--rows"
                expected = (
                    f"whose each row is, since releases are shuffled: --id COLUMN, {option} FILE, or --in-order where "
                    "row n of all files is the same person"
                )
                raise InputError.of(expected, file=_name(file, place))
        return each


def quasi_identifiers_of_each(
    files: Sequence[object], attributes: Sequence[str], *, engine: str, reading: Reading = AS_IT_IS
) -> list[list[str]]:
    """Return the quasi-identifiers that each table has; a `tk.Table` has those of its own roles.

    Tables of the same people may have different columns, such as people and their visits, but each of `attributes`
    must be in one of them.
    """
    if len(files) == 1:
        return [list(attributes)]
    if "://" in engine:
        raise InputError.of("files with --against, since people are matched here", option="--engine", value=engine)
    present = [_scan(file, reading, attributes).collect_schema().names() for file in files]
    for column in attributes:
        check_column(column, dict.fromkeys(chain(*present)), "a quasi-identifier", _name(files[0], 0))
    each = []
    for place, (file, there) in enumerate(zip(files, present, strict=True)):
        roles = list(file.quasi_identifiers) if isinstance(file, Table) else []
        own = roles or [name for name in attributes if name in there]
        if not own:
            raise InputError.of(f"one of the columns {', '.join(attributes)}", file=_name(file, place), option="--qi")
        each.append(own)
    return each


def compare_releases(
    files: Sequence[object],
    columns: Sequence[Sequence[str]],
    sensitive: Sequence[str],
    matching: Matching,
    *,
    reading: Reading = AS_IT_IS,
) -> dict[str, object] | None:
    """Measure all releases together, the newest being the first; None where there is no earlier one.

    columns: the quasi-identifiers of each, as `quasi_identifiers_of_each` finds them.
    """
    if len(files) == 1:
        if (given := matching.given()) is not None:
            raise InputError.of(f"--against FILE, which --{given} is for", option=f"--{given}")
        return None
    rows = matching.rows_of_each(files)
    with step("comparing releases"):
        together = _match(files, columns, sensitive, matching.person, rows, reading=reading)
        # Row numbers of an original and rows in order name a person once; only a column may do so more often.
        repeated = _rows_of_one(together) if matching.person is not None else None
        all_rows = MultiRKAnonymity(1).measure(together)
        score = all_rows if repeated else SequentialK(1).measure(together)
        remaining = score.inputs.get("remaining", {})
        domains = () if repeated else together.domains
        invariance = {name: int(MInvariance(name, 1).measure(together).value) for name in domains}
    one_row_each = ["sequential-k", *(["m-invariance"] if sensitive else [])] if repeated else []
    return {
        "releases": len(files),
        "quasi_identifiers": [list(own) for own in columns],
        "matched_by": matching.person or ("rows of the original" if rows is not None else "row"),
        "k": None if repeated else int(score.value),
        "multi_r_k": int(all_rows.value),
        **{name: score.inputs[name] for name in ("k_alone", "persons", "people_in_all", "singled_out")},
        # A column that some release does not have cannot be compared.
        "m_invariance": {name: invariance.get(name) for name in sensitive},
        "remaining_sensitive": {name: remaining.get(name) for name in sensitive},
        "left_out": dict.fromkeys(one_row_each, f"it needs one row a person, and {repeated}"),
    }


def check_together(together: JsonView, k: int) -> dict[str, object]:
    """Check whether k people are left where all releases are compared, by the measure that they allow."""
    name, value = ("multi-r-k-anonymity", "multi_r_k") if together["k"] is None else ("sequential-k", "k")
    holds = together[value] >= k or not together["persons"]
    return {"requirement": f"{name} (k {k})", "holds": holds, "value": together[value]}


def describe_comparison(together: JsonView) -> str:
    """Summarize what comparing the releases gives away, and of which sensitive values."""
    by_rows = together["k"] is None
    k = together["multi_r_k"] if by_rows else together["k"]
    compared = f"Comparing {'all rows of a person in ' if by_rows else ''}the {together['releases']} releases"
    before = f"where each alone keeps everybody among at least {_listed([str(k) for k in together['k_alone']])}"
    if k == 1:
        text = f"{compared} singles out {together['singled_out']:,} of {together['persons']:,} people, {before}."
    else:
        text = f"{compared} still leaves everybody among at least {k}, {before}."
    told = [name for name, n_values in together["remaining_sensitive"].items() if n_values == 1]
    text += f" It tells somebody's {_listed(told)}." if told else ""
    if together["multi_r_k"] < k:
        text += " Who also knows which releases a person is missing from is left with at least "
        text += f"{counted(together['multi_r_k'], 'person', 'people')}."
    columns = together["quasi_identifiers"]
    if any(own != columns[0] for own in columns):
        text += f" Their quasi-identifiers: {'; '.join(', '.join(own) for own in columns)}."
    if left_out := together["left_out"]:
        text += f" Not measured: {_listed(list(left_out))} ({next(iter(left_out.values()))}). {COUNTS_ROWS}"
    return text


def _rows_of_one(together: SeveralReleases) -> str | None:
    """Find two rows of the same person in one table; None if nobody has several."""
    for release in together.releases:
        if release.rows_of_one is not None:
            first, second = release.rows_of_one
            return f"rows {first:,} and {second:,} of {release.name} are the same person's"
    return None


def _listed(words: Sequence[str]) -> str:
    return " and ".join([*([", ".join(words[:-1])] if words[1:] else []), *words[-1:]])


def _match(
    files: Sequence[object],
    columns: Sequence[Sequence[str]],
    sensitive: Sequence[str],
    person: str | None,
    rows: Sequence[object] | None,
    *,
    reading: Reading,
) -> SeveralReleases:
    scans = [_scan(file, reading, own) for file, own in zip(files, columns, strict=True)]
    names = [_name(file, place) for place, file in enumerate(files)]
    present = [scan.collect_schema().names() for scan in scans]
    shared = [name for name in sensitive if all(name in there for there in present)]
    kept = [[*own, *shared, *([] if person is None else [person])] for own in columns]
    frames = [_collect(scan, wanted) for scan, wanted in zip(scans, kept, strict=True)]
    if rows is not None:
        # A name that no column has.
        person = "row of the original" + " " * max(len(name) for there in present for name in there)
        frames = [_with_rows(frame, one, person, name) for frame, one, name in zip(frames, rows, names, strict=True)]
    return SeveralReleases.of(frames, columns, sensitive=shared, person=person, names=names)


def _scan(file: object, reading: Reading, columns: Sequence[str]) -> pl.LazyFrame:
    if isinstance(file, TableRelease):
        return file.table.lazy()
    if isinstance(file, Table):
        return file.frame.lazy()
    if not isinstance(file, (str, Path)):
        return as_lazy(file)
    return scan_frame(file, reading_beside(file, reading, columns))


def _name(file: object, place: int) -> str:
    return str(file) if isinstance(file, (str, Path)) else f"table {place + 1}"


def _own_rows(file: object) -> object:
    """Return the rows that a release of this process knows of itself."""
    return file.rows if isinstance(file, TableRelease) else None


def _with_rows(frame: pl.DataFrame, rows: Any, column: str, name: str) -> pl.DataFrame:
    numbers = read_rows(rows) - 1 if isinstance(rows, (str, Path)) else pl.Series(rows)
    if len(numbers) != frame.height:
        file = str(rows) if isinstance(rows, (str, Path)) else name
        raise InputError.of(f"a line for each of {frame.height:,} rows of {name}", file=file, value=f"{len(numbers):,}")
    return frame.with_columns(numbers.cast(pl.Int64).alias(column))


def _collect(scan: pl.LazyFrame, names: Sequence[str]) -> pl.DataFrame:
    """Load the columns that are there; what is missing is named when releases are matched."""
    return scan.select(name for name in scan.collect_schema().names() if name in names).collect()
