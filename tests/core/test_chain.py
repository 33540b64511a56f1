"""A chain shows where it was changed."""

from __future__ import annotations

import pytest

from tokumei.core.chain import START, Link, next_link, read_chain
from tokumei.core.errors import PromiseBroken


def chain(n_lines: int) -> list[str]:
    links: list[Link] = []
    for number in range(n_lines):
        links.append(next_link(links, {"number": number}))
    return [link.line for link in links]


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def test_chain_comes_back_and_starts_from_nothing() -> None:
    links = read_chain(text(chain(3)), "log")
    assert [link.payload["number"] for link in links] == [0, 1, 2]
    assert links[0].previous_hash == START
    assert links[2].previous_hash == links[1].hash
    assert read_chain("", "log") == []


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        (lambda lines: [lines[0], lines[1].replace('"number":1}', '"number":9}'), lines[2]], "line 3"),
        (lambda lines: [lines[0], lines[2]], "line 2: is number 3"),
        (lambda lines: [lines[1], lines[0], lines[2]], "line 1: is number 2"),
        (lambda lines: [lines[0], lines[1].replace(":", ": ", 1), lines[2]], "line 2: is not as it was written"),
        (lambda lines: [lines[0], "[1]", lines[2]], "line 2: is not as it was written"),
        (lambda lines: [lines[0], "{", lines[2]], "line 2: is not as it was written"),
    ],
)
def test_changed_missing_and_moved_lines_are_named(changed: object, named: str) -> None:
    with pytest.raises(PromiseBroken, match=named):
        read_chain(text(changed(chain(3))), "log")  # type: ignore[operator]


def test_line_without_its_end_was_never_said_to_be_done() -> None:
    assert len(read_chain(text(chain(2)) + '{"number":3', "log")) == 2
