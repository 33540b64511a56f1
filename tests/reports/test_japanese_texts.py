"""Sentences of the library that pages show are known in Japanese: every part, and every reason that columns give."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from tokumei.contest.edition import EDITIONS
from tokumei.core.errors import CannotAnonymize, Fault, InputError, PromiseBroken, TokumeiError, UnknownPart
from tokumei.core.registry import part_options
from tokumei.core.text import Text, counted, from_json, to_json
from tokumei.hierarchies.hierarchy import BUILDERS
from tokumei.inspection.kinds import KINDS
from tokumei.methods.registry import HISTORY_ANONYMIZERS, TABLE_ANONYMIZERS
from tokumei.reports.evaluation import default_grid
from tokumei.reports.japanese import OF_CONTESTS, SENTENCES, Words, in_japanese
from tokumei.tasks.inspect_table import inspect_columns
from tokumei.tasks.preparing import made_hierarchy

# Texts that no page shows.
ONLY_ENGLISH: set[str] = set()


def test_every_method_step_and_builder_is_said_in_japanese_with_its_options() -> None:
    texts = []
    for registry in (TABLE_ANONYMIZERS, HISTORY_ANONYMIZERS, BUILDERS):
        for name in registry:
            part = registry.get(name)
            texts.append((part.__doc__ or "").strip().splitlines()[0])
            if registry is not TABLE_ANONYMIZERS:
                texts += [option.help for option in part_options(part) if not option.is_file]
    assert [text for text in texts if in_japanese(text) is None] == []


def test_every_kind_of_column_has_its_word() -> None:
    assert [kind.words for kind in KINDS.values() if in_japanese(kind.words) is None] == []


# A column for each way to come to a role.
COLUMNS = {
    "氏名": [f"{family} {given}" for family in ("佐藤", "鈴木", "田中", "高橋") for given in ("翔", "結衣", "健")],
    "mail": [f"a{number}@example.com" for number in range(12)],
    "性別": ["男", "女"] * 6,
    "年齢": [str(20 + 5 * number) for number in range(12)],
    "会員番号": [f"M{1000 + number}" for number in range(12)],
    "都道府県": ["東京都", "大阪府", "北海道"] * 4,
    "郵便番号": [f"100-{number:04d}" for number in range(12)],
    "来店日": [f"2024-01-{number + 1:02d}" for number in range(12)],
    "金額": [str(100 * number) for number in range(12)],
    "備考": ["常連", None, "電話予約"] * 4,
    "note": [f"He said that number {number} would come back soon." for number in range(12)],
    "x": ["a"] * 12,
    "y": [None] * 12,
    "z": [f"w{chr(97 + number)}" for number in range(12)],
    "flag": ["0", "1"] * 6,
    "code": [str(number) for number in range(1, 13)],
    "word": ["p", "q", "r"] * 4,
}


@pytest.mark.parametrize("name", COLUMNS)
def test_reason_of_a_role_is_said_in_japanese(name: str) -> None:
    frame = pl.DataFrame({name: COLUMNS[name]}, schema={name: pl.String})
    reason = inspect_columns(frame)[0][name].suggestion.reason
    said = in_japanese(reason)
    assert said is not None, reason
    assert not any(word in said for word in ("its", "values", "header", "rows"))


@pytest.mark.parametrize(
    "values",
    [["1", "2", "30", "45"], ["2024-01-01", "2024-02-01"], ["01067", "01069", "10115", "80331"], ["a", "b"], [None]],
)
def test_hierarchy_that_was_made_is_said_in_japanese(values: list[str | None]) -> None:
    said = made_hierarchy("x", pl.Series(values, dtype=pl.String))[1]
    assert in_japanese(said) is not None, said


def test_every_way_of_a_sweep_is_said_in_japanese() -> None:
    assert [name for name in default_grid() if in_japanese(name) is None] == []


def test_forms_have_the_same_names_on_both_sides_and_unknown_texts_stay_unknown() -> None:
    import string

    def names(text: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}

    for english, japanese in SENTENCES.items():
        assert names(japanese) <= names(english)
    assert in_japanese("a sentence that nobody wrote") is None
    assert in_japanese(Text("a sentence with {n}", n=1)) is None
    reason = Text("{n:,} different codes written as {form}", n=4_000, form="A0000")
    said = Text(
        "{kind}: {reason}",
        kind=Text("codes of people or records"),
        reason=Text("{reason}, as its header says", reason=reason),
    )
    assert said == "codes of people or records: 4,000 different codes written as A0000, as its header says"
    assert in_japanese(said) == "個人やレコードの番号：A0000 の形の 4,000 種類の番号です（見出しのとおり）"
    # What is written in a column is never taken for words of a sentence.
    assert in_japanese(str(said)) is None
    # Nor is a sentence taken apart again that lost its form.
    assert "at most 500 columns" not in SENTENCES
    assert Text("at most {n:,} columns", n=500).in_words(SENTENCES) == "500 列以下"


def test_every_option_of_an_edition_is_said_in_japanese() -> None:
    options = {option.help for name in EDITIONS for option in part_options(EDITIONS.get(name))}
    assert [text for text in options if text and in_japanese(text) is None] == []


@cache
def _written() -> tuple[set[str], set[str]]:
    """Return every text of the library with {} for what is put into it, and the forms that texts are made of."""
    texts, forms = set(), set()
    for file in (Path(__file__).resolve().parents[2] / "src" / "tokumei").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                texts.add("".join(map(_part, node.values)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Text":
                forms |= {str(one.value) for one in node.args if isinstance(one, ast.Constant)}
    return texts, forms


def _part(part: ast.expr) -> str:
    """Return a part of a text: words, {} for a value, and with the noun of what is counted."""
    if isinstance(part, ast.Constant):
        return str(part.value)
    call = part.value if isinstance(part, ast.FormattedValue) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "counted":
        nouns = [str(noun.value) for noun in call.args[1:] if isinstance(noun, ast.Constant)]
        return f"{{}} {nouns[1] if len(nouns) > 1 else f'{nouns[0]}s'}"
    return "{}"


def _bare(text: str) -> str:
    return re.sub(r"\{[^{}]*\}|\b\d+\b", "{}", text)


@pytest.mark.slow
def test_every_form_of_a_text_has_japanese_words_of_the_same_names() -> None:
    def named(form: str) -> str:
        return re.sub(r"\{(\w+)[^}]*\}", r"{\1}", form)

    _, forms = _written()
    assert len(forms) > 140
    known = set(OF_CONTESTS) | ONLY_ENGLISH
    assert sorted(form for form in map(named, forms) if form not in known) == []


def test_every_error_that_has_japanese_words_is_one_that_the_library_says() -> None:
    """What it says of formulas is put together from two texts, and Python says where TOML is wrong."""
    texts, _ = _written()
    said = {_bare(text) for text in texts}
    unsaid = [text for text in Words("error") if _bare(text) not in said]
    assert [text for text in unsaid if not re.search(r"parentheses, \{functions\}|at line", text)] == []


@pytest.mark.parametrize(
    ("error", "japanese"),
    [
        (
            InputError.of("at least 2 rows", file="R.csv", line=3, value=counted(1, "row")),
            "R.csv、行 3：「1 行」があります。必要なもの：2 行以上",
        ),
        (InputError.of("a number", option="k", value="x"), "オプション k：「x」があります。必要なもの：数値"),
        (
            InputError([Fault("a number", "D.csv", column="age")], 14),
            "D.csv、列 age：必要なもの：数値\n…ほか 13 件",
        ),
        (UnknownPart("edition", "odd", ["one", "two"]), "「odd」という名前のものはありません。使えるもの：one, two"),
        (
            PromiseBroken(Text("A release for k = {k} has a class of {rows}.", k=5, rows=counted(1, "row"))),
            "k = 5 の加工データに 1 行のクラスがあります。",
        ),
        (
            CannotAnonymize(
                Text(
                    "No further change keeps every attack under {bound:g}; nearest comes {n:,} changes with "
                    "{found:.3f} by {attack} ({score}).{why}",
                    bound=0.1,
                    n=1_200,
                    found=0.25,
                    attack="refine",
                    score="narrowed",
                    why=Text(" The time was up."),
                )
            ),
            "どの追加の変更でも、すべての攻撃を 0.1 以下にはできません。最も近いのは 1,200 件の変更で、"
            "refine（narrowed）が 0.250 です。制限時間に達しました。",
        ),
    ],
)
def test_error_is_told_in_japanese_after_it_was_stored(error: TokumeiError, japanese: str) -> None:
    """Jobs store what went wrong, and somebody reads it later in whatever language."""
    stored = json.loads(json.dumps(to_json(error.text)), object_hook=from_json)
    assert stored == str(error)
    assert stored.in_words(OF_CONTESTS) == japanese
