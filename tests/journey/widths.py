"""A command's output at every width against its JSON: add a command with one line."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tokumei.cli.main import main
from tokumei.core.result import shown

WIDTHS = (60, 80, 120)
# Differs from run to run.
TIMED = ("seconds",)


def check_widths(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *arguments: object,
    exit_code: int = 0,
    least: int = 3,
    before: Callable[[], object] = lambda: None,
) -> None:
    """Check that all numbers and names of the JSON that a wide screen shows stand whole on every narrow one.

    Give a seed where a command draws one, and --force where it writes files, since it is run once for each width;
    `before` is done before each time, as to lay out files anew. At least so many values of the JSON must be on the
    screen, so that the check cannot pass on empty output.
    """
    given = [str(argument) for argument in arguments]
    before()
    values = list(leaves(json.loads(_printed(capsys, [*given, "--json"], exit_code))))
    monkeypatch.setenv("COLUMNS", "100000")
    before()
    wide = _words(_printed(capsys, given, exit_code))
    wanted = {shown(value) for value in values if _is_on(shown(value), wide)}
    assert len(wanted) >= least, f"only {sorted(wanted)} of the JSON is on the screen"
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        before()
        narrow = _words(_printed(capsys, given, exit_code))
        for value in wanted:
            for word in value.split():
                assert narrow[word] >= wide[word], f"{word} of {value} is lost at {width} columns"


def leaves(value: Any, key: str = "") -> Iterator[Any]:
    """Give all numbers and names of a JSON object, but for how long it took."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, name)
    elif isinstance(value, list):
        for part in value:
            yield from leaves(part, key)
    elif key not in TIMED and value is not None and not isinstance(value, bool) and value != "":
        yield value


def _is_on(text: str, words: Counter[str]) -> bool:
    return bool(text.split()) and all(word in words for word in text.split())


def _words(text: str) -> Counter[str]:
    return Counter(re.sub(r"[,;]\s", " ", text).split())


def _printed(capsys: pytest.CaptureFixture[str], arguments: list[str], exit_code: int) -> str:
    with pytest.raises(SystemExit) as done:
        main(arguments)
    printed = capsys.readouterr()
    assert done.value.code == exit_code, printed.out + printed.err
    return printed.out
