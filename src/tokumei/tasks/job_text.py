"""The text of a job file from its plain values, for programs that edit one; what `tomllib` reads back is the same."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from tokumei.core.errors import InputError
from tokumei.tasks.job_file import SECTIONS

HEAD = "# A job of Tokumei: tokumei run THIS --out DIR does it all, --dry-run only looks."
# What stands above a section, for who reads the file later.
ABOVE = {
    "roles": "# What each column is to an attacker.",
    "hierarchies": "# How columns are generalized: a file, or a builder. What is not named here gets a sensible one.",
    "requirements": "# What every class of rows must hold, and the share of rows that may be left out for it.",
    "method": "# One method or several: of several the best release is taken.",
    "threat": "# Somebody who may attack, and what they know.",
    "bound": "# What must hold in the end; the command ends with 1 if one does not.",
}


def write_job(found: Mapping[str, Any], *, reasons: Mapping[str, str] | None = None) -> str:
    """Return the text of a job file: its sections in their usual order.

    reasons: for columns, why they have their role; written beside it.

    >>> print(write_job({"input": {"file": "a.csv"}, "roles": {"age": "quasi-identifier"}}))
    # A job of Tokumei: tokumei run THIS --out DIR does it all, --dry-run only looks.
    <BLANKLINE>
    [input]
    file = "a.csv"
    <BLANKLINE>
    # What each column is to an attacker.
    [roles]
    "age" = "quasi-identifier"
    <BLANKLINE>
    """
    lines = [HEAD]
    for name in (*SECTIONS, *(other for other in found if other not in SECTIONS)):
        given = found.get(name)
        if given is None:
            continue
        listed = given if isinstance(given, list) else [given]
        for number, one in enumerate(listed):
            lines += ["", *([ABOVE[name]] if name in ABOVE and not number else [])]
            lines.append(f"[[{name}]]" if isinstance(given, list) else f"[{name}]")
            lines += _pairs(name, one, reasons or {})
    return "\n".join(lines) + "\n"


def _pairs(section: str, given: Mapping[str, Any], reasons: Mapping[str, str]) -> list[str]:
    """Write keys and values; names of columns in quotes, and long lists of columns in one line each."""
    is_of_columns = section in ("roles", "hierarchies")
    lines = []
    for key, value in given.items():
        beside = f"  # {' '.join(reasons[key].split())}" if section == "roles" and key in reasons else ""
        lines.append(f"{_text(key) if is_of_columns else _key(key)} = {_value(value)}{beside}")
    return lines


def _key(name: str) -> str:
    is_bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if is_bare else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_value(part)}' for key, part in value.items())} }}" if value else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(_value(part) for part in value)}]"
    raise InputError.of("text, a number, true, false, a list or a table", value=value)


def _text(value: str) -> str:
    # JSON's escapes are TOML's, but for the one control character that JSON leaves as it is.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
