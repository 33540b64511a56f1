"""Texts that people write in Markdown, as HTML that can do no harm.

CommonMark is parsed by markdown-it-py with raw HTML off; of its tree only the elements below are written, each through
`format_html`, so that whatever a text says is escaped. Pictures become links to them: nothing is loaded from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

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
