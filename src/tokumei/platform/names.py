"""Names that people give: which are accepted, when two are the same, and how they are made harmless in exports."""

from __future__ import annotations

import re
import unicodedata

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

# The team names of the contest room, for user names and team names alike.
SHORT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}\Z")
DISPLAY_NAME_LENGTH = 60
# Control and format characters (the bidirectional ones among them), surrogates, private and unassigned ones, and line
# breaks: a name made of them could look like another or turn the text around it.
REFUSED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Letters that show nothing: fillers of Hangul, the empty Braille pattern, and the joiner of graphemes.
BLANK_LETTERS = frozenset("\u034f\u115f\u1160\u2800\u3164\uffa0")
# They choose the shape of a character, as some Japanese names need, and make no other name of it.
SHAPE_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
# More marks on one letter reach into the lines above and below.
MARKS_IN_A_ROW = 4
# Of a name of sixty characters; one Arabic ligature becomes eighteen.
KEY_LENGTH = 18 * DISPLAY_NAME_LENGTH
# Of a longer text: what turns the text around it, hides in it or ends a line; as a class of a regular expression.
# Joiners stay, since emoji and some scripts need them.
UNSEEN = (
    "\x80-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
)
UNSEEN_IN_LINE = re.compile(f"[\x00-\x1f\x7f{UNSEEN}]")
UNSEEN_IN_TEXT = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f{UNSEEN}]")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def check_short_name(name: str) -> None:
    """Refuse a short name that is not letters, digits, hyphens and underscores."""
    if not SHORT_NAME.match(name):
        raise ValidationError(
            _("Use 1 to 40 letters a–z, digits, hyphens and underscores; begin with a letter or a digit."),
            code="short_name",
        )


def clean_display_name(name: str) -> str:
    """Return the name with its blanks tidied; refuse characters that cannot be seen."""
    composed = unicodedata.normalize("NFC", name)
    if any(_is_invisible(character) for character in composed) or _has_piled_marks(composed):
        raise ValidationError(_("Control characters and invisible characters cannot be used."), code="invisible")
    tidy = " ".join(composed.split())
    if not 1 <= len(tidy) <= DISPLAY_NAME_LENGTH:
        raise ValidationError(_("Use 1 to %(most)s characters."), code="length", params={"most": DISPLAY_NAME_LENGTH})
    return tidy


def check_line(line: str) -> None:
    """Refuse a line of text with characters that cannot be seen."""
    _check_seen(UNSEEN_IN_LINE, line)


def check_text(text: str) -> None:
    """Refuse a text of several lines with characters that cannot be seen."""
    _check_seen(UNSEEN_IN_TEXT, text)


def same_name_key(name: str) -> str:
    """Return a key that is equal for names that differ only in case, width, blanks or look-alike characters."""
    plain = SHAPE_SELECTORS.sub("", name)
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", plain).casefold()).split())


def inert_cell(text: str) -> str:
    """Escape a cell of an exported table so that no spreadsheet takes it for a formula."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def _check_seen(unseen: re.Pattern[str], text: str) -> None:
    if unseen.search(text):
        raise ValidationError(_("Control characters and invisible characters cannot be used."), code="invisible")


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in REFUSED_CATEGORIES or character in BLANK_LETTERS


def _has_piled_marks(name: str) -> bool:
    n_marks = MARKS_IN_A_ROW  # A name that begins with a mark has nothing to put it on.
    for character in name:
        n_marks = n_marks + 1 if unicodedata.category(character) in {"Mn", "Me"} else 0
        if n_marks > MARKS_IN_A_ROW:
            return True
    return False
