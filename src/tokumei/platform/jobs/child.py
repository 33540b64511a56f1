"""The process that does the work of one job, on files alone: it knows no database and no key of the server.

It reads one JSON object from its input, writes JSON lines to its output, and ends when its input does:

    {"step": "price", "done": 3, "total": 12}     now and then
    {"result": {…}}                               what the work gave
    {"faults": […], "n_faults": 21, "said": "…", "groups": […]}   what was handed in breaks the rules
    {"failure": "MemoryError"}                    the platform's own fault, by kind

Django is not imported here, so that a process starts in a fraction of a second.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from tokumei.core.errors import Fault, InputError, TokumeiError
from tokumei.core.progress import Bar, listening
from tokumei.core.text import Text, to_json

# Progress is for a person who waits; more often would only load the database.
TELL_SECONDS = 0.2
LONGEST_QUOTED = 300
# Kinds of faults that are told: a file of many columns has some in each.
MOST_GROUPS = 100


class Refused(Exception):
    """What was handed in breaks the rules; any other error is the platform's."""

    def __init__(self, error: TokumeiError) -> None:
        super().__init__()
        self.error = error


@contextmanager
def refusing() -> Iterator[None]:
    """Separate a user's faults from our own errors."""
    try:
        yield
    except TokumeiError as error:
        raise Refused(error) from None


class Teller:
    """A progress listener that tells every step by a line, the innermost and latest."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._last = 0.0

    def tell(self, shape: Mapping[str, object]) -> None:
        """Write one line."""
        self._out.write(json.dumps(shape, ensure_ascii=False, allow_nan=False) + "\n")
        self._out.flush()

    @contextmanager
    def step(self, label: str, total: float | None) -> Iterator[Bar]:
        """Open a step; how far it is is told at most a few times a second."""
        yield _Told(self, label, total)

    def progress(self, label: str, done: float, total: float | None, *, is_new: bool) -> None:
        """Report how far a step is, if it is new or the last report was a while ago."""
        now = time.monotonic()
        if is_new or now - self._last >= TELL_SECONDS:
            self._last = now
            self.tell({"step": label, "done": done, "total": total})


class _Told:
    def __init__(self, teller: Teller, label: str, total: float | None) -> None:
        self._teller, self._label, self._total = teller, label, total
        self._done = 0.0
        teller.progress(label, 0, total, is_new=True)

    def advance(self, amount: float = 1) -> None:
        self._done += amount
        self._teller.progress(self._label, self._done, self._total, is_new=False)


def main() -> None:
    """Do the work that the first line of the input asks for."""
    asked = json.loads(sys.stdin.readline())
    limit(asked["limits"])
    threading.Thread(target=_end_with_input, daemon=True).start()
    # What an edition prints by mistake must not be taken for an answer.
    teller = Teller(os.fdopen(os.dup(1), "w", encoding="utf-8"))
    os.dup2(2, 1)
    try:
        with listening(teller):
            answer = {"result": call(asked["function"], asked["asked"])}
        teller.tell(answer)
    except Refused as refused:
        teller.tell(faults_of(refused.error))
    except BaseException as error:  # noqa: BLE001 - whatever it is, the process ends, and its kind is told.
        teller.tell({"failure": failure_of(error)})
        raise SystemExit(1) from None


def limit(limits: Mapping[str, int]) -> None:
    """Bound what the process may take of the machine, and keep what it writes to its owner."""
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits["file_bytes"], limits["file_bytes"]))
    resource.setrlimit(resource.RLIMIT_DATA, (limits["memory_bytes"], limits["memory_bytes"]))
    addresses = limits["memory_bytes"] + limits.get("reserved_bytes", 0)
    resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))
    # Wall time is kept by whoever started this; twice the processors' share stops a loop if that died too.
    seconds = limits["cpu_seconds"]
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))


def call(function: str, asked: Mapping[str, object]) -> Any:
    """Call what the kind of work names; the name comes from the code, never from a row."""
    module, _, name = function.partition(":")
    return getattr(import_module(module), name)(asked)


def failure_of(error: BaseException) -> str:
    """Return the kind of an error alone: a message has paths, and may have cells of somebody's data."""
    kind = errno.errorcode.get(error.errno or 0) if isinstance(error, OSError) else None
    return kind or type(error).__name__


def faults_of(error: TokumeiError) -> dict[str, object]:
    """Return what is reported of a broken rule."""
    if not isinstance(error, InputError):
        return {"faults": [], "n_faults": 0, "said": to_json(_storable(error.text)), "groups": []}
    bare = _bare(error.faults)
    said = InputError(bare, error.n_faults).text
    groups = [
        {"n_faults": one.n_faults, "first": [fault.to_json() for fault in _bare(one.first)]} for one in error.groups
    ]
    told = {"faults": [fault.to_json() for fault in bare], "n_faults": error.n_faults, "said": to_json(said)}
    return told | {"groups": groups[:MOST_GROUPS]}


def _bare(faults: Sequence[Fault]) -> list[Fault]:
    """Name files as the team knows them, not where they lie, and make what is quoted fit to be stored."""
    return [
        replace(
            fault,
            expected=_storable(fault.form),
            file=None if fault.file is None else _storable(Path(fault.file).name),
            column=None if fault.column is None else _storable(fault.column),
            value=None if fault.value is None else _storable(fault.value),
            parameters=_storable_values(fault.values),
        )
        for fault in faults
    ]


def _storable_values(values: Mapping[str, object]) -> dict[str, object]:
    return {
        name: value if isinstance(value, (int, float)) else _storable(value if isinstance(value, str) else str(value))
        for name, value in values.items()
    }


def _storable(text: str) -> str:
    """Cut a text that somebody else wrote, and show what no database takes or no reader sees.

    Those are NUL, halves of characters, and what turns the text around it or tells a terminal what to do. A text keeps
    its form, by which it is said in another language.
    """
    if isinstance(text, Text):
        return Text(text.form, **_storable_values(text.values)) if text.values else Text(_storable(str(text)))
    cut = text if len(text) <= LONGEST_QUOTED else text[: LONGEST_QUOTED - 1] + "…"
    storable = cut.replace("\0", "␀").encode("utf-8", "replace").decode()
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in storable)


def _end_with_input() -> None:
    # Whoever started this holds the other end. When they die, nobody is left to hear the answer.
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(1)


if __name__ == "__main__":
    # By its own name, since classes of `__main__` are others than those that the work imports.
    from tokumei.platform.jobs.child import main as named_main

    named_main()
