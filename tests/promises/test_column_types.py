"""Whatever a column holds and is for, a job is done or refused in words; nothing ends in a traceback."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tokumei as tk
from tokumei.engines.count import count_classes

N_ROWS = 36
# Three values each, again and again.
KINDS: dict[str, pl.Series] = {
    "large whole numbers": pl.Series([2**64 - 1, 0, 2**63], dtype=pl.UInt64),
    "larger ones": pl.Series([2**100, 0, None], dtype=pl.Int128),
    "no numbers": pl.Series([1.5, float("nan"), float("inf")]),
    "the largest floats": pl.Series([5e-324, 1e308, -1e308]),
    "decimals": pl.Series([Decimal("1.10"), Decimal("2.25"), None]),
    "categories": pl.Series(["x", "y", None], dtype=pl.Categorical),
    "moments": pl.Series([dt.datetime(2020, 1, 1, 3, tzinfo=dt.UTC), dt.datetime(1, 1, 1, tzinfo=dt.UTC), None]),
    "durations": pl.Series([dt.timedelta(1), dt.timedelta(2), None]),
    "times": pl.Series([dt.time(1, 2, 3), dt.time(23, 59, 59), None]),
    "lists": pl.Series([[1, 2], [3], None]),
    "bytes": pl.Series([b"\xff\0", b"a", None]),
    "nothing": pl.Series([None, None, None]),
    "signs that XML does not have": pl.Series(["a\0b", "\x1b[31mred", "\uffff"]),
    "objects": pl.Series([object(), object(), object()], dtype=pl.Object),
}
# Of these a cell is no single value, or none that can be written.
NO_CELLS = ("durations", "lists", "bytes", "objects")
# Of these some hierarchy, loss or measure needs what they do not have: an end, or a place on a line.
REFUSED = ("no numbers", "the largest floats", "larger ones")
ROLES = ("quasi-identifier", "sensitive", "kept", "of no role")


def frame_with(kind: str) -> pl.DataFrame:
    rows, cells = range(N_ROWS), KINDS[kind]
    odd = pl.Series(list(cells) * (N_ROWS // 3), dtype=cells.dtype)
    return pl.DataFrame({"town": ["abc"[row % 3] for row in rows], "age": [row * 5 % 12 for row in rows], "odd": odd})


# The variance of the largest floats is larger than any.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("kind", KINDS)
def test_column_of_any_type_is_taken_or_refused_in_words(kind: str, role: str, tmp_path: Path) -> None:
    frame = frame_with(kind)
    qi = ["town", "odd"] if role == "quasi-identifier" else ["town", "age"]
    named: dict[str, Any] = {"qi": qi, "sensitive": ["odd"] if role == "sensitive" else []}
    keep: dict[str, Any] = {"keep": ["odd"], "keep_anyway": True} if role == "kept" else {}
    if kind in NO_CELLS and role != "of no role":
        with pytest.raises(tk.errors.InputError, match=r"column odd: .* a column of text, numbers, dates"):
            tk.anonymize(tk.Table(frame, **named), k=3, **keep)
        return
    table = tk.Table(frame, **named)
    released = None
    with suppress(tk.errors.TokumeiError):
        released = tk.anonymize(table, k=3, suppress=0.4, **keep)
    if kind not in REFUSED:
        assert released is not None
        assert released.k is not None and released.k >= 3
        assert ("odd" in released.frame.columns) == (role != "of no role")
        tk.report(released, tmp_path / "report.html")
        tk.attack(table, released)
        tk.predict(table, k=3)
        released.save(tmp_path / "release.csv")
    # What may be refused, in words.
    jobs: list[Callable[[], object]] = [
        lambda: tk.audit(table),
        lambda: tk.predict(table, k=3),
        lambda: tk.inspect(frame),
        lambda: tk.anonymize(table, k=3, method="mondrian", **keep),
        lambda: tk.anonymize(table, method="noise", seed=1, **keep),
        lambda: count_classes(frame, qi, engine="duckdb"),
    ]
    if released is not None:
        jobs += [lambda: tk.measure(table, released), lambda: released.save(tmp_path / "release.parquet")]
    for job in jobs:
        with suppress(tk.errors.TokumeiError):
            job()


def test_engine_refuses_decimals_that_would_become_one_class(tmp_path: Path) -> None:
    # As floats the first two are one number: a class of two rows where there are two of one.
    file = tmp_path / "rows.parquet"
    pl.DataFrame({"id": [Decimal("12345678901234567890.1"), Decimal("12345678901234567890.2")]}).write_parquet(file)
    assert count_classes(file, ["id"]).k == 1
    with pytest.raises(tk.errors.InputError, match=r"rows.parquet, column id: .*decimals of at most 15 digits"):
        count_classes(file, ["id"], engine="duckdb")


@pytest.mark.parametrize("kind", ["large whole numbers", "larger ones", "nothing", "decimals", "moments"])
def test_engine_reads_a_file_as_it_is_or_refuses_it(kind: str, tmp_path: Path) -> None:
    frame = frame_with(kind)
    frame.write_parquet(tmp_path / "rows.parquet")
    here = count_classes(tmp_path / "rows.parquet", ["odd"])
    if "large" in kind:
        with pytest.raises(tk.errors.InputError, match="engines"):
            count_classes(tmp_path / "rows.parquet", ["odd"], engine="duckdb")
    else:
        there = count_classes(tmp_path / "rows.parquet", ["odd"], engine="duckdb")
        assert there.sizes.tolist() == here.sizes.tolist()
