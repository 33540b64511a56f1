"""What the words of a command line are read as."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import click
import pytest

from tokumei.cli.groups import Command
from tokumei.cli.parameters import Argument, Option, parameters_of


class Draw(StrEnum):
    CONTEST = "contest"
    EVEN = "even"


def take(
    file: Annotated[Path, Argument(metavar="FILE")],
    text: Annotated[str, Option()] = "",
    k: Annotated[int, Option(min=1, max=100)] = 5,
    share: Annotated[float, Option(min=0, max=1)] = 0.5,
    draw: Annotated[Draw, Option()] = Draw.CONTEST,
    name: Annotated[list[str] | None, Option()] = None,
    place: Annotated[Path | None, Option("--where")] = None,
    loud: Annotated[bool, Option("--loud/--quiet")] = False,
) -> tuple[Any, ...]:
    """Return what it was given."""
    return file, text, k, share, draw, name, place, loud


def read(*words: str) -> Any:
    command = Command("take", callback=take, params=parameters_of(take))
    return command.main([*words], standalone_mode=False)


def test_values_are_of_the_types_of_the_function() -> None:
    assert read("a.csv") == (Path("a.csv"), "", 5, 0.5, Draw.CONTEST, None, None, False)
    words = ["--text=5", "--k=7", "--share=1", "--draw=even", "--name=a", "--name=b", "--where=.", "--loud", "--", "-f"]
    found = read(*words)
    assert found == (Path("-f"), "5", 7, 1.0, Draw.EVEN, ["a", "b"], Path(), True)
    assert [type(one) for one in found[1:5]] == [str, int, float, Draw]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("--k=0", "0 is not in the range 1<=x<=100."),
        ("--k=five", "'five' is not a valid integer."),
        ("--k=1.0", "'1.0' is not a valid integer."),
        ("--k=", "'' is not a valid integer."),
        ("--share=nan", "'nan' is not a number."),
        ("--share=inf", "inf is not in the range 0<=x<=1."),
        ("--draw=Even", "'Even' is not one of 'contest', 'even'."),
    ],
)
def test_value_that_is_not_of_its_type_is_refused(word: str, said: str) -> None:
    with pytest.raises(click.BadParameter) as error:
        read(word, "a.csv")
    assert error.value.message == said
