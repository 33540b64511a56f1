"""Tables that are too large for memory: the same release, from rows that go by as a stream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tokumei.cli.main import main
from tokumei.tasks import write_table

PEOPLE = pl.DataFrame(
    {
        "age": [23, 23, 27, 31, 31, 38, 38, 52, None, 52],
        "sex": ["f", "f", "f", "m", "m", "m", "m", "f", "f", "f"],
        "illness": ["flu", "cold", "flu", "cold", "flu", "cold", "flu", "cold", "flu", "flu"],
    }
)


def run(folder: Path, name: str, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, Any]:
    words = ["anonymize", "table", str(folder / "people.parquet"), "--qi", "age,sex", "--k", "2", "--suppress", "0.3"]
    out = ["--out", str(folder / f"{name}.csv"), "--recipe", str(folder / f"{name}.json"), "--json"]
    with pytest.raises(SystemExit) as ended:
        main([*words, *out, *more])
    said = capsys.readouterr()
    assert not ended.value.code, said.err
    return dict(json.loads(said.out))


@pytest.mark.parametrize(
    "more",
    [
        (),
        ("--l-diversity", "illness=2"),
        ("--keep", "illness", "--keep-anyway"),
        ("--method", "mondrian"),
        ("--method", "utility-clustering", "--l-diversity", "illness=2"),
    ],
)
def test_streamed_release_is_the_one_made_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], more: tuple[str, ...]
) -> None:
    PEOPLE.write_parquet(tmp_path / "people.parquet")
    here = run(tmp_path, "here", capsys, *more)
    monkeypatch.setattr(write_table, "MOST_CELLS", 5)
    monkeypatch.setattr(write_table, "_table_of_file", lambda *_: pytest.fail("the file was read into memory"))
    there = run(tmp_path, "there", capsys, *more)
    varying = ("seconds", "out", "recipe", "seed")
    assert {name: value for name, value in there.items() if name not in varying} == {
        name: value for name, value in here.items() if name not in varying
    }
    one, other = (pl.read_csv(tmp_path / f"{name}.csv", infer_schema=False) for name in ("here", "there"))
    assert one.columns == other.columns
    assert sorted(one.rows(), key=repr) == sorted(other.rows(), key=repr)


def test_streamed_release_of_nothing_is_refused_and_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    PEOPLE.write_parquet(tmp_path / "people.parquet")
    monkeypatch.setattr(write_table, "MOST_CELLS", 5)
    words = ["anonymize", "table", str(tmp_path / "people.parquet"), "--qi", "age,sex", "--k", "11", "--suppress", "1"]
    with pytest.raises(SystemExit) as ended:
        main([*words, "--out", str(tmp_path / "out.csv")])
    assert ended.value.code == 1, capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["people.parquet"]
