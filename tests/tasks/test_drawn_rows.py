"""Releases of rows of nobody at every door: jobs, dossiers, reports and the shell."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tokumei as tk
from tokumei.cli.main import main
from tokumei.core.errors import InputError
from tokumei.tasks.run_job import run_job

JOB = """
[job]
name = "new rows"

[input]
file = "people.csv"

[roles]
sex = "quasi-identifier"
age = "quasi-identifier"
illness = "sensitive"

[[method]]
name = "mst"
epsilon = 1.0
delta = 1e-6
domain = ["sex=f|m", "age=20..59/4", "illness=flu|cold|none"]
budget = "account.toml"
shadow_runs = 100
"""
DOMAIN = "domain=sex=f|m,age=20..59/4,illness=flu|cold|none"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    sex = random.choice(["f", "m"], 200)
    illness = np.where(sex == "f", "flu", random.choice(["cold", "none"], 200))
    pl.DataFrame({"sex": sex, "age": random.integers(20, 60, 200), "illness": illness}).write_csv(
        tmp_path / "people.csv"
    )
    (tmp_path / "account.toml").write_text("epsilon = 1.2\ndelta = 1e-6\n")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[object, str]:
    """Run a command in this process, and return its exit code and all that it said."""
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return done.value.code, said.out + said.err


def test_job_spends_from_the_file_beside_it_and_its_dossier_takes_no_row_for_a_persons(folder: Path) -> None:
    run_job(tk.Job.of(JOB, folder=folder), folder / "out")
    assert (folder / "account.toml").read_text().count("[[release]]") == 1
    page = (folder / "out" / "report.md").read_text()
    assert "rows of nobody are released, drawn by mst from a model of the original's 200 rows" in page
    assert "with ε = 1 and δ = 1e-06. Protected are rows, each of another person" in page
    assert "left out" not in page.split("## What was done")[0]
    assert page.count("drawn anew") == 3
    assert "誰のものでもない" in (folder / "out" / "report.ja.md").read_text()
    results = json.loads((folder / "out" / "dossier.json").read_text())["results"]
    # What classes of drawn rows would say is nobody's risk, and stands nowhere.
    for what in ("smallest class has", "Who is at risk", "are of one alone", "How large classes are"):
        assert what not in page
    assert "the rows are drawn from a model" in page
    audit = results["drawn"].pop("audit")
    assert results["drawn"] == {"epsilon": 1.0, "delta": 1e-6, "protects": "rows, each of another person"}
    assert {one["attack"] for one in audit["findings"]} >= {"linkability", "inference"}
    assert "ε = 1, δ = 1e-06, spent in all" in page
    assert "ε = 1 of 1.2 is spent at δ = 1e-06 (releases: 1); one at ε = " in page
    assert " find μ = " in page
    assert "of counts by two columns " in page
    public = (folder / "out" / "public.md").read_text()
    assert "ε = 1 of 1.2 is spent" in public
    assert "told in the internal document" in public
    assert "of counts by two columns " not in public
    assert results["use"]


def test_attack_that_must_know_whose_a_row_is_is_refused_before_anything_is_spent(folder: Path) -> None:
    job = tk.Job.of(JOB + '\n[[threat]]\nname = "all"\nattacks = ["record-linkage"]\n', folder=folder)
    with pytest.raises(InputError, match="an attack on rows of nobody"):
        run_job(job, folder / "out")
    assert "release" not in (folder / "account.toml").read_text()


def test_report_of_a_release_without_a_promise_says_so(folder: Path) -> None:
    table = tk.Table(folder / "people.csv", qi=["sex", "age"], sensitive=["illness"], numeric=["age"])
    made = tk.anonymize(table, method="copula", seed=1, anyway=True)
    page = tk.report(made).document().to_markdown()
    assert "nothing is promised" in page
    assert "drawn by copula" in page
    assert "differential privacy" not in page.split("## What was done")[0]


def test_shell_keeps_the_budget_and_writes_nothing_when_it_is_gone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["anonymize", "table", folder / "people.csv", "--qi", "sex,age", "--keep", "illness", "--method", "mst"]
    asked += ["--set", DOMAIN, "--set", "delta=1e-6", "--budget", folder / "account.toml"]
    code, said = run(capsys, *asked, "--out", folder / "one.csv", "--recipe", folder / "one.json")
    assert code == 0, said
    assert "left epsilon" in said
    code, said = run(capsys, *asked, "--out", folder / "two.csv")
    assert code == 1
    assert "The budget does not allow this release" in said
    assert not (folder / "two.csv").exists()
    code, said = run(
        capsys, "anonymize", "apply", folder / "one.json", folder / "people.csv", "--out", folder / "x.csv"
    )
    assert code == 1
    assert "with the same file of the budget" in said
    # The account is read, so that it is no place for a release.
    code, said = run(capsys, *asked, "--out", folder / "account.toml", "--force")
    assert code == 2
