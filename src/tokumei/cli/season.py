"""`tokumei contest kit`, `make-release`, `make-guess`, `replay` and `simulate`: beside a contest's steps.

A kit is what teams get; a first release and a first guess are made from it, to begin with. Replaying tells whether it
was all true, and simulating plays a season without teams.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from tokumei.cli.contest import (
    ContestArgument,
    EditionOption,
    OwnOption,
    SetOption,
    SourceOption,
    chosen_edition,
    ranking_sections,
)
from tokumei.cli.options import ForceOption, SeedOption, reads_histories
from tokumei.cli.output import show, showing_progress
from tokumei.cli.parameters import Argument, Option
from tokumei.core.errors import InputError, UnknownPart
from tokumei.core.result import Answer, Facts
from tokumei.data.files.reading import AS_IT_IS, Reading

KitArgument = Annotated[Path, Argument(metavar="KIT", help="The folder of the unpacked kit.")]
OutOption = Annotated[Path, Option("--out", metavar="DIR", help="The folder to make.")]


def make_release(
    kit: KitArgument,
    out: OutOption,
    method: Annotated[str | None, Option("--method", help="A built-in team; the simplest if not given.")] = None,
    seed: SeedOption = 0,
) -> None:
    """Make a first release by a built-in anonymizer.

    Example: tokumei contest make-release kit --out my-release
    """
    from tokumei.contest.kit import open_kit

    with showing_progress(), _new_folder(out, kit) as draft:
        rules, data, _ = open_kit(kit)
        name = _chosen(method, list(rules.anonymizers()), "anonymizer")
        rules.anonymize(name, data, draft, seed=seed)
    show(Answer({"out": str(out), "method": name, "next": f"tokumei contest check {kit} {out}"}))


def make_guess(
    kit: KitArgument,
    release: Annotated[Path, Argument(metavar="RELEASE", help="The folder of a published release.")],
    out: OutOption,
    level: Annotated[str | None, Option("--level", help="Level of knowledge; the first if not given.")] = None,
    method: Annotated[str | None, Option("--method", help="A built-in attack; the simplest if none.")] = None,
    seed: SeedOption = 0,
) -> None:
    """Make a first guess at a published release by a built-in attack.

    Example: tokumei contest make-guess kit kit/sample/published --out my-guess
    """
    from tokumei.contest.edition import files_in
    from tokumei.contest.kit import open_kit

    with showing_progress(), _new_folder(out, kit) as draft:
        rules, data, known = open_kit(kit, is_guess=True)
        levels = rules.terms.knowledge_files
        chosen = _chosen(level, list(levels), "level of knowledge")
        name = _chosen(method, list(rules.attacks()), "attack")
        part = {role.name: known[role.name] for role in levels[chosen]}
        rules.attack(name, data, part, files_in(release, rules.terms.published_files), draft, seed=seed)
    facts = {"out": str(out), "method": name} | ({"level": chosen} if chosen else {})
    show(Answer(facts | {"next": f"tokumei contest check {kit} {out} --published {release}"}))


def _chosen(wanted: str | None, known: list[str], kind: str) -> str:
    if wanted is not None and wanted not in known:
        raise UnknownPart(kind, wanted, known)
    return known[0] if wanted is None else wanted


@contextmanager
def _new_folder(out: Path, kit: Path) -> Iterator[Path]:
    """Create a folder that gets its name when all is done; an existing one stays."""
    from tokumei.contest.kit import is_kit

    if not is_kit(kit):
        raise InputError.of("the folder of an unpacked kit", file=kit)
    if out.exists():
        raise InputError.of("a folder that does not exist yet", file=out)
    if not out.resolve().parent.is_dir():
        raise InputError.of("a folder that exists", file=out.parent)
    draft = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.resolve().parent))
    try:
        yield draft
        draft.chmod(0o755)
        draft.rename(out)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


@reads_histories
def kit(
    out: Annotated[Path, Option("--out", metavar="KIT.zip", help="The zip file to write.")],
    folder: Annotated[Path | None, Argument(metavar="[CONTEST]", help="The folder of the contest.")] = None,
    edition: EditionOption = None,
    own: OwnOption = None,
    source: SourceOption = None,
    seed: SeedOption = 0,
    options: SetOption = None,
    force: ForceOption = False,
    team: Annotated[
        str | None, Option("--team", help="Pack the data that this team has alone, too; for nobody else.")
    ] = None,
    reading: Reading = AS_IT_IS,
) -> None:
    """Pack a kit for teams: rules, data, a sample release and a sample attack. With --edition, a kit to practice with.

    Example: tokumei contest kit cup --out kit.zip
    """
    from tokumei.contest.checks import plain_source
    from tokumei.contest.folder import open_contest
    from tokumei.contest.kit import kit_of_contest, kit_of_edition
    from tokumei.contest.setting import source_of
    from tokumei.data.files.outputs import guarded

    with showing_progress(), guarded({"--out": out}, inputs=[folder, own, source], force=force) as drafts:
        if folder is not None:
            if edition or own or source or options or reading != AS_IT_IS:
                raise InputError.of("either a contest or an edition, not both")
            names = kit_of_contest(open_contest(folder), drafts["--out"], team=team)
        else:
            if team is not None:
                raise InputError.of("a contest whose team this is", option="team", value=team)
            rules = chosen_edition(edition, own, options)
            with plain_source(source or source_of(rules), reading) as plain:
                names = kit_of_edition(rules, drafts["--out"], seed=seed, source=plain)
    result: dict[str, object] = {"out": str(out), "files": names}
    show(Answer(result))


@reads_histories
def replay(
    folder: ContestArgument,
    is_quick: Annotated[bool, Option("--quick", help="Verify log and files; compute nothing again.")] = False,
    head: Annotated[
        str | None, Option("--head", metavar="HASH", help="A hash shown before, which the log must still hold.")
    ] = None,
    source: SourceOption = None,
    reading: Reading = AS_IT_IS,
) -> None:
    """Audit a contest: verify its log and files, and compute every score, verdict and place again.

    With --source the data are sampled again too; it is read as when the contest was prepared.

    Example: tokumei contest replay cup
    """
    from dataclasses import asdict

    from tokumei.contest.checks import plain_source
    from tokumei.contest.replay import replay as replay_contest

    with showing_progress(), plain_source(source, reading) as plain:
        found = replay_contest(folder, is_quick=is_quick, head=head, source=plain)
    result = {"is_true": True} | asdict(found)
    show(Answer(result))


@reads_histories
def simulate(
    edition: EditionOption = None,
    own: OwnOption = None,
    teams: Annotated[int, Option("--teams", min=1, help="How many teams play.")] = 8,
    customers: Annotated[int | None, Option("--customers", min=1, help="Same as --set n_customers=….")] = None,
    out: Annotated[
        Path | None, Option("--out", metavar="DIR", help="The contest's folder; season-EDITION if not given.")
    ] = None,
    source: SourceOption = None,
    seed: SeedOption = 1,
    options: SetOption = None,
    reading: Reading = AS_IT_IS,
) -> None:
    """Play a whole season: every built-in attack at every level of knowledge on the built-in anonymizers.

    The teams are anonymizers, the attackers the house. The folder is a contest like any other, with a page of results.

    Example: tokumei contest simulate --edition pwscup2017 --teams 8 --customers 100 --out season
    """
    from tokumei.contest.checks import plain_source
    from tokumei.contest.phases import ranking
    from tokumei.contest.replay import PAGE
    from tokumei.contest.replay import simulate as play
    from tokumei.contest.setting import source_of

    wanted = [*(options or []), *([] if customers is None else [f"n_customers={customers}"])]
    rules = chosen_edition(edition, own, wanted)
    folder = out or Path(f"season-{edition or (own.stem if own else '')}")
    started = time.perf_counter()
    with showing_progress(), plain_source(source or source_of(rules), reading) as plain:
        contest = play(rules, folder, n_teams=teams, seed=seed, source=plain)
    standings = ranking(contest)
    season = contest.season()
    result: dict[str, object] = {
        "teams": teams,
        "attacks": len(season.guesses),
        "seed": seed,
        "out": str(folder),
        "page": str(folder / PAGE),
        "seconds": round(time.perf_counter() - started, 1),
    }
    told = result | {"ranking": [standing.as_dict() for standing in standings]}
    board = ranking_sections(standings, f"{contest.terms.title}, a simulated season")
    show(Answer(told, [*board, Facts(result)]))
