"""Reports on tables in two languages and several forms, and dossiers that are checked again."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.journey.commands import tokumei_here

import tokumei as tk
from tokumei.attacks.registry import DISCLOSURE_ATTACKS, HISTORY_ATTACKS
from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.data.files.keys import PrivateKey, fingerprint, read_public, write_keys
from tokumei.measures.registry import TABLE_UTILITIES
from tokumei.methods.registry import HISTORY_ANONYMIZERS, TABLE_ANONYMIZERS
from tokumei.reports.dossier_pages import RISKS
from tokumei.reports.evidence_pages import add_attacks, add_use, new_document
from tokumei.reports.figures import grouped_bar_figure
from tokumei.reports.japanese import OF_DOSSIERS, Words
from tokumei.reports.needs import absent_in_words
from tokumei.reports.page import BROWSERS, Document
from tokumei.tasks.measure_history import HistoryUse
from tokumei.tasks.run_steps import use_found
from tokumei.tasks.verification import verify_dossier

PEOPLE = "sex,age,illness\n" + "".join(
    f"{'fm'[n % 2]},{30 + n % 4},{('flu', 'cold', 'gout')[n % 3]}\n" for n in range(24)
)
JOB = """[job]
name = "people"
population_size = 1000
[input]
file = "people.csv"
[roles]
sex = "quasi-identifier"
age = "quasi-identifier"
illness = "sensitive"
[requirements]
k = 3
[[threat]]
name = "neighbor"
attacks = ["record-linkage"]
[[bound]]
of = "k"
least = 3
"""


def clauses(dossier: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    return list(next(one["clauses"] for one in dossier["frameworks"] if one["name"] == name))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("dossier")
    (made / "people.csv").write_text(PEOPLE)
    (made / "job.toml").write_text(JOB)
    tk.run(tk.Job.read(made / "job.toml"), made / "out")
    return made


def test_threat_of_a_job_may_be_a_preset_who_makes_all_attacks_that_they_can(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    asked = 'name = "our staff"\npreset = "prosecutor"\n'
    job = JOB.replace('name = "neighbor"\nattacks = ["record-linkage"]\n', asked)
    attacks = tk.run(tk.Job.of(job, folder=tmp_path), tmp_path / "out").results["attacks"]
    made = {one["attack"] for one in attacks if one["threat"] == "our staff"}
    assert {"record-linkage", "distance-linkage", "homogeneity", "inference"} <= made
    assert not made & {"membership", "presence"}
    with pytest.raises(InputError, match=r"preset.*journalist"):
        tk.Job.of(job.replace("prosecutor", "journalist"), folder=tmp_path)


def test_first_page_decides_with_reasons_and_every_part_follows(folder: Path) -> None:
    text = (folder / "out" / "report.md").read_text(encoding="utf-8")
    first = text.split("## ")[1].strip().split("\n\n")
    # A third of the people are found, and nobody stated that so many may be.
    assert first[0] == "Do not release."
    assert [line[:3] for line in first[1].splitlines()] == ["1. ", "2. ", "3. "]
    assert first[1].startswith("1. Record-linkage by neighbor gains 29.2 of 100 over blind guessing; without a stated")
    facts = dict(line.removeprefix("- **").split("**: ", 1) for line in first[2].splitlines())
    assert facts["What"] == "24 of 24 rows of people. Columns: sex, age, illness."
    assert facts["To whom"] == "Nobody stated who receives it, or for what."
    assert facts["How safe"].startswith(
        "The strongest attack: neighbor finds the record of 33.3 of 100 people (record-linkage)"
    )
    assert "Neighbor is assumed to know sex, age." in facts["How safe"]
    assert facts["Who is responsible"] == "Nobody is named. No review is planned."
    for part in (
        "Risk, use",
        "What was done",
        "recounted",
        "Who is at risk",
        "attacks",
        "use is left",
        "left out",
        "ISO/IEC 27559",
        "Japan",
        "HIPAA",
    ):
        assert part in text
    assert (folder / "out" / "report.html").read_text(encoding="utf-8").count("<svg") > 3


# No test can read for somebody; this one holds that what they need stands where they begin. Words in English, signs of
# Japanese, up to the end of the answers: less than two minutes for most who read.
MOST_READ = {"": 250, ".ja": 800}
FOUR_ANSWERS = {
    "": {
        "What": "24 of 24 rows of people",
        "To whom": "the board, for this purpose: waiting times",
        "How safe": "33.3 of 100",
    },
    ".ja": {
        "提供するもの": "24 行のうち 24 行",
        "提供先と目的": "the board。利用目的：waiting times",
        "安全性": "100 人のうち 33.3 人",
    },
}


@pytest.mark.parametrize("name", ["report", "public"])
@pytest.mark.parametrize("language", ["", ".ja"])
def test_first_page_alone_answers_what_to_whom_how_safe_and_how_useful(folder: Path, name: str, language: str) -> None:
    context = '[context]\nrecipient = "the board"\npurpose = "waiting times"\nenvironment = "enclave"\n'
    out = folder / "four"
    if not out.exists():
        tk.run(tk.Job.of(JOB + context, folder=folder), out)
    text = (out / f"{name}{language}.md").read_text(encoding="utf-8")
    first = "## ".join(text.split("## ")[:2])
    assert len(first.split() if language == "" else first) <= MOST_READ[language]
    facts = dict(line.removeprefix("- **").split("**: ", 1) for line in first.splitlines() if line.startswith("- **"))
    for asked, answer in FOUR_ANSWERS[language].items():
        assert answer in facts[asked]
    useful = facts["How useful" if language == "" else "有用性"]
    assert re.search(r"% of the detail is lost|細かさの .* が失われました", useful)
    # And before them what to do, in one line.
    decision = first.split("## ")[1].splitlines()[0]
    assert decision in ("Release.", "Release under these conditions.", "Do not release.") or language == ".ja"
    assert text.index(decision) < text.index("- **")


@pytest.mark.parametrize(("name", "mark"), [("report", "Internal document"), ("public", "Public document")])
def test_each_document_says_which_it_is_above_and_on_every_sheet(folder: Path, name: str, mark: str) -> None:
    page = (folder / "out" / f"{name}.html").read_text(encoding="utf-8")
    assert f'<p class="mark">{mark}' in page
    assert re.search(rf'@page {{ @top-center {{ content: "{mark}', page)
    assert f"*{mark}" in (folder / "out" / f"{name}.md").read_text(encoding="utf-8")
    word = {"report": "内部文書", "public": "公開文書"}[name]
    assert word in (folder / "out" / f"{name}.ja.html").read_text(encoding="utf-8")


def test_report_in_japanese_has_no_sentence_left_in_english(folder: Path) -> None:
    text = (folder / "out" / "report.ja.md").read_text(encoding="utf-8")
    assert re.search("## (提供できます|次の条件で提供できます|提供しないでください)。", text)
    assert "レコード照合: 確実に分かる割合" in text
    words = dict(OF_DOSSIERS)
    cells = {cell for line in text.splitlines() for cell in re.split(r" \| |^\| | \|$|^#+ ", line)}
    # Values of the data are shown as they are; "illness" and "age" are no words of the report.
    assert not {cell for cell in cells if cell in words and not re.search("[ぁ-んァ-ヶ一-龯]", cell)} - {"k"}


def test_no_sentence_of_a_page_lacks_japanese(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing: set[str] = set()
    say, tell = Document.say, Document.tell

    def said(self: Document, text: str, **values: Any) -> str:
        if text not in self.words:
            missing.add(text)
        return say(self, text, **values)

    def told(self: Document, text: str) -> str:
        found = tell(self, text)
        missing.update([str(text)] if found == text else [])
        return found

    monkeypatch.setattr(Document, "say", said)
    monkeypatch.setattr(Document, "tell", told)
    frame = pl.read_csv(folder / "people.csv", infer_schema=False)
    made = tk.anonymize(tk.Table(frame, qi=["sex", "age"], sensitive=["illness"]), k=3, seed=1)
    report = tk.report(made, context={"recipient": "A"}, reviewer="B")
    for is_public in (False, True):
        assert report.document("ja", is_public=is_public).blocks
    # Sentences have three English words or more; numbers of clauses and names of methods have not.
    english = re.compile(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}")
    assert [text for text in missing if english.search(re.sub(r"{[^}]*}", "", text))] == []


def test_report_names_the_attacks_that_were_not_tried_and_what_each_needs(folder: Path) -> None:
    frame = pl.read_csv(folder / "people.csv", infer_schema=False)
    made = tk.anonymize(tk.Table(frame, qi=["sex", "age"], sensitive=["illness"]), k=3, seed=1)
    report = tk.report(made)
    assert report.dossier["results"]["reasons"].keys() == report.dossier["results"]["left_out"].keys()
    text = report.document().to_markdown()
    for name in report.dossier["results"]["left_out"]:
        assert f"| {name} | needs " in text
    assert "| presence | needs a list of the population |" in text


def test_every_run_measures_what_labels_give_away_and_says_so_in_both_languages(tmp_path: Path) -> None:
    # Two of five ages occur, each once: an end of a tight range is somebody's, of its other values few are.
    rows = "".join(f"{10 + 5 * (n // 2) + n % 2},{('flu', 'cold')[n // 2 % 2]}\n" for n in range(30))
    (tmp_path / "people.csv").write_text(f"age,illness\n{rows}")
    text = (
        '[job]\nseed = 1\n[input]\nfile = "people.csv"\n[roles]\nage = "quasi-identifier"\nillness = "sensitive"\n'
        '[requirements]\nk = 3\n[[method]]\nname = "mondrian"\nranges = "{ranges}"\n'
    )
    told = {}
    for ranges in ("tight", "grid"):
        done = tk.run(tk.Job.of(text.format(ranges=ranges), folder=tmp_path), tmp_path / ranges)
        dossier = json.loads((tmp_path / ranges / "dossier.json").read_text(encoding="utf-8"))
        (attack,) = dossier["results"]["attacks"]
        assert (attack["threat"], attack["attack"], attack["known"]) == ("anybody", "downcoding", [])
        score = attack["scores"]["singled-out"]
        assert done.results["attacks"][0]["scores"]["singled-out"]["value"] == score["value"]
        # The attacker knows the method, as its recipe is no secret: tight ranges give their ends away.
        assert (attack["scores"]["cells-certain"]["value"] > 0) == (ranges == "tight")
        told[ranges] = [one["verdict"] for one in clauses(dossier, "gdpr") if one["title"] == "Singling out"]
        pages = [(tmp_path / ranges / name).read_text(encoding="utf-8") for name in ("report.md", "report.ja.md")]
        low, high = score["interval"]
        for figure in (score["value"], low, high, score["baseline"]):
            assert all(f"{100 * figure:.3g}" in page for page in pages)
        assert "anybody, who has the release alone" in pages[0]
        assert "誰でも（加工データだけを持つ）" in pages[1]
    # What was measured stands before the warning of tight ranges.
    assert told["tight"] == ["measured", "not measured"]


def test_release_without_ranges_says_that_singling_out_was_not_measured(folder: Path) -> None:
    words = ["red", "blue", "green", "black"]
    (folder / "colors.csv").write_text("color,illness\n" + "".join(f"{words[n % 4]},{n % 3}\n" for n in range(24)))
    text = (
        '[input]\nfile = "colors.csv"\n[roles]\ncolor = "quasi-identifier"\nillness = "sensitive"\n'
        "[requirements]\nk = 3\n"
    )
    tk.run(tk.Job.of(text, folder=folder), folder / "colors")
    dossier = json.loads((folder / "colors" / "dossier.json").read_text(encoding="utf-8"))
    law = clauses(dossier, "gdpr")[0]
    assert (law["title"], law["verdict"]) == ("Singling out", "not measured")
    page = (folder / "colors" / "report.ja.md").read_text(encoding="utf-8")
    assert "攻撃が試す範囲の端が、加工データのラベルにありません" in page


def test_why_a_measure_was_left_out_is_said_in_the_language_of_the_report() -> None:
    use = HistoryUse(
        {},
        {
            "price": absent_in_words(["item", "price"]),
            "buyers": Text("it needs the customers' attributes (--master)"),
            "model": InputError.of(Text("columns of numbers, {n} or more", n=2), file="p.csv", value=1).text,
            "own": "what a measure of another package says",
        },
    )
    kept = json.loads(json.dumps(use_found(use)))
    reports = {}
    for language in ("en", "ja"):
        document = new_document({"job": "x"}, language)
        add_use(document, kept)
        reports[language] = document.to_markdown()
    for said in (
        "履歴に 商品と単価 がありません",
        "顧客の属性（--master）が必要です",
        "必要なもの：数値の列を 2 列以上",
        "another package",
    ):
        assert said in reports["ja"]
    for said in use.left_out.values():
        assert str(said) in reports["en"]


@pytest.mark.parametrize(
    ("method", "english", "japanese"),
    [
        ('name = "microaggregate"\nwrite = "median"', "Medians are written", "中央値を書き出しています"),
        ('name = "microaggregate"', "Means are written", "平均値を書き出しています"),
        ('name = "top-bottom-code"', "Numbers between the thresholds", "しきい値の間の数値"),
        ('name = "mondrian"\nranges = "tight"', "anges of numbers are tight", "数値の範囲は「tight」です"),
    ],
)
def test_reports_say_which_values_of_people_a_method_writes(
    tmp_path: Path, method: str, english: str, japanese: str
) -> None:
    (tmp_path / "people.csv").write_text("age\n" + "".join(f"{30 + n // 4}\n" for n in range(24)))
    roles = 'population_size = 1000\n[input]\nfile = "people.csv"\n[roles]\nage = "quasi-identifier"\n'
    asked = f'[job]\nname = "people"\n{roles}[requirements]\nk = 3\n[[method]]\n{method}\n'
    (tmp_path / "job.toml").write_text(asked)
    tk.run(tk.Job.read(tmp_path / "job.toml"), tmp_path / "out")
    dossier = json.loads((tmp_path / "out" / "dossier.json").read_text())
    items = [one for one in clauses(dossier, "gdpr") if one["title"] == "Singling out"]
    assert english in items[-1]["said"] and items[-1]["asks"] == "values of people that the method writes"
    for name, said in (("report.md", english), ("report.ja.md", japanese)):
        assert said in (tmp_path / "out" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(("language", "said"), [("en", "nothing to find"), ("ja", "対象なし")])
def test_attack_with_nothing_to_find_says_so(language: str, said: str) -> None:
    release = tk.Table({"sex": ["f", "f", "m", "m"]}, qi=["sex"])
    found = tk.attack(release, attack="downcoding").as_records("anybody")
    document = new_document({"job": "x"}, language)
    add_attacks(document, found)
    assert document.to_markdown().count(said) == 2
    assert "0 – 1" not in document.to_markdown()


def test_values_of_the_data_are_never_translated(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("job,sex\n" + "other,f\nrows,m\n" * 6)
    text = '[input]\nfile = "people.csv"\n[roles]\njob = "quasi-identifier"\nsex = "sensitive"\n[requirements]\nk = 2\n'
    tk.run(tk.Job.of(text, folder=tmp_path), tmp_path / "out")
    assert "other 50.0% → 50.0%; rows 50.0% → 50.0%" in (tmp_path / "out" / "report.ja.md").read_text(encoding="utf-8")


def test_japanese_names_are_those_of_parts_that_exist() -> None:
    found = {*DISCLOSURE_ATTACKS, *HISTORY_ATTACKS, *TABLE_ANONYMIZERS, *HISTORY_ANONYMIZERS, *TABLE_UTILITIES}
    assert not {*Words("method")} - {*found, "the publisher"}
    assert {*DISCLOSURE_ATTACKS} <= {*Words("attack")}
    assert {*RISKS} <= {*Words("measure")}


def test_history_has_a_report_with_law_in_both_languages_and_keeps_what_leads_back_apart(tmp_path: Path) -> None:
    rows = [f"c{n % 6},2011-0{1 + n % 3}-0{1 + n % 7},i{n % 5},1.5,{1 + n % 2}" for n in range(60)]
    (tmp_path / "shop.csv").write_text("customer,date,item,price,quantity\n" + "\n".join(rows) + "\n")
    (tmp_path / "key").write_bytes(b"sixteen bytes or more")
    text = (
        '[job]\nkind = "history"\nseed = 1\n[input]\nfile = "shop.csv"\n'
        '[[prepare]]\ncolumn = "price"\nby = "round"\nbase = 2\n'
        '[[prepare]]\ncolumn = "date"\nby = "shift-dates"\nkey = "key"\nperson = "customer"\ndays = 9\n'
        '[[method]]\nname = "pseudonyms"\nlifetime = 1\n'
        '[[threat]]\nname = "friend"\nshare = 0.5\nattacks = ["tfidf"]\n'
    )
    tk.run(tk.Job.of(text, folder=tmp_path), tmp_path / "out")
    published = tk.read_frame(tmp_path / "out" / "published.csv")
    assert set(published["price"].cast(float)) == {2.0}
    assert not (tmp_path / "out" / "release.csv").exists()
    dossier = json.loads((tmp_path / "out" / "dossier.json").read_text(encoding="utf-8"))
    assert [one["by"] for one in dossier["results"]["prepared"]] == ["round", "shift-dates"]
    found = {one["number"]: one["verdict"] for one in clauses(dossier, "appi")}
    # Pseudonyms drawn at random link until the table that leads back is destroyed.
    assert found["規則第34条第3号"] == "open"
    english = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "shift-dates" in english
    assert "人ごとの日付のずらし" in (tmp_path / "out" / "report.ja.html").read_text(encoding="utf-8")
    assert verify_dossier(tmp_path / "out" / "dossier.json").holds


def test_untouched_dossier_is_computed_again_to_the_same(folder: Path) -> None:
    found = verify_dossier(folder / "out" / "dossier.json")
    assert found.holds, found.differences
    assert found.not_recomputed is None
    assert dict(found.files)["release.csv"] == "same"


def test_figure_of_every_clause_is_computed_again_by_its_command(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dossier = json.loads((folder / "out" / "dossier.json").read_text(encoding="utf-8"))
    every = [one for page in dossier["frameworks"] for one in page["clauses"]]
    assert len(every) > 70
    for one in every:
        command = f"tokumei verify dossier.json --clause {one['id']}"
        assert one["command"] == (command if one["figure"] else None)
    # All figures are compared; the command shows one.
    risk = next(one for one in every if one["asks"] == "the highest risk of a class")
    code, found = tokumei_here(capsys, "verify", folder / "out" / "dossier.json", "--clause", risk["id"])
    assert code == 0
    assert found["clause"]["now"] == found["clause"]["figure"] == risk["figure"]
    # The smallest class has six rows.
    assert risk["figure"]["value"] == pytest.approx(1 / 6)
    assert tokumei_here(capsys, "verify", folder / "out" / "dossier.json", "--clause", "iso-27559/99")[0] == 2


@pytest.mark.parametrize("what", ["release.csv", "number", "clause"])
def test_changed_release_or_number_is_named(folder: Path, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    dossier = folder / "out" / "dossier.json"
    kept = {one: one.read_text(encoding="utf-8") for one in (dossier, folder / "out" / "release.csv")}
    try:
        if what == "number":
            found = json.loads(kept[dossier])
            found["results"]["k"] = 99
            dossier.write_text(json.dumps(found))
        elif what == "clause":
            found = json.loads(kept[dossier])
            figures = [one["figure"] for page in found["frameworks"] for one in page["clauses"] if one["figure"]]
            figures[0]["value"] = 0.001
            dossier.write_text(json.dumps(found))
        else:
            (folder / "out" / what).write_text("sex\nf\n")
        code, said = tokumei_here(capsys, "verify", dossier)
        assert (code, said["holds"]) == (1, False)
        assert said["files"]["release.csv"] == "differs" or any(
            "k: 99" in one or "0.001" in one for one in said["differences"]
        )
    finally:
        for file, text in kept.items():
            file.write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_signed_dossier_names_who_signed_and_any_change_breaks_it(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("officer", "other"):
        write_keys(tmp_path / name, PrivateKey.fresh())
    out, public = tmp_path / "out", tmp_path / "officer.pub"
    assert tokumei_here(capsys, "run", folder / "job.toml", "--out", out, "--sign", tmp_path / "officer.key")[0] == 0
    code, said = tokumei_here(capsys, "verify", out / "dossier.json", "--key", public)
    assert (code, said["signed_by"]) == (0, fingerprint(read_public(public)))
    code, said = tokumei_here(capsys, "verify", out / "dossier.json", "--key", tmp_path / "other.pub")
    assert code == 1
    assert "not by" in said["differences"][0]
    dossier = json.loads((out / "dossier.json").read_text(encoding="utf-8"))
    dossier["reviewer"] = "somebody else"
    (out / "dossier.json").write_text(json.dumps(dossier), encoding="utf-8")
    code, said = tokumei_here(capsys, "verify", out / "dossier.json")
    assert code == 1
    assert "was changed since" in said["differences"][0]


def test_dossier_that_must_be_signed_and_is_not_is_told(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_keys(tmp_path / "officer", PrivateKey.fresh())
    code, said = tokumei_here(capsys, "verify", folder / "out" / "dossier.json", "--key", tmp_path / "officer.pub")
    assert (code, said["signed_by"]) == (1, None)
    assert said["differences"][0].startswith("signature: none")


@pytest.mark.slow
def test_key_named_in_the_job_file_signs_and_one_that_is_not_there_is_told_by_line(
    folder: Path, tmp_path: Path
) -> None:
    write_keys(tmp_path / "officer", PrivateKey.fresh())
    (tmp_path / "people.csv").write_text(PEOPLE)
    text = JOB + '[output]\nsign = "officer.key"\n'
    tk.run(tk.Job.of(text, folder=tmp_path), tmp_path / "out")
    assert verify_dossier(tmp_path / "out" / "dossier.json", key=read_public(tmp_path / "officer.pub")).holds
    with pytest.raises(InputError) as caught:
        tk.Job.of(text.replace("officer.key", "none.key"), folder=tmp_path)
    assert caught.value.faults[0].line == len(text.splitlines())


@pytest.mark.slow
@pytest.mark.skipif(not any(map(shutil.which, BROWSERS)), reason="no Chromium is installed, which prints PDF")
def test_pages_are_printed_and_a_changed_print_is_named(folder: Path, tmp_path: Path) -> None:
    job = tk.Job.read(folder / "job.toml")
    tk.run(job, tmp_path, pdf=True)
    prints = {"report.pdf", "report.ja.pdf", "public.pdf", "public.ja.pdf"}
    assert {file.name for file in tmp_path.glob("*.pdf")} == prints
    assert all((tmp_path / name).read_bytes().startswith(b"%PDF-") for name in prints)
    dossier = tmp_path / "dossier.json"
    assert set(json.loads(dossier.read_text())["prints"]) == prints
    assert verify_dossier(dossier).holds
    (tmp_path / "public.pdf").write_bytes(b"%PDF-another")
    found = verify_dossier(dossier)
    assert not found.holds
    assert dict(found.files)["public.pdf"] != "same"
    # Run again without printing: no print of another run is left beside the pages.
    tk.run(job, tmp_path)
    assert not list(tmp_path.glob("*.pdf"))


def test_names_of_columns_stand_beside_bars_where_they_have_no_room_under_them() -> None:
    points = pl.DataFrame({"group": ["a"] * 2, "series": ["before", "after"], "value": [3.0, 2.0]})
    names = [f"a_long_name_of_column_{n}" for n in range(9)]
    long = pl.concat(points.with_columns(group=pl.lit(name)) for name in names)
    upright = grouped_bar_figure(points, x_title="", y_title="values")
    lying = grouped_bar_figure(long, x_title="", y_title="values")

    def height(svg: str) -> float:
        return float(re.search(r'height="([\d.]+)"', svg)[1])  # type: ignore[index]

    assert height(lying) < height(upright)
    # Each name ends where the axis begins, on a line of its own.
    where = [found[1] for found in re.finditer(r"<text[^>]*translate\(([^)]*)\)[^>]*>a_long_name_of_column_", lying)]
    assert len({place.split(",")[1] for place in where}) == len(names)
    assert len({place.split(",")[0] for place in where}) == 1


def test_changed_page_is_named(folder: Path) -> None:
    page = folder / "out" / "report.md"
    kept = page.read_text(encoding="utf-8")
    try:
        page.write_text(kept.replace("rows", "cows"), encoding="utf-8")
        assert dict(verify_dossier(folder / "out" / "dossier.json").files)["report.md"] == "differs"
    finally:
        page.write_text(kept, encoding="utf-8")


def test_file_that_is_no_dossier_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(InputError):
        verify_dossier(tmp_path / "x.json")


def test_report_command_on_tables_writes_by_suffix(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--original", folder / "people.csv", "--release", folder / "out" / "release.csv"]
    given = ["report", *files, "--rows", folder / "out" / "secret" / "rows.txt", "--qi", "sex,age"]
    code, found = tokumei_here(
        capsys, *given, "--sensitive", "illness", "--k", "3", "--lang", "ja", "--out", tmp_path / "r.html"
    )
    assert code == 0
    assert found["results"]["after"]["k"] >= 3
    assert "内部文書" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert tokumei_here(capsys, *given, "--k", "25", "--out", tmp_path / "r.md")[0] == 1
    asked = ["--l-diversity", "illness=1", "--t-closeness", "illness=1:equal", "--preset", "cheo-trusted-recipient"]
    code, found = tokumei_here(capsys, *given, "--sensitive", "illness", *asked, "--out", tmp_path / "s.html")
    assert code == 0
    assert len(found["results"]["after"]["requirements"]) == 5
    assert tokumei_here(capsys, *given, "--l-diversity", "illness=4", "--out", tmp_path / "r.md", "--force")[0] == 1
    assert tokumei_here(capsys, *given, "--out", tmp_path / "r.doc")[0] == 2
    assert tokumei_here(capsys, "report", *files, "--l-diversity", "illness=1", "--out", tmp_path / "t.html")[0] == 2


def test_report_has_the_risk_of_a_survey_before_and_after(tmp_path: Path) -> None:
    rows = [f"h{n // 2},{30 + n},{'fm'[n % 2]},{10 + n}" for n in range(12)]
    (tmp_path / "survey.csv").write_text("home,age,sex,weight\n" + "\n".join(rows) + "\n")
    roles = 'age = "quasi-identifier"\nsex = "quasi-identifier"\nhome = "household"\nweight = "other"\n'
    text = '[job]\nname = "survey"\nweights = "weight"\npopulation_size = 500\n[input]\nfile = "survey.csv"\n'
    (tmp_path / "job.toml").write_text(f'{text}[roles]\n{roles}[requirements]\nk = 2\n[[method]]\nname = "optimal"\n')
    tk.run(tk.Job.read(tmp_path / "job.toml"), tmp_path / "out")
    found = json.loads((tmp_path / "out" / "dossier.json").read_text())["results"]["profile"]
    before, after = found["sample"]["before"], found["sample"]["after"]
    # Everybody is alone in the original: a row of weight w is at the risk of p/(1-p) ln(1/p), p = 1/w.
    assert before["individual_risk"]["expected"] == pytest.approx(sum(math.log(w) / (w - 1) for w in range(10, 22)))
    assert 0 < after["individual_risk"]["expected"] < before["individual_risk"]["expected"]
    assert before["special_uniques"]["rows_alone"] == 12
    assert after["special_uniques"]["rows_alone"] == 0
    assert found["population_uniques"]["n"] == 500
    assert found["population_uniques"]["after"] == 0
    # The same from Python.
    frame = tk.Table(tmp_path / "survey.csv", qi=["age", "sex"])
    again = tk.report(tk.anonymize(frame, k=2, seed=1), weights="weight", population_size=500)
    told = again.dossier["results"]["profile"]["sample"]["before"]["individual_risk"]
    assert told["expected"] == pytest.approx(before["individual_risk"]["expected"])
    # A dossier names no row, person or value of the original.
    assert "riskiest" not in json.dumps(found["sample"]) and "h1" not in json.dumps(found["sample"])
    for name, said in (
        ("report.md", "households expected to be found"),
        ("report.ja.md", "特定されると見込まれる世帯数"),
    ):
        assert said in (tmp_path / "out" / name).read_text(encoding="utf-8")
