"""The catalogue of all parts, for the command line and for docs/catalogue.md."""

from __future__ import annotations

import inspect
import sys
from dataclasses import MISSING
from typing import Any

from tokumei.core.registry import Registry, part_options


def registries() -> dict[str, Registry[Any]]:
    """Give every registry by its kind, in the order data goes through them."""
    from tokumei.anonymize.registry import HISTORY_ANONYMIZERS, TABLE_SEARCHES
    from tokumei.attack.registry import HISTORY_ATTACKS, TABLE_ATTACKS
    from tokumei.contest.registry import EDITIONS
    from tokumei.hierarchy.builders import BUILDERS
    from tokumei.measure.losses import LOSSES
    from tokumei.measure.registry import HISTORY_UTILITIES, TABLE_UTILITIES
    from tokumei.measure.requirement import SAFETY
    from tokumei.predict.predictor import PREDICTORS

    listed: list[Registry[Any]] = [
        BUILDERS,
        SAFETY,
        LOSSES,
        TABLE_SEARCHES,
        PREDICTORS,
        HISTORY_ANONYMIZERS,
        HISTORY_ATTACKS,
        HISTORY_UTILITIES,
        TABLE_ATTACKS,
        TABLE_UTILITIES,
        EDITIONS,
    ]
    return {registry.kind.replace(" ", "-"): registry for registry in listed}


def describe_part(registry: Registry[Any], name: str) -> dict[str, Any]:
    """Give a part's name, its first sentence and its options."""
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
    """Write the catalogue page."""
    lines = [
        "# Catalogue",
        "",
        "Every registered part, made from the registry by `make docs`. `tokumei parts` prints the same.",
    ]
    for kind, registry in registries().items():
        lines += ["", f"## {kind}", "", "| name | what it does | options |", "|---|---|---|"]
        for name in registry:
            part = describe_part(registry, name)
            options = "<br>".join(
                f"`{option['name']}` ({option['type']}, "
                + ("required" if option["is_required"] else f"default `{option['default']}`")
                + f"): {option['help']}"
                for option in part["options"]
            ).replace("|", "\\|")
            lines.append(f"| `{name}` | {part['summary'].replace('|', chr(92) + '|')} | {options or '–'} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    from tokumei.data.files.atomic import write_text

    write_text(sys.argv[1], catalogue())
