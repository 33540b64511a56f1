"""Docstrings as Markdown: what is asked for becomes a list, examples become code."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^(?:\.\.\. |>>> ).*(?:\n.+)*", re.MULTILINE)
ASKED = re.compile(r"^([a-z_]+): ", re.MULTILINE)


def as_markdown(text: str) -> str:
    """Return a docstring with a list of what is asked for, and its examples fenced."""
    paragraphs = []
    for paragraph in text.split("\n\n"):
        if paragraph.startswith(">>> "):
            paragraph = f"```pycon\n{paragraph}\n```"
        elif ASKED.match(paragraph):
            paragraph = ASKED.sub(r"- `\1`: ", paragraph)
        else:
            paragraph = EXAMPLE.sub(lambda found: f"\n```pycon\n{found[0]}\n```", paragraph)
        paragraphs.append(paragraph)
    return "\n\n".join(paragraphs)


class Docstrings(griffe.Extension):
    """Rewrites each docstring that is shown."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
