"""Studies on the command line, some of them of another package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.journey.commands import Done, tokumei

pytestmark = pytest.mark.slow

TOY, SUCCESS, ATTACKERS = "knowledge-toy", "pwscup2017-success", "knowledge-attackers"
# What another package would bring: a study that says nothing of its difference, one that fails, one that dies.
OWN = '''
import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from tokumei.core.errors import UnknownPart
from tokumei_studies.study import Findings, StudyLine


@dataclass(frozen=True)
class Silent:
    """Differs and does not say why."""

    title: ClassVar[str] = "A study that says nothing"
    source: ClassVar[str] = "Nobody, 1999, table 1"
    needs: ClassVar[tuple[str, ...]] = ()
    is_quick: ClassVar[bool] = True

    def run(self, data):
        return Findings([StudyLine.near("k", 2, float("inf"), within=0)])


@dataclass(frozen=True)
class Failing(Silent):
    """Fails."""

    def run(self, data):
        raise UnknownPart("kind of sheep", "black", ["white"])


@dataclass(frozen=True)
class Dying(Silent):
    """Ends its process."""

    def run(self, data):
        os._exit(9)
'''


@pytest.fixture
def own_studies(tmp_path: Path) -> dict[str, str]:
    """An environment in which another package brings three studies."""
    folder = tmp_path / "own"
    (folder / "own_studies-1.0.dist-info").mkdir(parents=True)
    (folder / "own_studies.py").write_text(OWN)
    (folder / "own_studies-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: own-studies\nVersion: 1.0\n"
    )
    points = "\n".join(f"{name} = own_studies:{name.capitalize()}" for name in ("silent", "failing", "dying"))
    (folder / "own_studies-1.0.dist-info" / "entry_points.txt").write_text(f"[tokumei_studies.results]\n{points}\n")
    return os.environ | {
        "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    }


def study(*arguments: object, env: dict[str, str] | None = None) -> Done:
    """Run the command: in a process of its own where another package is installed."""
    if env is None:
        return tokumei("study", *arguments)
    command = [sys.executable, "-m", "tokumei", "study", *(str(argument) for argument in arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)
    return Done(done.returncode, done.stdout, done.stderr)


def study_json(*arguments: object, exit_code: int = 0, env: dict[str, str] | None = None) -> dict[str, Any]:
    done = study(*arguments, "--json", env=env)
    assert done.returncode == exit_code, done.stdout + done.stderr
    assert done.stderr == ""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    found: dict[str, Any] = json.loads(done.stdout, parse_constant=refuse)
    return found


def test_list_tells_of_each_study_what_it_needs() -> None:
    studies = {one["name"]: one for one in study_json("list")["studies"]}
    assert set(studies[TOY]) == {"name", "title", "source", "is_quick", "needs"}
    assert studies[TOY]["is_quick"]
    assert studies[TOY]["needs"] == []
    assert studies[ATTACKERS]["needs"] == ["pwscup2016/T.csv.gz"]
    assert TOY in study("list").stdout


def test_run_prints_both_numbers_and_the_reason_under_a_difference(tmp_path: Path) -> None:
    done = study("run", TOY, "--out", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "purchases of item 200 on day 1" in done.stdout
    assert "adds up to 9 (4 + 2 + 3) where there are 10 rows" in " ".join(done.stdout.split())
    assert "0 holds, 1 differs, 0 different method, 0 needs data" in done.stdout
    assert (tmp_path / f"{TOY}.md").read_text().startswith("# The toy tables")
    # The index tells of all studies, so one alone does not write it.
    assert not (tmp_path / "README.md").exists()


def test_run_gives_the_keys_that_programs_rely_on_in_the_order_of_the_registry(tmp_path: Path) -> None:
    found = study_json("run", ATTACKERS, SUCCESS, TOY, "--out", tmp_path)
    assert set(found) == {"studies", "holds", "differs", "different_method", "needs_data"}
    assert (found["holds"], found["differs"], found["needs_data"]) == (1, 1, 1)
    assert [one["name"] for one in found["studies"]] == [ATTACKERS, TOY, SUCCESS]
    attackers, _, success = found["studies"]
    assert set(success) == {"name", "title", "source", "verdict", "lines", "seconds", "needs"}
    assert set(success["lines"][0]) == {"what", "published", "computed", "difference", "verdict", "why"}
    assert (success["verdict"], success["lines"][0]["computed"]) == ("holds", 0.5)
    assert (attackers["verdict"], attackers["lines"], attackers["needs"]) == ("needs data", [], ["pwscup2016/T.csv.gz"])


def test_study_without_its_data_says_so_and_leaves_its_page_alone(tmp_path: Path) -> None:
    (tmp_path / f"{ATTACKERS}.md").write_text("# As it was\n")
    done = study("run", ATTACKERS, "--out", tmp_path)
    assert done.returncode == 0
    assert "needs data, pwscup2016/T.csv.gz" in " ".join(done.stdout.split())
    assert (tmp_path / f"{ATTACKERS}.md").read_text() == "# As it was\n"


def test_run_writes_the_same_bytes_however_many_at_a_time(tmp_path: Path) -> None:
    for jobs in (1, 2):
        assert (
            study("run", TOY, SUCCESS, "pwscup2018-luck", "--jobs", jobs, "--out", tmp_path / str(jobs)).returncode == 0
        )
    files = sorted(path.relative_to(tmp_path / "1") for path in (tmp_path / "1").rglob("*") if path.is_file())
    assert len(files) >= 4
    for file in files:
        assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "2" / file).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "either the names of studies or --all"),
        (["run", TOY, "--all"], "either the names of studies or --all"),
        (["run", "knowledge-toi"], f"Did you mean '{TOY}'?"),
        (["run", TOY, "--data", "nowhere"], "a folder that exists"),
        (["run", TOY, "--jobs", "0"], "--jobs"),
    ],
)
def test_run_of_nothing_that_can_be_run_is_one_clear_error(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = study(*arguments, "--out", tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    found = study_json(*arguments, "--out", tmp_path, exit_code=2)
    assert message in found["message"]


def test_difference_without_a_reason_fails_the_check(own_studies: dict[str, str], tmp_path: Path) -> None:
    found = study_json("run", "silent", "--out", tmp_path / "pages", exit_code=1, env=own_studies)
    line = found["studies"][0]["lines"][0]
    assert (line["computed"], line["difference"], line["verdict"]) == (None, None, "differs")
    assert "differs without a reason" in study("run", "silent", "--out", tmp_path / "again", env=own_studies).stdout


@pytest.mark.parametrize("jobs", [1, 2])
def test_study_that_fails_keeps_no_other_from_its_page(own_studies: dict[str, str], tmp_path: Path, jobs: int) -> None:
    pages = tmp_path / "pages"
    arguments = ["run", "failing", TOY, "--jobs", jobs, "--force", "--out", pages]
    done = study(*arguments, env=own_studies)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("Error: failing: There is no kind of sheep named 'black'")
    assert (pages / f"{TOY}.md").exists()
    assert not (pages / "failing.md").exists()
    found = study_json(*arguments, exit_code=2, env=own_studies)
    failing = next(one for one in found["studies"] if one["name"] == "failing")
    assert failing["verdict"] is None
    assert failing["error"]["error"] == "UnknownPart"


def test_study_whose_process_dies_is_one_clear_error(own_studies: dict[str, str], tmp_path: Path) -> None:
    done = study("run", "dying", TOY, "--jobs", 2, "--out", tmp_path / "pages", env=own_studies)
    assert done.returncode == 2
    assert "Error: dying: its process ended before the study did" in done.stderr
    assert "Traceback" not in done.stderr


def test_all_quick_studies_write_an_index_of_all(tmp_path: Path) -> None:
    # Without data only those run that make theirs up, which takes a few seconds.
    found = study_json("run", "--all", "--quick", "--out", tmp_path)
    names = [one["name"] for one in found["studies"]]
    assert TOY in names
    assert "pwscup2017-lifetimes" not in names
    index = (tmp_path / "README.md").read_text()
    assert f"[`{TOY}`]({TOY}.md)" in index
    assert "`pwscup2017-lifetimes`" in index
