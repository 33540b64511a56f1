"""`tokumei measure safety`: what a released history promises to who knows some items."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tokumei.cli.options import part_options
from tokumei.cli.output import EXIT_CHECK_FAILED, JsonFlag, show, showing_progress
from tokumei.cli.reading import reads_histories
from tokumei.core.result import Answer, Facts
from tokumei.data.files.reading import AS_IT_IS, Reading


@reads_histories
def measure_safety(
    name: Annotated[str, typer.Argument(metavar="NAME", help="See 'tokumei parts safety-measure-of-histories'.")],
    release: Annotated[Path, typer.Option("--release", metavar="A", help="The released history.")],
    options: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="An option of the measure; repeatable.")
    ] = None,
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Measure how well a history hides customers of whom some items are known; exit 1 if it does not hold.

    Example: tokumei measure safety km-anonymity --set k=2 --set m=2 --release A.parquet
    """
    from tokumei.core.progress import step
    from tokumei.data.files.histories import read_released_history
    from tokumei.measure.wider_safety import HISTORY_SAFETY

    part = HISTORY_SAFETY.make_from_text(name, part_options(options))
    with showing_progress(), step(f"measuring {name}"):
        history = read_released_history(release, reading)
        score, holds = part.measure(history), part.holds(history)
    facts = {"measure": name, "value": score.value, "holds": holds, **score.inputs}
    show(Answer({"measure": name, "holds": holds, "score": score.as_dict()}, [Facts(facts)]), json=json)
    if not holds:
        raise typer.Exit(EXIT_CHECK_FAILED)
