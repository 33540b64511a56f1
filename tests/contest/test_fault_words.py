"""Whatever a file of an edition may be refused for is said in Japanese too."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from tokumei.contest import editions
from tokumei.contest.fault_words import found_in_japanese, in_japanese, sentence_in_japanese
from tokumei.core.errors import Fault
from tokumei.core.text import Text
from tokumei.data.files.strict import StrictFile


def test_every_column_of_every_editions_files_has_words_in_japanese() -> None:
    files = [
        one
        for module in pkgutil.walk_packages(editions.__path__, f"{editions.__name__}.")
        for one in vars(importlib.import_module(module.name)).values()
        if isinstance(one, StrictFile)
    ]
    expected = {kind.expected for file in files for kind in file.types.values()}
    assert len(expected) > 10
    assert [one for one in expected if in_japanese(Fault(one)) is None] == []


def test_braces_of_a_set_are_no_place_for_a_parameter() -> None:
    said = in_japanese(
        Fault("an item of 1 to 9 upper-case letters or digits, a set {a;b;…} of 1 to 100 different ones, or *")
    )
    assert said is not None
    assert "{a;b;…}" in said


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault("a cell that may stand for {truth}, as in T", parameters={"truth": "0.65"}), "T の値 0.65 を含むセル"),
        (Fault("UTF-8"), "UTF-8 の文字"),
        (Fault("7 cells"), "7 個のセル"),
        (Fault("lines of at most 1,000 bytes"), "1行 1,000 バイト以内"),
        (Fault("one of a, b"), "次のいずれか：a, b"),
        (Fault(Text("lines of at most {n:,} bytes", n=1000)), "1行 1,000 バイト以内"),
        (Fault("lines of at most {n:,} bytes", parameters={"n": 1000}), "1行 1,000 バイト以内"),
        (Fault("1 cell"), "1 個のセル"),
        (
            Fault("1 cell as in the lines above (if the table begins here, give --skip-rows 2)"),
            "上の行と同じ 1 個のセル（表がここから始まるなら --skip-rows 2）",
        ),
        (Fault("UTF-8 (is it Shift-JIS?)"), "UTF-8 の文字"),
        (
            Fault("a name for every column; if this is a title above the header, --skip-rows 1"),
            "すべての列の名前（見出しの上にある表題なら --skip-rows 1）",
        ),
        (Fault("a whole number from -1 to 1,000"), "-1 から 1,000 までの整数"),
        (Fault("a zip that holds R.csv and nothing else"), "R.csv だけを含む zip ファイル"),
        (Fault("the file R.csv: the release"), "ファイル R.csv"),
        (Fault("a date from 2010-12 to 2011-11"), "2010-12 から 2011-11 までの日付"),
    ],
)
def test_faults_of_any_file_are_said_in_japanese(fault: Fault, said: str) -> None:
    assert in_japanese(fault) == said


def test_what_a_check_found_is_said_in_japanese_and_cells_are_left_alone() -> None:
    assert found_in_japanese(Fault("x", value="1,234 rows")) == "1,234 行"
    assert found_in_japanese(Fault("x", value="3 cells: a,b,c")) == "3 個のセル：a,b,c"
    # A cell that happens to read so is the team's own text.
    assert found_in_japanese(Fault("x", column="item", value="5 rows")) == "5 rows"
    fault = Fault("a whole number", file="R.csv", line=2, value="x", rule="number")
    assert sentence_in_japanese(fault) == "R.csv、行 2：「x」があります。必要なもの：整数（ルール number）"
