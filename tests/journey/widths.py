"""A command's output at every width against its JSON: add a command with one line."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from tokumei.cli import output
from tokumei.cli.main import main
from tokumei.core.result import shown

WIDTHS = (60, 80, 120)
WIDE = 100_000
PRINTERS = ("print_facts", "print_table", "print_text")
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

    Give a seed where a command draws one, and --force where it writes files, since it is run more than once; `before`
    is done before each time, as to lay out files anew. At least so many values of the JSON must be on the screen, so
    that the check cannot pass on empty output.

    What a command hands to be printed is printed anew at each width. A command that prints by itself, or asks how wide
    the screen is, is run anew.
    """
    given = [str(argument) for argument in arguments]
    before()
    values = list(leaves(json.loads(_printed(capsys, [*given, "--json"], exit_code))))
    monkeypatch.setenv("COLUMNS", str(WIDE))
    before()
    with pytest.MonkeyPatch.context() as patch:
        recording = _Recording.of(patch)
        text = _printed(capsys, given, exit_code)
    is_all = not recording.has_asked and recording.printed(capsys) == text
    wide = _words(text)
    wanted = {shown(value) for value in values if _is_on(shown(value), wide)}
    assert len(wanted) >= least, f"only {sorted(wanted)} of the JSON is on the screen"
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        if not is_all:
            before()
        narrow = _words(recording.printed(capsys) if is_all else _printed(capsys, given, exit_code))
        for value in wanted:
            for word in value.split():
                assert narrow[word] >= wide[word], f"{word} of {value} is lost at {width} columns"


@dataclass
class _Recording:
    """What a command handed to be printed, and whether it asked how wide the screen is."""

    calls: list[Callable[[], None]] = field(default_factory=list)
    has_asked: bool = False

    @classmethod
    def of(cls, patch: pytest.MonkeyPatch) -> _Recording:
        """Listen until what is patched is put back."""
        made = cls()
        for name in PRINTERS:
            patch.setattr(output, name, partial(made._print, getattr(output, name)))
        # Those modules of commands that took the function over by its name; the command was run before.
        for name, module in list(sys.modules.items()):
            if name.startswith("tokumei.cli.") and module is not output and hasattr(module, "screen_width"):
                patch.setattr(module, "screen_width", made._screen_width)
        return made

    def _print(self, printer: Callable[..., None], *arguments: Any, **named: Any) -> None:
        self.calls.append(partial(printer, *arguments, **named))
        printer(*arguments, **named)

    def _screen_width(self) -> int | None:
        self.has_asked = True
        return output.screen_width()

    def printed(self, capsys: pytest.CaptureFixture[str]) -> str:
        """Print everything again, on the screen as it is now."""
        for call in self.calls:
            call()
        return capsys.readouterr().out


def leaves(value: Any, key: str = "") -> Iterator[Any]:
    """Return all numbers and names of a JSON object, but for how long it took."""
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
