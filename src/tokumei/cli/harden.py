"""`tokumei harden`: the least further changes to a release of a history until no attack finds more than is allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tokumei.cli.history import OriginalOption, OutFormatOption, item_file
from tokumei.cli.options import DrawOption, ForceOption, ItemHierarchyOption, names
from tokumei.cli.output import JsonFlag, show, showing_progress
from tokumei.cli.reading import reads_histories
from tokumei.cli.report import KnowledgeOption, MinutesOption, SampleOption, files_of
from tokumei.data.files.reading import AS_IT_IS, Reading


@reads_histories
def harden(
    original: OriginalOption,
    bound: Annotated[
        float, typer.Option("--bound", metavar="0.25", help="Largest share of customers that any attack may find.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="OUT", help="The hardened release, row for row.")],
    release: Annotated[
        Path | None, typer.Option("--release", metavar="A", help="The release, row for row; not published yet.")
    ] = None,
    pipeline: Annotated[
        Path | None, typer.Option("--pipeline", metavar="FILE.toml", help="Make the release first, by these methods.")
    ] = None,
    published: Annotated[
        Path | None, typer.Option("--published", metavar="S", help="Also write the rows left, shuffled.")
    ] = None,
    truth: Annotated[
        Path | None, typer.Option("--truth", metavar="F", help="Also write who is who, to judge attacks by.")
    ] = None,
    knowledge: KnowledgeOption = None,
    draw: DrawOption = "contest",
    draws: Annotated[int, typer.Option("--draws", min=1, help="How often knowledge is drawn; all must hold.")] = 1,
    attacks: Annotated[
        str | None, typer.Option("--attacks", metavar="A,B,…", help="Which attacks; all that can work if not given.")
    ] = None,
    minutes: MinutesOption = None,
    changes: Annotated[
        str | None,
        typer.Option(
            "--changes", metavar="A,B,…", help="Some of widen, delete, re-pseudonymize, permute; all if not given."
        ),
    ] = None,
    sample: SampleOption = None,
    hierarchy: ItemHierarchyOption = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="The same seed gives the same release; a secret one is drawn if not given."),
    ] = None,
    out_format: OutFormatOption = None,
    force: ForceOption = False,
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Change a release no more than needed for every attack to find at most a share of the customers.

    Prints what every attack finds before and after, and what it cost, measure by measure.

    Example: tokumei harden --original T.csv --release AT.csv --bound 0.25 --out hard.csv --published S.csv
    """
    from tokumei.data.files.histories import form_of, form_of_release
    from tokumei.data.files.outputs import guarded
    from tokumei.job.harden_history import harden_history

    outputs = {"--out": out, "--published": published, "--truth": truth}
    items = item_file(hierarchy)
    read = [original, release, pipeline, items, *files_of(knowledge)]
    with showing_progress(), guarded(outputs, inputs=read, force=force) as drafts:
        done = harden_history(
            original,
            release,
            bound=bound,
            pipeline=pipeline,
            knowledge=knowledge,
            draw=draw,  # type: ignore[arg-type]
            draws=draws,
            attacks=names(attacks, "--attacks") if attacks else None,
            minutes=minutes,
            changes=names(changes, "--changes") if changes else None,
            sample=sample,
            seed=seed,
            form=form_of_release(form_of(original, reading), out_format),
            reading=reading,
            hierarchy=items,
        )
        done.release.write(drafts["--out"], drafts.get("--published"), drafts.get("--truth"))
    show(done.written_to(out), json=json)
