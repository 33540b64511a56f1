"""The output guard: inputs are safe, nothing is replaced unasked, all outputs or none."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tokumei.core.errors import InputError
from tokumei.data.files.disk import write_text
from tokumei.data.files.outputs import guarded


def fails(outputs: dict[str, Path | None], expected: str, **given: object) -> None:
    with pytest.raises(InputError, match=expected), guarded(outputs, **given):  # type: ignore[arg-type]
        raise AssertionError("work was begun")


def test_output_that_is_the_input_is_refused_before_any_work(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("x\n1\n")
    fails({"--out": file}, "another file than the input", inputs=[file], force=True)
    assert file.read_text() == "x\n1\n"


def test_output_that_is_a_link_to_the_input_is_refused(tmp_path: Path) -> None:
    file, link, hard = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "c.csv"
    file.write_text("x\n")
    link.symlink_to(file)
    os.link(file, hard)
    for other in (link, hard, tmp_path / ".." / tmp_path.name / "a.csv"):
        fails({"--out": other}, "another file than the input", inputs=[str(file)], force=True)


def test_output_that_is_a_file_of_an_input_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "hierarchies"
    folder.mkdir()
    (folder / "age.csv").write_text("1;*\n")
    fails({"--out": folder / "age.csv"}, "another file than the input", inputs=[folder], force=True)


def test_output_folder_with_an_input_in_it_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "all"
    folder.mkdir()
    (folder / "a.csv").write_text("x\n")
    fails({"--out": folder}, "without the input", inputs=[folder / "a.csv"], force=True)


def test_output_that_is_another_output_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "b"
    link.symlink_to(tmp_path / "a")
    fails({"--out": tmp_path / "a", "--rows": tmp_path / "a"}, "another file for --rows than for --out")
    fails({"--out": tmp_path / "a", "--rows": link}, "another file for --rows than for --out")


def test_output_that_exists_needs_force(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("old")
    fails({"--out": file}, "--force to replace it")
    fails({"out": file}, "force=True to replace it")
    with guarded({"--out": file}, force=True) as drafts:
        drafts["--out"].write_text("new")
        assert file.read_text() == "old"
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


def test_output_that_is_a_device_is_refused() -> None:
    fails({"--out": Path("/dev/null")}, "not a device", force=True)


def test_output_through_a_link_keeps_the_link(tmp_path: Path) -> None:
    link = tmp_path / "b"
    link.symlink_to(tmp_path / "a")
    with guarded({"--out": link}) as drafts:
        drafts["--out"].write_text("new")
    assert link.is_symlink()
    assert (tmp_path / "a").read_text() == "new"


def test_outputs_get_no_name_if_work_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), guarded({"--out": tmp_path / "a", "--rows": tmp_path / "b"}) as drafts:
        drafts["--out"].write_text("half")
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_outputs_get_no_name_if_one_cannot_have_its_own(tmp_path: Path) -> None:
    first, folder = tmp_path / "a", tmp_path / "b"
    first.write_text("old")
    folder.mkdir()
    (folder / "kept").write_text("kept")
    guard = guarded({"--out": first, "--rows": folder}, force=True)
    with pytest.raises(InputError, match="taken by a folder"), guard as drafts:
        drafts["--out"].write_text("new")
        drafts["--rows"].write_text("a file, not a folder")
    assert first.read_text() == "old"
    assert (folder / "kept").read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_output_made_by_another_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist yet"), guarded({"--out": tmp_path / "a"}) as drafts:
        drafts["--out"].write_text("ours")
        (tmp_path / "a").write_text("theirs")
    assert (tmp_path / "a").read_text() == "theirs"


def test_errors_name_the_output_and_not_its_draft(tmp_path: Path) -> None:
    with pytest.raises(OSError) as caught, guarded({"--out": tmp_path / "a"}) as drafts:
        raise OSError(28, "No space left on device", str(drafts["--out"]))
    assert caught.value.filename == str(tmp_path / "a")
    with pytest.raises(InputError, match=f"^{tmp_path / 'a'}: "), guarded({"--out": tmp_path / "a"}) as drafts:
        raise InputError.of("something else", file=drafts["--out"])


def test_inputs_that_are_no_paths_are_passed_over(tmp_path: Path) -> None:
    with guarded({"--out": tmp_path / "a", "--rows": None}, inputs=[None, "people", "x" * 5000, "a\0b"]) as drafts:
        assert list(drafts) == ["--out"]


@pytest.mark.parametrize("option", ["--truth", "truth", "--rows", "rows"])
def test_what_tells_who_is_who_is_its_owners_alone_whatever_stood_there(tmp_path: Path, option: str) -> None:
    target = tmp_path / "F.csv"
    before = os.umask(0o022)
    try:
        for mode in (None, 0o600, 0o666, 0o400):
            if mode is not None:
                target.chmod(mode)
            with guarded({option: target}, force=True) as drafts:
                drafts[option].write_text("who,is\n")
                # Nobody else reaches the draft either.
                assert stat.S_IMODE(drafts[option].parent.stat().st_mode) == 0o700
            assert stat.S_IMODE(target.stat().st_mode) == 0o600, mode
    finally:
        os.umask(before)


def test_output_is_read_by_no_more_people_than_what_it_replaces(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    before = os.umask(0o022)
    try:
        for mode, expected in ((None, 0o644), (0o600, 0o600), (0o640, 0o640), (0o666, 0o644)):
            if mode is not None:
                target.chmod(mode)
            with guarded({"--out": target}, force=True) as drafts:
                drafts["--out"].write_text("x\n")
            assert stat.S_IMODE(target.stat().st_mode) == expected, mode
            write_text(target, "y\n")
            assert stat.S_IMODE(target.stat().st_mode) == expected, mode
            target.chmod(0o644)
    finally:
        os.umask(before)
