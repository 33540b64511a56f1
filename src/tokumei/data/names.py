"""Names of columns that Polars would take for others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tokumei.core.errors import InputError

PLAIN_NAME = "a name other than * or ^…$, which stand for several columns at once"


def is_pattern(name: str) -> bool:
    """Whether Polars takes a name for all columns, or for those that a regular expression finds."""
    return name == "*" or (name.startswith("^") and name.endswith("$"))


def check_no_patterns(names: Iterable[str], **where: Any) -> None:
    """Refuse a table with such a name: wherever it is mentioned, other columns would be taken too."""
    for name in names:
        if is_pattern(name):
            raise InputError.of(PLAIN_NAME, value=name, **where)
