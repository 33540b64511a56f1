"""Sentences of the library that pages show are known in Japanese: every part, and every reason that columns give."""

from __future__ import annotations

import polars as pl
import pytest

from tokumei.anonymize.registry import HISTORY_ANONYMIZERS, TABLE_ANONYMIZERS
from tokumei.core.registry import part_options
from tokumei.hierarchy.builders import BUILDERS
from tokumei.inspection.kinds import KINDS
from tokumei.job.hierarchies import made_hierarchy
from tokumei.job.inspect_table import inspect_columns
from tokumei.report.japanese_texts import FORMS, in_japanese
from tokumei.report.sweep import default_grid


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
    reason = inspect_columns(frame)[name].suggestion.reason
    said = in_japanese(reason)
    assert said is not None, reason
    assert not any(word in said for word in ("its", "values", "header", "rows"))


@pytest.mark.parametrize("values", [["1", "2", "30", "45"], ["2024-01-01", "2024-02-01"], ["a", "b"], [None]])
def test_hierarchy_that_was_made_is_said_in_japanese(values: list[str | None]) -> None:
    said = made_hierarchy("x", pl.Series(values, dtype=pl.String))[1]
    assert in_japanese(said) is not None, said


def test_every_way_of_a_sweep_is_said_in_japanese() -> None:
    assert [name for name in default_grid() if in_japanese(name) is None] == []


def test_forms_have_the_same_names_on_both_sides_and_unknown_texts_stay_unknown() -> None:
    import string

    def names(text: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}

    for english, japanese in FORMS.items():
        assert names(japanese) <= names(english)
    assert in_japanese("a sentence that nobody wrote") is None
    said = in_japanese("codes of people or records: 400 different codes written as A0000, as its header says")
    assert said == "個人やレコードの番号：A0000 の形の 400 種類の番号です（見出しのとおり）"
    assert in_japanese("at most 500 columns") == "500 列以下"
