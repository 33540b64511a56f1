"""Long work on tables that was broken off: the same command goes on where it was."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tasks.writing_asked import write_asked

from tokumei.data.files.reading import AS_IT_IS
from tokumei.engines import engine, writing
from tokumei.engines.count import count_classes
from tokumei.engines.writing import write_slices_shuffled

N_ROWS = 1_000
# It kills itself when it deals out the third slice.
KILLED = """
import os, signal, sys
from pathlib import Path
from tokumei.engines import engine, writing
from tokumei.tasks.request import ReleaseRequest
from tokumei.tasks.write_table import write_table_on_engine
engine.SLICE_ROWS = 100
deal = writing._deal
folder = Path(sys.argv[1])
def killed(*given):
    if len(list(folder.glob(".tokumei-*/*/slice-*.json"))) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return deal(*given)
writing._deal = killed
asked = ReleaseRequest(keep=["number"], keep_anyway=True, k=2)
write_table_on_engine(str(folder / "people.parquet"), ["age", "town"], folder / "draft.parquet", asked,
    engine="local", beside=folder / "out.parquet")
"""


def write_people(folder: Path) -> None:
    rows = range(N_ROWS)
    ages, towns = [20 + row % 7 for row in rows], [f"town {row % 3}" for row in rows]
    pl.DataFrame({"age": ages, "town": towns, "number": rows}).write_parquet(folder / "people.parquet")


@pytest.mark.slow
def test_a_table_whose_writing_was_killed_goes_on_with_the_next_slice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_people(tmp_path)
    assert subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)]).returncode == -signal.SIGKILL
    [folder] = tmp_path.glob(".tokumei-*")
    assert folder.stat().st_mode & 0o077 == 0
    before = {path.name for path in tmp_path.glob(".tokumei-*/*/slice-*.json")}
    assert len(before) == 2
    # What the next slice had begun with must not come twice.
    [place] = [path for path in folder.iterdir() if path.is_dir()]
    rubbish = place / f"0000-{len(before):06}-000007.parquet"
    pl.DataFrame({"age": ["*"], "town": ["*"], "number": [-1]}).write_parquet(rubbish)
    monkeypatch.setattr(engine, "SLICE_ROWS", 100)
    # Rows that were counted are not counted again, nor slices dealt out that were.
    monkeypatch.setattr("tokumei.engines.local.LocalRelation._group_sizes", counted_only_outside(tmp_path))
    deal, n_dealt = writing._deal, []

    def noting(*asked: object) -> list[int]:
        n_dealt.append(1)
        return deal(*asked)  # type: ignore[arg-type]

    monkeypatch.setattr(writing, "_deal", noting)
    release(tmp_path)
    assert len(n_dealt) == N_ROWS // 100 - len(before)
    found = pl.read_parquet(tmp_path / "draft.parquet")
    assert found["number"].sort().to_list() == list(range(N_ROWS))
    assert not list(tmp_path.glob(".tokumei-*"))


def counted_only_outside(folder: Path) -> object:
    from tokumei.engines.local import LocalRelation

    plain = LocalRelation._group_sizes

    def counting(relation: LocalRelation, *asked: object) -> pl.DataFrame:
        assert relation.name != str(folder / "people.parquet"), "the rows were counted again"
        return plain(relation, *asked)  # type: ignore[arg-type]

    return counting


def release(folder: Path) -> None:
    write_asked(
        str(folder / "people.parquet"),
        ["age", "town"],
        folder / "draft.parquet",
        engine="local",
        reading=AS_IT_IS,
        beside=folder / "out.parquet",
        keep=["number"],
        keep_anyway=True,
        k=2,
    )


def test_a_file_that_changed_is_counted_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_people(tmp_path)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("tokumei.tasks.write_table.write_anonymized", interrupted)
        with pytest.raises(KeyboardInterrupt):
            release(tmp_path)
    assert len(list(tmp_path.glob(".tokumei-*"))) == 1
    pl.read_parquet(tmp_path / "people.parquet").head(500).write_parquet(tmp_path / "people.parquet")
    release(tmp_path)
    assert pl.read_parquet(tmp_path / "draft.parquet").height == 500


@given(st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 2)), min_size=1), st.integers(1, 5))
def test_slices_are_counted_as_the_whole_is(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str | None, int]], n: int
) -> None:
    folder = tmp_path_factory.mktemp("slices")
    source = str(folder / "rows.parquet")
    pl.DataFrame(rows, schema={"text": pl.String, "n": pl.Int64}, orient="row").write_parquet(source)
    whole = count_classes(source, ["text", "n"], sensitive=[])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(engine, "SLICE_ROWS", n)
        with engine.keeping(source, folder, len(rows)):
            first, again = (count_classes(source, ["text", "n"]) for _ in range(2))
    for one in (first, again):
        assert counted(one) == counted(whole)


def counted(counts: object) -> set[tuple[object, ...]]:
    values = counts.values().with_columns(size=pl.Series(counts.sizes))  # type: ignore[attr-defined]
    return set(values.rows())


@pytest.mark.parametrize("most_bytes", [1 << 30, 60_000])
def test_slices_are_shuffled_together(tmp_path: Path, most_bytes: int) -> None:
    frame = pl.DataFrame({"row": range(5_000), "text": [f"value {row % 7}" for row in range(5_000)]})
    slices = [frame[start : start + 1_000].lazy() for start in range(0, 5_000, 1_000)]
    write_slices_shuffled(slices, tmp_path / "out.parquet", tmp_path / "kept", most_bytes=most_bytes, n_files=3)
    found = pl.read_parquet(tmp_path / "out.parquet")
    assert found["row"].sort().to_list() == list(range(5_000))
    assert 1_400 < found["row"].diff().abs().mean() < 1_950  # type: ignore[operator]


def test_slices_of_which_nothing_is_left_are_written_with_their_columns(tmp_path: Path) -> None:
    none = pl.LazyFrame(schema={"row": pl.Int64, "text": pl.String})
    write_slices_shuffled([none, none], tmp_path / "out.csv", tmp_path / "kept")
    assert (tmp_path / "out.csv").read_text().strip() == "row,text"
