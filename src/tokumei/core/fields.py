"""Reading what a file holds, key by key: each is asked for by type and bounds, and none may be left over.

What does not fit is an `InputError` with the file, the place, the value and what was expected; a name that is not known
comes with the nearest that is. `Section` reads TOML, `Document` the JSON of the exchange; `fit` reads the
options of a part.
"""

from __future__ import annotations

import types
import typing
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any, ClassVar

from tokumei.core.errors import InputError, nearest
from tokumei.core.text import JsonView, Text, choice_of

REQUIRED: object = object()
NAMES = 'a list of names such as ["a", "b"]'


class Fields(ABC):
    """The keys of one object in a file; remembers which were asked for, so that any other is a slip."""

    found: JsonView
    asked: set[str]
    may_be_blank: ClassVar[bool] = False
    longest: ClassVar[int] = 2_000

    @abstractmethod
    def fault(self, expected: str, key: str = "", value: object = None) -> InputError:
        """Make the error for one key."""

    @abstractmethod
    def inside(self, key: str) -> Fields:
        """Return the fields of an object within this one."""

    def get(self, key: str, expected: str, kinds: type | tuple[type, ...], default: object = REQUIRED) -> Any:
        """Return the value of a key; an error if it has another type, or is missing without a default."""
        self.asked.add(key)
        if key not in self.found:
            if default is REQUIRED:
                raise self.fault(expected, key)
            return default
        value = self.found[key]
        # A truth value is a whole number to Python, but not to whoever writes a file.
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            raise self.fault(expected, key, value)
        return value

    def text(self, key: str, default: object = REQUIRED, *, expected: str = "text", most: int | None = None) -> str:
        """Return a text of bounded length."""
        most = most or self.longest
        value: str = self.get(key, expected, str, default)
        if key in self.found and (len(value) > most or not (self.may_be_blank or value.strip())):
            least = 0 if self.may_be_blank else 1
            raise self.fault(f"{expected} of {least} to {most:,} characters", key, value)
        return value

    def maybe_text(self, key: str, expected: str) -> str | None:
        """Return a text, even of blanks, or None where the key is missing."""
        value: str | None = self.get(key, expected, str, None)
        if value is not None and not 0 < len(value) <= self.longest:
            raise self.fault(expected, key, value)
        return value

    def choice(self, key: str, known: Collection[str], default: object = REQUIRED) -> str:
        """Return one of some words."""
        value: str = self.get(key, choice_of(known), str, default)
        if value not in known:
            raise self.fault(wanted(value, known), key, value)
        return value

    def number(self, key: str, least: float, most: float, default: object = REQUIRED) -> float:
        """Return a number within bounds."""
        expected = Text("a number from {n:g} to {m:g}", n=least, m=most)
        value = self.get(key, expected, (int, float), default)
        if not least <= value <= most:
            raise self.fault(expected, key, value)
        return float(value)

    def whole(self, key: str, least: int = 0, most: int = 10**15, default: object = REQUIRED) -> int:
        """Return a whole number within bounds."""
        expected = Text("a whole number from {n:,} to {m:,}", n=least, m=most)
        value: int = self.get(key, expected, int, default)
        if not least <= value <= most:
            raise self.fault(expected, key, value)
        return value

    def flag(self, key: str, default: object = REQUIRED) -> bool:
        """Return true or false."""
        value: bool = self.get(key, "true or false", bool, default)
        return value

    def names(self, key: str, default: object = REQUIRED, *, known: Collection[str] | None = None) -> tuple[str, ...]:
        """Return a list of distinct names, each of the known ones where these are listed."""
        values = self.get(key, NAMES, list, default)
        for value in values:
            if not isinstance(value, str) or not value:
                raise self.fault(NAMES, key, value)
            if known is not None and value not in known:
                raise self.fault(wanted(value, sorted(known)), key, value)
        if len(set(values)) < len(values):
            raise self.fault("each name once", key, ", ".join(values))
        return tuple(values)

    def finish(self) -> None:
        """Refuse the keys that nobody asked for, naming the nearest."""
        for key, value in self.found.items():
            if key not in self.asked:
                raise self.fault(f"a key that is known: {wanted(key, sorted(self.asked))}", key, value)


def wanted(given: str, known: Collection[str]) -> str:
    """Name what was expected in place of a name: the nearest known one, or all of them."""
    near = nearest(given, known)
    return f"'{near}'" if near else choice_of(known) if known else "none at all"


def fit(kind: Any, value: Any, *, is_typed: bool = False) -> Any:
    """Turn a value into a type; ValueError where it does not fit.

    From a file lists become tuples, and whole numbers fractions where wanted. What was typed is all text: lists are
    separated by commas, and `none` stands for nothing.
    """
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        # TOML has no null: an option that may be missing is left out.
        if is_typed and value.lower() == "none" and types.NoneType in arguments:
            return None
        for one in arguments:
            try:
                return fit(one, value, is_typed=is_typed)
            except ValueError:
                continue
    elif (
        origin is tuple
        and isinstance(value, str if is_typed else Sequence)
        and (is_typed or not isinstance(value, str))
    ):
        parts = [part.strip() for part in str(value).split(",") if part.strip()] if is_typed else value
        return tuple(fit(arguments[0], part, is_typed=is_typed) for part in parts)
    elif origin is typing.Literal and value in arguments:
        return value
    elif origin is None and is_typed:
        return _typed(kind, value)
    # A truth value is a whole number to Python, but not to whoever writes a file.
    elif kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    elif isinstance(kind, type) and origin is None and type(value) is kind:
        return value
    raise ValueError(value)


def _typed(kind: Any, text: str) -> object:
    if kind is bool:
        if text.lower() not in ("true", "false", "yes", "no", "1", "0"):
            raise ValueError(text)
        return text.lower() in ("true", "yes", "1")
    try:
        return kind(text)
    # What cannot be typed at all, such as a frame.
    except TypeError:
        raise ValueError(text) from None


def type_name(kind: Any) -> str:
    """Return a type in words."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return " or ".join("none" if one is types.NoneType else type_name(one) for one in arguments)
    if origin is typing.Literal:
        return " or ".join(str(one) for one in arguments)
    if origin is tuple:
        return Text("list of {type}", type=type_name(arguments[0]))
    plain = {int: "whole number", float: "number", str: "text", bool: "yes or no"}
    return plain.get(kind, getattr(kind, "__name__", str(kind)))
