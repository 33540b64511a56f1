"""A first release and a first guess from a kit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokumei.cli.main import main
from tokumei.contest.editions.pwscup2018.edition import Pwscup2018
from tokumei.contest.kit import kit_of_edition


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as done:
        main(["contest", *map(str, arguments)])
    return int(done.value.code or 0)


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import zipfile

    folder = tmp_path_factory.mktemp("kit")
    kit_of_edition(Pwscup2018(n_customers=5), folder / "kit.zip", seed=1)
    with zipfile.ZipFile(folder / "kit.zip") as packed:
        packed.extractall(folder / "kit")
    return folder / "kit"


def test_first_release_and_first_guess_pass_the_checks(kit: Path, tmp_path: Path) -> None:
    release, guess, published = tmp_path / "release", tmp_path / "guess", kit / "sample" / "published"
    assert run("make-release", kit, "--out", release) == 0
    assert run("check", kit, release) == 0
    assert run("make-guess", kit, published, "--out", guess) == 0
    assert run("check", kit, guess, "--published", published) == 0


def test_bad_wishes_are_refused_and_leave_nothing(
    kit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run("make-release", kit, "--out", out, "--method", "nobody") == 2
    assert run("make-release", tmp_path, "--out", out) == 2
    assert run("make-release", kit, "--out", kit) == 2
    assert run("make-release", kit, "--out", tmp_path / "no" / "out") == 2
    assert run("make-guess", kit, tmp_path, "--out", out) == 2
    assert run("make-guess", kit, kit / "sample" / "published", "--out", out, "--level", "99") == 2
    said = capsys.readouterr().err
    for wanted in ("no anonymizer named 'nobody'", "unpacked kit", "does not exist yet", "level of knowledge"):
        assert wanted in said
    assert list(tmp_path.iterdir()) == []
