"""Keeping the Japanese texts in step with the code, without the gettext programs.

`python -m tokumei.platform.translations` collects every text of code and templates into `django.po`, keeping what is
translated already, and writes `django.mo`, which Django reads.
"""

from __future__ import annotations

import ast
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PO_FILE = HERE / "locale" / "ja" / "LC_MESSAGES" / "django.po"
MO_FILE = PO_FILE.with_suffix(".mo")
HEADER = """\
Content-Type: text/plain; charset=UTF-8
Content-Transfer-Encoding: 8bit
Language: ja
Plural-Forms: nplurals=1; plural=0;
"""
LETTER = "[ぁ-んァ-ヶ一-龥々ー「」]"
FULL_WIDTH = dict(zip(":;?!,", "：；？！、", strict=True))
# Calls that take a text, and where it stands among the arguments: context, singular, plural.
CALLS = {
    **dict.fromkeys(("_", "gettext", "gettext_lazy", "gettext_noop"), (None, 0, None)),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (None, 0, 1)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), (0, 1, None)),
    **dict.fromkeys(("npgettext", "npgettext_lazy"), (0, 1, 2)),
}


@dataclass(frozen=True)
class Message:
    """A text, what it is in Japanese, and the files it stands in."""

    text: str
    plural: str = ""
    context: str = ""
    japanese: str = ""
    files: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """What a text is looked up by."""
        return self.context, self.text


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


def merge(collected: Iterable[Message], known: Iterable[Message]) -> list[Message]:
    """Add the known Japanese to the collected texts; texts that nothing uses any more are left out."""
    japanese = {message.key: full_width(message.japanese) for message in known}
    return [replace(message, japanese=japanese.get(message.key, "")) for message in collected]


def full_width(japanese: str) -> str:
    """Set the marks beside Japanese characters in full width; code stays as it is."""
    marked = re.sub(rf"(?<={LETTER})[:;?!,](?! ?https?:)|(?<![/\d]):(?={LETTER})", _wide, japanese)
    # Brackets around Japanese, or after it; those of placeholders, links and formulas stay.
    bracketed = re.sub(rf"(?<={LETTER})\(([^()]*)\)|(?<![%\]\\])\(([^()]*{LETTER}[^()]*)\)", _bracket, marked)
    return re.sub(r"(?<=[？！：；、]) (?=\S)", "", bracketed)


def _wide(found: re.Match[str]) -> str:
    return FULL_WIDTH[found[0]]


def _bracket(found: re.Match[str]) -> str:
    return f"（{found[1] or found[2] or ''}）"


def read_po(text: str) -> list[Message]:
    """Read the texts of a .po file."""
    messages = []
    for block in re.split(r"\n\s*\n", text):
        parts: dict[str, str] = {}
        current = ""
        for line in block.splitlines():
            started = re.match(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[0\])?) (".*")\s*$', line)
            if started:
                current = started[1].removesuffix("[0]")
                parts[current] = ast.literal_eval(started[2])
            elif line.startswith('"'):
                parts[current] += ast.literal_eval(line.strip())
        if parts.get("msgid"):
            messages.append(
                Message(
                    parts["msgid"],
                    parts.get("msgid_plural", ""),
                    parts.get("msgctxt", ""),
                    parts.get("msgstr", ""),
                )
            )
    return messages


def write_po(messages: Iterable[Message]) -> str:
    """Write a .po file."""
    blocks = ['msgid ""\nmsgstr ""\n' + "\n".join(_quoted(line) for line in HEADER.splitlines(keepends=True))]
    for message in messages:
        lines = [f"#: {' '.join(message.files)}"] if message.files else []
        if message.context:
            lines.append(f"msgctxt {_quoted(message.context)}")
        lines.append(f"msgid {_quoted(message.text)}")
        if message.plural:
            lines.append(f"msgid_plural {_quoted(message.plural)}")
        lines.append(f"{'msgstr[0]' if message.plural else 'msgstr'} {_quoted(message.japanese)}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def compile_mo(messages: Iterable[Message]) -> bytes:
    """Write the binary form that gettext reads: two tables of lengths and places, then the texts."""
    pairs = [(b"", HEADER.encode())]
    for message in messages:
        if message.japanese:
            key = f"{message.context}\x04{message.text}" if message.context else message.text
            pairs.append(((f"{key}\0{message.plural}" if message.plural else key).encode(), message.japanese.encode()))
    pairs.sort()
    place = 28 + 16 * len(pairs)
    tables: list[list[int]] = [[], []]
    body = b""
    for side in (0, 1):
        for pair in pairs:
            tables[side] += [len(pair[side]), place + len(body)]
            body += pair[side] + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, place)
    return head + struct.pack(f"<{4 * len(pairs)}I", *tables[0], *tables[1]) + body


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


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def main() -> None:
    """Bring both files up to date."""
    import os

    import django

    from tokumei.data.files.disk import atomic_path, write_text
    from tokumei.platform.start import SETTINGS

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", SETTINGS)
    django.setup()
    messages = merge(collect(), read_po(PO_FILE.read_text("utf-8")) if PO_FILE.exists() else ())
    write_text(PO_FILE, write_po(messages))
    with atomic_path(MO_FILE) as draft:
        draft.write_bytes(compile_mo(messages))


if __name__ == "__main__":
    main()
