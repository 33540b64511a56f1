"""How help texts are laid out."""

from __future__ import annotations

from inspect import cleandoc

import typer


def unwrap_help(app: typer.Typer) -> None:
    """Let the paragraphs of all help texts break where the screen ends, not where the lines of the code do."""
    for command in app.registered_commands:
        text = cleandoc(command.help or (command.callback and command.callback.__doc__) or "")
        command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    for group in app.registered_groups:
        if group.typer_instance is not None:
            unwrap_help(group.typer_instance)
