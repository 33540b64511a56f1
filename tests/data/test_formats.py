from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
import xlsxwriter

from tokumei.core.errors import InputError
from tokumei.data.files.formats import check_can_be_written, read_frame, scan_frame, write_frame, write_parquet
from tokumei.data.files.reading import Reading

FRAME = pl.DataFrame({"a": ["1", "2"], "b": ["x", None]})


@pytest.mark.parametrize(
    "name",
    [
        "f.csv",
        "f.csv.gz",
        "f.tsv",
        "f.tsv.gz",
        "f.txt",
        "f.txt.gz",
        "f.dat",
        "f.data.gz",
        "f.tab",
        "f.parquet",
        "F.CSV",
        "F.CSV.GZ",
        "a.b.csv",
    ],
)
def test_frame_written_reads_and_scans_back(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    write_frame(FRAME, path)
    assert read_frame(path).equals(FRAME)
    assert scan_frame(path).collect().equals(FRAME)
    assert path.read_bytes().startswith(b"\x1f\x8b") == name.lower().endswith(".gz")


def test_tsv_has_tabs_and_txt_any_delimiter(tmp_path: Path) -> None:
    write_frame(FRAME, tmp_path / "f.tsv")
    assert (tmp_path / "f.tsv").read_text() == "a\tb\n1\tx\n2\t\n"
    (tmp_path / "f.txt").write_text("a|b\n1|x\n2|\n")
    assert read_frame(tmp_path / "f.txt").equals(FRAME)
    assert read_frame(tmp_path / "f.txt", Reading(delimiter=",")).columns == ["a|b"]
    (tmp_path / "j.csv").write_bytes("名\n茶\n".encode("cp932"))
    assert read_frame(tmp_path / "j.csv", Reading(encoding="cp932")).to_dict(as_series=False) == {"名": ["茶"]}


def test_folder_is_read_as_parquet(tmp_path: Path) -> None:
    write_parquet(FRAME, tmp_path / "part-0.parquet")
    assert read_frame(tmp_path).equals(FRAME)
    assert scan_frame(str(tmp_path)).collect().equals(FRAME)


def test_workbook_is_read_and_is_nothing_that_commands_write(tmp_path: Path) -> None:
    path = tmp_path / "f.xlsx"
    with xlsxwriter.Workbook(path) as workbook:
        sheet = workbook.add_worksheet()
        for number, row in enumerate((("a", "b"), ("1", "x"), ("2", None))):
            sheet.write_row(number, 0, row)
    assert read_frame(path).equals(FRAME)
    assert scan_frame(path).collect().equals(FRAME)
    with pytest.raises(InputError) as caught:
        check_can_be_written(path)
    assert (
        "found '.xlsx', expected a name that ends in .csv, .tsv, .txt, .tab, .dat, .data (or so with .gz), .parquet"
        in str(caught.value)
    )


@pytest.mark.parametrize("name", ["f.xml", "f", "f.gz", "f.parquet.gz", "csv"])
def test_unknown_suffix_lists_the_known_ones(name: str, tmp_path: Path) -> None:
    for use in (read_frame, scan_frame, lambda path: write_frame(FRAME, path)):
        with pytest.raises(InputError, match=r"a name that ends in \.csv, \.tsv, \.txt, .*\.parquet"):
            use(tmp_path / name)
