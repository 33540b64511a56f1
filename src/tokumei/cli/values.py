"""Options that are plain words, files and numbers, read as they stand: most commands need no more.

The command line library reads every value by another, whose import takes longer than many a command. What is said here
holds for values that are right; anything else goes to the library, which says what is wrong with it.
"""

from __future__ import annotations

import os
import re
from enum import Enum
from pathlib import Path
from types import MethodType
from typing import Any, get_args, get_origin

# What int and float read, and the library as well; underscores, blanks and words for infinity are left to it.
WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
NUMBER = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{1,18})?")
NOT_PLAIN = object()


def with_plain_values(command: Any) -> Any:
    """Read plain values here for a command and all below it."""
    command.get_params = MethodType(_params, command)
    for one in getattr(command, "commands", {}).values():
        with_plain_values(one)
    return command


def _params(command: Any, context: Any) -> list[Any]:
    """Return the parameters of a command, with that for help, which the library makes on demand."""
    params: list[Any] = type(command).get_params(command, context)
    for param in params:
        # Older versions of the library have no such step, and need none.
        if hasattr(param, "get_runtime_param"):
            param.get_runtime_param = _Reader
    return params


class _Reader:
    """Reads the value of a parameter."""

    @staticmethod
    def coerce(value: Any, param: Any, ctx: Any) -> Any:
        """Return the value as the command takes it."""
        read = plain_value(value, param)
        if read is NOT_PLAIN:
            return type(param).get_runtime_param(param).coerce(value, param=param, ctx=ctx)
        return read


def plain_value(value: Any, param: Any) -> Any:
    """Read the value of a parameter that takes plain ones, or give NOT_PLAIN."""
    described = param.type_descriptor
    info, kind = described.parameter_info, described.annotation
    is_several = param.multiple or param.nargs == -1
    if value is None:
        return () if is_several else None
    if info.parser is not None or param.nargs not in (1, -1):
        return NOT_PLAIN
    if not is_several:
        return _read(value, kind, info)
    if get_origin(kind) is not list or not isinstance(value, (list, tuple)):
        return NOT_PLAIN
    found = [_read(one, get_args(kind)[0], info) for one in value]
    return NOT_PLAIN if NOT_PLAIN in found else found


def _read(value: Any, kind: Any, info: Any) -> Any:
    if kind is str:
        return value if type(value) is str else NOT_PLAIN
    if kind is Path:
        return _read_path(value, info)
    if kind is int or kind is float:
        return _read_number(value, kind, info)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next((one for one in kind if value is one or (value == one.value and info.case_sensitive)), NOT_PLAIN)
    return NOT_PLAIN


def _read_path(value: Any, info: Any) -> Any:
    asks_more = info.exists or info.resolve_path or info.writable or not (info.file_okay and info.dir_okay)
    if asks_more or not isinstance(value, (str, Path)):
        return NOT_PLAIN
    # A file that is there and may not be read is the library's to refuse.
    return Path(value) if os.access(value, os.R_OK) or not os.path.lexists(value) else NOT_PLAIN


def _read_number(value: Any, kind: type, info: Any) -> Any:
    if type(value) is str and (WHOLE if kind is int else NUMBER).fullmatch(value):
        value = kind(value)
    is_within = (
        type(value) is kind and (info.min is None or value >= info.min) and (info.max is None or value <= info.max)
    )
    return value if is_within else NOT_PLAIN
