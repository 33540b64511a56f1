"""Which encoding a text is in: told by its byte order mark, by being UTF-8, or by what it looks like.

Shift-JIS needs care. Much that is Western text in an old encoding also decodes as Shift-JIS, into rare characters:
"café rouge" has a byte é that takes the next letter with it. So a text is taken for Shift-JIS only if nearly all of it
that is not ASCII is what Japanese is written with, and no such character stands alone inside a Western word. EUC-JP has
the form of Korean and Chinese encodings, too, and is told by its kana. What is neither is looked at by `western.py`.
"""

from __future__ import annotations

import codecs
import logging
import re
from pathlib import Path

from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.data.files.western import UNDEFINED, looks_western

UTF_8, SHIFT_JIS, EUC_JP, WESTERN = "utf-8", "cp932", "euc_jp", "cp1252"
MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
CALLED = {"utf-8-sig": "UTF-8 with a byte order mark", "utf-16": "UTF-16", SHIFT_JIS: "Shift-JIS (cp932)"}
CALLED |= {EUC_JP: "EUC-JP", WESTERN: "Western text (cp1252)"}
# Of what is not ASCII, at most this share may look unlike Japanese.
ODD_SHARE = 0.2
# Enough of a text to tell; looking at all of a large one would take longer than reading it.
SAMPLE = 1 << 22
# Kana, the marks used with them, full-width letters, and the common half of the kanji, by their bytes.
FOREIGN = re.compile(rb"[\x80-\xff]")
COMMON = re.compile(rb"(?:[\x81-\x84\x88-\x97][\x40-\x7e\x80-\xfc])+")
# A single character right after a Latin letter: rather a quote or an accent of a Western encoding.
LONE = re.compile(r"(?<=[A-Za-z])[^\x00-\x7f](?![^\x00-\x7f])")

# In EUC-JP: hiragana and katakana, and all characters of two bytes.
KANA_OF_EUC, PAIR_OF_EUC = re.compile(rb"[\xa4\xa5][\xa1-\xf6]"), re.compile(rb"[\xa1-\xfe][\xa1-\xfe]")
# Chinese and Korean have hardly any of them.
LEAST_KANA = 0.1

log = logging.getLogger("tokumei.notes")


def find_encoding(data: bytes, *, is_whole: bool = True) -> str | None:
    """Return the encoding of a text, or None if unclear; one that is not whole may end inside a character."""
    for mark, encoding in MARKS.items():
        if data.startswith(mark):
            return encoding
    try:
        codecs.getincrementaldecoder(UTF_8)().decode(data, final=is_whole)
    except UnicodeDecodeError:
        if _looks_japanese(data, is_whole=is_whole):
            return SHIFT_JIS
        if _looks_like_euc(data, is_whole=is_whole):
            return EUC_JP
        return WESTERN if looks_western(_sample(data)) and not UNDEFINED.search(data) else None
    return UTF_8


def to_utf8(data: bytes, path: Path, encoding: str | None) -> bytes:
    """Convert a text to UTF-8, with a note if the encoding had to be found.

    A text whose encoding is unknown stays as it is, for the check of its layout to say where the first odd byte stands.
    """
    if encoding is None:
        encoding = find_encoding(data) or UTF_8
        if encoding != UTF_8:
            advice = "; if letters look wrong, give its --encoding" if encoding == WESTERN else ""
            log.info("%s: read as %s%s", path, CALLED[encoding], advice)
    if is_utf8(encoding):
        return data
    try:
        return data.decode(encoding).encode(UTF_8)
    except LookupError:
        raise InputError.of("an encoding of text", option="encoding", value=encoding) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = data[error.start : error.start + 4].hex(" ")
        raise InputError.of(Text("text in {encoding}", encoding=encoding), file=path, line=line, value=found) from None
    except UnicodeError as error:
        raise InputError.of(Text("text in {encoding} ({why})", encoding=encoding, why=error), file=path) from None


def is_utf8(encoding: str) -> bool:
    """Whether an encoding is UTF-8 by one of its names, without a byte order mark."""
    try:
        return codecs.lookup(encoding).name == UTF_8
    except (LookupError, ValueError):
        raise InputError.of("an encoding that Python knows", option="encoding", value=encoding) from None


def _looks_japanese(data: bytes, *, is_whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder(SHIFT_JIS)().decode(data, final=is_whole)
    except UnicodeDecodeError:
        return False
    sample = _sample(data)
    n_foreign = len(FOREIGN.findall(COMMON.sub(b"", sample)))
    n_common = sum(len(run) for run in COMMON.findall(sample))
    n_lone = 2 * len(LONE.findall(sample.decode(SHIFT_JIS, errors="ignore")))
    return n_foreign + n_lone <= ODD_SHARE * (n_foreign + n_common)


def _looks_like_euc(data: bytes, *, is_whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder(EUC_JP)().decode(data, final=is_whole)
    except UnicodeDecodeError:
        return False
    pairs = PAIR_OF_EUC.findall(_sample(data))
    return len([pair for pair in pairs if KANA_OF_EUC.match(pair)]) > LEAST_KANA * len(pairs)


def _sample(data: bytes) -> bytes:
    """Return a piece from the first line on that has more than ASCII."""
    start = FOREIGN.search(data)
    return data[data.rfind(b"\n", 0, start.start() if start else 0) + 1 :][:SAMPLE]
