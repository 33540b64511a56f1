"""The kit for teams: all that they need, and nothing that is secret."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tokumei.contest.edition import Edition
from tokumei.contest.folder import Contest
from tokumei.contest.kit import is_kit, kit_of_contest, kit_of_edition, open_kit
from tokumei.core.errors import PromiseBroken

PUBLIC = {
    *("README.md", "README.ja.md", "RULES.md", "RULES.ja.md", "contest.toml", "data/D.csv", "sample/release/R.csv"),
    *("sample/knowledge/K50.csv", "sample/knowledge/K100.csv", "sample/published/P.csv", "sample/truth/F.csv"),
    "sample/guess/G.csv",
}


def test_kit_before_attacks_holds_rules_data_and_a_sample_round(contest: Contest, tmp_path: Path) -> None:
    assert set(kit_of_contest(contest, tmp_path / "kit.zip")) == PUBLIC
    with zipfile.ZipFile(tmp_path / "kit.zip") as kit:
        assert kit.namelist() == sorted(PUBLIC)
        assert kit.read("data/D.csv") == contest.path("public", "data", "D.csv").read_bytes()
        assert "数を匿名化します。" in kit.read("RULES.ja.md").decode()


def test_kit_during_attacks_holds_knowledge_and_releases_too(closed_up: Contest, tmp_path: Path) -> None:
    names = set(kit_of_contest(closed_up, tmp_path / "kit.zip"))
    assert names - PUBLIC == {
        *("knowledge/K50.csv", "knowledge/K100.csv", "releases/alpha/P.csv", "releases/beta/P.csv"),
    }


def test_kit_has_the_same_bytes_every_time(contest: Contest, tmp_path: Path) -> None:
    for name in ("one.zip", "two.zip"):
        kit_of_contest(contest, tmp_path / name)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_kit_holds_no_secret_file_and_no_word_of_the_key(closed_up: Contest, tmp_path: Path) -> None:
    kit_of_contest(closed_up, tmp_path / "kit.zip")
    shown = {path.read_bytes() for path in closed_up.path("public").rglob("*") if path.is_file()}
    secrets = [path for path in closed_up.path("secret").rglob("*") if path.is_file()]
    with zipfile.ZipFile(tmp_path / "kit.zip") as kit:
        contents = [kit.read(name) for name in kit.namelist() if not name.startswith("sample/")]
        everything = b"".join(kit.read(name) for name in kit.namelist())
    for path in secrets:
        if path.read_bytes() not in shown:
            assert path.read_bytes() not in contents, path
    key = closed_up.key
    assert key.key not in everything
    assert key.key.hex().encode() not in everything
    for purpose in (("data",), ("knowledge",), ("publish", "alpha", 1)):
        assert str(key.seed(*purpose)).encode() not in everything


def test_kit_is_made_without_the_secrets(closed_up: Contest, tmp_path: Path) -> None:
    closed_up.path("secret").rename(tmp_path / "safe")
    assert kit_of_contest(Contest(closed_up.folder), tmp_path / "kit.zip")


def test_file_left_in_public_by_a_slip_is_not_packed(contest: Contest, tmp_path: Path) -> None:
    contest.path("public", "data", "truth.csv").write_text("who is who\n")
    with pytest.raises(PromiseBroken, match=r"public/data/truth\.csv"):
        kit_of_contest(contest, tmp_path / "kit.zip")
    assert not (tmp_path / "kit.zip").exists()


def test_sample_knowledge_is_not_the_knowledge_that_attackers_will_get(contest: Contest, tmp_path: Path) -> None:
    kit_of_contest(contest, tmp_path / "kit.zip")
    with zipfile.ZipFile(tmp_path / "kit.zip") as kit:
        sample = kit.read("sample/knowledge/K50.csv")
    assert sample != contest.path("secret", "knowledge", "K50.csv").read_bytes()


def test_unpacked_kit_checks_scores_and_judges_its_sample(contest: Contest, tmp_path: Path) -> None:
    kit_of_contest(contest, tmp_path / "kit.zip")
    folder = tmp_path / "kit"
    with zipfile.ZipFile(tmp_path / "kit.zip") as kit:
        kit.extractall(folder)
    assert is_kit(folder)
    assert not is_kit(contest.folder)
    edition, data, known = open_kit(folder)
    release = {"R": folder / "sample" / "release" / "R.csv"}
    edition.check(data, release)
    assert edition.score(data, known, release).utility == 0
    guess = {"G": folder / "sample" / "guess" / "G.csv"}
    published, truth = {"P": folder / "sample/published/P.csv"}, {"F": folder / "sample/truth/F.csv"}
    edition.check_guess(data, published, guess)
    assert 0 <= edition.judge(data, published, truth, guess).success <= 1


def test_kit_of_an_edition_alone_has_data_of_its_own(tiny: Edition, tmp_path: Path) -> None:
    assert set(kit_of_edition(tiny, tmp_path / "kit.zip")) == PUBLIC
    with zipfile.ZipFile(tmp_path / "kit.zip") as kit:
        readmes = [kit.read(name).decode() for name in ("README.md", "README.ja.md")]
    command = "$ tokumei check --edition tiny --data D=data/D.csv sample/release/R.csv"
    assert all(command in text for text in readmes)
    assert "チーム用キット" in readmes[1]
    assert readmes[0].count("\n|") == readmes[1].count("\n|")
