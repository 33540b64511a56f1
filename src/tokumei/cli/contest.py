"""`tokumei contest …`: run a contest in a folder, from preparing it to its ranking."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tokumei.cli.edition import leaves
from tokumei.cli.options import part_options, reads_histories
from tokumei.cli.output import screen_width, show, showing_progress, table_lines
from tokumei.cli.parameters import Argument, Option
from tokumei.core.errors import InputError, UnknownPart
from tokumei.core.result import Answer, Facts, Rows, Section, Sentence
from tokumei.core.text import Json
from tokumei.data.files.reading import AS_IT_IS, Reading

if TYPE_CHECKING:
    from tokumei.contest.edition import Edition, Standing
    from tokumei.contest.folder import Contest
    from tokumei.contest.season import AttackPlace


ContestArgument = Annotated[Path, Argument(metavar="CONTEST", help="The folder of the contest.")]
FolderArgument = Annotated[Path, Argument(metavar="CONTEST", help="The folder of the contest, or of its kit.")]
FilesArgument = Annotated[Path, Argument(metavar="FILES", help="A folder with the files, or the only file.")]
MaybeFilesArgument = Annotated[
    Path | None, Argument(metavar="[FILES]", help="A folder with the files, or the only file.")
]
TeamOption = Annotated[str, Option("--team", help="Who submits.")]
OwnTeamOption = Annotated[str | None, Option("--team", help="Who would submit, where teams have data of their own.")]
EditionOption = Annotated[str | None, Option("--edition", help="See 'tokumei parts edition'.")]
OwnOption = Annotated[
    Path | None, Option("--contest", metavar="FILE.toml", help="A contest of one's own instead of an edition.")
]
SetOption = Annotated[
    list[str] | None, Option("--set", metavar="NAME=VALUE", help="An option of the edition; repeatable.")
]
SourceOption = Annotated[
    Path | None, Option("--source", metavar="FILE", help="Sample the data from it; made up if not given.")
]
PublishedOption = Annotated[
    Path | None, Option("--published", metavar="DIR", help="In a kit: what attackers see of the release.")
]
OWN_KINDS = ("table", "history")
ALWAYS_SHOWN = ("place", "team", "value", "utility", "safety")


def new(
    out: Annotated[Path, Argument(metavar="FILE.toml", help="The file to write.")],
    kind: Annotated[str, Option("--kind", help="table or history.")] = "table",
) -> None:
    """Write a commented contest file, to edit and then prepare.

    Example: tokumei contest new my.toml --kind table
    """
    from tokumei.contest.custom.template import template
    from tokumei.data.files.disk import write_text

    if kind not in OWN_KINDS:
        raise UnknownPart("kind of contest", kind, OWN_KINDS)
    if out.exists():
        raise InputError.of("a file that does not exist yet", file=out)
    write_text(out, template(kind))
    show(Answer({"kind": kind, "out": str(out), "next": f"tokumei contest prepare --contest {out} --out my-contest"}))


@reads_histories
def prepare(
    out: Annotated[Path, Option("--out", metavar="DIR", help="The folder to make.")],
    edition: EditionOption = None,
    own: OwnOption = None,
    source: SourceOption = None,
    seed: Annotated[
        int | None, Option("--seed", min=0, help="For rehearsals: a key from a number. Drawn afresh if not given.")
    ] = None,
    options: SetOption = None,
    counts: Annotated[
        str, Option("--counts", help="Which release of a team counts: its latest, its best, or one it has chosen.")
    ] = "latest",
    reading: Reading = AS_IT_IS,
) -> None:
    """Make the folder of a new contest: the data, what attackers will know, and the log.

    Example: tokumei contest prepare --edition pwscup2017 --out cup --seed 1 --set n_customers=50
    """
    from tokumei.contest.checks import plain_source
    from tokumei.contest.phases import prepare as prepare_contest
    from tokumei.contest.setting import source_of

    rules = chosen_edition(edition, own, options)
    with showing_progress(), plain_source(source or source_of(rules), reading) as plain:
        contest = prepare_contest(rules, out, seed=seed, source=plain, counts=counts)
    show(Answer(_state(contest) | {"out": str(out)}))


def show_contest(folder: ContestArgument) -> None:
    """Show where a contest stands, and the hash of its log to publish.

    Example: tokumei contest show cup
    """
    show(Answer(_state(_open(folder))))


def check(
    folder: FolderArgument,
    files: FilesArgument,
    target: Annotated[str | None, Option("--target", metavar="TEAM", help="Check a guess at this team.")] = None,
    team: OwnTeamOption = None,
    published: PublishedOption = None,
) -> None:
    """Check a release, or a guess, without submitting it.

    Example: tokumei contest check cup my-release
    """
    from tokumei.contest.kit import is_kit, open_kit
    from tokumei.contest.phases import check_guess, check_release

    with showing_progress():
        if is_kit(folder):
            rules, data, _ = open_kit(folder, is_guess=published is not None)
            if published is None:
                rules.check(data, _found(files, rules.terms.release_files))
            else:
                seen = _found(published, rules.terms.published_files)
                rules.check_guess(data, seen, _found(files, rules.terms.guess_files))
        elif target is None:
            check_release(_open(folder), files, team)
        else:
            check_guess(_open(folder), target, files, team)
    show(Answer({"files": str(files), "is_valid": True}))


def score(folder: FolderArgument, files: FilesArgument, team: OwnTeamOption = None) -> None:
    """Check and score a release without submitting it.

    Example: tokumei contest score cup my-release
    """
    from tokumei.contest.kit import is_kit, open_kit
    from tokumei.contest.phases import score as score_release

    with showing_progress():
        if is_kit(folder):
            rules, data, known = open_kit(folder)
            found = rules.check_and_score(data, known, _found(files, rules.terms.release_files))
        else:
            found = score_release(_open(folder), files, team)
    _show_score({}, found.as_dict())


def submit(
    folder: ContestArgument,
    team: TeamOption,
    files: MaybeFilesArgument = None,
    played: Annotated[
        str | None, Option("--with", metavar="ANONYMIZER", help="Play a built-in anonymizer instead.")
    ] = None,
) -> None:
    """Submit a team's release: it is checked and scored; the last one taken counts.

    Example: tokumei contest submit cup --team alpha my-release
    """
    from tokumei.contest.phases import submit as submit_release
    from tokumei.contest.replay import played_release

    _check_either(files, played)
    contest = _open(folder)
    with showing_progress():
        if files is not None:
            taken = submit_release(contest, team, files)
        else:
            with played_release(contest, str(played), team) as made:
                taken = submit_release(contest, team, made)
    _show_score({"team": team, "number": taken.number, "left": taken.n_left}, taken.score.as_dict())


def choose(
    folder: ContestArgument,
    number: Annotated[int, Argument(metavar="NUMBER", min=1, help="Number of the release, as printed by submit.")],
    team: TeamOption,
) -> None:
    """Choose the release of a team that counts, in a contest prepared with --counts chosen.

    Example: tokumei contest choose cup 2 --team red
    """
    from tokumei.contest.phases import choose as choose_release

    choose_release(_open(folder), team, number)
    show(Answer({"team": team, "counts": number}))


def publish(folder: ContestArgument) -> None:
    """End the anonymize phase: publish each team's release that counts, and what attackers know.

    Example: tokumei contest publish cup
    """
    from tokumei.contest.phases import publish as publish_releases

    contest = _open(folder)
    with showing_progress():
        teams = publish_releases(contest)
    show(Answer(_state(contest) | {"published": teams}))


def attack(
    folder: ContestArgument,
    team: TeamOption,
    target: Annotated[str, Option("--target", metavar="TEAM", help="Whose release is attacked.")],
    files: MaybeFilesArgument = None,
    knowledge: Annotated[str, Option("--knowledge", metavar="LEVEL", help="The level of knowledge used.")] = "",
    played: Annotated[str | None, Option("--with", metavar="ATTACK", help="Play a built-in attack.")] = None,
) -> None:
    """Submit a team's guess at another team's release: it is checked, and waits to be judged.

    Example: tokumei contest attack cup --team beta --target alpha --knowledge 25 my-guess
    """
    from tokumei.contest.phases import attack as attack_release
    from tokumei.contest.replay import played_guess

    _check_either(files, played)
    contest = _open(folder)
    with showing_progress():
        if files is not None:
            taken = attack_release(contest, team, target, files, knowledge=knowledge)
        else:
            with played_guess(contest, str(played), team, target, knowledge) as made:
                taken = attack_release(contest, team, target, made, knowledge=knowledge)
    show(Answer({"team": team, "target": target, "knowledge": knowledge, "line": taken.line, "left": taken.n_left}))


def judge(
    folder: FolderArgument,
    files: MaybeFilesArgument = None,
    line: Annotated[int | None, Option("--line", min=1, help="Only the guess of this line of the log.")] = None,
    published: PublishedOption = None,
    truth: Annotated[Path | None, Option("--truth", metavar="DIR", help="In a kit: the truth.")] = None,
) -> None:
    """Judge the guesses that wait; in a kit, judge a guess at the sample.

    Example: tokumei contest judge cup
    """
    from tokumei.contest.kit import is_kit, open_kit
    from tokumei.contest.phases import judge as judge_guesses

    if is_kit(folder):
        if files is None or published is None or truth is None:
            raise InputError.of("a guess, --published and --truth, to judge in a kit")
        rules, data, _ = open_kit(folder, is_guess=True)
        seen, guess = _found(published, rules.terms.published_files), _found(files, rules.terms.guess_files)
        verdict = rules.check_and_judge(data, seen, _found(truth, rules.terms.truth_files), guess)
        _show_score({}, verdict.as_dict())
        return
    with showing_progress():
        judged = judge_guesses(_open(folder), line)
    rows: list[dict[str, object]] = [
        {"line": one.line, "team": one.attacker, "target": one.target, "knowledge": one.knowledge}
        | ({} if one.score is None else one.score.as_dict())
        for one in judged
    ]
    columns = ["line", "team", "target", "knowledge", "success"]
    show(Answer({"judged": rows}, [Rows(columns, [[row[name] for name in columns] for row in rows])]))


def rank(
    folder: ContestArgument,
    is_closing: Annotated[bool, Option("--close", help="End the contest and write ranking.json.")] = False,
) -> None:
    """Rank the teams as the log tells; with --close for good.

    Example: tokumei contest rank cup --close
    """
    from tokumei.contest.phases import close, ranking
    from tokumei.contest.season import rank_attackers

    contest = _open(folder)
    standings = close(contest) if is_closing else ranking(contest)
    season = contest.season()
    show(board_answer(contest, season.phase, standings, rank_attackers(season.entries())))


def board_answer(
    contest: Contest, phase: str, standings: Sequence[Standing], attackers: Sequence[AttackPlace]
) -> Answer:
    """Return a ranking with the board of attackers, if there are any."""
    from tokumei.contest.pages import attacker_table

    board = {"ranking": [one.as_dict() for one in standings], "attackers": [one.as_dict() for one in attackers]}
    tables = ranking_sections(standings, contest.terms.title)
    if attackers:
        tables.append(Rows(*attacker_table(attackers), "Attackers"))
    return Answer({"phase": phase, **board}, tables)


def chosen_edition(edition: str | None, own: Path | None, options: list[str] | None) -> Edition:
    """Return the edition that was asked for, or the custom contest."""
    from tokumei.contest.edition import EDITIONS
    from tokumei.contest.setting import read_setting

    if (edition is None) == (own is None):
        raise InputError.of("either --edition or --contest")
    if own is None:
        return EDITIONS.make_from_text(str(edition), part_options(options))
    if options:
        raise InputError.of(f"options in {own}, not as --set", value=" ".join(options))
    return read_setting(own)


def ranking_sections(standings: Sequence[Standing], title: str) -> list[Section]:
    """Return a scoreboard, with further numbers below it where they do not fit beside, and remarks on teams."""
    from tokumei.contest.pages import ranking_table

    columns, rows = ranking_table(standings)
    said = [Sentence(f"{standing.team}: {standing.reason}") for standing in standings if standing.reason]
    if table_lines(columns, rows, screen_width()) is not None:
        return [Rows(columns, rows, title), *said]
    n_first = len(ALWAYS_SHOWN)
    board = Rows(columns[:n_first], [row[:n_first] for row in rows], title)
    further = [
        [standing.team, name, value]
        for standing, row in zip(standings, rows, strict=True)
        for name, value in zip(columns[n_first:], row[n_first:], strict=True)
    ]
    return [board, Rows(["team", "number", "value"], further), *said]


def _open(folder: Path) -> Contest:
    from tokumei.contest.folder import open_contest

    return open_contest(folder)


def _state(contest: Contest) -> Json:
    from tokumei.contest.log import read_log

    season, lines = contest.season(), read_log(contest.folder)
    return {
        "title": contest.terms.title,
        "phase": season.phase,
        "teams": len(season.counting_releases()),
        "releases": len(season.releases),
        "guesses": len(season.guesses),
        "waiting": len(season.waiting()),
        "lines": len(lines),
        "head": lines[-1].hash,
    }


def _found(given: Path, roles: Any) -> dict[str, Path]:
    from tokumei.contest.edition import files_in

    return {roles[0].name: given} if given.is_file() and len(roles) == 1 else files_in(given, roles)


def _check_either(files: Path | None, played: str | None) -> None:
    if (files is None) == (played is None):
        raise InputError.of("either files or --with")


def _show_score(facts: dict[str, Any], score: Json) -> None:
    """Show a score; for people, its details one a line."""
    rest = {name: value for name, value in score.items() if name != "details" and value not in (None, [])}
    show(Answer(facts | score, [Facts(facts | leaves(score["details"]) | rest)]))
