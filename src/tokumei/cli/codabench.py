"""`tokumei contest export`: a contest for Codabench, and what comes back from there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tokumei.cli.contest import ContestArgument, board_answer
from tokumei.cli.options import ForceOption
from tokumei.cli.output import show, showing_progress
from tokumei.cli.parameters import Option
from tokumei.core.errors import InputError
from tokumei.core.result import Answer


def export(
    folder: ContestArgument,
    is_for_codabench: Annotated[bool, Option("--codabench", help="As a bundle for Codabench.")] = False,
    out: Annotated[Path | None, Option("--out", metavar="BUNDLE.zip", help="The zip file to write.")] = None,
    image: Annotated[
        str | None, Option("--image", help="The container image with this version of Tokumei that scores there.")
    ] = None,
    start: Annotated[str | None, Option("--start", metavar="TIME", help="When it begins (UTC); today.")] = None,
    attacks: Annotated[
        str | None, Option("--attacks", metavar="TIME", help="When attacks begin; two weeks later.")
    ] = None,
    end: Annotated[str | None, Option("--end", metavar="TIME", help="When it ends; two weeks after that.")] = None,
    teams: Annotated[
        list[str] | None, Option("--team", help="Who takes part, where teams have data of their own; repeatable.")
    ] = None,
    is_shown: Annotated[
        bool, Option("--show-verdicts", help="Tell how right guesses are while attacks go on; hidden if not given.")
    ] = False,
    results: Annotated[
        Path | None, Option("--import", metavar="RESULTS", help="Rank Codabench's CSV, or outputs in a folder.")
    ] = None,
    force: ForceOption = False,
) -> None:
    """Write a contest as a bundle for Codabench, or rank the results that came back from there.

    Example: tokumei contest export cup --codabench --image me/tokumei:1 --out bundle.zip
    """
    from tokumei.contest.codabench.bundle import Dates, export_bundle
    from tokumei.contest.codabench.results import rank_results
    from tokumei.contest.folder import open_contest
    from tokumei.data.files.outputs import guarded

    if not is_for_codabench:
        raise InputError.of("--codabench, the only form there is")
    contest = open_contest(folder)
    if results is not None:
        if out is not None or image is not None:
            raise InputError.of("either --import or --out with --image")
        ranked = rank_results(contest, results)
        show(board_answer(contest, ranked.phase, ranked.standings, ranked.attackers))
        return
    if out is None or image is None:
        raise InputError.of("--out and --image, or --import")
    dates = Dates.of(contest, start, attacks, end)
    with showing_progress(), guarded({"--out": out}, inputs=[folder], force=force) as drafts:
        names = export_bundle(contest, drafts["--out"], image=image, dates=dates, teams=teams or (), is_shown=is_shown)
    show(Answer({"out": str(out), "phase": contest.season().phase, "files": names}))
