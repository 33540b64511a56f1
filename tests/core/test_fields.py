"""Values of options by their types, from a file and as typed."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from tokumei.core.fields import fit, type_name, wanted


@pytest.mark.parametrize(
    ("kind", "value", "fitted"),
    [
        (float, 3, 3.0),
        (tuple[int, ...], [1, 2], (1, 2)),
        (tuple[float, ...] | None, [1], (1.0,)),
        (Literal["a", "b"], "b", "b"),
        (int | str, "x", "x"),
        (bool, True, True),
    ],
)
def test_value_of_a_file_becomes_its_type(kind: Any, value: object, fitted: object) -> None:
    found = fit(kind, value)
    assert found == fitted
    assert type(found) is type(fitted)


@pytest.mark.parametrize(
    ("kind", "value"),
    [(int, True), (float, False), (int, 1.0), (str, 1), (tuple[str, ...], "abc"), (Literal["a"], "b")],
)
def test_value_of_a_file_of_another_type_is_refused(kind: Any, value: object) -> None:
    with pytest.raises(ValueError, match=str(value)):
        fit(kind, value)


@pytest.mark.parametrize(
    ("kind", "text", "fitted"),
    [
        (int, "3", 3),
        (float | None, "none", None),
        (float | None, "2", 2.0),
        (bool, "Yes", True),
        (tuple[int, ...], "1, 2,", (1, 2)),
        (tuple[str, ...] | None, "a", ("a",)),
    ],
)
def test_typed_text_becomes_its_type(kind: Any, text: str, fitted: object) -> None:
    assert fit(kind, text, is_typed=True) == fitted


@pytest.mark.parametrize(
    ("kind", "text"), [(int, "x"), (bool, "maybe"), (int, "none"), (tuple[int, ...], "1,b"), (Any, "x")]
)
def test_typed_text_of_another_type_is_refused(kind: Any, text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        fit(kind, text, is_typed=True)


def test_types_and_expectations_in_words() -> None:
    assert type_name(tuple[int, ...] | None) == "list of whole number or none"
    assert wanted("seeed", ["seed", "name"]) == "'seed'"
    assert wanted("zzz", ["seed", "name"]) == "one of seed, name"
