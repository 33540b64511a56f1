"""`tokumei anonymize table` with methods that regroup rows, change values or publish counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.journey.commands import tokumei_here

from tokumei.cli.main import main
from tokumei.data.files.formats import read_frame
from tokumei.data.made_services import make_service
from tokumei.methods.registry import TABLE_ANONYMIZERS, Perturber, searches

Tokumei = Callable[..., tuple[object, dict[str, Any]]]
QI = ["--qi", "sex,age,prefecture", "--numeric", "age"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows")
    make_service(2_000, service=1, seed=1).write_csv(folder / "people.csv")
    with pytest.raises(SystemExit, match="0"):
        main(["data", "make", "services", "--services", "1", "--seed", "1", "--out", str(folder / "s")])
    return folder


@pytest.fixture
def tokumei(capsys: pytest.CaptureFixture[str]) -> Tokumei:
    """Run a command in this process, and give its exit code and its object."""
    return partial(tokumei_here, capsys)


def command(folder: Path) -> list[object]:
    trees = ["--hierarchies", folder / "s" / "hierarchies"]
    return ["anonymize", "table", folder / "people.csv", *QI, *trees]


@pytest.mark.parametrize(
    "method", [name for name in TABLE_ANONYMIZERS if name not in (*searches(), "marginal-recoding")]
)
def test_every_row_method_writes_a_release_its_rows_and_its_recipe(folder: Path, tokumei: Tokumei, method: str) -> None:
    kind = TABLE_ANONYMIZERS.make(method)
    asked = [] if isinstance(kind, Perturber) else ["--k", "5", "--suppress", "0.05"]
    out, recipe, rows = (folder / f"{method}.{suffix}" for suffix in ("csv", "json", "rows.csv"))
    publishes_rows = method not in ("marginals", "dp-counts") and not hasattr(kind, "draws_all_columns")
    wanted = ["--rows", rows] if publishes_rows else []
    # Of so few people drawn rows may rightly be refused.
    wanted += ["--anyway"] if hasattr(kind, "draws_all_columns") else []
    files = ["--out", out, "--recipe", recipe, *wanted]
    code, result = tokumei(*command(folder), "--method", method, *asked, *files, "--seed", 7, "--reproducible")
    assert code == 0, result
    released = read_frame(out)
    assert result["method"] == method
    assert result["rows"] == released.height
    assert json.loads(recipe.read_text())["seed"] == 7
    if publishes_rows:
        numbers = pl.read_csv(rows, has_header=False).to_series()
        assert len(numbers) == released.height
        assert numbers.is_between(1, 2_000).all()
        assert result["k"] >= (5 if asked else 1)


def test_regrouped_release_holds_by_audit_and_loses_less_than_levels(folder: Path, tokumei: Tokumei) -> None:
    _, regrouped = tokumei(*command(folder), "--method", "mondrian", "--k", 5, "--out", folder / "m.csv")
    _, by_levels = tokumei(*command(folder), "--k", 5, "--loss", "ncp", "--out", folder / "o.csv")
    assert regrouped["loss_name"] == by_levels["loss_name"] == "ncp"
    assert regrouped["loss"] < by_levels["loss"]
    code, audited = tokumei("audit", folder / "m.csv", "--qi", "sex,age,prefecture", "--k", 5)
    assert code == 0
    assert audited["holds"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--method", "mondrian"], 2, "at least one requirement"),
        (["--method", "mondrian", "--k", "5", "--loss", "prec"], 2, "ncp"),
        (["--method", "top-bottom-code", "--engine", "duckdb"], 2, "local engine"),
        (["--method", "mondrian", "--k", "3000"], 1, "2,000"),
        (["--method", "mondrain", "--k", "5"], 2, "Did you mean 'mondrian'"),
        (["--method", "marginals", "--k", "7", "--set", "k=3"], 2, "one k"),
        (["--method", "dp-counts", "--k", "5"], 2, "releases no rows of people"),
        (["--method", "marginals", "--rows", "r.csv"], 2, "rows of people"),
        (["--method", "pram", "--k", "50"], 1, "do not meet"),
        (["--method", "pram", "--suppress", "0.1"], 2, "leaves no rows out"),
        (["--method", "pram", "--loss", "ncp"], 2, "measured by what it promises"),
        (["--method", "pram", "--weights", "age=2"], 2, "does not weigh columns"),
        (["--method", "mondrian", "--k", "5", "--prefer", "age"], 2, "does not choose between levels"),
        (
            ["--method", "mondrian", "--k", "5", "--population", "all.csv"],
            2,
            "which a population is for",
        ),
        (["--method", "mondrian", "--k", "5", "--rows", "no/such/folder/rows.csv"], 2, "a folder that exists"),
        (["--method", "sample", "--recipe", "no/such/folder/recipe.json"], 2, "a folder that exists"),
        (["--k", "5", "--rows", "no/such/folder/rows.csv"], 2, "a folder that exists"),
    ],
)
def test_what_cannot_be_is_one_clear_error_and_writes_nothing(
    folder: Path, tokumei: Tokumei, arguments: list[str], code: int, message: str
) -> None:
    out = folder / "refused.csv"
    found, result = tokumei(*command(folder), *arguments, "--out", out)
    assert found == code, result
    assert message in result["message"]
    assert not out.exists()


def test_search_without_hierarchies_makes_one_for_each_column_and_says_so(folder: Path, tokumei: Tokumei) -> None:
    plain = ["anonymize", "table", folder / "people.csv", *QI, "--k", 5, "--out", folder / "x.csv", "--force"]
    code, result = tokumei(*plain)
    assert code == 0, result
    assert set(result["hierarchies_made"]) == {"sex", "age", "prefecture"}
    age = folder / "s" / "hierarchies" / "age.csv"
    code, result = tokumei(*plain, "--hierarchy", f"age={age}")
    assert set(result["hierarchies_made"]) == {"sex", "prefecture"}
    code, _ = tokumei(*plain, "--method", "mondrian")
    assert code == 0


def test_rows_of_a_search_say_which_rows_were_left_out(folder: Path, tokumei: Tokumei) -> None:
    out, rows = folder / "levels.csv", folder / "levels.rows.csv"
    asked = ["--k", 5, "--suppress", 0.05, "--out", out, "--rows", rows]
    code, result = tokumei(*command(folder), *asked)
    assert code == 0
    numbers = pl.read_csv(rows, has_header=False).to_series()
    assert len(numbers) == 2_000 - result["suppressed"] == read_frame(out).height
    # Sex is not generalized, so every released row has that of its own.
    assert result["levels"]["sex"] == 0
    people = read_frame(folder / "people.csv")
    assert read_frame(out)["sex"].equals(people["sex"].gather(numbers - 1))


@pytest.mark.parametrize("method", ["mondrian", "optimal"])
def test_files_get_their_names_together_or_not_at_all(folder: Path, tokumei: Tokumei, method: str) -> None:
    out, rows = folder / "together.csv", folder / "together.rows.csv"
    arguments = [*command(folder), "--method", method, "--k", 5, "--out", out, "--rows", rows]
    (folder / "taken").mkdir(exist_ok=True)
    code, result = tokumei(*arguments, "--recipe", folder / "taken", "--force")
    assert code == 2
    assert "a name that is not taken by a folder" in result["message"]
    code, result = tokumei(*arguments, "--recipe", rows)
    assert code == 2
    assert "another file for --rows than for --recipe" in result["message"]
    assert not out.exists()
    assert not rows.exists()


def test_recipe_of_a_release_checked_against_a_population_is_written(folder: Path, tokumei: Tokumei) -> None:
    recipe, asked = folder / "k-map.json", ["--k-map", 3, "--population", folder / "people.csv"]
    for method in ("mondrian", "optimal"):
        code, result = tokumei(
            *command(folder), "--method", method, *asked, "--out", folder / f"k-map-{method}.csv", "--recipe", recipe
        )
        assert code == 0, result
        assert json.loads(recipe.read_text())["options"]["requirements"] == [{"name": "k-map", "options": {"k": 3}}]
        recipe.unlink()


def test_compare_shows_what_others_found_where_one_method_finds_nothing(tmp_path: Path, tokumei: Tokumei) -> None:
    # Of Kyoto and Tokyo any illness is likely; of Osaka and Chiba all have a cold, and so too many of east and west.
    (tmp_path / "people.csv").write_text(
        "city,illness\n"
        + "".join(f"{city},{ill}\n" for city in ("Kyoto", "Tokyo") for ill in ("flu", "cold", "cough"))
        + "".join(f"{city},cold\n" for city in ("Osaka", "Osaka", "Chiba", "Chiba"))
    )
    trees = tmp_path / "trees"
    trees.mkdir()
    (trees / "city.csv").write_text("Kyoto,west,*\nOsaka,west,*\nTokyo,east,*\nChiba,east,*\n")
    asked = ["--qi", "city", "--hierarchies", trees, "--loss", "ncp", "--methods", "optimal,top-down-specialization"]
    asked += ["--l-diversity", "illness=2:recursive:1"]
    code, result = tokumei("compare", tmp_path / "people.csv", *asked, "--suppress", "0.4")
    assert code == 0, result
    assert result["methods"][0]["suppressed"] == 4
    assert "would have to be left out" in result["methods"][1]["error"]
    code, result = tokumei("compare", tmp_path / "people.csv", *asked)
    assert code == 1
    assert result["error"] == "CannotAnonymize"


def test_table_of_ones_own_says_what_values_become(folder: Path, tokumei: Tokumei) -> None:
    table, out = folder / "table.csv", folder / "own.csv"
    table.write_text("sex/age,0-39,40-119\nmale,,\nfemale,,\n")
    files = ["--set", f"table={table}", "--out", out]
    two = ["anonymize", "table", folder / "people.csv", "--qi", "sex,age", "--numeric", "age", "--k", 5]
    code, result = tokumei(*two, "--method", "marginal-recoding", *files)
    assert code == 0, result
    assert set(read_frame(out).rows()) == {(sex, age) for sex in ("male", "female") for age in ("0-39", "40-119")}
