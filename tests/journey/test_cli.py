"""The command line as a person and a program use it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.journey.commands import tokumei, tokumei_json

from tokumei.cli.commands import TOKUMEI
from tokumei.cli.main import main

PEOPLE = "sex;age;town\nf;31;A\nf;31;A\nm;35;B\nm;38;B\n"


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    return path


def test_count_gives_the_keys_that_programs_rely_on(people: Path) -> None:
    found = tokumei_json("count", people, "--by", "sex,age")
    assert set(found) == {"rows", "classes", "k", "unique", "seconds"}
    assert (found["rows"], found["classes"], found["k"], found["unique"]) == (4, 3, 1, 2)


def test_count_at_levels_uses_the_hierarchies(people: Path, tmp_path: Path) -> None:
    folder = tmp_path / "hierarchies"
    folder.mkdir()
    built = tokumei_json(
        *("hierarchy", "build", "intervals", "--data", people, "--column", "age"),
        *("--set", "width=5", "--set", "factors=2", "--out", folder / "age.csv"),
    )
    assert built["values_per_level"] == [3, 2, 1, 1]
    found = tokumei_json("count", people, "--by", "sex,age", "--levels", "age=1", "--hierarchies", folder)
    assert (found["classes"], found["k"]) == (2, 2)


def test_hierarchy_check_of_a_hierarchy_that_lacks_values_fails_with_1(people: Path, tmp_path: Path) -> None:
    (tmp_path / "town.csv").write_text("A;*\n")
    found = tokumei_json("hierarchy", "check", tmp_path / "town.csv", "--data", people, exit_code=1)
    assert found["missing_values"] == ["B"]
    assert not found["is_good"]


def test_hierarchy_show_prints_labels(tmp_path: Path) -> None:
    (tmp_path / "town.csv").write_text("A;north;*\nB;south;*\n")
    done = tokumei("hierarchy", "show", tmp_path / "town.csv")
    assert done.returncode == 0
    assert "level 1 (2)" in done.stdout
    assert "south" in done.stdout


def test_describe_shows_each_column(people: Path) -> None:
    found = tokumei_json("data", "describe", people)
    assert found["rows"] == 4
    town = found["columns"][2]
    assert (town["name"], town["distinct"], town["commonest"], town["times"]) == ("town", 2, "A", 2)


def test_make_retail_twice_with_one_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        made = tokumei_json("data", "make", "retail", "--customers", 20, "--seed", 5, "--out", tmp_path / name)
        assert made["customers"] == 20
    for file in ("history.parquet", "master.parquet"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_make_services_replaces_no_file_unasked(tmp_path: Path) -> None:
    (tmp_path / "hierarchies").mkdir()
    mine = tmp_path / "hierarchies" / "age.csv"
    mine.write_text("mine")
    arguments = ["data", "make", "services", "--services", 1, "--out", tmp_path]
    assert "--force" in str(tokumei_json(*arguments, exit_code=2))
    assert mine.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["hierarchies"]
    tokumei_json(*arguments, "--force")
    assert mine.read_text() != "mine"


def test_make_services_writes_people_and_hierarchies_that_fit(tmp_path: Path) -> None:
    made = tokumei_json("data", "make", "services", "--services", 1, "--out", tmp_path)
    found = tokumei_json(
        *("count", tmp_path / "S0001.parquet", "--by", "sex,age,prefecture"),
        *("--levels", "sex=1,age=1,prefecture=2", "--hierarchies", made["hierarchies"]),
    )
    assert found["rows"] == made["rows"]
    assert found["classes"] <= 18


def test_make_survey_has_25_columns(tmp_path: Path) -> None:
    made = tokumei_json("data", "make", "survey", "--rows", 100, "--out", tmp_path, "--format", "csv")
    assert (made["rows"], made["columns"]) == (100, 25)
    assert pl.read_csv(made["files"][0]).height == 100


def test_clean_retail_reports_rows_customers_and_items(tmp_path: Path) -> None:
    columns = "InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country"
    rows = ["1,A,x,6,2010-12-01 08:26:00,2.55,17850,France", "2,B,x,-1,2010-12-01 08:26:00,1,17850,France"]
    (tmp_path / "raw.csv").write_text("\n".join([columns, *rows]) + "\n")
    found = tokumei_json("data", "clean-retail", tmp_path / "raw.csv", "--out", tmp_path / "clean.parquet")
    assert (found["rows"], found["customers"], found["items"], found["dropped"]) == (1, 1, 1, 1)
    assert pl.read_parquet(tmp_path / "clean.parquet").height == 1


def test_demo_writes_a_report_without_outside_requests(tmp_path: Path) -> None:
    found = tokumei_json("demo", "--customers", 10, "--out", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert found["report"].endswith("report.html")
    assert page.count("<svg") == 1
    assert "<script" not in page
    assert "src=" not in page


def test_parts_lists_options(tmp_path: Path) -> None:
    found = tokumei_json("parts", "history-anonymizer")
    listed = {part["name"]: [option["name"] for option in part["options"]] for part in found["history-anonymizer"]}
    assert "lifetime" in listed["pseudonyms"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["count", "nowhere.csv", "--by", "a"], "nowhere.csv"),
        (["count", "people.csv", "--by", "sexe"], "a column of the file: sex, age, town"),
        (["count", "people.csv", "--by", ","], "names separated by commas"),
        (["count", "people.csv", "--by", "age", "--levels", "age=1"], "--hierarchies"),
        (["count", "people.csv", "--by", "age", "--levels", "age"], "name=value"),
        (["count", "people.csv", "--by", "age", "--engine", "duckbd"], "duckdb"),
        (["count", "people.csv"], "--by"),
        (["cuont", "people.csv"], "cuont"),
        (["parts", "history-atack"], "history-attack"),
        (["hierarchy", "build", "interval", "--out", "x.csv"], "intervals"),
        (["data", "describe", "."], "."),
    ],
)
def test_bad_usage_ends_with_2_one_clear_message_and_no_traceback(
    people: Path, arguments: list[str], message: str
) -> None:
    done = tokumei(*arguments, cwd=people.parent)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    as_json = tokumei(*arguments, "--json", cwd=people.parent)
    assert as_json.returncode == 2
    assert message in json.loads(as_json.stdout)["message"]


def test_bad_file_as_json_lists_its_faults(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n3\n")
    found = tokumei_json("data", "describe", tmp_path / "bad.csv", exit_code=2)
    assert found["faults"][0]["line"] == 3
    assert found["faults"][0]["expected"] == "2 cells"


def test_failed_command_leaves_no_file(people: Path, tmp_path: Path) -> None:
    done = tokumei("data", "clean-retail", people, "--out", tmp_path / "out.parquet")
    assert done.returncode == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"]


def test_every_command_has_help_with_an_example() -> None:
    done = tokumei("--help")
    assert done.returncode == 0
    for command in (["count"], ["parts"], ["demo"], ["data", "clean-retail"], ["hierarchy", "check"]):
        text = tokumei(*command, "--help").stdout
        assert "Example: tokumei" in text, command


@pytest.fixture
def hierarchies(tmp_path: Path) -> Path:
    folder = tmp_path / "hierarchies"
    folder.mkdir()
    (folder / "sex.csv").write_text("f;*\nm;*\n")
    (folder / "age.csv").write_text("31;30-34;*\n35;35-39;*\n38;35-39;*\n")
    (folder / "town.csv").write_text("A;*\nB;*\n")
    return folder


def test_anonymize_table_gives_the_keys_that_programs_rely_on(people: Path, hierarchies: Path, tmp_path: Path) -> None:
    out = tmp_path / "release.csv"
    found = tokumei_json(
        *("anonymize", "table", people, "--qi", "sex,age", "--hierarchies", hierarchies, "--k", 2, "--out", out),
        "--keep-order",
    )
    wanted = {"method", "levels", "loss", "k", "suppressed", "nodes", "nodes_checked", "classes_checked", "seconds"}
    assert wanted <= set(found)
    assert found["levels"] == {"sex": 0, "age": 1}
    assert (found["k"], found["suppressed"], found["nodes"], found["method"]) == (2, 0, 6, "optimal")
    assert out.read_text() == "sex,age\nf,30-34\nf,30-34\nm,35-39\nm,35-39\n"


@pytest.mark.parametrize("method", ["datafly", "ola", "incognito", "pak", "prediction-guided", "exhaustive"])
def test_anonymize_table_by_any_method_holds(people: Path, hierarchies: Path, tmp_path: Path, method: str) -> None:
    out = tmp_path / "release.csv"
    arguments = ["--qi", "sex,age", "--hierarchies", hierarchies, "--k", 2, "--method", method, "--out", out]
    assert tokumei_json("anonymize", "table", people, *arguments)["k"] >= 2
    assert tokumei_json("audit", out, "--qi", "sex,age", "--k", 2)["holds"]


def test_recipe_is_written_and_applied(people: Path, hierarchies: Path, tmp_path: Path) -> None:
    arguments = ["--qi", "sex,age", "--hierarchies", hierarchies, "--k", 2, "--keep", "town", "--keep-order"]
    out, recipe = tmp_path / "release.csv", tmp_path / "recipe.json"
    tokumei_json("anonymize", "table", people, *arguments, "--recipe", recipe, "--out", out)
    again = tokumei_json("anonymize", "apply", recipe, people, "--keep-order", "--out", tmp_path / "again.csv")
    assert again["rows"] == 4
    assert (tmp_path / "again.csv").read_text() == out.read_text()


def test_anonymize_that_cannot_be_done_ends_with_1_and_writes_nothing(people: Path, hierarchies: Path) -> None:
    out = people.parent / "release.csv"
    arguments = ["--qi", "sex,age", "--hierarchies", hierarchies, "--k", 9, "--out", out]
    found = tokumei_json("anonymize", "table", people, *arguments, exit_code=1)
    assert found["error"] == "CannotAnonymize"
    assert not out.exists()


def test_audit_of_a_requirement_that_fails_ends_with_1(people: Path) -> None:
    found = tokumei_json(
        *("audit", people, "--qi", "sex,age", "--sensitive", "town", "--k", 2, "--l-diversity", "town=2"), exit_code=1
    )
    assert (found["k"], found["unique"], found["holds"]) == (1, 2, False)
    assert [one["holds"] for one in found["requirements"]] == [False, False]
    assert found["measures"]["classes"]["k-anonymity"]["value"] == 1


def test_audit_without_a_requirement_only_measures(people: Path) -> None:
    done = tokumei("audit", people, "--qi", "sex,age", "--sensitive", "town")
    assert done.returncode == 0
    assert "prosecutor-risk" in done.stdout
    assert "t-closeness-equal" in done.stdout


def test_predict_compares_with_the_k_that_counting_gives(people: Path, hierarchies: Path) -> None:
    found = tokumei_json("predict", people, "--qi", "sex,age", "--hierarchies", hierarchies, "--k", 2)
    assert {"power-law", "margins"} <= set(found["methods"])
    assert [one["k"] for one in found["nodes"] if one["levels"] == {"sex": 0, "age": 1}] == [2]
    one = tokumei_json(
        *("predict", people, "--qi", "sex,age", "--hierarchies", hierarchies, "--method", "power-law"),
        *("--levels", "age=1"),
    )
    assert len(one["nodes"]) == 1
    assert list(one["methods"]) == ["power-law"]


def test_compare_runs_every_method_and_draws_a_figure(people: Path, hierarchies: Path, tmp_path: Path) -> None:
    page = tmp_path / "compare.html"
    arguments = ("--qi", "sex,age", "--hierarchies", hierarchies, "--k", 2, "--loss", "prec", "--out", page)
    found = tokumei_json("compare", people, *arguments)
    assert {"optimal", "ola", "incognito", "datafly", "best-effort"} <= {one["method"] for one in found["methods"]}
    assert {one["loss"] for one in found["methods"] if one["is_proven"]} == {0.25}
    # What each lost, and what each search cost.
    assert page.read_text().count("<svg") == 2


def test_compare_by_ncp_runs_methods_that_regroup_rows_too(people: Path, hierarchies: Path) -> None:
    arguments = ("compare", people, "--qi", "sex,age", "--hierarchies", hierarchies, "--k", 2)
    found = {one["method"]: one for one in tokumei_json(*arguments, "--loss", "ncp")["methods"]}
    assert found["mondrian"]["loss"] <= found["optimal"]["loss"]
    refused = tokumei_json(*arguments, "--loss", "prec", "--methods", "optimal,mondrian")["methods"]
    assert refused[1]["error"] == "the loss ncp, which local recodings are measured by"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--k", "2", "--method", "optiml"], "optimal"),
        (["--k", "2", "--loss", "pric"], "price"),
        ([], "at least one requirement"),
        (["--k", "2", "--suppress", "2"], "a share of rows"),
        (["--l-diversity", "town"], "COLUMN=NUMBER"),
        (["--l-diversity", "2"], "--sensitive illness"),
        (["--k", "2", "--weights", "sexe=2"], "as weights: 'sex'"),
        (["--k-map", "2"], "a population, which k-map"),
        (["--preset", "cheo"], "cheo-public-release"),
    ],
)
def test_anonymize_table_with_bad_options_says_which(
    people: Path, hierarchies: Path, arguments: list[str], message: str
) -> None:
    out = people.parent / "release.csv"
    shared = ["--qi", "sex,age", "--hierarchies", str(hierarchies), "--out", str(out)]
    done = tokumei("anonymize", "table", people, *shared, *arguments)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not out.exists()


def test_sensitive_columns_are_released_and_take_a_number_that_names_none(people: Path, hierarchies: Path) -> None:
    one, other = people.parent / "one.csv", people.parent / "other.csv"
    shared = ("anonymize", "table", people, "--qi", "sex,age", "--hierarchies", hierarchies, "--seed", 3)
    made = tokumei_json(*shared, "--sensitive", "town", "--l-diversity", "2", "--out", one)
    named = tokumei_json(*shared, "--l-diversity", "town=2", "--out", other)
    assert made["promises"] == named["promises"]
    assert one.read_bytes() == other.read_bytes()
    tokumei_json(*shared, "--sensitive", "town", "--k", 2, "--out", one, "--force")
    assert "town" in one.read_text().splitlines()[0]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    tokumei_json("data", "make", "retail", "--customers", 40, "--seed", 3, "--out", folder)
    return folder


def test_history_goes_from_original_to_verdict(shop: Path, tmp_path: Path) -> None:
    original = shop / "history.parquet"
    release, published, truth = tmp_path / "A.parquet", tmp_path / "S.parquet", tmp_path / "F.csv"
    made = tokumei_json(
        *("anonymize", "history", original, "--method", "pseudonyms", "--set", "lifetime=1", "--seed", 1),
        *("--out", release, "--published", published, "--truth", truth),
    )
    assert made["released"] == made["rows"]
    assert made["pseudonyms"] > made["customers"]
    measured = tokumei_json(
        "measure", "history", "--original", original, "--release", release, "--measures", "rows,date"
    )
    assert [score["value"] for score in measured["scores"].values()] == [0, 0]
    guess = tmp_path / "Fh.csv"
    attacked = tokumei_json("attack", "history", "s6", "--knowledge", original, "--release", published, "--out", guess)
    assert attacked["customers"] == 40
    judged = tokumei_json("judge", "--truth", truth, guess)
    assert 0 < judged["row"]["value"] <= 1
    assert judged["customers"] == 40


def test_published_rows_are_shuffled_and_hold_no_customer(shop: Path, tmp_path: Path) -> None:
    original = pl.read_parquet(shop / "history.parquet")
    tokumei_json(
        *("anonymize", "history", shop / "history.parquet", "--method", "pseudonyms", "--seed", 1),
        *("--out", tmp_path / "A.parquet", "--published", tmp_path / "S.parquet"),
    )
    published = pl.read_parquet(tmp_path / "S.parquet")
    assert published.height == original.height
    assert published["date"].to_list() != original["date"].to_list()
    assert not set(published["customer"]) & set(original["customer"])


def test_pipeline_file_is_followed(shop: Path, tmp_path: Path) -> None:
    pipeline = tmp_path / "p.toml"
    pipeline.write_text('[[step]]\nmethod = "delete"\nrandom = 0.2\n\n[[step]]\nmethod = "pseudonyms"\n')
    made = tokumei_json(
        *("anonymize", "history", shop / "history.parquet", "--pipeline", pipeline, "--out", tmp_path / "A.parquet")
    )
    assert made["released"] < made["rows"]


def test_dummies_are_made_and_attacked_by_two_commands(shop: Path, tmp_path: Path) -> None:
    original, published, truth = shop / "history.parquet", tmp_path / "S.parquet", tmp_path / "F.csv"
    made = tokumei_json(
        *("anonymize", "history", original, "--method", "dummies", "--set", "clusters=10", "--seed", 1),
        *("--out", tmp_path / "A.parquet", "--published", published, "--truth", truth),
    )
    assert made["released"] == made["rows"] + made["made_up"] > made["rows"]
    attack = ("attack", "history", "jaccard", "--knowledge", original, "--release", published, "--truth", truth)
    success = tokumei_json(*attack, "--out", tmp_path / "Q.csv")["success"]
    # One of each cluster, who bought the most.
    assert success["pseudonym"]["value"] == pytest.approx(10 / 40, abs=0.05)
    assert tokumei_json("judge", "--truth", truth, tmp_path / "Q.csv")["pseudonym"] == success["pseudonym"]
    once = tokumei_json(*attack, "--set", "each_once=yes", "--out", tmp_path / "Q1.csv")["success"]
    assert once["pseudonym"]["value"] <= success["pseudonym"]["value"]


def test_knowledge_shows_ten_attackers(shop: Path) -> None:
    page = shop / "knowledge.html"
    found = tokumei_json("knowledge", shop / "history.parquet", "--out", page)
    assert page.read_text().count("<svg") == 1
    assert [row["attacker"] for row in found["attackers"]] == list(range(10))
    assert found["attackers"][0]["measured"] == pytest.approx(1 / 40)


def test_report_shows_every_attack_and_asks_for_nothing_outside(shop: Path, tmp_path: Path) -> None:
    tokumei_json(
        *("anonymize", "history", shop / "history.parquet", "--method", "pseudonyms", "--out", tmp_path / "A.parquet")
    )
    found = tokumei_json(
        *("report", "--original", shop / "history.parquet", "--release", tmp_path / "A.parquet"),
        *("--knowledge", "25", "--knowledge", "100", "--attacks", "s1,s6", "--out", tmp_path / "r.html"),
    )
    assert {(row["attack"], row["known"]) for row in found["attacks"]} == {
        ("s1", "25"),
        ("s1", "100"),
        ("s6", "25"),
        ("s6", "100"),
    }
    page = (tmp_path / "r.html").read_text()
    assert "<script" not in page
    assert "most exposed" in page


def test_history_without_a_seed_gets_one_that_nobody_can_guess(shop: Path, tmp_path: Path) -> None:
    seeds = {
        tokumei_json(
            *(
                "anonymize",
                "history",
                shop / "history.parquet",
                "--method",
                "pseudonyms",
                "--out",
                tmp_path / f"A{number}.parquet",
            )
        )["seed"]
        for number in range(2)
    }
    assert len(seeds) == 2


def test_sweep_draws_a_frontier_and_goes_on_where_it_was(shop: Path, tmp_path: Path) -> None:
    grid = tmp_path / "grid.toml"
    way = '[[pipeline]]\nname = "{}"\n[[pipeline.step]]\nmethod = "pseudonyms"\nlifetime = {}\n'
    grid.write_text(way.format("year", 12) + way.format("month", 1))
    arguments = ["sweep", shop / "history.parquet", "--grid", grid, "--attacks", "s6", "--out", tmp_path / "sweep"]
    found = tokumei_json(*arguments)
    assert {way["name"] for way in found["ways"]} == {"year", "month"}
    assert any(way["is_on_frontier"] for way in found["ways"])
    results = sorted((tmp_path / "sweep" / "results").iterdir())
    before = [path.stat().st_mtime_ns for path in results]
    grid.write_text(grid.read_text() + way.format("quarter", 3))
    assert len(tokumei_json(*arguments)["ways"]) == 3
    assert [path.stat().st_mtime_ns for path in results] == before
    assert (tmp_path / "sweep" / "sweep.html").read_text().count("<svg") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["anonymize", "history", "history.parquet", "--out", "A.parquet"], "either --method or --pipeline"),
        (["anonymize", "history", "history.parquet", "--method", "pseudonym", "--out", "A.csv"], "pseudonyms"),
        (["attack", "history", "s7", "--knowledge", "x", "--release", "x", "--out", "y"], "s7"),
        (["judge", "--truth", "nowhere.csv", "nothing.csv"], "nowhere.csv"),
        (["sweep", "history.parquet", "--knowledge", "x", "--out", "d"], "a share in per cent"),
    ],
)
def test_history_commands_with_bad_input_say_what_is_wrong(shop: Path, arguments: list[str], message: str) -> None:
    done = tokumei(*arguments, cwd=shop)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_generalized_history_goes_from_original_to_verdict(tmp_path: Path) -> None:
    rng = range(1, 29)
    lines = [
        f"{c},2011/{1 + d % 11}/{d},{20000 + d % 5},{1 + d % 3}.5,{1 + (c + d) % 4}"
        for c in range(101, 107)
        for d in rng
    ]
    (tmp_path / "T.csv").write_text("\n".join(lines) + "\n")
    original, release, published, truth = (tmp_path / name for name in ("T.csv", "A.csv", "Ap.csv", "F.csv"))
    made = tokumei_json(
        *("anonymize", "history", original, "--method", "generalize", "--set", "k=3", "--out", release),
        *("--published", published, "--truth", truth),
    )
    assert made["pseudonyms"] == 6
    measured = tokumei_json("measure", "history", "--original", original, "--release", release)
    assert all(score["value"] >= 0 for score in measured["scores"].values())
    guess = tmp_path / "Fp.csv"
    tokumei_json(
        "attack", "history", "items-in-common", "--knowledge", original, "--release", published, "--out", guess
    )
    judged = tokumei_json("judge", "--truth", truth, guess)
    assert not judged["is_unsafe"]


def test_fault_of_the_program_is_one_line_and_exit_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def break_down(*arguments: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(TOKUMEI, "invoke", break_down)
    with pytest.raises(SystemExit) as left:
        main(["count"])
    assert left.value.code == 3
    assert "a fault of Tokumei" in capsys.readouterr().err
