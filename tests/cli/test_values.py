from __future__ import annotations

import subprocess
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from hypothesis import given
from hypothesis import strategies as st

from tokumei.cli.main import NOT_PLAIN, plain_value, with_plain_values


class Draw(Enum):
    CONTEST = "contest"
    EVEN = "even"


seen: list[Any] = []
app = typer.Typer()


@app.command()
def take(
    file: Path,
    text: Annotated[str, typer.Option()] = "",
    k: Annotated[int, typer.Option(min=1, max=100)] = 5,
    share: Annotated[float, typer.Option(min=0, max=1)] = 0.5,
    draw: Annotated[Draw, typer.Option()] = Draw.CONTEST,
    name: Annotated[list[str] | None, typer.Option()] = None,
    size: Annotated[list[int] | None, typer.Option()] = None,
    place: Annotated[Path | None, typer.Option()] = None,
    loud: bool = False,
) -> None:
    seen.append((file, text, k, share, draw, name, size, place, loud))


WORDS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8),
    st.sampled_from(["5", "+5", "05", " 5", "5_0", "５", "1e3", "nan", "inf", "0.25", ".5", "1.", "contest", "Even"]),
    st.integers(-200, 200).map(str),
)
OPTIONS = st.sampled_from(["--text", "--k", "--share", "--draw", "--name", "--size", "--place"])


@given(st.lists(st.tuples(OPTIONS, WORDS), max_size=4), WORDS)
def test_values_are_read_and_refused_as_the_library_does(pairs: list[tuple[str, str]], file: str) -> None:
    arguments = [*(f"{option}={value}" for option, value in pairs), "--", file]
    plain = with_plain_values(typer.main.get_command(app))
    assert _outcome(plain, arguments) == _outcome(typer.main.get_command(app), arguments)


def _outcome(command: Any, arguments: list[str]) -> object:
    seen.clear()
    try:
        command(arguments, standalone_mode=False)
    except typer.BadParameter as error:
        return type(error), error.message
    return seen[0], [type(one) for one in seen[0]]


def test_plain_words_numbers_and_files_are_read_here(tmp_path: Path) -> None:
    params = {param.name: param for param in typer.main.get_command(app).params}
    given = {"file": str(tmp_path), "text": "a", "k": "7", "share": "0.5", "draw": "even", "name": ("a", "b")}
    read = {name: plain_value(value, params[name]) for name, value in given.items()}
    assert read == {
        "file": tmp_path, "text": "a", "k": 7, "share": 0.5, "draw": Draw.EVEN, "name": ["a", "b"],
    }  # fmt: skip
    assert plain_value("0", params["k"]) is NOT_PLAIN


def test_command_with_plain_values_loads_no_other_library(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    code = (
        "import atexit, sys; from tokumei.cli.main import main; "
        "atexit.register(lambda: print('pydantic' in sys.modules)); "
        f"main(['data', 'describe', {str(tmp_path / 'a.csv')!r}, '--json'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
