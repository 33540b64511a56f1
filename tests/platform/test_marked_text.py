"""Markdown as HTML: what is written stays, and nothing that could do harm."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.platform.typed_text import to_html

ALLOWED = re.compile(
    r"</?(?:p|ul|li|blockquote|strong|em|s|table|thead|tbody|tr|th|td|h[1-6]|code|pre|ol(?: start=\"\d+\")?|br|hr|"
    r"a(?: href=\"(?:https?://|mailto:|/|#)[^\"<>]*\"(?: rel=\"nofollow noopener noreferrer\")?)?)>"
)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**a** *b* `c`", "<p><strong>a</strong> <em>b</em> <code>c</code></p>"),
        ("# a", "<h3>a</h3>"),
        ("- a\n- b", "<ul><li>a</li><li>b</li></ul>"),
        ("3. a", '<ol start="3"><li>a</li></ol>'),
        ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
        ("[x](data:text/html,1)", "<p>[x](data:text/html,1)</p>"),
        ("[x](//evil.example)", "<p>x</p>"),
        ("[x](/rules)", '<p><a href="/rules">x</a></p>'),
        ("[x](https://a.example/?a=1&b=2)",
         '<p><a href="https://a.example/?a=1&amp;b=2" rel="nofollow noopener noreferrer">x</a></p>'),
        ("![cat](https://a.example/x.png)",
         '<p><a href="https://a.example/x.png" rel="nofollow noopener noreferrer">cat</a></p>'),
        ("```\n<i>\n```", "<pre><code>&lt;i&gt;\n</code></pre>"),
        ("|a|b|\n|-|-|\n|1|2|", "<table><thead><tr><th>a</th><th>b</th></tr></thead>"
         "<tbody><tr><td>1</td><td>2</td></tr></tbody></table>"),
        ("日本語、**太字**です。", "<p>日本語、<strong>太字</strong>です。</p>"),
    ],
)  # fmt: skip
def test_markdown_becomes_html(text: str, html: str) -> None:
    assert to_html(text) == html


@given(st.text(alphabet="<>&\"'`*_[]()!#-|:/\\ \nabj=script1日", max_size=80))
def test_whatever_is_written_gives_known_elements_alone(text: str) -> None:
    html = str(to_html(text))
    assert "<" not in ALLOWED.sub("", html)
    assert ">" not in ALLOWED.sub("", html)
