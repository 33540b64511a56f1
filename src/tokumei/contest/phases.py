"""The phases of a contest: prepare, anonymize, publish, attack, close.

Each function does one step in the contest's folder and adds it to the log, or refuses and leaves everything as it was.
What is slow (checks, scores, verdicts) is done before the log is locked; whether it is allowed is asked before, and
again under the lock, so that of two submissions for the last attempt one is taken.

A submission that fails its check is refused, costs no attempt, and leaves a line in the log with the number of its
faults: a check looks only at what its team may see, so that its faults give nothing away. What the phase or a limit
forbids leaves no line.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from tokumei.contest.edition import Edition, Files, GuessScore, OpenFiles, ReleaseScore, Standing, files_in
from tokumei.contest.folder import PUBLIC, RANKING, SECRET, Contest, SealedScore, files_below, move, seal, take_in
from tokumei.contest.log import start_log
from tokumei.contest.season import ATTACK, CLOSED, PlayedGuess, Season
from tokumei.contest.setting import SETTING, Secret, public_digest, source_of, with_counts, write_setting
from tokumei.core.chain import canonical
from tokumei.core.errors import InputError, NotAllowed
from tokumei.core.progress import step
from tokumei.data.files.disk import atomic_path, write_text


@dataclass(frozen=True)
class Submitted:
    """A release that was taken: its number, how many more the team may submit, and its score."""

    team: str
    number: int
    n_left: int
    score: ReleaseScore


@dataclass(frozen=True)
class Attacked:
    """A guess that was taken: its line in the log, and how many more are allowed at that release and level."""

    line: int
    n_left: int


def prepare(
    edition: Edition,
    folder: Path | str,
    *,
    seed: int | None = None,
    source: Path | None = None,
    counts: str | None = None,
) -> Contest:
    """Make the folder of a new contest: data and knowledge, a key, and the first line of the log.

    seed: makes the key from a number, for rehearsals; a contest that matters has none and draws its key afresh.
    source: what the data is sampled from; made up where missing, unless a contest of one's own names a file.
    counts: which of a team's releases counts: its latest, its best, or the one chosen by the team; the latest if None,
        unless a contest of one's own says another.
    """
    folder = Path(folder)
    source = source or source_of(edition)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise NotAllowed(f"{folder} is there already; a new contest needs a folder of its own.")
    key = Secret.fresh() if seed is None else Secret.of_seed(seed)
    with atomic_path(folder) as draft, step("preparing", 2) as bar:
        contest = Contest(draft)
        data, knowledge = contest.path(PUBLIC, "data"), contest.path(SECRET, "knowledge")
        contest.path(SECRET).mkdir(mode=0o700, parents=True)
        for new in (data, knowledge):
            new.mkdir(parents=True)
        contest.path(SETTING).write_bytes(with_counts(write_setting(edition), counts).encode())
        contest.path(SECRET, "key").write_text(key.written(), encoding="ascii")
        edition.make_data(data, seed=key.seed("data"), source=source)
        bar.advance()
        found = files_in(data, edition.terms.data_files) | hide(edition, data, contest.path(SECRET, "data"))
        edition.draw_knowledge(found, knowledge, seed=key.seed("knowledge"))
        bar.advance()
        files_in(knowledge, edition.terms.all_knowledge_files)
        seal(contest.path(PUBLIC), is_secret=False)
        seal(contest.path(SECRET), is_secret=True)
        hidden = files_below(contest.path(SECRET, "data"))
        names = [contest.path(SETTING), *files_below(contest.path(PUBLIC)), *hidden, *files_below(knowledge)]
        facts = {
            "commitment": key.commitment,
            "files": {contest.name(path): contest.digest(path) for path in names},
            # Keyed: that a file was sampled from a certain public one is for the organizer to say.
            "source": None if source is None else key.digest(source),
            "version": version("tokumei"),
        }
        start_log(draft, facts)
    return Contest(folder)


def hide(edition: Edition, data: Path, folder: Path) -> dict[str, Path]:
    """Move the files that nobody sees out of the data that were made."""
    if not edition.terms.hidden_files:
        return {}
    folder.mkdir(parents=True)
    for path in files_in(data, edition.terms.hidden_files).values():
        path.rename(folder / path.name)
    return files_in(folder, edition.terms.hidden_files)


def check_release(contest: Contest, given: Path, team: str | None = None) -> None:
    """Check a release as submitting it would, and leave no trace.

    team: whose release it is, where teams have data of their own.
    """
    with _taken_release(contest, contest.all_data_of(contest.season(), team), given):
        pass


def score(contest: Contest, given: Path, team: str | None = None) -> ReleaseScore:
    """Check and score a release as submitting it would, and leave no trace; for the organizer, who may know all."""
    season = contest.season()
    data = OpenFiles(contest.all_data_of(season, team))
    with _taken_release(contest, data, given) as files:
        return contest.edition.score(data, contest.knowledge_files(season), files)


def submit(contest: Contest, team: str, given: Path, *, scored: SealedScore | None = None) -> Submitted:
    """Take a team's release, if it passes the check; which one counts is the contest's rule.

    scored: the score that the release was given before, which stands in place of a check and a score if its seal holds.
    """
    season = contest.season()
    season.check_may_submit(team)
    data, knowledge = OpenFiles(contest.all_data_of(season, team)), contest.knowledge_files(season)
    with contest.draft() as draft:
        files = take_in(given, contest.terms.release_files, draft / "release")
        if scored is None:
            with _naming(given, files), _logging_faults(contest, "release", team, draft):
                contest.edition.check(data, files)
            found = contest.edition.score(data, knowledge, files)
        else:
            found = ReleaseScore.of(contest.opened(scored, files))
        with contest.writing() as (log, season):
            season.check_may_submit(team)
            number = season.n_releases(team) + 1
            target = contest.path(SECRET, "submissions", team, f"{number:03d}")
            with _moved_in(draft / "release", target):
                facts = {"team": team, "number": number, "files": contest.digests(target), "score": found.as_dict()}
                log.append("submit", facts)
    return Submitted(team, number, contest.terms.n_releases_allowed - number, found)


def choose(contest: Contest, team: str, number: int) -> None:
    """Choose the release of a team that counts, by its number, where the rules leave that to teams."""
    with contest.writing() as (log, season):
        season.check_may_choose(team, number)
        log.append("choose", {"team": team, "number": number})


def publish(contest: Contest) -> list[str]:
    """End the anonymizing: show each team's release that counts and the knowledge; give the teams that are shown."""
    season = contest.season()
    season.check_may_publish()
    releases = season.counting_releases()
    with contest.draft() as draft:
        for name in ("releases", "truth"):
            (draft / name).mkdir()
        with step("publishing", len(releases)) as bar:
            for team in releases:
                publish_release(contest, season, team, draft)
                bar.advance()
        (draft / "knowledge").mkdir()
        for path in contest.knowledge_files(season).values():
            (draft / "knowledge" / path.name).write_bytes(path.read_bytes())
        for name in ("releases", "knowledge"):
            seal(draft / name, is_secret=False)
        seal(draft / "truth", is_secret=True)
        with contest.writing() as (log, now):
            now.check_may_publish()
            if now.counting_releases() != releases:
                raise NotAllowed("A release came in, or another was chosen, while publishing; publish again.")
            places = {
                draft / "releases": contest.path(PUBLIC, "releases"),
                draft / "knowledge": contest.path(PUBLIC, "knowledge"),
                draft / "truth": contest.path(SECRET, "truth"),
            }
            for source, target in places.items():
                move(source, target)
            files = {name: digest for target in places.values() for name, digest in contest.digests(target).items()}
            log.append("publish", {"releases": {t: r.number for t, r in releases.items()}, "files": files})
    return list(releases)


def publish_release(contest: Contest, season: Season, team: str, folder: Path) -> None:
    """Write what attackers see of a team's release, and the truth, below a folder.

    The seed follows from the key, the team and the release, so that no team can work out its own or another's order.
    """
    release = season.counting_releases()[team]
    shown, truth = folder / "releases" / team, folder / "truth" / team
    shown.mkdir()
    truth.mkdir()
    data = contest.all_data_of(season, team) | contest.hidden_files(season)
    seed = contest.key.seed("publish", team, release.number)
    contest.edition.publish(data, contest.release_files(season, release), shown, truth, seed=seed)
    files_in(shown, contest.terms.published_files)
    files_in(truth, contest.terms.truth_files)


def check_guess(contest: Contest, target: str, given: Path, team: str | None = None) -> None:
    """Check a guess as attacking would, and leave no trace."""
    season = contest.season()
    season.check_phase(ATTACK, "Checking a guess")
    data, published = contest.all_data_of(season, team), contest.published_files(season, target)
    with contest.draft() as draft:
        files = take_in(given, contest.terms.guess_files, draft / "guess")
        with _naming(given, files):
            contest.edition.check_guess(data, published, files)


def attack(
    contest: Contest, team: str, target: str, given: Path, *, knowledge: str = "", scored: SealedScore | None = None
) -> Attacked:
    """Take a team's guess at another team's release, if it passes the check.

    scored: the score that the guess was given before, which stands in place of a check if its seal holds.
    """
    season = contest.season()
    season.check_may_attack(team, target, knowledge)
    data, published = contest.all_data_of(season, team), contest.published_files(season, target)
    with contest.draft() as draft:
        files = take_in(given, contest.terms.guess_files, draft / "guess")
        if scored is None:
            with _naming(given, files), _logging_faults(contest, "guess", team, draft):
                contest.edition.check_guess(data, published, files)
        else:
            contest.opened(scored, files, target)
        with contest.writing() as (log, season):
            season.check_may_attack(team, target, knowledge)
            number = season.n_guesses_by(team) + 1
            place = contest.path(SECRET, "guesses", team, f"{number:04d}")
            with _moved_in(draft / "guess", place):
                facts = {"team": team, "target": target, "knowledge": knowledge, "number": number}
                line = log.append("attack", facts | {"files": contest.digests(place)})
            n_made = season.n_guesses(team, target, knowledge) + 1
    return Attacked(line.number, contest.terms.n_guesses_allowed - n_made)


def judge(
    contest: Contest, line: int | None = None, *, scored: Mapping[int, SealedScore] | None = None
) -> list[PlayedGuess]:
    """Judge the guess of one line of the log, or all that are not judged yet.

    scored: scores that guesses were given before, by line, which stand if their seals hold.
    """
    season = contest.season()
    season.check_phase(ATTACK, "Judging")
    if line is not None:
        season.check_may_judge(line)
    waiting = season.waiting() if line is None else [season.guesses[line]]
    judged = []
    with step("judging", len(waiting)) as bar:
        for guess in waiting:
            before = (scored or {}).get(guess.line)
            if before is None:
                found = judge_guess(contest, season, guess)
            else:
                files = contest.guess_files(season, guess)
                found = GuessScore.of(contest.opened(before, files, guess.target))
            with contest.writing() as (log, now):
                now.check_may_judge(guess.line)
                log.append("judge", {"guess": guess.line, "score": found.as_dict()})
            judged.append(replace(guess, score=found))
            bar.advance()
    return judged


def judge_guess(contest: Contest, season: Season, guess: PlayedGuess) -> GuessScore:
    """Hold one guess against the truth."""
    data = contest.all_data_of(season, guess.attacker)
    published = contest.published_files(season, guess.target)
    truth = contest.truth_files(season, guess.target)
    return contest.edition.judge(data, published, truth, contest.guess_files(season, guess))


def ranking(contest: Contest) -> list[Standing]:
    """Rank the teams by what the log tells so far."""
    return contest.season().standings()


def close(contest: Contest) -> list[Standing]:
    """End the contest and write the final ranking."""
    with contest.writing() as (log, season):
        season.check_may_close()
        log.append("close", {"files": _write_ranking(contest, season)})
        return season.standings()


def disqualify(contest: Contest, team: str, reason: str) -> None:
    """Disqualify a team; its files and lines stay, and a new line says why.

    After the end the ranking is written anew, so that it is always what the log tells.
    """
    with contest.writing() as (log, season):
        season.check_may_disqualify(team)
        season.disqualified.add(team)
        log.append("disqualify", {"team": team, "reason": reason} | _new_ranking(contest, season))


def readmit(contest: Contest, team: str) -> None:
    """Readmit a disqualified team."""
    with contest.writing() as (log, season):
        season.check_may_disqualify(team, is_back=True)
        season.disqualified.remove(team)
        log.append("readmit", {"team": team} | _new_ranking(contest, season))


def _new_ranking(contest: Contest, season: Season) -> dict[str, object]:
    return {"files": _write_ranking(contest, season)} if season.phase == CLOSED else {}


def ranking_text(contest: Contest, season: Season) -> str:
    """Return the text of the final ranking as the log has it."""
    shape = {"title": contest.terms.title, "ranking": [standing.as_dict() for standing in season.standings()]}
    return canonical(shape) + "\n"


def _write_ranking(contest: Contest, season: Season) -> dict[str, str]:
    path = contest.path(RANKING)
    write_text(path, ranking_text(contest, season))
    return {RANKING: public_digest(path)}


@contextmanager
def _taken_release(contest: Contest, data: Files, given: Path) -> Iterator[dict[str, Path]]:
    """Yield a copy of a release that passed the check."""
    with contest.draft() as draft:
        files = take_in(given, contest.terms.release_files, draft / "release")
        with _naming(given, files):
            contest.edition.check(data, files)
        yield files


@contextmanager
def _moved_in(draft: Path, target: Path) -> Iterator[None]:
    """Keep what a team handed in among the secrets, for nobody else to read; not if its line cannot be written."""
    seal(draft, is_secret=True)
    move(draft, target)
    try:
        yield
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise


@contextmanager
def _naming(given: Path, files: dict[str, Path]) -> Iterator[None]:
    """Name in faults the file that was handed in, not the copy that was checked."""
    names = {str(path): str(given if given.is_file() else given / path.name) for path in files.values()}
    try:
        yield
    except InputError as error:
        faults = [replace(fault, file=names.get(fault.file or "", fault.file)) for fault in error.faults]
        raise InputError(faults, error.n_faults) from None


@contextmanager
def _logging_faults(contest: Contest, what: str, team: str, draft: Path) -> Iterator[None]:
    """Write in the log that a submission was refused, by whom, and how many faults it had."""
    try:
        yield
    except InputError as error:
        digests = [contest.key.digest(path) for path in files_below(draft / what)]
        with contest.writing() as (log, _):
            log.append("refuse", {"what": what, "team": team, "n_faults": error.n_faults, "digests": digests})
        raise
