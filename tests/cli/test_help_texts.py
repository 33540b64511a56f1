"""The help of every command at 60, 80 and 120 columns: nothing that is typed may be cut."""

from __future__ import annotations

import pytest
from tests.cli.test_every_command import COMMANDS

from tokumei.cli.main import main

WIDTHS = (60, 80, 120)


def help_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit, match="0"):
        main([*words, "--help"])
    return capsys.readouterr().out


@pytest.mark.parametrize("width", WIDTHS)
def test_names_values_and_defaults_stand_whole_in_the_help_of_every_command(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    n_options = 0
    for name, command in COMMANDS.items():
        text = help_of(capsys, *name.split())
        words = {word.strip(",[]") for word in text.split()}
        for param in command.params:
            typed = [*(one for one in (*param.opts, *param.secondary_opts) if one.startswith("-"))]
            typed += (param.metavar or "").split()
            if isinstance(param.default, (str, int, float)) and not isinstance(param.default, bool):
                typed += str(param.default).split()
            said = (param.help or "").split()
            for word in (*typed, *said):
                assert word.strip(",[]") in words, f"{word} is cut in the help of {name} at {width} columns"
            n_options += 1
        # Nothing is marked up, so that brackets are typed as they are shown.
        assert "\\" not in text, name
        # A word alone may be wider than the screen: it is never broken.
        assert all(len(line) <= width or len(line.split()) == 1 for line in text.splitlines()), name
    assert n_options > 300


def test_help_of_a_group_lists_its_commands_by_title(capsys: pytest.CaptureFixture[str]) -> None:
    text = help_of(capsys)
    assert text.index("Data and hierarchies") < text.index("\n  inspect  ") < text.index("Anonymize and measure")
    assert "\n  clean-retail  " in help_of(capsys, "data")
    assert "A [[pipeline]] for each way" in help_of(capsys, "sweep")


def test_long_name_has_its_text_below_and_short_ones_beside(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = help_of(capsys, "anonymize", "table").splitlines()
    at = lines.index("  --delta-disclosure COLUMN=DELTA[:…]")
    assert lines[at + 1] == " " * 27 + "How far the share of a value in a"
    assert "  --k N                    Fewest rows in a class: each" in lines
