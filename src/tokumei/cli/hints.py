"""What somebody may have meant who gave a command or an option that there is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

# Commands of packages that an extra installs.
OF_EXTRAS = {"study": "studies"}
# The columns of a history, by name: to import them takes longer than to say what is wrong.
ROLES = ("customer", "invoice", "date", "time", "item", "price", "quantity")


def usage_message(error: Any, given: Sequence[str], built: Callable[[], Any]) -> str:
    """Put an error of usage into words; `built` gives all commands."""
    said, context = str(error.format_message()), getattr(error, "ctx", None)
    if context is None:
        return said
    option = getattr(error, "option_name", None)
    takes = {name for param in context.command.params for name in param.opts}
    if option is not None and "--columns" in takes and option.lstrip("-") in ROLES:
        return f"{said}. Which column it is, is given as --columns {option.lstrip('-')}=NAME"
    if option is not None and "--set" in takes:
        return f"{said}. What a method takes is given as --set {option.lstrip('-')}=VALUE"
    known, depth = getattr(context.command, "commands", None), len(context.command_path.split()) - 1
    if known is None or depth >= len(given) or given[depth] in known:
        return said
    # The library looks for names that are written alike, and only in one group.
    meant = [f"'tokumei {name}'" for name in _names(built()) if name.split()[-1] == given[depth]]
    if meant:
        return f"No such command '{given[depth]}'. Did you mean {' or '.join(meant)}?"
    if depth == 0 and given[0] in OF_EXTRAS:
        return f"'tokumei {given[0]}' needs another package: pip install 'tokumei[{OF_EXTRAS[given[0]]}]'"
    if Path(given[depth]).exists():
        return f"'{given[depth]}' is a file; before it goes what to do with it: {', '.join(known)}"
    return said


def _names(group: Any, above: str = "") -> list[str]:
    names: list[str] = []
    for name, command in group.commands.items():
        names.append(above + name)
        if hasattr(command, "commands"):
            names += _names(command, f"{above}{name} ")
    return names
