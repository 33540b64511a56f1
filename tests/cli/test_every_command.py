"""What all commands keep: those that read a file take the options of reading, those that write go through the guard."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import click
import pytest
from click.testing import CliRunner

from tokumei.cli.commands import OURS, TOKUMEI, Root
from tokumei.cli.options import OF_HISTORIES, OF_TABLES
from tokumei.cli.parameters import Argument
from tokumei.core.errors import DuplicatePart

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
        "mcp",
    ),
    *("data make retail", "data make services", "data make survey", "study list", "study run"),
}
GROUPS_OF_DECLARED = ("contest ", "remote ", "exchange ")


def commands(group: click.Group = TOKUMEI, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Walk all commands, each with the words that call it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


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
    assert run is not None
    command = inspect.unwrap(run)
    assert ("reading" in inspect.signature(command).parameters) == ("--skip-rows" in options_of(name))


@pytest.mark.parametrize(
    ("words", "module"),
    [(["data", "make", "retail"], "data"), (["exchange", "keys"], "exchange"), (["parts"], "catalogue")],
)
def test_command_imports_its_own_module_alone(words: list[str], module: str) -> None:
    code = (
        "import atexit, sys; from tokumei.cli.main import main; "
        "atexit.register(lambda: print(*sorted(one for one in sys.modules if one.startswith('tokumei.cli.')))); "
        f"main([*{words}, '--help'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    shell = {f"tokumei.cli.{name}" for name in ("main", "commands", "groups", "parameters", "output", "options")}
    assert set(done.stdout.splitlines()[-1].split()) - shell == {f"tokumei.cli.{module}"}


class _Point:
    """An entry point of another package."""

    def __init__(self, name: str, found: Any) -> None:
        self.name, self.value, self.load = name, "other:command", lambda: found


def test_command_of_another_package_is_listed_and_may_not_take_our_names(monkeypatch: pytest.MonkeyPatch) -> None:
    def greet(name: Annotated[str, Argument(metavar="NAME")] = "you") -> None:
        click.echo(f"Hello {name}")

    monkeypatch.setattr("tokumei.cli.commands.entry_points", lambda group: [_Point("greet", greet)])
    assert CliRunner().invoke(Root("about", OURS), ["greet", "Ann"]).output == "Hello Ann\n"
    monkeypatch.setattr("tokumei.cli.commands.entry_points", lambda group: [_Point("count", greet)])
    # One of ours is called without a look at other packages.
    assert CliRunner().invoke(Root("about", OURS), ["count", "--help"]).exit_code == 0
    with pytest.raises(DuplicatePart, match="'tokumei count'"):
        Root("about", OURS).list_commands(None)
