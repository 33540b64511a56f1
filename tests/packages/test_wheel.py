"""The packages install alone: each extra and none, in an environment that has nothing else, runs the demo."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
UV = BIN / "uv"
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
# Polars takes 175 of them, SciPy 113, NumPy 59.
MOST_MEGABYTES = 390
# What `dev` adds is for those who have the sources.
NEEDS_SOURCES = {"dev"}

pytestmark = [pytest.mark.thorough, pytest.mark.skipif(not UV.exists(), reason="needs uv")]


def call(*words: str | Path, cwd: Path, is_wrong: bool = False) -> str:
    """Run a program without what this environment sets, and return what it prints, or why it refused."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_"))}
    done = subprocess.run([str(word) for word in words], cwd=cwd, env=kept, capture_output=True, text=True)
    assert (done.returncode != 0) == is_wrong, done.stdout + done.stderr
    return done.stderr if is_wrong else done.stdout


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build wheels and source packages, without a network."""
    folder = tmp_path_factory.mktemp("packages")
    call(BIN / "hatchling", "build", "-d", folder, cwd=ROOT)
    call(BIN / "hatchling", "build", "-d", folder, "-t", "wheel", cwd=ROOT / "studies")
    return folder


def installed(packages: Path, extra: str, folder: Path) -> Path:
    """Install the wheel with an extra in an environment of its own, and return the folder of its programs."""
    (wheel,) = packages.glob("tokumei-*.whl")
    call(UV, "venv", "-q", "--python", sys.executable, folder, cwd=folder.parent)
    python = folder / "bin" / "python"
    name = f"tokumei[{extra}] @ {wheel.as_uri()}" if extra else str(wheel)
    options = ["--find-links", str(packages), "--constraint", str(ROOT / "locks" / "dev.txt")]
    done = subprocess.run(
        [str(UV), "pip", "install", "-q", "--python", str(python), *options, name], capture_output=True, text=True
    )
    if done.returncode and any(sign in done.stderr for sign in ("error sending request", "dns error", "Connection")):
        pytest.skip("needs a package index")
    assert not done.returncode, done.stderr
    return folder / "bin"


@pytest.mark.parametrize("extra", ["", *sorted(set(EXTRAS) - NEEDS_SOURCES)])
def test_wheel_alone_with_each_extra_and_none_runs_the_demo(extra: str, packages: Path, tmp_path: Path) -> None:
    programs = installed(packages, extra, tmp_path / "environment")
    told = call(programs / "tokumei", "demo", "--customers", "20", "--json", cwd=tmp_path)
    assert json.loads(told)["customers"] == 20
    page = (tmp_path / "tokumei-demo.html").read_text()
    draws = extra in {"charts", "full", "platform", "s3"} or extra == "studies"
    assert ("tokumei[charts]" in page) != draws
    assert call(programs / "tokumei", "--version", cwd=tmp_path).strip()


def test_base_is_light_and_names_the_extra_of_what_it_lacks(packages: Path, tmp_path: Path) -> None:
    programs = installed(packages, "", tmp_path / "environment")
    sizes = (file.stat().st_size for file in (tmp_path / "environment").rglob("*") if file.is_file())
    assert sum(sizes) < MOST_MEGABYTES * 2**20
    (tmp_path / "a.csv").write_text("age,sex,pay\n" + "".join(f"{n % 40},{'fm'[n % 2]},{n % 3}\n" for n in range(200)))
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    tokumei = programs / "tokumei"
    wrong = call(tokumei, "inspect", "a.xlsx", cwd=tmp_path, is_wrong=True)
    assert "needs the extra 'excel': pip install 'tokumei[excel]'" in wrong
    wrong = call(programs / "python", "-c", "import tokumei; tokumei.Anonymizer", cwd=tmp_path, is_wrong=True)
    assert "pip install 'tokumei[learning]'" in wrong
    wrong = call(tokumei, "studio", "a.csv", cwd=tmp_path, is_wrong=True)
    assert "pip install 'tokumei[platform]'" in wrong
    call(tokumei, "inspect", "a.csv", "--job", "job.toml", "--out", "a.html", cwd=tmp_path)
    assert "tokumei[charts]" in (tmp_path / "a.html").read_text()
    call(tokumei, "run", "job.toml", "--out", "dossier", cwd=tmp_path)
    call(tokumei, "verify", "dossier/dossier.json", cwd=tmp_path)


def test_source_package_becomes_the_same_wheel(packages: Path, tmp_path: Path) -> None:
    (source,) = packages.glob("tokumei-*.tar.gz")
    call("tar", "xzf", source, cwd=tmp_path)
    call(BIN / "hatchling", "build", "-d", tmp_path / "again", "-t", "wheel", cwd=tmp_path / source.name[:-7])
    (wheel,) = packages.glob("tokumei-*.whl")
    (again,) = (tmp_path / "again").glob("*.whl")
    assert again.name == wheel.name
    assert again.read_bytes() == wheel.read_bytes()
