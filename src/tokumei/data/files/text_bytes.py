"""The bytes of a text file: which encoding they are in, and where records, lines and quotes are.

An encoding is told by its byte order mark, by being UTF-8, or by what the text looks like.

Shift-JIS needs care. Much that is Western text in an old encoding also decodes as Shift-JIS, into rare characters:
"café rouge" has a byte é that takes the next letter with it. So a text is taken for Shift-JIS only if nearly all of it
that is not ASCII is what Japanese is written with, and no such character stands alone inside a Western word. EUC-JP has
the form of Korean and Chinese encodings, too, and is told by its kana. What is neither is looked at as Western text.

Every text decodes as cp1252, so what is asked is whether it makes sense: only letters of Western languages, single ones
among plain letters, and no sign inside a word. Polish in cp1250 has ³ there, Russian has long runs, Mac Roman and
the old code pages of DOS have quotes and signs. Letters that no two Western languages share in one text, as in Czech or
Hungarian, are left to the user as well: nothing is garbled for the sake of convenience.
"""

from __future__ import annotations

import codecs
import logging
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError
from tokumei.core.text import Text

LINE_FEED, CARRIAGE_RETURN, QUOTE = 10, 13, 34
# Where a quote stands among so many bytes or more, runs between quotes are written faster than quotes are counted.
FEW_QUOTES = 16

Positions = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Records:
    """Whole records of a file, the first of which starts at the first byte."""

    data: bytes
    codes: Codes
    line_ends: Positions
    # Those line ends that are not inside a quoted cell.
    ends: Positions
    starts: Positions
    # The number of cells of each record.
    n_cells: Positions
    # Tells for each record whether its line end is \r\n.
    has_return: Mask
    # The first of them opens, the second closes, and so on.
    quotes: Positions

    @classmethod
    def of(cls, data: bytes, delimiter: int) -> Records | None:
        """Find the records that end in this data; None when none does.

        Bytes are gone through once for all that parts them, which are few; the rest looks at these alone.
        """
        codes = np.frombuffer(data, np.uint8)
        marks = np.flatnonzero((codes == LINE_FEED) | (codes == delimiter))
        quotes = np.flatnonzero(codes == QUOTE) if b'"' in data else marks[:0]
        is_inside = _between(quotes, marks)
        kinds = codes[marks]
        line_ends = None
        if is_inside is not None:
            line_ends = marks[kinds == LINE_FEED]
            marks, kinds = marks[~is_inside], kinds[~is_inside]
        at_end = np.flatnonzero(kinds == LINE_FEED)
        if not len(at_end):
            return None
        ends = marks[at_end]
        n_bytes = int(ends[-1]) + 1
        return cls(
            data=data[:n_bytes],
            codes=codes[:n_bytes],
            line_ends=ends if line_ends is None else line_ends[line_ends < n_bytes],
            ends=ends,
            starts=np.concatenate(([0], ends[:-1] + 1)),
            n_cells=np.diff(at_end, prepend=-1),
            # The first byte has none before it, and -1 would name the last one.
            has_return=(codes[ends - 1] == CARRIAGE_RETURN) & (ends > 0),
            quotes=quotes[: int(np.searchsorted(quotes, n_bytes))],
        )

    @property
    def has_quotes(self) -> bool:
        """Whether any quote stands in these records."""
        return len(self.quotes) > 0

    def stray_quotes(self, delimiter: int) -> Positions:
        """Find the quotes that do not open right after a delimiter or line end, or close right before one."""
        opening, closing = self.quotes[::2], self.quotes[1::2]
        # Next to another quote it is one of the two that stand for a quote inside a cell.
        edges = np.array([delimiter, LINE_FEED, QUOTE], np.uint8)
        is_opening_fine = (opening == 0) | np.isin(self.codes[opening - 1], edges)
        is_closing_fine = np.isin(self.codes[closing + 1], np.append(edges, np.uint8(CARRIAGE_RETURN)))
        return np.sort(np.concatenate([opening[~is_opening_fine], closing[~is_closing_fine]]))


def _between(quotes: Positions, marks: Positions) -> Mask | None:
    """Return the marks where an odd number of quotes opens; None where there are none, as beside empty cells."""
    lengths = np.diff(np.searchsorted(marks, quotes), prepend=0, append=len(marks))
    return np.repeat(np.arange(len(lengths)) % 2 == 1, lengths) if lengths[1::2].any() else None


def inside_quotes(codes: Codes) -> Mask | None:
    """Mark each byte that an odd number of quotes opens, itself included; None without quotes.

    A doubled quote closes and opens again at once, which leaves all other bytes on the right side.
    """
    quotes = np.flatnonzero(codes == QUOTE)
    if not len(quotes):
        return None
    if len(quotes) * FEW_QUOTES > len(codes):
        # Only the lowest bit of the running count matters, so a byte that overflows does no harm.
        return (np.cumsum(codes == QUOTE, dtype=np.uint8) & 1).astype(np.bool_)
    lengths = np.diff(quotes, prepend=0, append=len(codes))
    return np.repeat(np.arange(len(lengths)) % 2 == 1, lengths)


def opening_quote(data: bytes) -> int | None:
    """Find the quote that was opened and never closed; None when all are closed."""
    if data.count(b'"') % 2 == 0:
        return None
    codes = np.frombuffer(data, np.uint8)
    indices = np.flatnonzero(codes == QUOTE)
    # Every second one opens; one right behind another is half of a doubled quote inside the cell.
    opening = indices[::2]
    return int(opening[(opening == 0) | (codes[opening - 1] != QUOTE)][-1])


UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
LETTERS = "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜßàáâãäåæçèéêëìíîïñòóôõöøùúûüŒœÿ"
SIGNS = "€‚„…‘’“”–—•™°§£«»¿¡ªº±¹²³µ·¼½¾©®\u00a0´¨¥¢†‰‹›×÷"
# An apostrophe, and the dot between two l in Catalan.
SIGNS_IN_WORDS = "’·"
# Beside a letter beyond ASCII these are the halves of a character of Japanese.
SIGNS_APART = "·ªº±¹²³µ¼½¾©´¨¥¢£€§°†‰×÷"
# Both in one text: Czech (ř, ě, ů), Croatian (ć, č) or Hungarian (ő) in cp1250.
UNLIKELY = (("ø", "ì"), ("ø", "ù"), ("æ", "è"), ("õ", "ö"))
# Of letters beyond ASCII, at most this share may stand beside another; in Chinese and Korean all do.
MOST_BESIDE = 0.34

_LETTER = f"[A-Za-z{LETTERS}]"
_STRANGE = re.compile(f"[^\\x00-\\x7f{LETTERS}{re.escape(SIGNS)}]")
_SIGN_IN_WORD = re.compile(f"(?<={_LETTER})[{''.join(set(SIGNS) - set(SIGNS_IN_WORDS))}]+(?={_LETTER})")
_RUN = re.compile(f"[{LETTERS}]{{2,}}")
_SIGN_BESIDE = re.compile(f"[{LETTERS}][{SIGNS_APART}]|[{SIGNS_APART}][{LETTERS}]")
# As in São Conceição, whose pairs are many.
_PORTUGUESE = re.compile("[çÇ][ãõÃÕ]")
_ANY = re.compile(f"[{LETTERS}]")


def looks_western(data: bytes) -> bool:
    """Whether a text that is not UTF-8 reads as Western in cp1252."""
    text = data.decode("cp1252", errors="replace")
    if _STRANGE.search(text) or _SIGN_IN_WORD.search(text) or _SIGN_BESIDE.search(text):
        return False
    # What opens is closed, and a question that begins ends.
    if ("«" in text) != ("»" in text) or ("¿" in text and "?" not in text):
        return False
    if any(one in text.lower() and other in text.lower() for one, other in UNLIKELY):
        return False
    runs = [len(found) for found in _RUN.findall(_PORTUGUESE.sub("c", text))]
    n_letters = len(_ANY.findall(text))
    return n_letters > 0 and max(runs, default=0) <= 2 and sum(runs) <= MOST_BESIDE * n_letters


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
