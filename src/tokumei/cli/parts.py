"""`tokumei parts`: every registered method, attack and measure, with its options."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tokumei.cli.output import JsonFlag, show
from tokumei.core.errors import UnknownPart
from tokumei.core.result import Answer, Rows


def parts(
    kind: Annotated[str | None, typer.Argument(metavar="[KIND]", help="Only this kind.")] = None,
    json: JsonFlag = False,
) -> None:
    """List the registered parts by kind, with their options.

    Example: tokumei parts history-attack
    """
    from tokumei.cli.catalogue import describe_part, registries

    known = registries()
    if kind is not None and kind not in known:
        raise UnknownPart("kind of part", kind, known)
    listed = {
        name: [describe_part(registry, part) for part in registry]
        for name, registry in known.items()
        if kind in (None, name)
    }
    tables = [
        Rows(["name", "what it does", "options"], [_row(part) for part in found], name)
        for name, found in listed.items()
    ]
    show(Answer(listed, tables), json=json)


def _row(part: dict[str, Any]) -> list[str]:
    options = [f"{one['name']}={one['default']}" for one in part["options"]]
    return [part["name"], part["summary"], ", ".join(options) or "–"]
