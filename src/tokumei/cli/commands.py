"""The tree of commands: under which title of the help each stands, and which function does it.

Other packages add commands by the entry point group `tokumei.commands`: a function, or a command or group of Click.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib.metadata import entry_points

import click

from tokumei.cli.groups import COMMANDS_PANEL, Group, Panels, as_command
from tokumei.core.errors import DuplicatePart

DATA, PROTECT, ATTACK, MORE = "Data and hierarchies", "Anonymize and measure", "Attack and compare", "More"
CONTESTS, EXCHANGE, PLATFORM = "Contests", "Exchange", "Platform"


Commands = Mapping[str, str | click.Command]


def group(about: str, commands: Commands, *, default: str | None = None) -> Group:
    """Return a group whose commands all stand under one title."""
    return Group(about, {COMMANDS_PANEL: commands}, default=default)


OF_DATA: Commands = {
    "inspect": "look:inspect",
    "count": "look:count",
    "data": group(
        "Clean, make up and describe data.",
        {
            "clean-retail": "data:clean_retail",
            "croissant": "data:croissant",
            "describe": "data:describe",
            "draw-knowledge": "data:draw_knowledge",
            "make": group(
                "Make up data, the same for the same seed.",
                {"retail": "data:make_retail", "services": "data:make_services", "survey": "data:make_survey"},
            ),
        },
    ),
    "hierarchy": group(
        "Build, check and show value hierarchies.",
        {"build": "data:build", "check": "data:check", "show": "data:show_hierarchy"},
    ),
}
OF_PROTECTING: Commands = {
    "run": "job:run",
    "verify": "job:verify",
    "audit": "look:audit",
    "predict": "look:predict",
    "compare": "anonymize:compare",
    "studio": "job:studio",
    "job": group("Job files: from raw data to a dossier.", {"new": "job:new"}),
    "anonymize": group(
        "Anonymize tables and histories.",
        {"table": "anonymize:table", "apply": "anonymize:apply", "history": "history:anonymize_history"},
    ),
    "measure": group(
        "Measure what use of a release is left.",
        {"history": "history:measure_history", "table": "releases:measure_table", "safety": "releases:measure_safety"},
    ),
    "harden": group(
        "Change a release no more than needed for no attack to find more than is allowed.",
        {"history": "harden:harden", "table": "harden:harden_table"},
        # Histories were the only kind there was at first.
        default="history",
    ),
}
OF_ATTACKING: Commands = {
    "judge": "history_attack:judge",
    "knowledge": "history_attack:knowledge",
    "report": "report:report",
    "sweep": "report:sweep",
    "attack": group(
        "Attack a release.", {"history": "history_attack:attack_history", "table": "releases:attack_table"}
    ),
}
OF_CONTESTS: Commands = {
    "check": "edition:check",
    "score": "edition:score",
    "contest": group(
        "Run a contest: teams anonymize, then attack each other.",
        {
            "new": "contest:new",
            "prepare": "contest:prepare",
            "show": "contest:show_contest",
            "check": "contest:check",
            "score": "contest:score",
            "submit": "contest:submit",
            "choose": "contest:choose",
            "publish": "contest:publish",
            "attack": "contest:attack",
            "judge": "contest:judge",
            "rank": "contest:rank",
            "kit": "season:kit",
            "make-release": "season:make_release",
            "make-guess": "season:make_guess",
            "replay": "season:replay",
            "simulate": "season:simulate",
            "export": "codabench:export",
        },
    ),
}
OF_EXCHANGE: Commands = {
    "exchange": group(
        "Offer data by a formula, try levels on it, ask for them, and check what was given.",
        {
            "offer": "exchange_offer:offer",
            "attack": "exchange_offer:attack",
            "admit": "exchange_offer:admit",
            "answer": "exchange_desk:answer",
            "serve-requests": "exchange_desk:serve_requests",
            "learn": "exchange_desk:learn",
            "disclose": "exchange_desk:disclose",
            "keys": "exchange:keys",
            "try": "exchange:try_levels",
            "request": "exchange:request",
            "approve": "exchange:approve",
            "verify": "exchange:verify",
            "watch": "exchange:watch",
        },
    )
}
OF_PLATFORM: Commands = {
    "serve": "serve:serve",
    "worker": "serve:worker",
    "user": "serve:add_user",
    "backup": "serve:backup",
    "restore": "serve:restore",
    "remote": group(
        "Take part in the contests of a server, from the command line.",
        {
            "login": "remote:login",
            "logout": "remote:logout",
            "contests": "remote:contests",
            "teams": "remote:teams",
            "join": "remote:join",
            "submit": "remote:submit",
            "attack": "remote:attack",
            "status": "remote:status",
            "scoreboard": "remote:scoreboard",
            "download": "remote:download",
        },
    ),
}
OURS: Panels = {
    DATA: OF_DATA,
    PROTECT: OF_PROTECTING,
    ATTACK: OF_ATTACKING,
    CONTESTS: OF_CONTESTS,
    EXCHANGE: OF_EXCHANGE,
    PLATFORM: OF_PLATFORM,
    MORE: {"parts": "catalogue:parts", "demo": "report:demo", "mcp": "mcp:mcp"},
}
# Commands of packages that an extra installs.
OF_EXTRAS = {"study": "studies"}


class Root(Group):
    """All of `tokumei`: our own commands, then those of other packages that are installed."""

    @cached_property
    def panels(self) -> Panels:
        """The commands under each title; other packages are looked through only where none of ours is called."""
        ours = super().panels
        names = {name for commands in ours.values() for name in commands}
        found: dict[str, click.Command] = {}
        for point in entry_points(group="tokumei.commands"):
            if point.name in names | set(found):
                raise DuplicatePart(f"Two packages claim the command 'tokumei {point.name}'; one is {point.value}.")
            found[point.name] = as_command(point.name, point.load())
        return {**ours, MORE: {**ours[MORE], **found}}

    def _meant(self, name: str, ctx: click.Context) -> str:
        if name in OF_EXTRAS:
            return f"'tokumei {name}' needs another package: pip install 'tokumei[{OF_EXTRAS[name]}]'"
        return super()._meant(name, ctx)


TOKUMEI = Root("Anonymize tables and purchase histories, attack the result, and measure what use is left.", OURS)
TOKUMEI.context_settings = {"help_option_names": ["-h", "--help"]}
click.version_option(package_name="tokumei", message="%(version)s", help="Show the version.")(TOKUMEI)
