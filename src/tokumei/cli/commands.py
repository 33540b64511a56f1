"""The tree of commands: which module has each, and in which part of the help it stands.

A module is imported, and its commands are built, only where they are called or listed: that is most of the time that
a short command takes. Other packages add commands by the entry point group `tokumei.commands`.

Help texts are laid out so that names of options stand whole at any width, and what they do beside or below them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from inspect import cleandoc
from types import MethodType
from typing import Any

import typer

from tokumei.cli.output import wrapped
from tokumei.core.errors import DuplicatePart

ARGUMENTS_PANEL, OPTIONS_PANEL, COMMANDS_PANEL = "Arguments", "Options", "Commands"
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
    panels: dict[str, list[tuple[str, str]]] = {ARGUMENTS_PANEL: [], OPTIONS_PANEL: []}
    for param in command.get_params(context):
        if not getattr(param, "hidden", False):
            is_argument = param.param_type_name == "argument"
            title = getattr(param, "rich_help_panel", None) or (ARGUMENTS_PANEL if is_argument else OPTIONS_PANEL)
            panels.setdefault(title, []).append((_name(param, context, is_argument), _said(param, context)))
    for name in command.list_commands(context) if hasattr(command, "commands") else ():
        below = command.get_command(context, name)
        if not below.hidden:
            title = getattr(below, "rich_help_panel", None) or COMMANDS_PANEL
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


DATA, PROTECT, ATTACK, MORE = "Data and hierarchies", "Anonymize and measure", "Attack and compare", "More"
CONTESTS, EXCHANGE, PLATFORM = "Contests", "Exchange", "Platform"


@dataclass(frozen=True)
class Command:
    """A command or a group: `module:name` of what does it, and commands of other modules that a group has besides.

    package: where the module is.
    """

    does: str
    panel: str
    further: Mapping[str, str] = field(default_factory=dict)
    package: str = "tokumei.cli."

    def add_to(self, app: typer.Typer, name: str) -> None:
        """Import what does it, and let it be called by its name."""
        found = _load(self.package + self.does)
        if not isinstance(found, typer.Typer):
            app.command(name, rich_help_panel=self.panel)(found)
            return
        known = {one.name for one in found.registered_commands}
        for own_name, does in self.further.items():
            # The group is its module's, and may have been built before.
            if own_name not in known:
                found.command(own_name)(_load(self.package + does))
        app.add_typer(found, name=name, rich_help_panel=self.panel)


# In the order of the help.
COMMANDS: Mapping[str, Command] = {
    "data": Command("data:data_app", DATA),
    "hierarchy": Command("data:hierarchy_app", DATA),
    "inspect": Command("look:inspect", DATA),
    "count": Command("look:count", DATA),
    "job": Command("job:app", PROTECT),
    "run": Command("job:run", PROTECT),
    "verify": Command("job:verify", PROTECT),
    "anonymize": Command("anonymize:app", PROTECT, {"history": "history:anonymize_history"}),
    "measure": Command(
        "history:measure_app",
        PROTECT,
        {"table": "releases:measure_table", "safety": "releases:measure_safety"},
    ),
    "audit": Command("look:audit", PROTECT),
    "predict": Command("look:predict", PROTECT),
    "compare": Command("anonymize:compare", PROTECT),
    "harden": Command("harden:app", PROTECT),
    "attack": Command("history:attack_app", ATTACK, {"table": "releases:attack_table"}),
    "judge": Command("history:judge", ATTACK),
    "knowledge": Command("history:knowledge", ATTACK),
    "report": Command("report:report", ATTACK),
    "sweep": Command("report:sweep", ATTACK),
    "contest": Command(
        "contest:app",
        CONTESTS,
        {
            "kit": "season:kit",
            "make-release": "season:make_release",
            "make-guess": "season:make_guess",
            "replay": "season:replay",
            "simulate": "season:simulate",
        },
    ),
    "check": Command("edition:check", CONTESTS),
    "score": Command("edition:score", CONTESTS),
    "exchange": Command("exchange:app", EXCHANGE),
    "studio": Command("job:studio", PROTECT),
    "serve": Command("serve:serve", PLATFORM),
    "worker": Command("serve:worker", PLATFORM),
    "user": Command("serve:add_user", PLATFORM),
    "remote": Command("remote:app", PLATFORM),
    "backup": Command("serve:backup", PLATFORM),
    "restore": Command("serve:restore", PLATFORM),
    "parts": Command("catalogue:parts", MORE),
    "demo": Command("report:demo", MORE),
}


@cache
def all_commands() -> Mapping[str, Command]:
    """All commands by name: our own, then those of other packages that are installed."""
    found = dict(COMMANDS)
    for point in entry_points(group="tokumei.commands"):
        if point.name in found:
            raise DuplicatePart(f"Two packages claim the command 'tokumei {point.name}'; one is {point.value}.")
        found[point.name] = Command(point.value, MORE, package="")
    return found


def is_command(name: str) -> bool:
    """Whether there is such a command; other packages are looked through only if it is none of ours."""
    return name in COMMANDS or name in all_commands()


def app_with(names: Iterable[str]) -> typer.Typer:
    """Build `tokumei` with some of its commands."""
    app = typer.Typer(
        name="tokumei",
        help="Anonymize tables and purchase histories, attack the result, and measure what use is left.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        callback=_root,
    )
    for name in names:
        (COMMANDS.get(name) or all_commands()[name]).add_to(app, name)
    unwrap_help(app)
    return app


def _load(does: str) -> Any:
    module, _, name = does.partition(":")
    return getattr(import_module(module), name)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("tokumei"))
        raise typer.Exit


def _root(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    """Anonymize tables and purchase histories, attack the result, and measure what use is left."""
