"""The folder of a contest: what lies where, who may read it, and what is taken in."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from tokumei.contest.edition import Edition
from tokumei.contest.folder import FIXED_TIME, Contest, open_contest, take_in
from tokumei.contest.phases import prepare, publish, submit
from tokumei.contest.replay import replay
from tokumei.core.errors import InputError, NotAllowed, NotFound, PromiseBroken

RELEASE = "11 20 30 40 50 60\n".replace(" ", "\n")


def test_prepared_folder_holds_public_data_and_one_folder_of_secrets(contest: Contest) -> None:
    found = {path.relative_to(contest.folder).as_posix() for path in contest.folder.rglob("*") if path.is_file()}
    assert found == {
        *("contest.toml", "log.jsonl", "head.json", "public/data/D.csv"),
        *("secret/key", "secret/knowledge/K50.csv", "secret/knowledge/K100.csv"),
    }


def test_secrets_are_for_their_owner_only(closed_up: Contest) -> None:
    secret = closed_up.path("secret")
    assert stat.S_IMODE(secret.stat().st_mode) == 0o700
    files = [path for path in secret.rglob("*") if path.is_file()]
    assert len(files) == 1 + 2 + 2 + 2 + 2
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_published_files_and_their_folders_have_one_fixed_time(closed_up: Contest) -> None:
    shown = [*closed_up.path("public", "releases").rglob("*"), *closed_up.path("public", "knowledge").rglob("*")]
    assert len(shown) == 2 + 2 + 2
    assert {path.stat().st_mtime for path in shown} == {FIXED_TIME}


def test_contest_moved_elsewhere_is_the_same_contest(closed_up: Contest, tmp_path: Path) -> None:
    shutil.move(closed_up.folder, tmp_path / "elsewhere" / "cup")
    assert replay(tmp_path / "elsewhere" / "cup").phase == "attack"


def test_options_of_the_edition_are_read_back(tiny: Edition, tmp_path: Path) -> None:
    from tokumei.contest.edition import EDITIONS

    edition = EDITIONS.make("tiny", n_rows=9, n_guesses=1)
    prepare(edition, tmp_path / "cup", seed=1)
    assert open_contest(tmp_path / "cup").edition == edition
    assert len((tmp_path / "cup" / "public" / "data" / "D.csv").read_text().splitlines()) == 9


def test_changed_setting_is_noticed_when_opened(contest: Contest) -> None:
    contest.path("contest.toml").write_text('edition = "tiny"\n')
    with pytest.raises(PromiseBroken, match=r"contest\.toml"):
        open_contest(contest.folder)


def test_changed_data_is_noticed_before_it_is_used(contest: Contest, tmp_path: Path) -> None:
    contest.path("public", "data", "D.csv").write_text("n0,1\n")
    with pytest.raises(PromiseBroken, match=r"public/data/D\.csv: is not the file"):
        submit(contest, "alpha", tmp_path / "missing")


def test_folder_that_is_there_already_is_left_alone(tiny: Edition, tmp_path: Path) -> None:
    (tmp_path / "cup").mkdir()
    (tmp_path / "cup" / "thesis.txt").write_text("years of work")
    with pytest.raises(NotAllowed, match="is there already"):
        prepare(tiny, tmp_path / "cup")
    assert [path.name for path in (tmp_path / "cup").iterdir()] == ["thesis.txt"]


def test_prepare_that_fails_leaves_nothing(tiny: Edition, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        prepare(tiny, tmp_path / "cup", source=tmp_path / "none.csv")
    assert list(tmp_path.iterdir()) == []


def test_folder_that_is_no_contest_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="is no contest"):
        open_contest(tmp_path)


def test_link_is_not_followed_to_another_file(contest: Contest, tmp_path: Path) -> None:
    folder = tmp_path / "release"
    folder.mkdir()
    (folder / "R.csv").symlink_to(contest.path("secret", "key"))
    with pytest.raises(InputError, match="not a link"):
        submit(contest, "alpha", folder)


def test_pipe_is_refused_at_once(contest: Contest, tmp_path: Path) -> None:
    (tmp_path / "release").mkdir()
    os.mkfifo(tmp_path / "release" / "R.csv")
    with pytest.raises(InputError):
        submit(contest, "alpha", tmp_path / "release")


def test_file_too_large_is_refused_before_it_is_copied(contest: Contest, tmp_path: Path) -> None:
    with (tmp_path / "R.csv").open("wb") as handle:
        handle.truncate(2**30)
    with pytest.raises(InputError, match="at most 536,870,912 bytes"):
        take_in(tmp_path / "R.csv", contest.terms.release_files, tmp_path / "draft")


def test_single_file_goes_by_any_name_and_a_folder_by_the_edition_s(contest: Contest, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text(RELEASE)
    submit(contest, "alpha", tmp_path / "mine.txt")
    (tmp_path / "beta").mkdir()
    with pytest.raises(InputError, match=r"R\.csv"):
        submit(contest, "beta", tmp_path / "beta")
    (tmp_path / "beta" / "R.csv").write_text(RELEASE)
    submit(contest, "beta", tmp_path / "beta")
    assert publish(contest) == ["alpha", "beta"]
