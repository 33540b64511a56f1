"""`tokumei study`: published tables and figures, computed again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from tokumei.cli.groups import COMMANDS_PANEL, Group
from tokumei.cli.options import ForceOption
from tokumei.cli.output import EXIT_BAD_INPUT, EXIT_CHECK_FAILED, show, showing_progress, wants_json
from tokumei.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from tokumei_studies.running import StudyOutcome

app = Group(
    "Compute published tables and figures again.",
    {COMMANDS_PANEL: {"list": "command:list_studies", "run": "command:run"}},
    package="tokumei_studies",
)


def list_studies() -> None:
    """List the studies: which published result each computes again, whether it is quick, and what data it needs.

    Example: tokumei study list
    """
    from tokumei_studies.result import StudyList

    show(StudyList())


def run(
    names: Annotated[list[str] | None, Argument(metavar="[NAME…]", help="See 'tokumei study list'.")] = None,
    all_: Annotated[bool, Option("--all", help="Run every study.")] = False,
    quick: Annotated[bool, Option("--quick", help="With --all: only those that take a few seconds.")] = False,
    data: Annotated[
        Path | None, Option("--data", metavar="DIR", help="The folder of the data that studies need.")
    ] = None,
    out: Annotated[Path, Option("--out", metavar="DIR", help="Folder for the pages and figures.")] = Path(
        "docs/studies"
    ),
    force: ForceOption = False,
    jobs: Annotated[
        int | None, Option("--jobs", min=1, help="How many run at a time; 2 if there are two cores.")
    ] = None,
) -> None:
    """Compute published numbers again, print both, and write a page for each study.

    A number holds within the tolerance that its study states, or it differs and the reason is shown. A study whose
    data is not there is left out, and its page is left as it is.

    Example: tokumei study run --all --data data
    """
    from tokumei.data.files.outputs import check_folder
    from tokumei_studies.page import INDEX, PICTURES, prepare_folder, write_index, write_page
    from tokumei_studies.result import StudyRun
    from tokumei_studies.running import chosen_studies, default_jobs, run_studies
    from tokumei_studies.study import STUDIES

    chosen = chosen_studies(names or [], is_all=all_, is_quick=quick)
    own = (INDEX, PICTURES, *(f"{name}.md" for name in STUDIES))
    check_folder(out, own, option="--out", inputs=[data], force=force)
    prepare_folder(out)

    def write(outcome: StudyOutcome) -> None:
        if outcome.findings is not None:
            write_page(out, outcome.name, outcome.findings)

    with showing_progress():
        outcomes = run_studies(chosen, data, jobs=jobs or default_jobs(), finished=write)
    if all_:
        write_index(out)
    result = StudyRun(outcomes)
    show(result)
    for outcome in () if wants_json() else outcomes:
        if outcome.error is not None:
            click.echo(f"Error: {outcome.name}: {outcome.error['message']}", err=True)
    if result.has_errors or result.is_unexplained:
        raise click.exceptions.Exit(EXIT_BAD_INPUT if result.has_errors else EXIT_CHECK_FAILED)
