from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, Literal

import pytest

from tokumei.core import registry as registry_module
from tokumei.core.errors import DuplicatePart, InputError, UnknownPart
from tokumei.core.registry import Registry, class_name, part_name, part_options

PART = '''
from dataclasses import dataclass, field

@dataclass(frozen=True)
class SameDay:
    """Same day."""
    k: int = field(default=2, metadata={"help": "How many."})

@dataclass(frozen=True)
class SameWeek:
    """Same week."""
'''
PARTS = {"dates": ["same-week", "same-day"]}


@dataclass(frozen=True)
class Foreign:
    size: int
    share: float = 0.5
    names: tuple[str, ...] = ()
    kind: Literal["a", "b"] = "a"
    limit: int | None = None
    is_fast: bool = field(default=True, metadata={"help": "Whether it is fast."})


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry[Any]]:
    package = tmp_path / "some_parts"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "dates.py").write_text(PART)
    monkeypatch.syspath_prepend(str(tmp_path))
    point = EntryPoint("foreign", f"{__name__}:Foreign", "some_parts")
    monkeypatch.setitem(sys.modules, __name__, sys.modules[Foreign.__module__])
    monkeypatch.setattr(registry_module, "entry_points", lambda group: [point] if group == "some_parts" else [])
    yield Registry("attack", "some_parts", PARTS)
    for name in [name for name in sys.modules if name.startswith("some_parts")]:
        del sys.modules[name]


def test_registry_names_are_those_of_its_modules_and_entry_points(registry: Registry[Any]) -> None:
    assert registry.names() == ["foreign", "same-day", "same-week"]


def test_registry_imports_a_part_only_when_asked_for(registry: Registry[Any]) -> None:
    registry.names()
    assert "some_parts.dates" not in sys.modules
    assert registry.make("same-day").k == 2
    assert "some_parts.dates" in sys.modules


def test_registry_unknown_name_raises_with_the_nearest(registry: Registry[Any]) -> None:
    with pytest.raises(UnknownPart, match="Did you mean 'same-day'"):
        registry.get("same_day")


def test_registry_duplicate_name_is_refused(registry: Registry[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("same-day", "other:SameDay", "some_parts")
    monkeypatch.setattr(registry_module, "entry_points", lambda group: [point])
    with pytest.raises(DuplicatePart, match="same-day"):
        Registry[Any]("attack", "some_parts", PARTS).names()


def test_registry_unknown_option_raises_with_the_nearest(registry: Registry[Any]) -> None:
    with pytest.raises(InputError, match="'share'"):
        registry.make("foreign", size=1, shore=0.1)


def test_registry_missing_option_is_named(registry: Registry[Any]) -> None:
    with pytest.raises(InputError, match="'size'"):
        registry.make("foreign")


def test_options_from_text_are_read_by_type(registry: Registry[Any]) -> None:
    texts = {"size": "3", "share": "0.25", "names": "x, y", "kind": "b", "limit": "none", "is_fast": "no"}
    made = registry.make_from_text("foreign", texts)
    assert made == Foreign(3, 0.25, ("x", "y"), "b", None, False)


@pytest.mark.parametrize(("name", "text"), [("size", "x"), ("kind", "c"), ("is_fast", "perhaps"), ("limit", "1.5")])
def test_options_from_text_of_the_wrong_type_are_input_errors(registry: Registry[Any], name: str, text: str) -> None:
    with pytest.raises(InputError) as caught:
        registry.make_from_text("foreign", {"size": "1", name: text})
    assert caught.value.faults[0].column == name
    assert caught.value.faults[0].value == text


def test_part_options_give_default_and_help() -> None:
    options = {option.name: option for option in part_options(Foreign)}
    assert options["size"].is_required
    assert options["is_fast"].help == "Whether it is fast."
    assert options["share"].default == 0.5


@pytest.mark.parametrize("name", ["same-day", "s1", "k-anonymity", "x-y-anonymity"])
def test_part_name_gives_back_the_name_of_its_class(name: str) -> None:
    assert part_name(type(class_name(name), (), {})()) == name


def test_option_types_are_told_in_words() -> None:
    told = {option.name: option.type_name for option in part_options(Foreign)}
    assert told == {
        "size": "whole number",
        "share": "number",
        "names": "list of text",
        "kind": "a or b",
        "limit": "whole number or none",
        "is_fast": "yes or no",
    }
