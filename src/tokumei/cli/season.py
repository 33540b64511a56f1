"""`tokumei contest kit|replay|simulate`: what teams get, whether it was all true, and a season without teams."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from tokumei.cli.contest import (
    ContestArgument,
    EditionOption,
    OwnOption,
    SetOption,
    SourceOption,
    chosen_edition,
    ranking_sections,
)
from tokumei.cli.options import ForceOption, SeedOption
from tokumei.cli.output import JsonFlag, show, showing_progress
from tokumei.cli.reading import reads_histories
from tokumei.core.errors import InputError
from tokumei.core.result import Answer, Facts
from tokumei.data.files.reading import AS_IT_IS, Reading


@reads_histories
def kit(
    out: Annotated[Path, typer.Option("--out", metavar="KIT.zip", help="The zip file to write.")],
    folder: Annotated[Path | None, typer.Argument(metavar="[CONTEST]", help="The folder of the contest.")] = None,
    edition: EditionOption = None,
    own: OwnOption = None,
    source: SourceOption = None,
    seed: SeedOption = 0,
    options: SetOption = None,
    force: ForceOption = False,
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Pack what teams need: rules, data, a sample release and attack; of an edition alone to practice.

    Example: tokumei contest kit cup --out kit.zip
    """
    from tokumei.contest.folder import open_contest
    from tokumei.contest.kit import kit_of_contest, kit_of_edition
    from tokumei.contest.setting import source_of
    from tokumei.contest.source import plain_source
    from tokumei.data.files.outputs import guarded

    with showing_progress(), guarded({"--out": out}, inputs=[folder, own, source], force=force) as drafts:
        if folder is not None:
            if edition or own or source or options or reading != AS_IT_IS:
                raise InputError.of("either a contest or an edition, not both")
            names = kit_of_contest(open_contest(folder), drafts["--out"])
        else:
            rules = chosen_edition(edition, own, options)
            with plain_source(source or source_of(rules), reading) as plain:
                names = kit_of_edition(rules, drafts["--out"], seed=seed, source=plain)
    result: dict[str, Any] = {"out": str(out), "files": names}
    show(Answer(result), json=json)


@reads_histories
def replay(
    folder: ContestArgument,
    is_quick: Annotated[bool, typer.Option("--quick", help="Verify log and files; work out nothing again.")] = False,
    head: Annotated[
        str | None, typer.Option("--head", metavar="HASH", help="A hash shown before, which the log must still hold.")
    ] = None,
    source: SourceOption = None,
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Audit a contest: verify its log and files, and work out every score, verdict and place again.

    With --source the data are sampled again too; it is read as when the contest was prepared.

    Example: tokumei contest replay cup
    """
    from dataclasses import asdict

    from tokumei.contest.replay import replay as replay_contest
    from tokumei.contest.source import plain_source

    with showing_progress(), plain_source(source, reading) as plain:
        found = replay_contest(folder, is_quick=is_quick, head=head, source=plain)
    result = {"is_true": True} | asdict(found)
    show(Answer(result), json=json)


@reads_histories
def simulate(
    edition: EditionOption = None,
    own: OwnOption = None,
    teams: Annotated[int, typer.Option("--teams", min=1, help="How many teams play.")] = 8,
    customers: Annotated[int | None, typer.Option("--customers", min=1, help="Same as --set n_customers=….")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The contest's folder; season-EDITION if not given.")
    ] = None,
    source: SourceOption = None,
    seed: SeedOption = 1,
    options: SetOption = None,
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Play a whole season: every built-in attack at every level of knowledge on the built-in anonymizers.

    The teams are anonymizers, the attackers the house. The folder is a contest like any other, with a page of results.

    Example: tokumei contest simulate --edition pwscup2017 --teams 8 --customers 100 --out season
    """
    from tokumei.contest.phases import ranking
    from tokumei.contest.setting import source_of
    from tokumei.contest.simulate import PAGE
    from tokumei.contest.simulate import simulate as play
    from tokumei.contest.source import plain_source

    wanted = [*(options or []), *([] if customers is None else [f"n_customers={customers}"])]
    rules = chosen_edition(edition, own, wanted)
    folder = out or Path(f"season-{edition or (own.stem if own else '')}")
    started = time.perf_counter()
    with showing_progress(), plain_source(source or source_of(rules), reading) as plain:
        contest = play(rules, folder, n_teams=teams, seed=seed, source=plain)
    standings = ranking(contest)
    season = contest.season()
    result: dict[str, Any] = {
        "teams": teams,
        "attacks": len(season.guesses),
        "seed": seed,
        "out": str(folder),
        "page": str(folder / PAGE),
        "seconds": round(time.perf_counter() - started, 1),
    }
    told = result | {"ranking": [standing.as_dict() for standing in standings]}
    board = ranking_sections(standings, f"{contest.terms.title}, a simulated season")
    show(Answer(told, [*board, Facts(result)]), json=json)
