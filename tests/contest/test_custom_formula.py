"""Formulas compute what they say and run nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.contest.custom.settings import Formula
from tokumei.core.errors import InputError
from tokumei.data.files.toml import parse_toml

NAMES = ("U", "S", "date", "item_cf_supply")
VALUES = {"U": 0.2, "S": 0.6, "date": 0.1, "item_cf_supply": 0.5}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(U + S) / 2", 0.4),
        ("U", 0.2),
        ("max(U, S, 0.1)", 0.6),
        ("min(U, S)", 0.2),
        ("mean(U, S, date)", 0.3),
        ("2 * U - S", -0.2),
        ("-U + +S", 0.4),
        ("  0.25 * item_cf_supply + 0.75 * S  ", 0.575),
        ("1e-1", 0.1),
    ],
)
def test_formula_computes_what_it_says(text: str, value: float) -> None:
    assert Formula(text, NAMES).value(VALUES) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "U +",
        "U ** 2",
        "U // 2",
        "U % 2",
        "U.real",
        "U[0]",
        "U if S else 1",
        "U < S",
        "lambda: 1",
        "[U, S]",
        "'U'",
        "True",
        "1j",
        "1e999",
        "__import__('os').system('true')",
        "(1).__class__",
        "abs(U)",
        "max()",
        "max(*U)",
        "max(U, key=S)",
        "max(U)(S)",
        "U := 1",
        "not U",
        "~U",
        "U; S",
        "U\nS",
        "f'{U}'",
        "(" * 200 + "U" + ")" * 200,
        "U" + " * 2" * 30,
        "9" * 501,
        "\0",
    ],
)
def test_formula_with_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="formula"):
        Formula(text, NAMES)


def test_formula_with_an_unknown_name_is_told_the_nearest() -> None:
    with pytest.raises(InputError, match="'item_cf_supply'"):
        Formula("U + item_cf_suply", NAMES)


@pytest.mark.parametrize("text", ["U / (S - S)", "U / 0", "1e308 * 1e308 - 1e308 * 1e308", "U / S", "1 / (U - 0.5)"])
def test_formula_without_a_value_for_some_scores_is_refused_when_it_is_made(text: str) -> None:
    with pytest.raises(InputError, match="finite"):
        Formula(text, NAMES)


@pytest.mark.parametrize("text", ["~" * 400, "9" * 400, "1e99999 * U", "U" + "²", "U if S else 1"])
def test_formula_that_would_take_a_parser_long_is_refused_before_it_is_parsed(text: str) -> None:
    with pytest.raises(InputError):
        Formula(text, NAMES)


@pytest.mark.parametrize("text", [".".join(["a"] * 9_000) + " = 1", "[" + ".".join(["a"] * 9_000) + "]"])
def test_keys_of_thousands_of_parts_are_refused_before_they_are_parsed(text: str) -> None:
    with pytest.raises(InputError, match="keys of at most 10 parts"):
        parse_toml(text, "my.toml")


@given(st.text(alphabet="US()+-*/., 0123456789emaxinj_[]'\"\\\n:=<>!%", max_size=60))
@settings(max_examples=cases(500))
def test_any_text_is_a_formula_or_an_input_error(text: str) -> None:
    try:
        Formula(text, NAMES).value(VALUES)
    except InputError as error:
        assert error.faults
