"""What people type: which names are accepted, when two are the same, and Markdown as HTML that can do no harm.

Names are made harmless in exports. CommonMark is parsed by markdown-it-py with raw HTML off; of its tree only the
elements listed below are written, each through `format_html`, so that whatever a text says is escaped. Pictures become
links to them: nothing is loaded from elsewhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

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


ELEMENTS = {
    "paragraph": "p",
    "bullet_list": "ul",
    "list_item": "li",
    "blockquote": "blockquote",
    "strong": "strong",
    "em": "em",
    "s": "s",
    "table": "table",
    "thead": "thead",
    "tbody": "tbody",
    "tr": "tr",
    "th": "th",
    "td": "td",
}
EMPTY_ELEMENTS = {"hardbreak": "br", "hr": "hr"}
# The page has its own h1 and h2.
HIGHEST_HEADING = 3
SCHEMES = {"http", "https", "mailto"}
PARSER = MarkdownIt("js-default", {"html": False, "linkify": False, "maxNesting": 20})


@lru_cache(maxsize=256)
def to_html(text: str, highest: int = HIGHEST_HEADING, anchors: tuple[str, ...] = ()) -> SafeString:
    """Render Markdown as HTML.

    highest: the level that a heading of level 1 becomes.
    anchors: names for the headings and the rows of tables, in their order.
    """
    return _all(SyntaxTreeNode(PARSER.parse(text)).children, highest, iter(anchors))


def _all(nodes: Sequence[SyntaxTreeNode], highest: int, names: Iterator[str]) -> SafeString:
    return format_html_join("", "{}", ((_one(node, highest, names),) for node in nodes))


def _one(node: SyntaxTreeNode, highest: int, names: Iterator[str]) -> SafeString:
    kind = node.type
    if kind == "text":
        return format_html("{}", node.content)
    if kind == "softbreak":
        return format_html("{}", "\n")
    if kind in EMPTY_ELEMENTS:
        return format_html("<{}>", EMPTY_ELEMENTS[kind])
    if kind == "code_inline":
        return format_html("<code>{}</code>", node.content)
    if kind in {"fence", "code_block"}:
        return format_html("<pre><code>{}</code></pre>", node.content)
    if kind == "image":
        return _link(str(node.attrs.get("src", "")), format_html("{}", node.content or node.attrs.get("src", "")))
    inside = _all(node.children, highest, names)
    if kind == "heading":
        return _named(f"h{min(6, int(node.tag[1:]) + highest - 1)}", inside, names)
    if kind == "tr" and node.parent is not None and node.parent.type == "tbody":
        return _named("tr", inside, names)
    if kind == "ordered_list":
        return format_html('<ol start="{}">{}</ol>', _whole(node.attrs.get("start", 1)), inside)
    if kind == "link":
        return _link(str(node.attrs.get("href", "")), inside)
    if kind == "paragraph" and node.hidden:
        return inside
    name = ELEMENTS.get(kind)
    return inside if name is None else format_html("<{}>{}</{}>", name, inside, name)


def _named(element: str, inside: SafeString, names: Iterator[str]) -> SafeString:
    """Wrap an element with the next anchor name, if any is left, so that a link can lead to it."""
    if name := next(names, ""):
        return format_html('<{} id="{}">{}</{}>', element, name, inside, element)
    return format_html("<{}>{}</{}>", element, inside, element)


def _link(address: str, inside: SafeString) -> SafeString:
    """Render a link to the web, this server or a mail address; anything else stays text."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return inside
    is_own = not parts.scheme and not parts.netloc and address.startswith(("/", "#"))
    if not is_own and parts.scheme not in SCHEMES:
        return inside
    if is_own:
        return format_html('<a href="{}">{}</a>', address, inside)
    return format_html('<a href="{}" rel="nofollow noopener noreferrer">{}</a>', address, inside)


def _whole(value: Any) -> int:
    return int(value) if str(value).isdecimal() else 1
