"""`tokumei study`: published tables and figures, computed again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tokumei.cli.output import (
    EXIT_BAD_INPUT,
    EXIT_CHECK_FAILED,
    JsonFlag,
    print_json,
    print_table,
    print_text,
    showing_progress,
)

if TYPE_CHECKING:
    from tokumei.studies.running import Outcome
    from tokumei.studies.study import StudyLine

app = typer.Typer(help="Compute published tables and figures again.", no_args_is_help=True)


@app.command("list")
def list_studies(json: JsonFlag = False) -> None:
    """List the studies: which published result each computes again, whether it is quick, and what data it needs.

    Example: tokumei study list
    """
    from tokumei.studies.study import STUDIES

    rows = [
        {
            "name": name,
            "title": study.title,
            "source": study.source,
            "is_quick": study.is_quick,
            "needs": list(study.needs),
        }
        for name, study in ((name, STUDIES.get(name)) for name in STUDIES)
    ]
    if json:
        print_json({"studies": rows})
        return
    # Only the folders of data: the files are for programs, and the source stands on the study's page.
    folders = {name: dict.fromkeys(one.split("/")[0] for one in STUDIES.get(name).needs) for name in STUDIES}
    shown = [[row["name"], row["title"], row["is_quick"], ", ".join(folders[str(row["name"])])] for row in rows]
    print_table(["study", "what", "quick", "data"], shown)


@app.command("run")
def run(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="See 'tokumei study list'.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Run every study.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="With --all: only those that take a few seconds.")] = False,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="The folder of the data that studies need.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the pages and figures.")] = Path(
        "docs/studies"
    ),
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="How many run at a time; 2 if there are two cores.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Compute published numbers again, print both, and write a page for each study.

    A number holds within the tolerance that its study states, or it differs and the reason is shown. A study whose
    data is not there is left out, and its page is left as it is.

    Example: tokumei study run --all --data data
    """
    from tokumei.studies.page import prepare_folder, write_index, write_page
    from tokumei.studies.running import chosen_studies, default_jobs, run_studies

    chosen = chosen_studies(names or [], is_all=all_, is_quick=quick)
    prepare_folder(out)

    def write(outcome: Outcome) -> None:
        if outcome.findings is not None:
            write_page(out, outcome.name, outcome.findings)

    with showing_progress():
        outcomes = run_studies(chosen, data, jobs=jobs or default_jobs(), finished=write)
    if all_:
        write_index(out)
    print_json(_as_dict(outcomes)) if json else _print(outcomes)
    raise typer.Exit(_exit_code(outcomes))


def _exit_code(outcomes: list[Outcome]) -> int:
    if any(outcome.error is not None for outcome in outcomes):
        return EXIT_BAD_INPUT
    is_unexplained = any(outcome.findings is not None and outcome.findings.unexplained for outcome in outcomes)
    return EXIT_CHECK_FAILED if is_unexplained else 0


def _as_dict(outcomes: list[Outcome]) -> dict[str, Any]:
    verdicts = [outcome.verdict for outcome in outcomes]
    return {
        "studies": [_study_as_dict(outcome) for outcome in outcomes],
        **{word.replace(" ", "_"): verdicts.count(word) for word in _verdicts()},
    }


def _verdicts() -> list[Any]:
    from tokumei.studies.study import Verdict

    return list(Verdict)


def _study_as_dict(outcome: Outcome) -> dict[str, Any]:
    from tokumei.studies.study import STUDIES

    study = STUDIES.get(outcome.name)
    failed = {} if outcome.error is None else {"error": outcome.error}
    return {
        "name": outcome.name,
        "title": study.title,
        "source": study.source,
        "verdict": outcome.verdict,
        "lines": [_line_as_dict(line) for line in (outcome.findings.lines if outcome.findings else ())],
        "seconds": round(outcome.seconds, 3),
        "needs": list(outcome.missing),
        **failed,
    }


def _line_as_dict(line: StudyLine) -> dict[str, Any]:
    return {
        "what": line.what,
        "published": line.published,
        "computed": line.computed,
        "difference": line.difference,
        "verdict": line.verdict,
        "why": line.why,
    }


def _print(outcomes: list[Outcome]) -> None:
    from tokumei.studies.study import STUDIES, Verdict

    for outcome in outcomes:
        if outcome.findings is not None:
            _print_findings(outcome)
        elif outcome.missing:
            title = STUDIES.get(outcome.name).title
            print_text(f"{title} ({outcome.name}): needs data, {', '.join(outcome.missing)} in the folder of --data\n")
    verdicts = [outcome.verdict for outcome in outcomes]
    typer.echo(", ".join(f"{verdicts.count(word)} {word}" for word in Verdict))
    for outcome in outcomes:
        if outcome.error is not None:
            typer.echo(f"Error: {outcome.name}: {outcome.error['message']}", err=True)


def _print_findings(outcome: Outcome) -> None:
    from tokumei.studies.page import shown
    from tokumei.studies.study import STUDIES, Verdict

    lines = outcome.findings.lines if outcome.findings else ()
    numbers = [
        [shown(number, line.digits) for number in (line.published, line.computed, line.difference)] for line in lines
    ]
    # Written here with the digits of their line, and so no longer numbers that the table would align.
    widths = [max(map(len, column)) for column in zip(*numbers, strict=True)]
    rows = [
        [line.what, *(number.rjust(width) for number, width in zip(row, widths, strict=True)), line.verdict.value]
        for line, row in zip(lines, numbers, strict=True)
    ]
    title = f"{STUDIES.get(outcome.name).title} ({outcome.name})"
    print_table(["what", "published", "computed", "difference", "verdict"], rows, title=title)
    for why in dict.fromkeys(line.why for line in lines if line.verdict is not Verdict.HOLDS):
        whats = ", ".join(line.what for line in lines if line.verdict is not Verdict.HOLDS and line.why == why)
        print_text(f"{whats}: {why or 'differs without a reason'}\n")
