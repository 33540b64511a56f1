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
from tests.tasks.writing_asked import write_asked

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.core.seeds import generator, key_of
from tokumei.data.files.formats import read_frame
from tokumei.data.files.reading import AS_IT_IS
from tokumei.methods.registry import TABLE_ANONYMIZERS

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


def drawn_order(method: str, n_rows: int) -> list[int]:
    return sorted(range(n_rows), key=lambda row: (*draws(key_of(SEED, method), row)[:2], row))


def plain_swap(ages: list[int | None], p: float) -> list[int | None]:
    """Exchange numbers within blocks of ranks, in plain Python."""
    luck = {row: draws(key_of(SEED, "block-swap", "age of"), row) for row in range(len(ages))}
    known = [(age, row) for row, age in enumerate(ages) if age is not None]
    window = max(1, int(p * len(known) / 100))
    shift = int(generator(SEED, "block-swap", "age of", "blocks").integers(window + 1))
    blocks: dict[int, list[int]] = {}
    for rank, (_, _, row) in enumerate(sorted((age, luck[row][0], row) for age, row in known)):
        blocks.setdefault((rank + shift) // (window + 1), []).append(row)
    released = list(ages)
    for rows in blocks.values():
        rows.sort(key=lambda row: (luck[row][1], luck[row][0], row))
        for one, other in zip(rows[::2], rows[1::2], strict=False):
            released[one], released[other] = ages[other], ages[one]
    return released


def plain(frame: pl.DataFrame, method: str, share: float) -> list[tuple[Any, ...]]:
    """Draw the rows in plain Python."""
    order = drawn_order(method, frame.height)
    rows = frame.rows()
    if method == "block-swap":
        ages = plain_swap(frame["age of"].to_list(), 100 * share)
        return [(rows[row][0], ages[row], *rows[row][2:]) for row in order]
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
    ways: dict[str, dict[str, Any]] = {"sample": {"share": 0.4}, "block-swap": {"p": 40.0, "columns": ("age of",)}}
    ways["pram"] = {"retain": 0.4, "columns": ("town", "born")}
    for method, options in ways.items():
        part = TABLE_ANONYMIZERS.make(method, **options)
        how: dict[str, Any] = {"engine": engine, "reading": AS_IT_IS, "seed": SEED, "keep_anyway": True}
        done = write_asked(str(source), ["town", "age of", "born"], out, method=part, keep=["ill"], **how)
        assert read_frame(out).rows() == plain(frame, method, 0.4)
        here = tk.anonymize(
            tk.Table(frame, ["town", "age of", "born"]), method=part, keep=["ill"], seed=SEED, keep_anyway=True
        )
        # What is promised does not depend on the draws.
        assert {name: one.value for name, one in done.promises.items()} == {
            name: one.value for name, one in here.promises.items()
        }
        assert done.facts["rows"] == here.facts["rows"]
        # One draw for every engine, this process among them.
        assert here.release is not None
        assert here.release.frame.rows() == read_frame(out).rows()
        assert here.recipe.options["drawn_by"] == done.recipe.options["drawn_by"]


def check_noise(frame: pl.DataFrame, engine: str, folder: Path) -> None:
    """Hold the noisy rows against those of memory, which each row gets from the same seed."""
    # Text in a CSV file, with decimals; where there are none a column of whole numbers stays one.
    wages = frame.select(wage=pl.col("age of") * 1.5).to_series()
    frame = frame.with_columns(wages)
    qi = ["town", "age of", "wage"]
    for kind, source in (("laplace", folder / "noise.csv"), ("gaussian", folder / "noise.parquet")):
        (frame.write_csv if source.suffix == ".csv" else frame.write_parquet)(source)
        options = {"kind": kind, "scale": 0.7, "low": (0, 0), "high": (50, 75)}
        how: dict[str, Any] = {"method": TABLE_ANONYMIZERS.make("noise", **options), "numeric": ["age of", "wage"]}
        out = folder / "out.parquet"
        done = write_asked(str(source), qi, out, engine=engine, reading=AS_IT_IS, seed=SEED, **how)
        here = tk.anonymize(tk.Table(source, qi), seed=SEED, **how)
        assert here.release is not None and here.release.rows is not None
        assert read_frame(out).rows() == here.release.frame.rows()
        assert here.release.rows.to_list() == drawn_order("noise", frame.height)
        # Of a column beside the quasi-identifiers it is counted which values are missing, and no value.
        alone: dict[str, Any] = {"keep": ["wage"], "keep_anyway": True, "numeric": ["age of"], "seed": SEED}
        alone["method"] = TABLE_ANONYMIZERS.make("noise", columns=("wage",), low=(0,), high=(75,))
        told = write_asked(str(source), qi[:2], out, engine=engine, reading=AS_IT_IS, **alone).promises
        known = tk.anonymize(tk.Table(source, qi[:2]), **alone)
        assert known.release is not None
        assert read_frame(out).rows() == known.release.frame.rows()
        assert told["pk-anonymity"].as_dict() == known.promises["pk-anonymity"].as_dict()
        assert {name: one.value for name, one in done.promises.items()} == {
            name: one.value for name, one in here.promises.items()
        }


@MANY
@given(TABLES)
def test_duckdb_draws_as_plain_python_does(tmp_path: Path, frame: pl.DataFrame) -> None:
    check_alike(frame, "duckdb", tmp_path)
    check_noise(frame, "duckdb", tmp_path)


@pytest.mark.xdist_group("postgres")
@MANY
@given(TABLES)
def test_postgres_draws_as_plain_python_does(postgres_engine: str, tmp_path: Path, frame: pl.DataFrame) -> None:
    check_alike(frame, postgres_engine, tmp_path)
    check_noise(frame, postgres_engine, tmp_path)


@pytest.mark.xdist_group("spark")
@FEW
@given(TABLES)
def test_spark_draws_as_plain_python_does(spark_engine: str, tmp_path: Path, frame: pl.DataFrame) -> None:
    check_alike(frame, spark_engine, tmp_path)
    check_noise(frame, spark_engine, tmp_path)


def test_a_value_that_is_no_number_is_told_with_its_file_and_column(tmp_path: Path) -> None:
    source = tmp_path / "people.csv"
    source.write_text("town,age\na,20\nb,old\n", encoding="utf-8")
    for method in ("noise", "block-swap"):
        part = TABLE_ANONYMIZERS.make(method, columns=("age",))
        with pytest.raises(InputError, match="a finite number") as found:
            write_asked(
                str(source), ["town", "age"], tmp_path / "out.csv", engine="duckdb", reading=AS_IT_IS, method=part
            )
        [fault] = found.value.faults
        assert (fault.file, fault.column, fault.value, fault.line) == (str(source), "age", "old", None)


def test_numbers_on_an_engine_change_places_with_the_next_rank_or_stay(tmp_path: Path) -> None:
    # Of five, one rank apart is a fifth: blocks of two, where only neighbors can meet.
    wages = [100, 120, 300, 320, 900]
    pl.DataFrame({"town": list("abcde"), "wage": wages}).write_parquet(tmp_path / "people.parquet")
    part = TABLE_ANONYMIZERS.make("block-swap", p=20.0)
    out = tmp_path / "out.parquet"
    how: dict[str, Any] = {"engine": "duckdb", "reading": AS_IT_IS, "seed": 1, "numeric": ["wage"]}
    write_asked(str(tmp_path / "people.parquet"), ["town", "wage"], out, method=part, **how)
    released = pl.read_parquet(out).sort("town")["wage"].to_list()
    assert sorted(released) == wages
    assert released in ([120, 100, 320, 300, 900], [100, 300, 120, 900, 320])


def test_a_method_that_needs_rows_in_memory_is_refused_by_name(tmp_path: Path) -> None:
    pl.DataFrame([WHOLE], SCHEMA, orient="row").write_parquet(tmp_path / "people.parquet")
    part = TABLE_ANONYMIZERS.make("top-bottom-code")
    with pytest.raises(InputError, match="the local engine, which top-bottom-code needs"):
        write_asked(
            str(tmp_path / "people.parquet"),
            ["age of"],
            tmp_path / "out.parquet",
            engine="duckdb",
            reading=AS_IT_IS,
            method=part,
        )
