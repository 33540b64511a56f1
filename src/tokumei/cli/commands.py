"""The tree of commands: which module has each, and in which part of the help it stands.

A module is imported, and its commands are built, only where they are called or listed: that is most of the time that
a short command takes. Other packages add commands by the entry point group `tokumei.commands`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

import typer

from tokumei.cli.help_texts import unwrap_help
from tokumei.core.errors import DuplicatePart

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
    "data": Command("data:app", DATA),
    "hierarchy": Command("hierarchy:app", DATA),
    "inspect": Command("inspect:inspect", DATA),
    "count": Command("count:count", DATA),
    "job": Command("job:app", PROTECT),
    "run": Command("job:run", PROTECT),
    "verify": Command("job:verify", PROTECT),
    "anonymize": Command("anonymize:app", PROTECT, {"history": "history:anonymize_history"}),
    "measure": Command(
        "history:measure_app",
        PROTECT,
        {"table": "measure_table:measure_table", "safety": "history_safety:measure_safety"},
    ),
    "audit": Command("audit:audit", PROTECT),
    "predict": Command("predict:predict", PROTECT),
    "compare": Command("compare:compare", PROTECT),
    "harden": Command("harden:app", PROTECT),
    "attack": Command("history:attack_app", ATTACK, {"table": "attack_table:attack_table"}),
    "judge": Command("history:judge", ATTACK),
    "knowledge": Command("history:knowledge", ATTACK),
    "report": Command("report:report", ATTACK),
    "sweep": Command("report:sweep", ATTACK),
    "contest": Command(
        "contest:app",
        CONTESTS,
        {
            "kit": "season:kit",
            "make-release": "playing:make_release",
            "make-guess": "playing:make_guess",
            "replay": "season:replay",
            "simulate": "season:simulate",
        },
    ),
    "check": Command("edition:check", CONTESTS),
    "score": Command("edition:score", CONTESTS),
    "exchange": Command("exchange:app", EXCHANGE),
    "studio": Command("studio:studio", PROTECT),
    "serve": Command("serve:serve", PLATFORM),
    "worker": Command("worker:worker", PLATFORM),
    "user": Command("serve:add_user", PLATFORM),
    "remote": Command("remote:app", PLATFORM),
    "backup": Command("backup:backup", PLATFORM),
    "restore": Command("backup:restore", PLATFORM),
    "parts": Command("parts:parts", MORE),
    "demo": Command("demo:demo", MORE),
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
