"""`tokumei parts`: every registered method, attack and measure, with its options."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tokumei.cli.output import JsonFlag, print_json, print_table
from tokumei.core.errors import UnknownPart


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
    if json:
        print_json(listed)
        return
    for name, found in listed.items():
        rows: list[list[Any]] = [
            [part["name"], part["summary"], ", ".join(f"{o['name']}={o['default']}" for o in part["options"]) or "–"]
            for part in found
        ]
        print_table(["name", "what it does", "options"], rows, title=name)
