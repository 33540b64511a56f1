"""What all commands keep: those that read a file take the options of reading, those that write go through the guard."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from tokumei.cli import commands as tree
from tokumei.cli.main import built
from tokumei.cli.options import OF_HISTORIES, OF_TABLES

# Commands whose files have a form that a contest, an exchange or the platform declares to the letter, and those that
# read none: there is nothing that an option could say about how they are read.
DECLARED = {
    *(
        "run",
        "verify",
        "check",
        "score",
        "hierarchy show",
        "serve",
        "studio",
        "worker",
        "user",
        "backup",
        "restore",
        "parts",
        "demo",
    ),
    *("data make retail", "data make services", "data make survey", "study list", "study run"),
}
GROUPS_OF_DECLARED = ("contest ", "remote ", "exchange ")


def commands(group: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Walk all commands of the app, each with the words that call it."""
    group = built() if group is None else group
    if not hasattr(group, "commands"):
        yield " ".join(path), group
        return
    for name, command in group.commands.items():
        yield from commands(command, (*path, name))


COMMANDS = dict(commands())
READERS = [name for name in COMMANDS if name not in DECLARED and not name.startswith(GROUPS_OF_DECLARED)]


def options_of(name: str) -> set[str]:
    return {option for one in COMMANDS[name].params for option in one.opts}


@pytest.mark.parametrize("name", READERS)
def test_command_that_reads_a_table_or_history_has_the_options_of_reading(name: str) -> None:
    wanted = {f"--{option.replace('_', '-')}" for option in OF_TABLES}
    assert wanted <= options_of(name)
    if any(word in name for word in ("history", "judge", "knowledge", "report", "sweep", "safety")):
        assert {f"--{option.replace('_', '-')}" for option in OF_HISTORIES} <= options_of(name)


def test_walk_finds_the_commands() -> None:
    assert {"anonymize table", "attack history", "data clean-retail", "inspect", "exchange offer"} <= set(COMMANDS)
    assert set(COMMANDS) >= DECLARED
    assert {"--encoding", "--null-values", "--skip-rows"} <= options_of("exchange offer")


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in DECLARED])
def test_options_of_reading_reach_the_work_of_the_command(name: str) -> None:
    run = COMMANDS[name].callback
    command = inspect.unwrap(run)
    assert ("reading" in inspect.signature(command).parameters) == ("--skip-rows" in options_of(name))


def test_command_alone_is_the_command_among_all() -> None:
    """What is built for one call has the same options and texts as what the whole help lists."""
    whole = built()
    for name in tree.all_commands():
        alone = built(name)
        assert list(alone.commands) == [name]
        assert _described(alone.commands[name]) == _described(whole.commands[name])


def _described(one: Any) -> Any:
    below = {name: _described(part) for name, part in getattr(one, "commands", {}).items()}
    return one.name, one.help, [(param.name, param.opts) for param in one.params], below
