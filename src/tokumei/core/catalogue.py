"""Catalogues of translations in the forms of gettext, read and written without its programs.

The library's sentences are in `reports/locale`, those of the platform's pages in `platform/locale`: a `.po` file that
people write, and beside it the `.mo` file that programs read.
"""

from __future__ import annotations

import ast
import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass, replace

HEADER = """\
Content-Type: text/plain; charset=UTF-8
Content-Transfer-Encoding: 8bit
Language: ja
Plural-Forms: nplurals=1; plural=0;
"""
LETTER = "[ぁ-んァ-ヶ一-龥々ー「」]"
FULL_WIDTH = dict(zip(":;?!,", "：；？！、", strict=True))


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
                    parts["msgid"], parts.get("msgid_plural", ""), parts.get("msgctxt", ""), parts.get("msgstr", "")
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


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'
