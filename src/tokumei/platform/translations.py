"""Keeping the Japanese texts in step with the code.

`python -m tokumei.platform.translations` collects every text of the pages' code and templates into `django.po`, keeping
what is translated already, and writes the `.mo` files of both catalogues, which programs read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tokumei.core.catalogue import Message, compile_mo, full_width, merge, read_po, write_po
from tokumei.reports.japanese import LIBRARY

HERE = Path(__file__).resolve().parent
PO_FILE = HERE / "locale" / "ja" / "LC_MESSAGES" / "django.po"
# Calls that take a text, and where it stands among the arguments: context, singular, plural.
CALLS = {
    **dict.fromkeys(("_", "gettext", "gettext_lazy", "gettext_noop"), (None, 0, None)),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (None, 0, 1)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), (0, 1, None)),
    **dict.fromkeys(("npgettext", "npgettext_lazy"), (0, 1, 2)),
}


def collect() -> list[Message]:
    """Find every text of the platform, in the order of files; Django must be set up."""
    found: dict[tuple[str, str], Message] = {}
    for name, message in _texts():
        known = found.get(message.key, message)
        files = known.files if name in known.files else (*known.files, name)
        found[message.key] = replace(known, plural=known.plural or message.plural, files=files)
    return list(found.values())


def _texts() -> Iterator[tuple[str, Message]]:
    """Yield every text with the name of its file."""
    for file in sorted(HERE.rglob("*")):
        name = file.relative_to(HERE).as_posix()
        if file.suffix == ".py":
            yield from ((name, message) for message in _texts_of_code(file))
        elif file.is_file() and file.is_relative_to(HERE / "templates"):
            yield from ((name, message) for message in _texts_of_template(file))
    yield from (("api/operations", message) for message in _texts_of_api())


def _texts_of_code(file: Path) -> Iterator[Message]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in CALLS:
            texts = [_argument(node, place) for place in CALLS[name]]
            if texts[1]:
                yield Message(texts[1], plural=texts[2], context=texts[0])


def _argument(call: ast.Call, place: int | None) -> str:
    if place is None or place >= len(call.args):
        return ""
    given = call.args[place]
    return given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else ""


def _texts_of_api() -> Iterator[Message]:
    """Yield the docstrings of the API's operations, and the groups they are listed in."""
    from tokumei.platform.api.server import api

    operations = [one for methods in api.get_openapi_schema()["paths"].values() for one in methods.values()]
    texts = {text for one in operations for text in (one["tags"][0], one["description"])}
    # By the alphabet, since their order is that in which modules came to be imported.
    yield from map(Message, sorted(texts))


def _texts_of_template(file: Path) -> Iterator[Message]:
    from django.template import engines
    from django.templatetags.i18n import BlockTranslateNode, TranslateNode
    from django.utils.translation import trim_whitespace

    # Texts that stand as an argument of a tag or a filter.
    yield from (Message(text) for text in re.findall(r'\b_\("([^"]+)"\)', file.read_text("utf-8")))
    nodes: Any = engines["django"].from_string(file.read_text("utf-8")).template.nodelist  # type: ignore[attr-defined]
    for node in nodes.get_nodes_by_type((TranslateNode, BlockTranslateNode)):
        context = node.message_context.var.literal if node.message_context else ""
        if isinstance(node, TranslateNode):
            yield Message(str(node.filter_expression.var.literal).replace("%", "%%"), context=context)
            continue
        singular, plural = (
            node.render_token_list(tokens)[0] if tokens else "" for tokens in (node.singular, node.plural)
        )
        if node.trimmed:
            singular, plural = trim_whitespace(singular), trim_whitespace(plural)
        yield Message(singular, plural=plural, context=context)


def main() -> None:
    """Bring both files up to date."""
    import os

    import django

    from tokumei.data.files.disk import atomic_path, write_text
    from tokumei.platform.start import SETTINGS

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", SETTINGS)
    django.setup()
    of_pages = merge(collect(), read_po(PO_FILE.read_text("utf-8")) if PO_FILE.exists() else ())
    # The sentences of the library are where they are said; which of them lack Japanese is told by the tests.
    of_library = [replace(one, japanese=full_width(one.japanese)) for one in read_po(LIBRARY.read_text("utf-8"))]
    for file, messages in ((PO_FILE, of_pages), (LIBRARY, of_library)):
        write_text(file, write_po(messages))
        with atomic_path(file.with_suffix(".mo")) as draft:
            draft.write_bytes(compile_mo(messages))


if __name__ == "__main__":
    main()
