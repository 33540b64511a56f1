"""Releases made by ARX, sdcMicro and SDV, as they write them, to an audit and a dossier in two commands."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tokumei as tk
from tokumei.cli.main import main
from tokumei.core.errors import InputError
from tokumei.engines.count import count_classes
from tokumei.measures.safety.suppressed_cells import suppressed_cells
from tokumei.tasks.arx_project import read_arx_project
from tokumei.tasks.request import Requirements

ILLNESSES = ("flu", "cold", "gout")
ROWS = [(20 + n % 4, ("13053", "14850")[n % 2], "fm"[n // 12], ILLNESSES[n % 3]) for n in range(24)]
ORIGINAL = "age,zip,sex,illness\n" + "".join(f"{','.join(map(str, row))}\n" for row in ROWS)
QI = ("--qi", "age,zip,sex", "--sensitive", "illness")
DEFINITION = """<?xml version="1.0"?>
<definition>
  <assigment><name>name</name><type>IDENTIFYING_ATTRIBUTE</type><datatype>String</datatype></assigment>
  <assigment><name>age</name><type>QUASI_IDENTIFYING_ATTRIBUTE</type><datatype>Integer</datatype>
    <ref>hierarchies/age.csv</ref><min>All</min><max>All</max></assigment>
  <assigment><name>zip</name><type>QUASI_IDENTIFYING_ATTRIBUTE</type><datatype>String</datatype></assigment>
  <assigment><name>illness</name><type>SENSITIVE_ATTRIBUTE</type><datatype>String</datatype></assigment>
</definition>"""
CONFIG = """<config><relativeMaxOutliers>0.05</relativeMaxOutliers><criteria>
  <criterion>{k}-anonymity</criterion>
  <criterion>distinct-2-diversity for attribute 'illness'</criterion>
  <criterion>0.9-closeness with equal ground-distance for attribute 'illness'</criterion>
  <criterion>population-uniqueness (0.01)</criterion>
</criteria></config>"""
PEOPLE = [(f"P{n}", *ROWS[n][:2], ROWS[n][3]) for n in range(24)]
INPUT = "name;age;zip;illness\n" + "".join(f"{';'.join(map(str, row))}\n" for row in PEOPLE)
RELEASED = "name;age;zip;illness\n" + "".join(
    f"*;*;*****;{illness}\n" if n > 21 else f"*;[20, 24[;{code[:2]}***;{illness}\n"
    for n, (_, _, code, illness) in enumerate(PEOPLE)
)
AGES = "".join(f"{age};[20, 24[;*\n" for age in range(20, 24)) + "NULL;NULL;*\n"
CODES = "13053;13***;*\n14850;14***;*\n"


def members(k: int = 3) -> dict[str, str]:
    """Return the members of a project, as ARX writes them, without those that are serialized Java."""
    return {
        "metadata.xml": "<metadata><version>3.9.1</version><vocabulary>2.0</vocabulary></metadata>",
        "project.xml": "<project><name>people</name><separator>;</separator></project>",
        "data/input.csv": INPUT,
        "input/config.xml": CONFIG.format(k=k),
        "input/definition.xml": DEFINITION,
        "input/hierarchies/age.csv": AGES,
        "input/hierarchies/zip.csv": CODES,
    }


def write_project(path: Path, found: Mapping[str, str | bytes]) -> Path:
    """Write a project of these members."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in found.items():
            archive.writestr(name, text)
    return path


def _run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[object, dict[str, Any]]:
    """Run with --json and return the exit code and the one object; notes of how files are read go to standard error."""
    with pytest.raises(SystemExit) as done:
        main([*map(str, arguments), "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return done.value.code, found


def test_release_of_arx_with_its_project_goes_to_a_dossier_in_two_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = write_project(tmp_path / "people.deid", members())
    release = tmp_path / "out.csv"
    release.write_text(RELEASED)
    code, audited = _run(capsys, "audit", release, "--from-arx", project)
    # Two rows say nothing: a class of two, where three were asked for.
    assert code == 1 and audited["k"] == 2
    assert audited["suppressed_cells"]["rows"] == audited["suppressed_cells"]["empty"] == 2
    assert audited["suppressed_cells"]["k_if_anything"] == 13
    names = [one["requirement"] for one in audited["requirements"]]
    assert [name.split(" ")[0] for name in names] == ["k-anonymity", "l-diversity", *["t-closeness"] * 2]
    assert audited["not_checked"] == ["population-uniqueness (0.01)"]
    out = tmp_path / "dossier.md"
    exit_code, reported = _run(capsys, "report", "--from-arx", project, "--release", release, "--out", out)
    text = out.read_text()
    assert exit_code == 1 and "Released without a role: name." in text
    assert "Asked for, and not checked: population-uniqueness (0.01)." in text
    attacks = {one["attack"] for one in reported["results"]["attacks"]}
    assert {"record-linkage", "homogeneity", "downcoding"} <= attacks
    assert "zip | quasi-identifier | changed" in text


def test_release_of_arx_that_lacks_rows_is_reported_on_without_whose_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # A distance by the hierarchy of the sensitive column, which the project has.
    trees = {"input/hierarchies/illness.csv": "flu;cough;*\ncold;cough;*\ngout;other;*\n"}
    config = CONFIG.format(k=2).replace("equal", "hierarchical")
    project = write_project(tmp_path / "people.deid", members() | trees | {"input/config.xml": config})
    (tmp_path / "out.csv").write_text("\n".join(RELEASED.splitlines()[:-2]) + "\n")
    release = ("--release", tmp_path / "out.csv", "--out", tmp_path / "dossier.json")
    code, reported = _run(capsys, "report", "--from-arx", project, *release)
    assert code == 0 and reported["results"]["copies"] == {"columns": 4, "rows": 0, "alone": 0}
    assert len(reported["results"]["after"]["requirements"]) == 4


def test_release_of_arx_without_its_project_is_read_by_its_masks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.csv").write_text(INPUT)
    (tmp_path / "out.csv").write_text(RELEASED)
    pair = ("--original", tmp_path / "in.csv")
    known = ("--qi", "age,zip", "--sensitive", "illness")
    assert _run(capsys, "audit", tmp_path / "out.csv", *known, *pair, "--k", 2)[0] == 0
    release = ("--release", tmp_path / "out.csv", "--in-order", "--out", tmp_path / "dossier.html")
    code, found = _run(capsys, "report", *pair, *known, *release)
    scores = {one["attack"]: one["scores"] for one in found["results"]["attacks"]}
    # 22 people fit 11 rows and the 2 that say nothing, and these two people fit the same 13.
    assert code == 0 and scores["record-linkage"]["success"]["inputs"]["expected"] == pytest.approx(1 / 13)


def test_release_of_sdcmicro_with_row_names_and_na_goes_to_a_dossier(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ['"","age","zip","sex","illness"\n']
    for n, (_, code, sex, illness) in enumerate(ROWS):
        age = "NA" if n == 0 else '"(19,24]"'
        lines.append(f'"{n + 1}",{age},"{code}",{"NA" if n == 1 else chr(34) + sex + chr(34)},"{illness}"\n')
    (tmp_path / "out.csv").write_text("".join(lines))
    (tmp_path / "in.csv").write_text(ORIGINAL)
    status, audited = _run(capsys, "audit", tmp_path / "out.csv", *QI, "--original", tmp_path / "in.csv", "--k", 4)
    assert status == 1 and audited["k"] == 1
    release = ("--release", tmp_path / "out.csv", "--in-order", "--out", tmp_path / "dossier.md")
    _, found = _run(capsys, "report", "--original", tmp_path / "in.csv", *QI, *release)
    scores = {one["attack"]: one["scores"] for one in found["results"]["attacks"]}
    assert scores["record-linkage"]["certain"]["value"] == 0
    text = (tmp_path / "dossier.md").read_text()
    assert "Released, and not in the original: row_names." in text
    assert "may stand for any value, as sdcMicro counts" in text


def test_synthetic_rows_are_nobodys_and_what_has_to_know_them_is_not_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Of 30 rows two are equal to rows of the original: one that is alone there , and one of several.
    (tmp_path / "in.csv").write_text(ORIGINAL + "77,14850,f,gout\n20,13053,f,flu\n")
    made = ["77,14850,f,gout", "20,13053,f,flu", *[f"{60 + n % 9},13053,m,flu" for n in range(28)]]
    (tmp_path / "out.csv").write_text("age,zip,sex,illness\n" + "\n".join(made) + "\n")
    _, audited = _run(capsys, "audit", tmp_path / "out.csv", *QI)
    assert audited["rows"] == 30
    out = tmp_path / "dossier.md"
    _, found = _run(
        capsys, "report", "--original", tmp_path / "in.csv", *QI, "--release", tmp_path / "out.csv", "--out", out
    )
    results = found["results"]
    assert results["copies"] == {"columns": 4, "rows": 2, "alone": 1}
    assert "record-linkage" not in {one["attack"] for one in results["attacks"]}
    assert {"information-loss", "model"} <= results["use"]["left_out"].keys()
    assert "crosstab-error" in results["use"]["scores"]
    text = out.read_text()
    assert "30 rows are released beside an original of 26" in text
    # Its success is of descriptions, so that it is no attack that finds so many people.
    assert "of the descriptions that singling-out drew from the release" in text
    assert "The strongest attack that was tried (singling-out" not in text


def test_suppressed_cells_of_five_rows_are_alike_by_hand() -> None:
    frame = pl.DataFrame({"sex": ["f", "f", "f", "m"], "age": ["30", "30", "*", "*"]})
    assert suppressed_cells(count_classes(frame, ["sex", "age"])) is None
    more = pl.concat([frame, pl.DataFrame({"sex": ["m"], "age": ["40"]})])
    found = suppressed_cells(count_classes(more, ["sex", "age"]))
    assert found is not None and (found.n_rows, found.n_empty, found.k) == (2, 0, 2)


def test_suppressed_cells_are_alike_as_every_two_rows_compared_say() -> None:
    rows = [("ab*"[n % 3], "xy*"[n // 3 % 3], "pq*"[n * n % 3]) for n in range(40)]
    frame = pl.DataFrame(rows, schema=["a", "b", "c"], orient="row")
    alike = [
        sum(all("*" in pair or pair[0] == pair[1] for pair in zip(one, other, strict=True)) for other in rows)
        for one in rows
    ]
    found = suppressed_cells(count_classes(frame, ["a", "b", "c"]))
    assert found is not None and found.k == min(alike)


def test_project_says_roles_hierarchies_models_and_suppression(tmp_path: Path) -> None:
    found = read_arx_project(write_project(tmp_path / "people.deid", members()))
    assert found.roles == {
        "name": "identifier",
        "age": "quasi-identifier",
        "zip": "quasi-identifier",
        "illness": "sensitive",
    }
    assert found.hierarchies["age"].labels_at(1)[0] == "[20, 24[" and found.numeric == ["age"]
    # ARX writes a missing number as NULL, which is no number.
    assert found.hierarchies["age"].leaves == ("20", "21", "22", "23")
    asked = Requirements(k=3, l_diversity={"illness": ["2"]}, t_closeness={"illness": ["0.9:equal"]})
    assert found.asked == asked and found.suppress == 0.05
    assert found.data is not None and found.data.height == 24
    assert found.requirements(Requirements(k=9)).k == 9
    table = found.original()
    assert table.quasi_identifiers == ["age", "zip"] and table.sensitive == ["illness"]
    release = tk.anonymize(table, k=3, method="mondrian")
    assert release.k is not None and release.k >= 3


def test_table_is_anonymized_as_a_project_asks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = write_project(tmp_path / "people.deid", members())
    (tmp_path / "in.csv").write_text(INPUT.replace(";", ","))
    out = tmp_path / "out.csv"
    code, found = _run(capsys, "anonymize", "table", tmp_path / "in.csv", "--from-arx", project, "--out", out)
    assert code == 0 and found["k"] >= 3 and found["levels"].keys() == {"age", "zip"} and found["may_suppress"] == 0.05
    assert set(tk.read_frame(out)["age"]) <= {"[20, 24[", *map(str, range(20, 24))}
    assert tk.read_frame(out).columns == ["age", "zip", "illness"]


def test_output_of_a_project_counts_before_its_input(tmp_path: Path) -> None:
    more = {"output/definition.xml": DEFINITION, "output/config.xml": CONFIG.format(k=7)}
    assert read_arx_project(write_project(tmp_path / "p.deid", members() | more)).asked.k == 7


@pytest.mark.parametrize(
    ("member", "text", "expected"),
    [
        ("input/definition.xml", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "XML without a document type"),
        ("input/definition.xml", "<definition><assigment>", "well-formed XML"),
        ("input/definition.xml", "<definition/>", "an attribute or more"),
        ("input/definition.xml", DEFINITION.replace("QUASI_", "SEMI_", 1), "found 'SEMI_IDENTIFYING_ATTRIBUTE'"),
        ("input/definition.xml", DEFINITION.replace(">zip<", ">age<"), "each once"),
        ("input/config.xml", "<config><relativeMaxOutliers>few</relativeMaxOutliers></config>", "a share"),
        ("project.xml", "<project><separator>;;</separator></project>", "one ASCII character"),
        ("data/input.csv", "name;age\nA;1\n", "the column zip"),
        ("data/input.csv", "name;age;zip;illness\nA;1\n", "line 2"),
        ("input/hierarchies/age.csv", "20;*\n20;[20, 24[\n", "age.csv"),
    ],
)
def test_broken_member_of_a_project_is_named_with_its_file(
    tmp_path: Path, member: str, text: str, expected: str
) -> None:
    project = write_project(tmp_path / "people.deid", members() | {member: text})
    with pytest.raises(InputError) as error:
        read_arx_project(project)
    assert str(error.value).startswith(f"{project}: {member}") and expected in str(error.value)


def test_file_that_is_no_project_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.deid").write_text("no zip")
    with pytest.raises(InputError, match="a whole zip file"):
        read_arx_project(tmp_path / "a.deid")
    with pytest.raises(InputError, match=r"project\.xml: expected a project of ARX"):
        read_arx_project(write_project(tmp_path / "b.deid", {"x": ""}))


def test_member_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokumei.tasks.arx_project.HIERARCHY_LIMIT", 20)
    with pytest.raises(InputError, match=r"hierarchies/age.csv: expected at most 20 bytes"):
        read_arx_project(write_project(tmp_path / "a.deid", members()))


def test_member_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    project = write_project(tmp_path / "a.deid", members())
    with zipfile.ZipFile(project, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("project.xml", "<project/>")
    with pytest.raises(InputError, match="each member once"):
        read_arx_project(project)


def test_reference_out_of_a_project_reads_no_file(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text(AGES)
    definition = DEFINITION.replace("hierarchies/age.csv", "../../secret.csv")
    found = read_arx_project(write_project(tmp_path / "a.deid", members() | {"input/definition.xml": definition}))
    assert "age" not in found.hierarchies


@pytest.mark.thorough
def test_pair_in_python_is_reported_on_as_at_the_shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.csv").write_text(ORIGINAL)
    head, ages = "age,zip,sex,illness\n", '"[20, 24["'
    texts = {
        "arx": head + "".join(f"{ages},{code[:2]}***,{sex},{ill}\n" for _, code, sex, ill in ROWS),
        "sdc": head + "".join(f"{age + 0.4},{code},{sex},{ill}\n" for age, code, sex, ill in ROWS),
        "sdv": head + "".join(f"{24 - n % 4},13053,f,{ILLNESSES[n % 3]}\n" for n in range(30)),
    }
    for name, text in texts.items():
        ways = {} if name == "sdv" else {"in_order": True}
        (tmp_path / f"{name}.csv").write_text(text)
        files = (str(tmp_path / "in.csv"), str(tmp_path / f"{name}.csv"))
        done = tk.report(*files, tmp_path / f"{name}.md", qi=["age", "zip", "sex"], sensitive=["illness"], k=2, **ways)  # type: ignore[call-overload]
        pair = ("--original", files[0], "--release", files[1], *QI, "--k", 2, *(["--in-order"] if ways else []))
        code, found = _run(capsys, "report", *pair, "--out", tmp_path / f"{name}.shell.md")
        assert code == (0 if done.dossier["holds"] else 1)
        ours = json.loads(json.dumps(done.dossier["results"]["attacks"], default=str))
        assert ours == found["results"]["attacks"]
        assert (tmp_path / f"{name}.md").read_text() == (tmp_path / f"{name}.shell.md").read_text()
        # The three criteria and linkage by distance are tried unasked.
        made = {one["attack"] for one in ours}
        assert {"singling-out", "linkability", "inference"} <= made
        assert ("distance-linkage" in made) == bool(ways)
        assert "control" in done.dossier["results"]["left_out"]["membership"]


def test_report_on_a_pair_names_who_attacks_and_writes_numbers(tmp_path: Path) -> None:
    frame = pl.DataFrame(ROWS, schema=["age", "zip", "sex", "illness"], orient="row")
    people = tk.Table(frame, qi=["age", "zip", "sex"], sensitive=["illness"])
    done = tk.report(people, frame, tmp_path / "r.json", in_order=True, threat="prosecutor", language="ja")
    told = json.loads((tmp_path / "r.json").read_text())["results"]
    assert told["threat"]["aim"] == "riskiest"
    assert {one["threat"] for one in told["attacks"]} <= {"a prosecutor who knows that somebody is in it", "anybody"}
    linked = next(one for one in done.dossier["results"]["attacks"] if one["attack"] == "record-linkage")
    # Three rows say the same of everybody.
    assert linked["outcome"]["highest"] == pytest.approx(1 / 3)
    with pytest.raises(InputError, match="a release of rows of people"):
        tk.report(people)  # type: ignore[call-overload]


def test_membership_is_tried_unasked_where_400_people_are_outside() -> None:
    frame = pl.DataFrame({"age": [20 + n % 60 for n in range(60)], "zip": [n % 7 for n in range(60)]})
    others = pl.DataFrame({"age": [20 + n % 57 for n in range(400)], "zip": [n % 5 for n in range(400)]})
    found = tk.report(tk.Table(frame, qi=["age", "zip"]), frame, control=others).dossier["results"]
    assert "membership" in {one["attack"] for one in found["attacks"]}
    assert {one["attack"]: one for one in found["attacks"]}["singling-out"]["outcome"]["control"] is not None
