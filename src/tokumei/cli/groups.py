"""Groups that import a command when it is called or listed, and the layout of every help text.

Names of options stand whole at any width, and what they do beside or below them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click

from tokumei.cli.output import json_option, wrapped
from tokumei.cli.parameters import OPTIONS_PANEL, PanelOption, parameters_of
from tokumei.core.errors import nearest

ARGUMENTS_PANEL, COMMANDS_PANEL = "Arguments", "Commands"
# Longer lines are hard to read.
WIDEST = 100
# A name wider than this share of the screen has its text below it.
SHARE_OF_NAMES = 0.4
INDENT = "  "
# Under each title of the help, the commands by name: `module:name` of a function, or a command or group.
Panels = Mapping[str, Mapping[str, str | click.Command]]


class Command(click.Command):
    """A command whose help is laid out here."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help at the width of the screen."""
        formatter.write("\n".join(help_lines(self, ctx, shutil.get_terminal_size().columns)))


class Group(Command, click.Group):
    """A group that imports a command when it is called or listed.

    package: where the modules of its commands are.
    default: the command whose options may stand without its name.
    """

    def __init__(self, about: str, panels: Panels, *, package: str = "tokumei.cli", default: str | None = None) -> None:
        super().__init__(help=about)
        self._panels, self._package, self._default = panels, package, default

    @property
    def panels(self) -> Panels:
        """The commands under each title."""
        return self._panels

    def list_commands(self, ctx: click.Context | None = None) -> list[str]:
        """Return the names of the commands in the order of the help."""
        return [name for commands in self.panels.values() for name in commands]

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:
        """Import a command; None if there is no such."""
        if cmd_name not in self.commands:
            found = _find(self._panels, cmd_name)
            # Other packages are looked through, which takes time, only for what is none of ours.
            found = _find(self.panels, cmd_name) if found is None else found
            if found is not None:
                self.add_command(self._load(cmd_name, found), cmd_name)
        return self.commands.get(cmd_name)

    def paths(self, above: str = "") -> Iterator[str]:
        """Yield the words that call each command and group below this, without importing any."""
        for commands in self.panels.values():
            for name, found in commands.items():
                yield above + name
                if isinstance(found, Group):
                    yield from found.paths(f"{above}{name} ")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default command before options that stand without one."""
        if self._default and args and args[0].startswith("-") and args[0] not in ctx.help_option_names:
            args = [self._default, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is called, or say which may have been meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand:
            raise click.UsageError(self._meant(args[0], ctx), ctx) from None

    def _load(self, name: str, found: str | click.Command) -> click.Command:
        if not isinstance(found, str):
            return found
        module, _, function = found.partition(":")
        return as_command(name, getattr(import_module(f"{self._package}.{module}"), function))

    def _meant(self, name: str, ctx: click.Context) -> str:
        root = ctx.find_root().command
        paths = root.paths() if isinstance(root, Group) else ()
        elsewhere = [f"'{ctx.find_root().info_name} {path}'" for path in paths if path.split()[-1] == name]
        near = nearest(name, self.list_commands())
        if elsewhere:
            return f"No such command '{name}'. Did you mean {' or '.join(elsewhere)}?"
        if Path(name).exists():
            return f"'{name}' is a file; before it goes what to do with it: {', '.join(self.list_commands())}"
        return f"No such command '{name}'." + (f" Did you mean '{near}'?" if near else "")


def _find(panels: Panels, name: str) -> str | click.Command | None:
    return next((commands[name] for commands in panels.values() if name in commands), None)


def as_command(name: str, found: Any) -> click.Command:
    """Return a command; a function becomes one, whose options are its parameters and whose help is its docstring."""
    if isinstance(found, click.Command):
        return found
    params = parameters_of(found)
    if not getattr(found, "shows_no_result", False) and all(one.name != "json" for one in params):
        params.append(json_option())
    return Command(name, callback=found, params=params, help=found.__doc__)


def help_lines(command: click.Command, ctx: click.Context, width: int) -> list[str]:
    """Return the help of a command: usage, what it does, arguments, options and subcommands."""
    width = min(width, WIDEST)
    usage = " ".join(["Usage:", ctx.command_path, *command.collect_usage_pieces(ctx)])
    first, *rest = wrapped(usage, width - len(INDENT))
    lines = [first, *(INDENT + line for line in rest), ""]
    for paragraph in cleandoc(command.help or "").split("\n\n"):
        lines += [*wrapped(" ".join(paragraph.split()), width), ""]
    for title, pairs in _panels(command, ctx).items():
        lines += [click.style(title, bold=True), *_pair_lines(pairs, width), ""]
    return lines[:-1]


def _panels(command: click.Command, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
    """Return the names and texts that stand under each title."""
    panels: dict[str, list[tuple[str, str]]] = {ARGUMENTS_PANEL: [], OPTIONS_PANEL: []}
    for param in command.get_params(ctx):
        if isinstance(param, click.Option):
            title = param.panel if isinstance(param, PanelOption) else OPTIONS_PANEL
            panels.setdefault(title, []).append((_name(param, ctx), _about(param, ctx)))
        else:
            panels[ARGUMENTS_PANEL].append((param.make_metavar(ctx), _about(param, ctx)))
    if isinstance(command, Group):
        for title, commands in command.panels.items():
            panels[title] = [(name, _first_paragraph(command.get_command(ctx, name))) for name in commands]
    return {title: pairs for title, pairs in panels.items() if pairs}


def _name(option: click.Option, ctx: click.Context) -> str:
    """Return how an option is written: all its names, short ones first, and the placeholder of its value."""
    names = ", ".join(sorted([*option.opts, *option.secondary_opts], key=lambda one: one.startswith("--")))
    return names if option.is_flag else f"{names} {option.make_metavar(ctx)}"


def _about(param: click.Parameter, ctx: click.Context) -> str:
    """Describe a parameter: what it does, its bounds, its default, and whether it is required."""
    extra: Mapping[str, object] = param.get_help_extra(ctx) if isinstance(param, click.Option) else {}
    default = param.default if isinstance(param.type, click.Choice) else extra.get("default")
    notes = [extra.get("range"), f"default: {default}" if default else None, "required" if param.required else None]
    return " ".join([" ".join((param.help or "").split()), *(f"[{note}]" for note in notes if note)])


def _first_paragraph(command: click.Command | None) -> str:
    text = cleandoc(command.help or "" if command else "").split("\n\n")[0]
    return " ".join(text.split())


def _pair_lines(pairs: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Lay out names with their texts beside them, or below a name that is too wide."""
    most = int(width * SHARE_OF_NAMES)
    column = max((len(name) for name, _ in pairs if len(name) <= most), default=0)
    room = width - 2 * len(INDENT) - column
    lines = []
    for name, text in pairs:
        shown = INDENT + click.style(name, fg="cyan")
        rest = wrapped(text, room)
        if len(name) > column:
            lines.append(shown)
        else:
            lines.append((shown + " " * (column - len(name)) + INDENT + rest.pop(0)).rstrip())
        lines += [" " * (column + 2 * len(INDENT)) + line for line in rest if line]
    return lines
