"""Whatever a file of an edition may be refused for is said in Japanese too."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from tokumei.contest import editions
from tokumei.core.errors import Fault
from tokumei.core.text import Text, choice_of, counted
from tokumei.data.files.strict import StrictFile
from tokumei.reports.japanese import expected_in_japanese, found_in_japanese, sentence_in_japanese


def test_every_column_of_every_editions_files_has_words_in_japanese() -> None:
    files = [
        one
        for module in pkgutil.walk_packages(editions.__path__, f"{editions.__name__}.")
        for one in vars(importlib.import_module(module.name)).values()
        if isinstance(one, StrictFile)
    ]
    expected = {kind.expected for file in files for kind in file.types.values()}
    assert len(expected) > 10
    assert [one for one in expected if expected_in_japanese(Fault(one)) is None] == []


def test_braces_of_a_set_are_no_place_for_a_parameter() -> None:
    said = expected_in_japanese(
        Fault("an item of 1 to 9 upper-case letters or digits, a set {a;b;…} of 1 to 100 different ones, or *")
    )
    assert said is not None
    assert "{a;b;…}" in said


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault("a cell that may stand for {truth}, as in T", parameters={"truth": "0.65"}), "T の値 0.65 を含むセル"),
        (Fault("UTF-8"), "UTF-8 の文字"),
        (Fault(counted(7, "cell")), "7 個のセル"),
        (Fault(choice_of("ab")), "次のいずれか：a, b"),
        (Fault(Text("lines of at most {n:,} bytes", n=1000)), "1行 1,000 バイト以内"),
        (Fault("lines of at most {n:,} bytes", parameters={"n": 1000}), "1行 1,000 バイト以内"),
        (Fault(Text("a whole number from {n} to {m:,}", n=-1, m=1000)), "-1 から 1,000 までの整数"),
        (Fault(Text("the file {file}: {what}", file="R.csv", what="the release")), "ファイル R.csv"),
        (
            Fault("at most {n_most:,} of {n_rows:,} rows deleted", parameters={"n_most": 1000, "n_rows": 2000}),
            "削除は 2,000 行のうち 1,000 行まで",
        ),
    ],
)
def test_faults_of_any_file_are_said_in_japanese(fault: Fault, said: str) -> None:
    assert expected_in_japanese(fault) == said


def test_what_a_check_found_is_said_in_japanese_and_cells_are_left_alone() -> None:
    assert found_in_japanese(Fault("x", value=counted(1234, "row"))) == "1,234 行"
    cells = Text("{cells}: {text}", cells=counted(3, "cell"), text="a,b,c")
    assert found_in_japanese(Fault("x", value=cells)) == "3 個のセル：a,b,c"
    # What stands in a file and happens to read so is the team's own text.
    assert found_in_japanese(Fault("x", value="5 rows")) == "5 rows"
    fault = Fault("a whole number", file="R.csv", line=2, value="x", rule="number")
    assert sentence_in_japanese(fault) == "R.csv、行 2：「x」があります。必要なもの：整数（ルール number）"
