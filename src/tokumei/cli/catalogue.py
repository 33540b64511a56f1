"""`tokumei parts`, and docs/catalogue.md: every method, attack and measure with its options."""

from __future__ import annotations

import inspect
import sys
from dataclasses import MISSING
from importlib.metadata import entry_points
from typing import Annotated, Any

from tokumei.cli.output import show
from tokumei.cli.parameters import Argument
from tokumei.core.errors import UnknownPart
from tokumei.core.registry import Registry, part_options
from tokumei.core.result import Answer, Rows
from tokumei.core.text import Json


def parts(kind: Annotated[str | None, Argument(metavar="[KIND]", help="Only this kind.")] = None) -> None:
    """List the registered parts by kind, with their options.

    Example: tokumei parts history-attack
    """
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
    show(Answer(listed, tables))


def _row(part: Json) -> list[str]:
    options = [f"{one['name']}={one['default']}" for one in part["options"]]
    return [part["name"], part["summary"], ", ".join(options) or "–"]


def registries() -> dict[str, Registry[Any]]:
    """Return every registry by its kind, in the order data goes through them."""
    from tokumei.attacks.registry import DISCLOSURE_ATTACKS, HISTORY_ATTACKS, TABLE_ATTACKS
    from tokumei.contest.edition import EDITIONS
    from tokumei.hierarchies.hierarchy import BUILDERS
    from tokumei.measures.losses import LOSSES
    from tokumei.measures.registry import (
        HISTORY_SAFETY,
        HISTORY_UTILITIES,
        RELEASES_SAFETY,
        ROWS_SAFETY,
        TABLE_UTILITIES,
    )
    from tokumei.measures.requirement import SAFETY
    from tokumei.methods.registry import HISTORY_ANONYMIZERS, TABLE_ANONYMIZERS
    from tokumei.predictors.predictor import PREDICTORS

    listed: list[Registry[Any]] = [
        BUILDERS,
        SAFETY,
        RELEASES_SAFETY,
        ROWS_SAFETY,
        HISTORY_SAFETY,
        LOSSES,
        TABLE_ANONYMIZERS,
        PREDICTORS,
        HISTORY_ANONYMIZERS,
        HISTORY_ATTACKS,
        HISTORY_UTILITIES,
        TABLE_ATTACKS,
        DISCLOSURE_ATTACKS,
        TABLE_UTILITIES,
        EDITIONS,
        # Those of other packages.
        *(point.load() for point in entry_points(group="tokumei.registries")),
    ]
    return {registry.kind.replace(" ", "-"): registry for registry in listed}


def describe_part(registry: Registry[object], name: str) -> Json:
    """Return a part's name, first sentence and options."""
    part = registry.get(name)
    text = inspect.getdoc(part) or ""
    return {
        "name": name,
        "summary": " ".join(text.split("\n\n")[0].split()),
        "options": [
            {
                "name": option.name,
                "type": option.type_name,
                "default": None if option.default is MISSING else option.default,
                "is_required": option.is_required,
                "help": option.help,
            }
            for option in part_options(part)
        ],
    }


def catalogue() -> str:
    """Write the catalogue page: the parts by kind, then each with its text and its options."""
    known = registries()
    lines = [
        "# Catalogue",
        "",
        "Every registered part, made from the registry by `make docs`. `tokumei parts` prints a shorter list.",
        "",
        "| kind | parts |",
        "|---|---|",
        *(f"| [{kind}](#{kind}) | {', '.join(f'`{name}`' for name in found)} |" for kind, found in known.items()),
    ]
    for kind, registry in known.items():
        lines += ["", f"## {kind}"]
        for name in registry:
            lines += ["", f"### `{name}`", "", inspect.getdoc(registry.get(name)) or "", *_option_lines(registry, name)]
    return "\n".join(lines) + "\n"


def _option_lines(registry: Registry[Any], name: str) -> list[str]:
    """Write the options of a part as a table, if it has any."""
    options = describe_part(registry, name)["options"]
    if not options:
        return []
    rows = []
    for option in options:
        default = "required" if option["is_required"] else f"`{option['default']}`"
        cells = [f"`{option['name']}`", option["type"], default, option["help"]]
        rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return ["", "| option | type | default | what it is |", "|---|---|---|---|", *rows]


if __name__ == "__main__":
    from tokumei.data.files.disk import write_text

    write_text(sys.argv[1], catalogue())
