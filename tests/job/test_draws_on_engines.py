"""Tables drawn on engines: every engine gives the rows that plain Python gives, in the same order."""

from __future__ import annotations

import datetime
import hashlib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.cases import has_many

import tokumei as tk
from tokumei.anonymize.registry import TABLE_ANONYMIZERS
from tokumei.core.errors import InputError
from tokumei.counting.draws import key_of
from tokumei.data.files.formats import read_frame
from tokumei.data.files.reading import AS_IT_IS
from tokumei.job.write_table import write_table_on_engine

SEED = 5
SCHEMA = {"town": pl.String, "age of": pl.Int64, "born": pl.Date, "ill": pl.String}
ROW = st.tuples(
    st.none() | st.sampled_from(["a", "東京", "with,comma", "c'd"]),
    st.none() | st.integers(20, 24),
    st.none() | st.sampled_from([datetime.date(1970, 1, 1), datetime.date(2011, 2, 28)]),
    st.none() | st.sampled_from(["flu", "cold"]),
)
# The first row has every value: of a column without any no hierarchy can be made.
WHOLE = ("a", 20, datetime.date(1970, 1, 1), "flu")
TABLES = st.lists(ROW, min_size=3, max_size=25).map(lambda rows: pl.DataFrame([WHOLE, *rows], SCHEMA, orient="row"))
OPEN = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]}
MANY = settings(max_examples=15 if has_many() else 3, phases=[Phase.explicit, Phase.generate], **OPEN)  # type: ignore[arg-type]
FEW = settings(max_examples=1, phases=[Phase.generate], **OPEN)  # type: ignore[arg-type]


def draws(key: str, row: int) -> list[int]:
    digits = hashlib.md5(f"{key}{row}".encode(), usedforsecurity=False).hexdigest()
    return [int(digits[at : at + 8], 16) for at in range(0, 32, 8)]


def plain(frame: pl.DataFrame, method: str, share: float) -> list[tuple[Any, ...]]:
    """Draw the rows in plain Python."""
    order = sorted(range(frame.height), key=lambda row: (*draws(key_of(SEED, method), row)[:2], row))
    rows = frame.rows()
    if method == "sample":
        return [rows[row] for row in order[: max(1, round(share * frame.height))]]
    released = []
    for row in order:
        cells = list(rows[row])
        for name in ("town", "born"):
            column = list(SCHEMA).index(name)
            domain: list[Any] = sorted({one[column] for one in rows if one[column] is not None})
            domain += [None] if frame[name].null_count() else []
            chance, index, *_ = draws(key_of(SEED, "pram", name), row)
            if chance / 2**32 >= share:
                cells[column] = domain[index * len(domain) >> 32]
        released.append(tuple(cells))
    return released


def check_alike(frame: pl.DataFrame, engine: str, folder: Path) -> None:
    source, out = folder / "people.parquet", folder / "out.parquet"
    frame.write_parquet(source)
    for method, options in (("sample", {"share": 0.4}), ("pram", {"retain": 0.4, "columns": ("town", "born")})):
        part = TABLE_ANONYMIZERS.make(method, **options)
        how: dict[str, Any] = {"engine": engine, "reading": AS_IT_IS, "seed": SEED, "keep_anyway": True}
        done = write_table_on_engine(str(source), ["town", "age of", "born"], out, method=part, keep=["ill"], **how)
        assert read_frame(out).rows() == plain(frame, method, 0.4)
        here = tk.anonymize(
            tk.Table(frame, ["town", "age of", "born"]), method=part, keep=["ill"], seed=SEED, keep_anyway=True
        )
        # What is promised does not depend on the draws.
        assert {name: one.value for name, one in done.promises.items()} == {
            name: one.value for name, one in here.promises.items()
        }
        assert done.facts["rows"] == here.facts["rows"]


@MANY
@given(TABLES)
def test_duckdb_draws_as_plain_python_does(tmp_path: Path, frame: pl.DataFrame) -> None:
    check_alike(frame, "duckdb", tmp_path)


@pytest.mark.xdist_group("postgres")
@MANY
@given(TABLES)
def test_postgres_draws_as_plain_python_does(postgres_engine: str, tmp_path: Path, frame: pl.DataFrame) -> None:
    check_alike(frame, postgres_engine, tmp_path)


@pytest.mark.xdist_group("spark")
@FEW
@given(TABLES)
def test_spark_draws_as_plain_python_does(spark_engine: str, tmp_path: Path, frame: pl.DataFrame) -> None:
    check_alike(frame, spark_engine, tmp_path)


def test_noise_which_engines_would_draw_otherwise_is_refused_by_name(tmp_path: Path) -> None:
    pl.DataFrame([WHOLE], SCHEMA, orient="row").write_parquet(tmp_path / "people.parquet")
    part = TABLE_ANONYMIZERS.make("noise")
    with pytest.raises(InputError, match="the local engine, which noise needs"):
        write_table_on_engine(
            str(tmp_path / "people.parquet"),
            ["age of"],
            tmp_path / "out.parquet",
            engine="duckdb",
            reading=AS_IT_IS,
            method=part,
        )
