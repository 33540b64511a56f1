"""How help texts are laid out: names of options stand whole at any width, and what they do beside or below them."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from inspect import cleandoc
from types import MethodType
from typing import Any

import typer

from tokumei.cli.layout import wrapped

ARGUMENTS, OPTIONS, COMMANDS = "Arguments", "Options", "Commands"
# Longer lines are hard to read.
WIDEST = 100
# A name wider than this share of the screen has its text below it.
SHARE_OF_NAMES = 0.4
INDENT = "  "


def unwrap_help(app: typer.Typer) -> None:
    """Wrap the paragraphs of all help texts at the width of the screen, not where the code breaks them."""
    for command in app.registered_commands:
        text = cleandoc(command.help or (command.callback and command.callback.__doc__) or "")
        command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    for group in app.registered_groups:
        if group.typer_instance is not None:
            unwrap_help(group.typer_instance)


def with_whole_names(command: Any) -> Any:
    """Lay out the help of a command and all below it here: the library cuts names on narrow screens."""
    command.format_help = MethodType(_format_help, command)
    for one in getattr(command, "commands", {}).values():
        with_whole_names(one)
    return command


def _format_help(command: Any, context: Any, formatter: Any) -> None:
    formatter.write("\n".join(help_lines(command, context, shutil.get_terminal_size().columns)) + "\n")


def help_lines(command: Any, context: Any, width: int) -> list[str]:
    """Return the help of a command: usage, what it does, arguments, options and subcommands."""
    width = min(width, WIDEST)
    usage = " ".join(["Usage:", context.command_path, *command.collect_usage_pieces(context)])
    lines = [*_below(usage, width, INDENT), ""]
    for paragraph in filter(None, (command.help or "").split("\n\n")):
        lines += [*wrapped(" ".join(paragraph.split()), width), ""]
    for title, pairs in _panels(command, context).items():
        lines += [typer.style(title, bold=True), *_pair_lines(pairs, width), ""]
    return lines[:-1]


def _panels(command: Any, context: Any) -> dict[str, list[tuple[str, str]]]:
    """Return the names and texts that stand under each title."""
    panels: dict[str, list[tuple[str, str]]] = {ARGUMENTS: [], OPTIONS: []}
    for param in command.get_params(context):
        if not getattr(param, "hidden", False):
            is_argument = param.param_type_name == "argument"
            title = getattr(param, "rich_help_panel", None) or (ARGUMENTS if is_argument else OPTIONS)
            panels.setdefault(title, []).append((_name(param, context, is_argument), _said(param, context)))
    for name in command.list_commands(context) if hasattr(command, "commands") else ():
        below = command.get_command(context, name)
        if not below.hidden:
            title = getattr(below, "rich_help_panel", None) or COMMANDS
            said = (below.help or getattr(below, "short_help", None) or "").split("\n\n")[0]
            panels.setdefault(title, []).append((name, " ".join(said.split())))
    return {title: pairs for title, pairs in panels.items() if pairs}


def _name(param: Any, context: Any, is_argument: bool) -> str:
    """Return how a parameter is written: all its names, and the placeholder of its value."""
    if is_argument:
        return str(param.display_name_raw)
    # Short names first: the library keeps those of --help in no order.
    names = ", ".join(sorted([*param.opts, *param.secondary_opts], key=lambda one: one.startswith("--")))
    if param.is_flag:
        return names
    kind = param.metavar or str(param.display_type_rich(ctx=context) or "")
    return f"{names} {kind}".strip()


def _said(param: Any, context: Any) -> str:
    """Describe a parameter: what it does, its bounds, its default, and whether it is required."""
    said = [" ".join((param.help or "").split())]
    ends = param._get_number_range_help_str()
    if ends:
        said.append(f"[{ends}]")
    default = param._extract_default_help_str(ctx=context)
    told = isinstance(param.show_default, str)
    if told or (default is not None and (param.show_default or context.show_default)):
        text = param._get_default_string(ctx=context, show_default_is_str=told, default_value=default)
        said += [f"[default: {text}]"] if text else []
    said += ["[required]"] if param.required else []
    return " ".join(filter(None, said))


def _pair_lines(pairs: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Lay out names with their texts beside them, or below a name that is too wide."""
    most = int(width * SHARE_OF_NAMES)
    column = max((len(name) for name, _ in pairs if len(name) <= most), default=0)
    room = width - 2 * len(INDENT) - column
    lines = []
    for name, said in pairs:
        shown = INDENT + typer.style(name, fg="cyan")
        rest = wrapped(said, room)
        if len(name) > column:
            lines.append(shown)
        else:
            lines.append((shown + " " * (column - len(name)) + INDENT + rest.pop(0)).rstrip())
        lines += [" " * (column + 2 * len(INDENT)) + line for line in rest if line]
    return lines


def _below(text: str, width: int, indent: str) -> list[str]:
    """Break a text, all lines but the first indented."""
    first, *rest = wrapped(text, width - len(indent))
    return [first, *(indent + line for line in rest)]
