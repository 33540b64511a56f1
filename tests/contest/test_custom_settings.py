"""Files of contests that went wrong in any way are contests, or input errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases
from tests.journey.commands import tokumei

from tokumei.contest.custom.template import template
from tokumei.contest.setting import parse_setting
from tokumei.core.errors import InputError

LINES = {kind: [line for line in template(kind).splitlines() if line.strip()] for kind in ("history", "table")}
VALUES = st.sampled_from(
    [
        *("0", "-1", "1e400", "nan", "inf", "true", '""', '"x"', "[]", "{}", "[[]]", '["item"]', "2030-01-01"),
        *("[1, true]", "{ k = -3 }", "{ a = { b = 1 } }", '"U / 0"', '"\\u0000"', "99999999999999999999999", "'''x'''"),
    ]
)


@given(drawn=st.data(), kind=st.sampled_from(sorted(LINES)))
@settings(max_examples=cases(400))
def test_mutated_file_is_a_contest_or_an_input_error(drawn: st.DataObject, kind: str) -> None:
    lines = list(LINES[kind])
    for _ in range(drawn.draw(st.integers(1, 3))):
        at = drawn.draw(st.integers(0, len(lines) - 1))
        match drawn.draw(st.sampled_from(["value", "drop", "twice", "move", "uncomment", "text"])):
            case "value":
                key, mark, _ = lines[at].partition("=")
                lines[at] = f"{key}= {drawn.draw(VALUES)}" if mark else lines[at]
            case "drop":
                del lines[at]
            case "twice":
                lines.insert(at, lines[at])
            case "move":
                lines.append(lines.pop(at))
            case "uncomment":
                lines[at] = lines[at].removeprefix("# ")
            case _:
                lines[at] = drawn.draw(st.text(max_size=12))
    try:
        edition = parse_setting("\n".join(lines), file="my.toml")
    except InputError as error:
        assert len(error.faults) == 1
        assert error.faults[0].file == "my.toml"
        return
    # What is read is whole: it says its rules and its players.
    assert edition.terms.release_rules
    assert edition.attacks()


@pytest.mark.parametrize("kind", LINES)
def test_template_names_only_commands_that_exist(kind: str, tmp_path: Path) -> None:
    (tmp_path / "THIS_FILE").write_text(template(kind), encoding="utf-8")
    commands = [found for line in LINES[kind] for found in re.findall(r"tokumei ([^#]*[^#.])", line)]
    assert len(commands) == 3
    for words in commands:
        done = tokumei(*words.split(), cwd=tmp_path)
        assert done.returncode == 0, (words, done.stderr)
