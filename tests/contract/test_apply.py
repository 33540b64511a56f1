"""Anonymizing a table, and applying the recipe to the same table, gives the same bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tokumei as tk
from tokumei.cli.main import main
from tokumei.hierarchies.builders.from_data import FromData
from tokumei.hierarchies.files import write_hierarchy
from tokumei.methods.registry import TABLE_ANONYMIZERS, Perturber

N_ROWS = 60
PEOPLE = pl.DataFrame(
    {
        "illness": [["flu", "cold", None, "none"][number % 4] for number in range(N_ROWS)],
        "name": [f"person {number}" for number in range(N_ROWS)],
        "age": [20 + number * 7 % 30 for number in range(N_ROWS)],
        "city": [["Kyoto", "Osaka", "Tokyo", None][number * number % 4] for number in range(N_ROWS)],
        "salary": [number % 5 for number in range(N_ROWS)],
        "sex": ["f" if number % 3 else "m" for number in range(N_ROWS)],
    }
)
QUASI_IDENTIFIERS = ["sex", "city", "age"]


def run(*arguments: object, exit_code: int = 0) -> None:
    """Run a command in this process."""
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    assert done.value.code == exit_code


@dataclass(frozen=True)
class Files:
    """The original and all that belongs to it, as files."""

    folder: Path
    hierarchies: Path
    population: Path

    def original(self, suffix: str) -> Path:
        return self.folder / f"people.{suffix}"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("apply")
    made = Files(folder, folder / "hierarchies", folder / "everybody.csv")
    made.hierarchies.mkdir()
    for column in [*QUASI_IDENTIFIERS, "illness", "salary"]:
        write_hierarchy(FromData().build(column, PEOPLE[column]), made.hierarchies / f"{column}.csv")
    PEOPLE.write_csv(made.original("csv"))
    PEOPLE.write_parquet(made.original("parquet"))
    pl.concat([PEOPLE, PEOPLE]).write_csv(made.population)
    return made


def anonymize_arguments(files: Files, source: str, qi: Sequence[str]) -> list[object]:
    common = ["--qi", ",".join(qi), "--hierarchies", files.hierarchies, "--keep", "name"]
    return ["anonymize", "table", files.original(source), *common, "--keep-anyway", "--keep-order"]


def same_bytes(
    files: Files,
    tmp_path: Path,
    arguments: list[str],
    *,
    source: str = "csv",
    out: str = "csv",
    qi: Sequence[str] = QUASI_IDENTIFIERS,
) -> None:
    first, again, recipe = tmp_path / f"first.{out}", tmp_path / f"again.{out}", tmp_path / "recipe.json"
    run(*anonymize_arguments(files, source, qi), *arguments, "--out", first, "--recipe", recipe)
    wants = ["--population", files.population] if "--population" in arguments else []
    original = files.original(source)
    run("anonymize", "apply", recipe, original, *wants, "--keep-order", "--force", "--out", again)
    assert first.read_bytes() == again.read_bytes()


REQUIREMENTS = [
    ["--l-diversity", "illness=2"],
    ["--l-diversity", "illness=1.5:entropy"],
    ["--l-diversity", "illness=2:recursive:3"],
    ["--t-closeness", "illness=0.4"],
    ["--t-closeness", "salary=0.4:ordered"],
    ["--t-closeness", "salary=0.4:hierarchical:original"],
    ["--alpha-k", "illness=0.7"],
    ["--beta-likeness", "salary=3"],
    ["--beta-likeness", "illness=3:enhanced:release"],
    ["--k-map", "3", "--population", "FILE"],
    ["--delta-presence", "0.2:0.9", "--population", "FILE"],
]


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=lambda one: "-".join(one[:2]))
@pytest.mark.parametrize("method", ["optimal", "mondrian"])
def test_requirement_survives_the_recipe(files: Files, tmp_path: Path, method: str, requirement: list[str]) -> None:
    asked = [str(files.population) if one == "FILE" else one for one in requirement]
    same_bytes(files, tmp_path, ["--k", "2", *asked, "--suppress", "0.2", "--method", method])


SOURCES, OUTS = ("csv", "parquet"), ("csv", "tsv", "csv.gz", "parquet")
OF_CLASSES = [
    name
    for name in TABLE_ANONYMIZERS
    if not isinstance(TABLE_ANONYMIZERS.make(name), Perturber) and name != "marginal-recoding"
]


# These climb a lattice by what coarser nodes keep: with records to suppress, k-anonymity, distinct values and k-map.
CLIMB = ("incognito", "ola", "pak", "prediction-guided")
# The groups of these share values, so that nobody of a population is in one of them alone.
SHARE_VALUES = ("min-dis", "mu-argus", "partition", "utility-clustering")


def is_refused(method: str, requirement: list[str]) -> bool:
    if method in CLIMB:
        return requirement[:2] not in (["--l-diversity", "illness=2"], ["--k-map", "3"])
    return method in SHARE_VALUES and "--population" in requirement


def arguments_of(files: Files, method: str, requirement: list[str]) -> list[str]:
    asked = [str(files.population) if one == "FILE" else one for one in requirement]
    return ["--k", "2", *asked, "--suppress", "0.2", "--method", method, "--force"]


@pytest.mark.parametrize("method", OF_CLASSES)
def test_method_with_a_requirement_in_a_format_gives_the_same_bytes_again(
    files: Files, tmp_path: Path, times: int, method: str
) -> None:
    number = OF_CLASSES.index(method)
    taken = [requirement for requirement in REQUIREMENTS if not is_refused(method, requirement)]
    # One requirement a method in every run, and all with --many; formats take turns.
    chosen = taken if times > 1 else [taken[number % len(taken)]]
    for index, requirement in enumerate(chosen):
        turn = number + index
        arguments = arguments_of(files, method, requirement)
        same_bytes(files, tmp_path, arguments, source=SOURCES[turn % 2], out=OUTS[turn % 4])


@pytest.mark.parametrize("method", [*CLIMB, *SHARE_VALUES])
def test_method_that_cannot_keep_a_requirement_says_so_and_writes_nothing(
    files: Files, tmp_path: Path, method: str
) -> None:
    refused = [requirement for requirement in REQUIREMENTS if is_refused(method, requirement)]
    requirement = refused[OF_CLASSES.index(method) % len(refused)]
    arguments = arguments_of(files, method, requirement)
    run(*anonymize_arguments(files, "csv", QUASI_IDENTIFIERS), *arguments, "--out", tmp_path / "a.csv", exit_code=2)
    assert not list(tmp_path.iterdir())


# A table of ranges is for two columns.
@pytest.mark.parametrize("method", [name for name in TABLE_ANONYMIZERS if name != "marginal-recoding"])
def test_method_gives_the_same_bytes_again(files: Files, tmp_path: Path, method: str) -> None:
    made = TABLE_ANONYMIZERS.make(method)
    arguments = ["--method", method, "--numeric", "age"]
    if not isinstance(made, Perturber):
        arguments += ["--k", "3", "--suppress", "0.1"]
    elif getattr(made, "spends_budget", False):
        arguments += ["--seed", "7", "--reproducible"]
    if getattr(made, "draws_all_columns", False):
        # Of names nothing can be drawn; and the audit may rightly refuse rows of sixty people of whom two share an age.
        files = Files(tmp_path, files.hierarchies, files.population)
        PEOPLE.with_columns(name=pl.col("illness")).write_csv(files.original("csv"))
        arguments += ["--anyway"]
        arguments += ["--set", "domain=name=flu|cold|none"] if hasattr(made, "domain") else []
    same_bytes(files, tmp_path, arguments)


def test_table_of_ranges_gives_the_same_bytes_again(files: Files, tmp_path: Path) -> None:
    ranges = tmp_path / "ranges.csv"
    ranges.write_text("age,f,m\n20-34,,\n35-49,,\n")
    arguments = ["--method", "marginal-recoding", "--set", f"table={ranges}", "--numeric", "age", "--k", "3"]
    same_bytes(files, tmp_path, arguments, qi=["age", "sex"])


@pytest.mark.parametrize("source", ["csv", "parquet"])
@pytest.mark.parametrize("out", ["csv", "tsv", "csv.gz", "parquet"])
@pytest.mark.parametrize("column", ["illness", "salary"])
def test_types_survive_the_recount(files: Files, tmp_path: Path, source: str, out: str, column: str) -> None:
    asked = ["--k", "2", "--t-closeness", f"{column}=0.4", "--beta-likeness", f"{column}=4", "--suppress", "0.3"]
    same_bytes(files, tmp_path, asked, source=source, out=out)


def test_columns_keep_their_order(files: Files, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    asked = ["--qi", "sex,age", "--hierarchies", files.hierarchies, "--k", "2", "--l-diversity", "illness=2"]
    run("anonymize", "table", files.original("csv"), *asked, "--keep", "salary", "--out", out)
    assert out.read_text().splitlines()[0] == "illness,age,salary,sex"


def test_another_table_gets_noise_of_its_own(files: Files, tmp_path: Path) -> None:
    recipe, other = tmp_path / "recipe.json", tmp_path / "other.csv"
    PEOPLE.with_columns(age=pl.col("age") + 1).write_csv(other)
    common = ["--qi", "age,city", "--numeric", "age", "--method", "noise"]
    run("anonymize", "table", files.original("csv"), *common, "--out", tmp_path / "one.csv", "--recipe", recipe)
    run("anonymize", "apply", recipe, other, "--out", tmp_path / "two.csv")
    one, two = (pl.read_csv(tmp_path / name)["age"] for name in ("one.csv", "two.csv"))
    assert (two - one).n_unique() > 1


def test_recipe_of_noisy_counts_is_not_applied(
    files: Files, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = tmp_path / "recipe.json"
    common = ["--qi", "sex", "--hierarchies", files.hierarchies, "--method", "dp-counts"]
    run("anonymize", "table", files.original("csv"), *common, "--out", tmp_path / "one.csv", "--recipe", recipe)
    assert json.loads(recipe.read_text())["seed"] is None
    run("anonymize", "apply", recipe, files.original("csv"), "--out", tmp_path / "two.csv", exit_code=1)
    assert "spends budget" in capsys.readouterr().err
    assert not (tmp_path / "two.csv").exists()


def test_reference_of_a_recipe_survives_json(tmp_path: Path) -> None:
    from tokumei.measures.safety.closeness import TCloseness
    from tokumei.methods.recipes import part_as_dict, requirement_of

    asked: Any = TCloseness("salary", 0.3, reference={1: 0.5, 2: 0.25, None: 0.25})
    told = json.loads(json.dumps(part_as_dict(asked)))
    assert requirement_of(told, {}, None) == asked


@pytest.mark.parametrize("method", ["optimal", "mondrian", "pram"])
def test_order_drawn_in_secret_is_the_same_for_the_same_table_and_another_for_another(method: str) -> None:
    asked: dict[str, Any] = {} if method == "pram" else {"k": 3}
    people = PEOPLE.select("age", "sex", "illness").with_columns(pl.col("age").cast(pl.String))
    table = tk.Table(people, qi=["age", "sex"])
    made = tk.anonymize(table, method=method, **asked)
    again = tk.apply(made.recipe, people)
    assert again.frame.equals(made.frame)
    changed = people.reverse()
    one, other = tk.apply(made.recipe, changed), tk.apply(made.recipe, changed)
    assert not one.frame.equals(other.frame)
