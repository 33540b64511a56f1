"""Whether bytes are Western text in cp1252 rather than in one of the many encodings that share its letters.

Every text decodes as cp1252, so what is asked is whether it makes sense: only letters of Western languages, single ones
among plain letters, and no sign inside a word. Polish in cp1250 has ³ there, Russian has long runs, Mac Roman and
the old code pages of DOS have quotes and signs. Letters that no two Western languages share in one text, as in Czech or
Hungarian, are left to the user as well: nothing is garbled for the sake of convenience.
"""

from __future__ import annotations

import re

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
