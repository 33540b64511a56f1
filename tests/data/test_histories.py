from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.files.histories import (
    read_history,
    read_pseudonyms,
    read_released_history,
    write_pseudonyms,
    write_released_history,
)


def test_contest_files_are_told_by_their_columns(tmp_path: Path) -> None:
    (tmp_path / "2017.csv").write_text("15100,0,2010/12/1,9:09,21258,10.95,32\n")
    (tmp_path / "2016.csv").write_text("12583,536370,2010/12/1,8:45,22728,3.75,24\n")
    (tmp_path / "2018.csv").write_text("13047,2010/12/1,84879,1.69,32\n")
    assert read_history(tmp_path / "2017.csv").frame["invoice"][0] == "0"
    assert read_history(tmp_path / "2016.csv").frame["invoice"][0] == "536370"
    assert read_history(tmp_path / "2018.csv").frame["time"][0] is None


def test_table_with_a_header_is_a_history(tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text("customer,date,item,price,quantity\n7,2011-02-28,A,1.5,3\n")
    assert read_history(tmp_path / "shop.csv").frame["quantity"].to_list() == [3]
    (tmp_path / "bad.csv").write_text("customer,date,item,price,quantity\n7,2011-02-28,A,1.5,x\n")
    with pytest.raises(InputError) as caught:
        read_history(tmp_path / "bad.csv")
    assert (caught.value.faults[0].column, caught.value.faults[0].value) == ("quantity", "x")


@pytest.mark.parametrize("name", ["A.csv", "A.parquet"])
def test_release_is_written_and_read_back(tmp_path: Path, name: str) -> None:
    (tmp_path / "T.csv").write_text("L1,0,2010/12/1,9:09,21258,10.95,32\nDEL,,,,,,\n")
    release = read_released_history(tmp_path / "T.csv")
    write_released_history(release, tmp_path / name)
    assert read_released_history(tmp_path / name).frame.equals(release.frame)


def test_pseudonyms_of_the_contest_year_are_written_as_the_contest_does(tmp_path: Path) -> None:
    cells = pl.DataFrame({"customer": ["1"], "period": [2011 * 12], "pseudonym": ["P"]})
    write_pseudonyms(cells, ["1", "2"], tmp_path / "F.csv")
    lines = (tmp_path / "F.csv").read_text().splitlines()
    assert lines == ["1,DEL,P" + ",DEL" * 10, "2" + ",DEL" * 12]
    read, customers, periods = read_pseudonyms(tmp_path / "F.csv")
    assert read.rows() == [("1", 2011 * 12, "P")]
    assert (customers, len(periods)) == (["1", "2"], 12)


def test_pseudonyms_of_other_months_have_a_header(tmp_path: Path) -> None:
    cells = pl.DataFrame({"customer": ["1"], "period": [2020 * 12], "pseudonym": ["P"]})
    write_pseudonyms(cells, ["1"], tmp_path / "F.csv")
    assert (tmp_path / "F.csv").read_text() == "customer,2020-01\n1,P\n"
    assert read_pseudonyms(tmp_path / "F.csv")[2] == [2020 * 12]
