"""Japanese pages speak Japanese: no sentence in Latin letters stands on any of them, but what people wrote."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from tests.platform.security.world import World, address, captured, may_see, named, page_routes

from tokumei.platform.access import Route

# Four Latin words in a row are a sentence, or most of one; words joined by hyphens are one name.
SENTENCE = re.compile(r"[A-Za-z][a-z'-]*(?:[ ,;:–]+[A-Za-z][a-z'-]*){3,}")
# What is quoted, typed or measured: programs, what somebody wrote, values of the data.
SKIPPED = {"script", "style", "code", "pre", "samp", "kbd", "textarea", "svg", "title", "option"}
READERS = ("anonymous", "captain", "rival", "organizer", "admin")
# What the people of the world wrote, and names of licenses and standards.
WRITTEN = ("Red Team", "Blue Team", "Grey Team", "for green", "for a team", "Everybody as one")


class VisibleText(HTMLParser):
    """Collects what a reader sees of a page, and what is read aloud to them."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in SKIPPED:
            self.hidden.append(tag)
        for name in ("aria-label", "title", "alt", "placeholder", "data-confirm"):
            if given.get(name) and not self.hidden:
                self.texts.append(str(given[name]))

    def handle_endtag(self, tag: str) -> None:
        if self.hidden and self.hidden[-1] == tag:
            self.hidden.pop()

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.texts.append(data)


def latin_sentences(html: str) -> list[str]:
    """Find the sentences in Latin letters on a page."""
    reader = VisibleText()
    reader.feed(html)
    found = []
    for text in reader.texts:
        for written in WRITTEN:
            text = text.replace(written, "・")
        found += [match[0] for match in SENTENCE.finditer(" ".join(text.split()))]
    return found


def test_sentences_are_found_and_names_are_not() -> None:
    page = '<p>これは The quick brown fox jumps です</p><code>a b c d e</code><p lang="en">a b c d</p>'
    # English that a page marks as such is English all the same.
    assert latin_sentences(page) == ["The quick brown fox jumps", "a b c d"]
    assert latin_sentences("<p>Red Team と Blue Team が PWSCUP 2017 に</p>") == []


@pytest.mark.parametrize("route", page_routes(), ids=named)
def test_japanese_page_has_no_latin_sentence(world: World, route: Route) -> None:
    assert route.access is not None
    if "GET" not in route.access.methods:
        pytest.skip("nothing to look at")
    for whose in ("public", "closed") if "contest" in captured(route) else ("public",):
        path = address(route, world.values_for(route, whose))
        for role in READERS:
            if role not in may_see(route, whose):
                continue
            answer = world.call(role, "GET", path, headers={"Accept-Language": "ja"})
            if answer.headers.get("Content-Type", "").startswith("text/html"):
                assert latin_sentences(answer.text) == [], f"{role} {path}"
