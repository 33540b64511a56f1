"""Whole jobs on tables shaped like those that offices and hospitals have, by commands alone."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.journey.commands import tokumei_here
from tests.real.test_histories import _run

import tokumei as tk

INCOMES = ("収入なし", "50万円未満", "50～99万円", "100～149万円", "150～199万円", "200～299万円", "300万円以上")
AGES = ("15～24歳", "25～34歳", "35～44歳", "45～54歳", "55～64歳", "65歳以上")


def _employment(folder: Path) -> tuple[Path, list[str], list[str], str]:
    """Write rows as the ministry's employment microdata: a preamble, a byte order mark, 29 columns, codes, ranges."""
    draw = random.Random(1)
    file = folder / "ippan.csv"
    names = ["年齢階級", "男女の別", "年間収入", "所得, 世帯", *(f"項目{n:02d}" for n in range(25))]
    lines = ["一般用ミクロデータ", "就業構造基本調査", "注意: 合成データ", "", "単位: 万円"]
    lines.append(",".join(f'"{name}"' if "," in name else name for name in names))
    for _ in range(300):
        codes = [f"{draw.randrange(4):02d}" for _ in range(25)]
        cells = [draw.choice(AGES), draw.choice("12"), draw.choice(INCOMES), f"{draw.randrange(9)}"]
        lines.append(",".join([*cells, *codes]))
    file.write_bytes(b"\xef\xbb\xbf" + "\r\n".join([*lines, ""]).encode())
    return file, ["--skip-rows", "5"], ["年齢階級", "男女の別", '"所得, 世帯"'], "年間収入"


def _arx(folder: Path) -> tuple[Path, list[str], list[str], str]:
    """Write rows as ARX's examples: semicolons, a hierarchy for each column beside them."""
    draw = random.Random(2)
    file = folder / "data.csv"
    lines = ["age;gender;zipcode;income"]
    for _ in range(200):
        zipcode, income = draw.choice(["81667", "81675", "81925", "81931"]), draw.choice(["<=50K", ">50K"])
        lines.append(f"{draw.randrange(30, 60)};{draw.choice(['male', 'female'])};{zipcode};{income}")
    file.write_text("\n".join(lines) + "\n")
    trees = folder / "hierarchies"
    trees.mkdir()
    ages = [f"{age};{age // 10 * 10}-{age // 10 * 10 + 9};*" for age in range(30, 60)]
    (trees / "data_hierarchy_age.csv").write_text("\n".join(ages) + "\n")
    (trees / "data_hierarchy_gender.csv").write_text("male;*\nfemale;*\n")
    zips = [f"{z};{z[:4]}*;{z[:3]}**;*" for z in ("81667", "81675", "81925", "81931")]
    (trees / "data_hierarchy_zipcode.csv").write_text("\n".join(zips) + "\n")
    return file, ["--delimiter", ";"], ["age", "gender", "zipcode"], "income"


def _hospital(folder: Path) -> tuple[Path, list[str], list[str], str]:
    """Write rows as a hospital's: names, birth dates, postal codes with a hyphen, notes, and -9 for what is unknown."""
    draw = random.Random(3)
    file = folder / "patients.tsv"
    lines = ["patient\tname\tbirth date\tpostal code\tdiagnosis\tnote"]
    for n in range(250):
        born = f"19{draw.randrange(40, 60)}-{1 + draw.randrange(12):02d}-{1 + draw.randrange(28):02d}"
        ill = draw.choice(["flu", "ulcer", "asthma", "-9"])
        note = f"came by bus on day {n} and complained of a cough for weeks"
        lines.append(f"{n:05d}\tName {n}\t{born}\t{draw.choice(['150-0043', '160-0022'])}\t{ill}\t{note}")
    file.write_text("\n".join(lines) + "\n")
    return file, ["--null-values", "-9"], ["birth date", "postal code"], "diagnosis"


@pytest.mark.parametrize("make", [_employment, _arx, _hospital])
def test_table_goes_all_the_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], make: Callable[[Path], tuple[Path, list[str], list[str], str]]
) -> None:
    file, reading, known, sensitive = make(tmp_path)
    run = functools.partial(_run, capsys)
    out, rows, recipe = (tmp_path / name for name in ("release.csv", "rows.txt", "recipe.json"))
    described = run("data", "describe", file, *reading)
    trees = ["--hierarchies", tmp_path / "hierarchies"] if (tmp_path / "hierarchies").exists() else []
    roles = [*reading, "--qi", ",".join(known), *trees]
    asked = ["--k", "3", "--l-diversity", f"{sensitive}=2", "--suppress", "0.1"]
    made = run("anonymize", "table", file, *roles, *asked, "--out", out, "--rows", rows, "--recipe", recipe)
    assert made["rows"] + made["suppressed"] == described["rows"]
    assert made["k"] >= 3
    assert made["loss"] < 1
    audited = run("audit", out, "--qi", ",".join(known), "--sensitive", sensitive, "--k", "3")
    assert audited["holds"]
    assert {one["column"] for one in audited["columns"]} == {*(name.strip('"') for name in known), sensitive}
    pair = ["--original", file, "--release", out, *roles, "--sensitive", sensitive, "--rows", rows]
    attacked = run("attack", "table", *pair)["attacks"]
    assert attacked["record-linkage"]["success"]["value"] <= 1 / 3
    assert run("measure", "table", *pair, "--measures", "row-count,crosstab-error")["scores"]
    run("anonymize", "apply", recipe, file, *reading, "--out", tmp_path / "again.csv")
    assert run("audit", tmp_path / "again.csv", "--qi", ",".join(known))["k"] >= 3
    columns = [name.strip('"') for name in known]
    people = tk.Table(file, columns, [sensitive], **_keywords(reading), hierarchies=_folder(trees))
    tk.report(tk.anonymize(people, k=3, suppress=0.1), tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 1000


def test_ranges_of_the_microdata_are_read_in_their_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, reading, _, _ = _employment(tmp_path)
    out = tmp_path / "age.csv"
    built = _run(
        capsys, *("hierarchy", "build", "from-data", "--data", file, *reading), "--column", "年齢階級", "--out", out
    )
    assert built["read_as"].startswith("labels in the order of the ranges of numbers in them")
    assert [line.partition(";")[0] for line in out.read_text().splitlines()] == list(AGES)
    income = _run(
        capsys, *("hierarchy", "build", "from-data", "--data", file, *reading), "--column", "年間収入",
        *("--out", tmp_path / "income.csv"),
    )  # fmt: skip
    assert "収入なし" in income["read_as"]


def test_names_and_notes_of_a_hospital_are_not_kept_by_a_slip(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, reading, known, _ = _hospital(tmp_path)
    given = ["anonymize", "table", file, *reading, "--qi", ",".join(known), "--k", "3", "--out", tmp_path / "r.csv"]
    for column in ("patient", "name", "note"):
        code, found = tokumei_here(capsys, *given, "--keep", column)
        assert (code, f"column {column}" in found["message"]) == (2, True)
    code, found = tokumei_here(capsys, *[str(word).replace("birth date", "birthdate") for word in given])
    assert code == 2
    assert "'birthdate'" in found["message"]
    assert "birth date" in found["message"]


def _keywords(reading: list[str]) -> dict[str, Any]:
    read: dict[str, Any] = {"--skip-rows": int, "--delimiter": str, "--null-values": lambda text: [text]}
    return {reading[0][2:].replace("-", "_"): read[reading[0]](reading[1])}


def _folder(trees: list[Any]) -> Any:
    return trees[1] if trees else None
