"""`tokumei report` and `tokumei sweep`: one release in full, and many in comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tokumei.cli.options import DrawOption, ForceOption, SeedOption, names
from tokumei.cli.output import JsonFlag, show, showing_progress
from tokumei.cli.reading import reads_histories
from tokumei.core.errors import InputError
from tokumei.core.result import Answer, Facts
from tokumei.data.files.reading import AS_IT_IS, Reading

KnowledgeOption = Annotated[
    list[str] | None,
    typer.Option("--knowledge", metavar="25=T25", help="Per cent known and its file; drawn anew without a file."),
]
AttacksOption = Annotated[
    str | None, typer.Option("--attacks", metavar="A,B,…", help="Which attacks; s1 to s6 and linkage if not given.")
]
SampleOption = Annotated[
    int | None,
    typer.Option("--sample", min=2, metavar="N", help="Attack so many customers; as take minutes if not given."),
]


@reads_histories
def report(
    original: Annotated[Path, typer.Option("--original", metavar="T", help="The original history.")],
    release: Annotated[Path, typer.Option("--release", metavar="A", help="The release, row for row.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE.html", help="The report.")],
    knowledge: KnowledgeOption = None,
    draw: DrawOption = "contest",
    attacks: AttacksOption = None,
    sample: SampleOption = None,
    sweep: Annotated[
        Path | None, typer.Option("--sweep", metavar="DIR", help="Show the frontier of a finished sweep.")
    ] = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Measure and attack a release in every way, and write one self-contained page.

    Example: tokumei report --original T.csv --release AT.csv --knowledge 25=T25.csv --knowledge 100 --out report.html
    """
    from tokumei.data.files.outputs import guarded
    from tokumei.job.report_history import report_history

    read = [original, release, *_files_of(knowledge), None if sweep is None else sweep / "sweep.json"]
    with showing_progress(), guarded({"--out": out}, inputs=read, force=force) as drafts:
        done = report_history(
            original,
            release,
            knowledge=knowledge,
            draw=draw,  # type: ignore[arg-type]
            attacks=names(attacks, "--attacks") if attacks else None,
            swept=None if sweep is None else _read_sweep(sweep),
            sample=sample,
            seed=seed,
            reading=reading,
            name=f"Report on {release.name}",
        )
        done.page().write(drafts["--out"])
    show(Answer({**done.to_dict(), "out": str(out)}, [*done.sections(), Facts({"page": str(out)})]), json=json)


@reads_histories
def sweep(
    file: Annotated[Path, typer.Argument(metavar="T", help="The original history.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the results; a sweep goes on there.")],
    grid: Annotated[
        Path | None, typer.Option("--grid", metavar="FILE.toml", help="A \\[\\[pipeline]] for each way to anonymize.")
    ] = None,
    knowledge: KnowledgeOption = None,
    draw: DrawOption = "contest",
    attacks: AttacksOption = None,
    sample: SampleOption = None,
    seed: SeedOption = 0,
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Anonymize a history in many ways and draw what safety costs; what was done before is not done again.

    Example: tokumei sweep T.csv --knowledge 25=T25.csv --out sweep
    """
    from tokumei.job.report_history import sweep_history

    wanted = names(attacks, "--attacks") if attacks else None
    with showing_progress():
        done = sweep_history(
            file,
            out,
            grid=grid,
            knowledge=knowledge,
            draw=draw,  # type: ignore[arg-type]
            attacks=wanted,
            sample=sample,
            seed=seed,
            reading=reading,
        )
        done.ways.write_json(out / "sweep.json")
        done.page().write(out / "sweep.html")
    page = Facts({"page": str(out / "sweep.html")})
    show(Answer({**done.to_dict(), "out": str(out)}, [*done.sections(), page]), json=json)


def _files_of(texts: list[str] | None) -> list[str]:
    """Give the files that knowledge is read from."""
    return [file for text in texts or [] if (file := text.partition("=")[2])]


def _read_sweep(folder: Path) -> Any:
    import polars as pl

    file = folder / "sweep.json"
    if not file.exists():
        raise InputError.of("the folder of a finished sweep", file=folder)
    return pl.read_json(file)
