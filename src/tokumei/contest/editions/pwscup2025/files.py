"""The files of PWSCUP 2025, its rules, and the checks that hold submissions against them.

| file | holds                                                                   | header | who has it            |
|------|-------------------------------------------------------------------------|--------|-----------------------|
| A    | all patients among whom every B was drawn                               | yes    | everybody, in attacks |
| B    | a team's own patients, 18 columns                                       | yes    | that team             |
| C    | the released table                                                      | yes    | everybody, in attacks |
| D    | the released model of `stroke_flag`, as XGBoost writes it in JSON        |        | everybody, in attacks |
| F    | for each row of A, 1 if it is guessed to be in B                        | no     | the attacker          |
| Z    | for each row of A, 1 if it is                                           | no     | the organizer         |

A byte order mark is dropped. Cells are trimmed, and empty ones are missing: the contest's checker skipped them.
"""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.contest.checks import RowFaults
from tokumei.contest.edition import Rule
from tokumei.contest.editions.pwscup2025.trees import Model, model_faults
from tokumei.contest.tables import number_in
from tokumei.core.errors import FaultList, InputError
from tokumei.data.files.csv import TextFrame, first_bytes, read_csv, write_csv
from tokumei.data.files.disk import read_bytes
from tokumei.data.files.strict import NUMBER, ColumnType, one_of

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "GENDER": ("F", "M"),
    "RACE": ("asian", "black", "hawaiian", "native", "other", "white"),
    "ETHNICITY": ("hispanic", "nonhispanic"),
}
FLAGS = ("asthma_flag", "stroke_flag", "obesity_flag", "depression_flag")
# The ends of numbers in the main round.
RANGES: Mapping[str, tuple[float, float]] = {
    "AGE": (2, 110),
    "encounter_count": (4, 1211),
    "num_procedures": (0, 2442),
    "num_medications": (0, 7195),
    "num_immunizations": (0, 40),
    "num_allergies": (0, 17),
    "num_devices": (0, 160),
    **dict.fromkeys(FLAGS, (0, 1)),
    "mean_systolic_bp": (37.22, 172.85),
    "mean_diastolic_bp": (1.78, 126.17),
    "mean_bmi": (2.97, 73.58),
    "mean_weight": (4.55, 196.7),
}
COLUMNS = (
    "GENDER",
    "AGE",
    "RACE",
    "ETHNICITY",
    "encounter_count",
    "num_procedures",
    "num_medications",
    "num_immunizations",
    "num_allergies",
    "num_devices",
    *FLAGS,
    "mean_systolic_bp",
    "mean_diastolic_bp",
    "mean_bmi",
    "mean_weight",
)
NUMBERS = tuple(name for name in COLUMNS if name not in CATEGORIES)
MEANS = ("mean_systolic_bp", "mean_diastolic_bp", "mean_bmi", "mean_weight")
COLUMN = "is_member"


TYPES: Mapping[str, ColumnType] = {
    name: one_of(*CATEGORIES[name]).optional() if name in CATEGORIES else number_in(*RANGES[name]).optional()
    for name in COLUMNS
}
# Of data as they are handed out: the contest's own samples have people older than its checker allows.
DATA_TYPES: Mapping[str, ColumnType] = {
    name: TYPES[name] if name in CATEGORIES else NUMBER.optional() for name in COLUMNS
}
BIT = ColumnType("0 or 1", r"^[01]$", lambda cell: cell.cast(pl.Int64, strict=False))

FORM = Rule(
    "file-form",
    "C is UTF-8 text with a header, D is JSON, F is UTF-8 text without a header. They may be gzipped.",
    "C はヘッダー付きの UTF-8 の CSV、D は JSON、F はヘッダーなしの UTF-8 の CSV とする。gzip 圧縮も可。",
)
RELEASE_RULES = (
    FORM,
    Rule("columns", "C has the 18 columns of B in their order.", "C の列とその順序は B の18列と同じとする。"),
    Rule("same-number", "C has as many rows as B.", "C の行数は B と同じとする。"),
    Rule(
        "ranges",
        "Codes are those of the column, numbers lie within its ends; an empty cell is not looked at. "
        + ", ".join(f"{name} {low:g} to {high:g}" for name, (low, high) in RANGES.items())
        + ".",
        "カテゴリー値は列ごとの値、数値は範囲内とする。空のセルは検査しない。"
        + "、".join(f"{name} {low:g}〜{high:g}" for name, (low, high) in RANGES.items())
        + "。",
    ),
    Rule(
        "model",
        "D is a model of gradient-boosted trees as XGBoost 3.0.5 or older writes it: binary:logistic, at least one "
        "tree, with the attributes feature_names, target and xgboost_version.",
        "D は XGBoost 3.0.5 以前の形式の勾配ブースティング木（binary:logistic、木は1本以上）とし、属性 feature_names・"
        "target・xgboost_version を持つ。",
    ),
)
GUESS_RULES = (
    FORM,
    Rule("row-of-a", "F has one line for each row of A, 0 or 1.", "F は A の行ごとに1行とし、0 または 1 を書く。"),
    Rule("as-many-ones", "F has as many ones as B has rows.", "F の 1 の個数は B の行数と同じとする。"),
)


@dataclass(frozen=True)
class Patients:
    """Rows of the 18 columns; what is missing is null."""

    frame: pl.DataFrame

    def __len__(self) -> int:
        return self.frame.height

    def of(self, name: str) -> Floats:
        """Return a column of numbers, what is missing as no number."""
        found: Floats = self.frame[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()
        return found

    @cached_property
    def features(self) -> dict[str, Floats]:
        """What regressions and models see: numbers with gaps filled by the median, and a column for each later code."""
        found: dict[str, Floats] = {}
        for name in NUMBERS:
            values = self.of(name)
            is_known = ~np.isnan(values)
            found[name] = np.where(is_known, values, np.median(values[is_known])) if is_known.any() else values
        for name in CATEGORIES:
            cells = self.frame[name]
            for code in cells.drop_nulls().unique().sort().to_list()[1:]:
                found[f"{name}_{code}"] = (cells == code).fill_null(False).cast(pl.Float64).to_numpy()
        return {name: found[name] for name in sorted(found) if len(np.unique(found[name])) > 1}


def read_patients(path: Path, types: Mapping[str, ColumnType] = DATA_TYPES) -> Patients:
    """Read A, B or C; what does not fit is a fault."""
    text = _read_text(path)
    faults = RowFaults(text)
    _check_columns(text, faults)
    # Trimmed before they are looked at, as by the contest's checker.
    frame = text.frame.with_columns(pl.col(COLUMNS).str.strip_chars().replace("", None))
    faults = RowFaults(TextFrame(**{**vars(text), "frame": frame}))
    kinds = []
    for name in COLUMNS:
        kind = types[name]
        read = frame.select(kind.read(pl.col(name))).to_series()
        is_bad = ~frame[name].str.contains(kind.pattern).fill_null(True) | (read.is_null() & frame[name].is_not_null())
        faults.add_cells("ranges", name, is_bad, kind.expected)
        kinds.append(read.alias(name))
    faults.raise_if_any()
    if not frame.height:
        raise InputError.of("at least one row", file=path)
    return Patients(pl.DataFrame(kinds))


def check_release(n_rows: int, path: Path, model: Path) -> None:
    """Raise one InputError with every fault of C and D."""
    from tokumei.contest.checks import Together

    together = Together()

    def check_table() -> None:
        found = read_patients(path, TYPES)
        if len(found) != n_rows:
            faults = FaultList(str(path))
            faults.add(
                "{n_rows:,} rows, as many as B", value=len(found), rule="same-number", parameters={"n_rows": n_rows}
            )
            faults.raise_if_any()

    together.try_to(check_table)
    together.try_to(lambda: read_model(model))
    together.raise_if_any()


def read_model(path: Path) -> Model:
    """Read D; one that breaks the rules is a fault."""
    try:
        found: Any = json.loads(read_bytes(path))
    except (ValueError, RecursionError):
        raise InputError.of("a JSON file as XGBoost writes it", file=path).under("model") from None
    expected = model_faults(found)
    if expected is not None:
        raise InputError.of(expected, file=path).under("model")
    return Model.of(found)


def _read_text(path: Path) -> TextFrame:
    try:
        has_mark = first_bytes(path).startswith(codecs.BOM_UTF8)
        return read_csv(path, mixes_line_ends=False, encoding="utf-8-sig" if has_mark else "utf-8")
    except InputError as error:
        raise error.under(FORM.name) from None


def _check_columns(text: TextFrame, faults: RowFaults) -> None:
    found = text.frame.columns
    for name in COLUMNS:
        if name not in found:
            faults.add("columns", "a column of this name", column=name)
    for name in found:
        if name not in COLUMNS:
            faults.add("columns", "no column of another name", column=name)
    if sorted(found) == sorted(COLUMNS) and tuple(found) != COLUMNS:
        faults.add("columns", "the columns of B in their order", value=", ".join(found))
    faults.raise_if_any()


def write_patients(frame: pl.DataFrame, path: Path) -> None:
    """Write A, B or C, whole numbers without a point."""
    whole = [name for name in NUMBERS if name not in MEANS]
    write_csv(frame.select(COLUMNS).with_columns(pl.col(whole).cast(pl.Int64)), path)


def read_marks(path: Path, n_rows: int | None = None, n_marks: int | None = None) -> Bools:
    """Read F or Z: which rows of A are marked."""
    try:
        text = read_csv(path, mixes_line_ends=False, has_header=False)
    except InputError as error:
        raise error.under(FORM.name) from None
    faults = RowFaults(text)
    if text.frame.width != 1:
        faults.add("row-of-a", "one cell in each line", value=text.frame.width)
        faults.raise_if_any()
    name = text.frame.columns[0]
    marks = faults.read({name: ("row-of-a", BIT)})[name]
    if n_rows is not None:
        faults.check_n_rows(n_rows, "row-of-a", "{n_rows:,} lines, one for each row of A", "line")
    if n_marks is not None and int(marks.sum() or 0) != n_marks:
        faults.add("as-many-ones", "{n:,} ones", value=int(marks.sum() or 0), parameters={"n": n_marks})
    faults.raise_if_any()
    found: Bools = (marks == 1).to_numpy()
    return found


def write_marks(marks: Bools, path: Path) -> None:
    """Write F or Z."""
    buffer = io.StringIO()
    np.savetxt(buffer, marks.astype(int), fmt="%d")
    path.write_text(buffer.getvalue(), encoding="utf-8")
