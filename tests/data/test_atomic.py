from __future__ import annotations

import os
from pathlib import Path

import pytest

from tokumei.core.errors import InputError
from tokumei.data.files.disk import atomic_path, write_text


def test_write_text_replaces_the_file_whole(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    write_text(target, "old")
    write_text(target, "new\r\n")
    assert target.read_bytes() == b"new\r\n"
    assert list(tmp_path.iterdir()) == [target]


def test_failing_write_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    write_text(target, "old")
    with pytest.raises(RuntimeError, match="halfway"), atomic_path(target) as draft:
        draft.write_text("half")
        raise RuntimeError("halfway")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_failing_write_of_a_folder_leaves_the_old_folder_and_no_draft(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "old").touch()
    with pytest.raises(RuntimeError, match="halfway"), atomic_path(target) as draft:
        draft.mkdir()
        (draft / "half").touch()
        raise RuntimeError("halfway")
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "old"]


def test_failing_rename_puts_the_old_folder_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "old").touch()
    replace = Path.replace

    def refuse_second(self: Path, to: Path) -> Path:
        if to == target and (self / "new").exists():
            raise OSError("no")
        return replace(self, to)

    monkeypatch.setattr(Path, "replace", refuse_second)
    with pytest.raises(OSError, match="no"), atomic_path(target) as draft:
        draft.mkdir()
        (draft / "new").touch()
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "old"]


def test_folder_takes_the_index_of_a_folder(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "old").touch()
    with atomic_path(target) as draft:
        draft.mkdir()
        (draft / "new").write_text("x")
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "new"]


def test_file_does_not_take_the_index_of_a_folder(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "old").touch()
    with pytest.raises(InputError, match="not of a folder"):
        write_text(target, "text")
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "old"]


def test_draft_keeps_the_suffixes(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "out.csv.gz") as draft:
        assert draft.suffixes[-2:] == [".csv", ".gz"]
        # On the same disk as the target, or the last step would be a copy.
        assert draft.parent.parent == tmp_path
        draft.touch()


def test_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder that exists"):
        write_text(tmp_path / "none" / "out.txt", "text")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_folder_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="may be written"):
        write_text(tmp_path / "out.txt", "text")


def test_writer_that_goes_on_after_failing_finds_nowhere_to_write(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), atomic_path(tmp_path / "out.csv") as draft:
        raise RuntimeError
    with pytest.raises(FileNotFoundError):
        draft.write_text("late")
    assert list(tmp_path.iterdir()) == []
