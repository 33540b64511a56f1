from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.files import formats
from tokumei.data.files.formats import read_parquet, scan_parquet, write_parquet

FRAME = pl.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"]})
READERS = [read_parquet, lambda path: scan_parquet(path).collect()]


@pytest.mark.parametrize("read", READERS)
def test_parquet_written_reads_back(read: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    write_parquet(FRAME.lazy(), path)
    assert read(path).equals(FRAME)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("read", READERS)
def test_folder_of_parts_is_read_in_the_order_of_names(read: Callable[..., Any], tmp_path: Path) -> None:
    write_parquet(FRAME[2:], tmp_path / "part-00001.snappy.parquet")
    write_parquet(FRAME[:2], tmp_path / "part-00000.snappy.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "_metadata.parquet").touch()
    (tmp_path / ".part-00000.snappy.parquet.crc").touch()
    assert read(tmp_path).equals(FRAME)


def test_folder_without_parts_is_refused(tmp_path: Path) -> None:
    (tmp_path / "_SUCCESS").touch()
    with pytest.raises(InputError, match=r"a folder with files named \*\.parquet"):
        read_parquet(tmp_path)


def test_parts_with_other_columns_are_refused_by_name(tmp_path: Path) -> None:
    write_parquet(FRAME, tmp_path / "1.parquet")
    write_parquet(FRAME.with_columns(a=pl.lit("text")), tmp_path / "2.parquet")
    with pytest.raises(InputError) as caught:
        scan_parquet(tmp_path)
    fault = caught.value.faults[0]
    assert fault.file == str(tmp_path / "2.parquet")
    assert fault.expected == "the columns of 1.parquet: a Int64, b String"
    assert fault.value == "a String, b String"


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda data: b"a,b\n1,2\n3,4\n5,6", "which starts with PAR1"),
        (lambda data: b"", "which starts with PAR1"),
        (lambda data: b"PAR1", "which starts with PAR1"),
        (lambda data: data[:-20], "which ends with PAR1"),
        (lambda data: data[:20] + data[-8:], "a whole Parquet file"),
        (lambda data: data[:-8] + b"\xff\xff\xff\x7fPAR1", "a whole Parquet file"),
        (lambda data: data[:4] + b"\0" * 40 + data[44:], "a whole Parquet file"),
    ],
    ids=["text", "empty", "head_alone", "cut_off", "middle_gone", "footer_too_long", "pages_gone"],
)
def test_broken_parquet_is_refused(
    damage: Callable[[bytes], bytes], expected: str, read: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "out.parquet"
    write_parquet(FRAME, path)
    path.write_bytes(damage(path.read_bytes()))
    try:
        with pytest.raises(InputError) as caught:
            read(path)
    except pl.exceptions.PolarsError:
        # What is wrong between head and footer shows only when a scan is collected.
        assert read is READERS[1]
    else:
        assert caught.value.faults[0].file == str(path)
        assert expected in str(caught.value)


def test_parquet_that_changes_while_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.parquet"
    write_parquet(FRAME, path)
    scan = formats._scan

    def replace_and_scan(parts: list[Path], source: Path) -> pl.LazyFrame:
        write_parquet(FRAME[:1], path)
        return scan(parts, source)

    monkeypatch.setattr(formats, "_scan", replace_and_scan)
    with pytest.raises(InputError, match="does not change while it is read"):
        read_parquet(path)


def test_failing_write_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    write_parquet(FRAME, path)
    with pytest.raises(pl.exceptions.PolarsError):
        write_parquet(FRAME.lazy().select(pl.col("b").cast(pl.Int64)), path)
    assert read_parquet(path).equals(FRAME)
    assert list(tmp_path.iterdir()) == [path]
