"""Contests played again, and seasons without teams.

Replaying works out every file, score, verdict and place again and holds them against the log.

A simulated season has the built-in anonymizers as teams, met by every built-in attack, through the real phases.

A team is an anonymizer; where there are more teams than anonymizers, the anonymizers play again with other seeds. The
attacks are played by the house, one attacker for each built-in attack, at every level of knowledge, on every release.
So no team is spared the attack that it would have played itself, and no attacker needs to know which attack is best.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tokumei.contest.edition import Edition, files_in
from tokumei.contest.folder import PUBLIC, RANKING, SECRET, Contest, files_below, open_contest
from tokumei.contest.log import LOG, LogLine, read_log
from tokumei.contest.pages import attack_matrix_svg, results_page, utility_and_safety_svg
from tokumei.contest.phases import (
    attack,
    close,
    hide,
    judge,
    judge_guess,
    prepare,
    publish,
    publish_release,
    ranking_text,
    submit,
)
from tokumei.contest.season import Season
from tokumei.contest.setting import public_digest
from tokumei.core.chain import canonical, spelled_alike
from tokumei.core.errors import InputError, PromiseBroken, TokumeiError, UnknownPart
from tokumei.core.progress import step
from tokumei.data.files.disk import write_text

# The steps that may write the ranking.
RANKS = ("close", "disqualify", "readmit")


@dataclass(frozen=True)
class Replayed:
    """What a replay found to be as the log tells: lines, files, numbers worked out again, and the hash of the log."""

    n_lines: int
    n_files: int
    n_worked_out: int
    head: str
    phase: str


def replay(
    folder: Path | str, *, is_quick: bool = False, head: str | None = None, source: Path | None = None
) -> Replayed:
    """Verify a contest from its first line to its last; the first difference is raised as an error.

    is_quick: verify the log and the files, and work nothing out again.
    head: a hash that was shown before; it must be that of a line in this log.
    source: what the data was sampled from; without it, sampled data is taken as it is.
    """
    contest = open_contest(folder)
    lines = read_log(contest.folder)
    if head is not None and head not in {line.hash for line in lines}:
        raise PromiseBroken(f"{LOG}: no line has the hash {head}; what was shown then is not what stands here.")
    _check_rules(contest, lines)
    n_files = _check_files(contest, lines)
    n_worked_out = 0 if is_quick else _Worker(contest, source).work_out(lines)
    return Replayed(len(lines), n_files, n_worked_out, lines[-1].hash, contest.season().phase)


def _check_rules(contest: Contest, lines: list[LogLine]) -> None:
    """See that each line was allowed where it stands."""
    try:
        commitment = contest.key.commitment
    except InputError:
        commitment = ""
    if commitment != lines[0].facts.get("commitment"):
        raise PromiseBroken(f"{SECRET}/key: is not the key that line 1 of the log commits to.")
    season = Season(contest.terms, contest.edition.rank)
    for line in lines:
        try:
            season.check_may(line)
        except TokumeiError as error:
            raise PromiseBroken(f"{LOG}, line {line.number} ({line.step}): was not allowed. {error}") from None
        except (KeyError, TypeError):
            raise PromiseBroken(f"{LOG}, line {line.number} ({line.step}): lacks facts.") from None
        season.read(line)


def _check_files(contest: Contest, lines: list[LogLine]) -> int:
    """See that every file is as the log tells, and that there are no others."""
    expected = Season.of(contest.terms, lines, contest.edition.rank).files
    with step("verifying files", len(expected)) as bar:
        for name, digest in expected.items():
            contest.verify(name, digest)
            bar.advance()
    known = {*expected, f"{SECRET}/key"}
    for folder in (PUBLIC, SECRET):
        for path in files_below(contest.path(folder)):
            if contest.name(path) not in known:
                raise PromiseBroken(f"{contest.name(path)}: no line of the log tells of this file.")
    if contest.path(RANKING).exists() and RANKING not in known:
        raise PromiseBroken(f"{RANKING}: no line of the log tells of this file.")
    return len(expected)


@dataclass
class _Worker:
    """Works out again what each line tells."""

    contest: Contest
    source: Path | None
    n_worked_out: int = 0
    season: Season = field(init=False)
    # The line that tells of the ranking that stands.
    last: int = 0

    def work_out(self, lines: list[LogLine]) -> int:
        self.season = Season(self.contest.terms, self.contest.edition.rank)
        by_step: dict[str, Callable[[LogLine], None]] = {
            "prepare": self._prepare,
            "submit": self._submit,
            "publish": self._publish,
            "attack": self._attack,
            "judge": self._judge,
            **dict.fromkeys(RANKS, self._rank),
        }
        self.last = max((line.number for line in lines if RANKING in line.facts.get("files", {})), default=0)
        with step("replaying", len(lines)) as bar:
            for line in lines:
                self.season.read(line)
                if line.step in by_step:
                    try:
                        by_step[line.step](line)
                    except PromiseBroken:
                        raise
                    except TokumeiError as error:
                        raise PromiseBroken(f"{_place(line)}: cannot be worked out again. {error}") from None
                bar.advance()
        return self.n_worked_out

    def _same(self, line: LogLine, what: str, found: object, told: object) -> None:
        if canonical(spelled_alike(found)) != canonical(spelled_alike(told)):
            raise PromiseBroken(f"{_place(line)}: {what} is {_first_difference(found, told)}.")
        self.n_worked_out += 1

    def _same_files(self, line: LogLine, folder: Path, at: str) -> None:
        """Hold files written again against those that the log tells of, under the folder they belong in."""
        told = {name: digest for name, digest in line.facts["files"].items() if name.startswith(f"{at}/")}
        # A secret file's digest is keyed, wherever the file itself stands.
        digest = self.contest.key.digest if at.startswith(SECRET) else public_digest
        found = {f"{at}/{path.relative_to(folder).as_posix()}": digest(path) for path in files_below(folder)}
        self._same(line, "the digest of", found, told)

    def _prepare(self, line: LogLine) -> None:
        contest, key = self.contest, self.contest.key
        is_sampled = line.facts["source"] is not None
        if self.source is not None:
            self._same(line, "the source", key.digest(self.source), line.facts["source"])
        with tempfile.TemporaryDirectory() as draft:
            data, knowledge, hidden = (Path(draft, name) for name in ("data", "knowledge", "hidden"))
            data.mkdir()
            knowledge.mkdir()
            if not is_sampled or self.source is not None:
                contest.edition.make_data(data, seed=key.seed("data"), source=self.source)
                is_hiding = bool(hide(contest.edition, data, hidden))
                self._same_files(line, data, f"{PUBLIC}/data")
                if is_hiding:
                    self._same_files(line, hidden, f"{SECRET}/data")
            known = contest.data_files(self.season) | contest.hidden_files(self.season)
            contest.edition.draw_knowledge(known, knowledge, seed=key.seed("knowledge"))
            self._same_files(line, knowledge, f"{SECRET}/knowledge")

    def _submit(self, line: LogLine) -> None:
        contest, season = self.contest, self.season
        release = season.releases[-1]
        data, files = contest.all_data_of(season, release.team), contest.release_files(season, release)
        score = contest.edition.check_and_score(data, contest.knowledge_files(season), files)
        self._same(line, "the score", score.as_dict(), line.facts["score"])

    def _publish(self, line: LogLine) -> None:
        contest, season = self.contest, self.season
        with tempfile.TemporaryDirectory() as draft:
            for name in ("releases", "truth"):
                Path(draft, name).mkdir()
            for team in season.counting_releases():
                publish_release(contest, season, team, Path(draft))
            self._same_files(line, Path(draft, "releases"), f"{PUBLIC}/releases")
            self._same_files(line, Path(draft, "truth"), f"{SECRET}/truth")
        for name, path in contest.knowledge_files(season).items():
            shown = contest.path(PUBLIC, "knowledge", path.name)
            if shown.read_bytes() != path.read_bytes():
                raise PromiseBroken(f"{contest.name(shown)}: is not the knowledge {name} that was drawn.")
            self.n_worked_out += 1

    def _attack(self, line: LogLine) -> None:
        contest, season = self.contest, self.season
        guess = season.guesses[line.number]
        published = contest.published_files(season, guess.target)
        data = contest.all_data_of(season, guess.attacker)
        contest.edition.check_guess(data, published, contest.guess_files(season, guess))
        self.n_worked_out += 1

    def _judge(self, line: LogLine) -> None:
        guess = self.season.guesses[line.facts["guess"]]
        found = judge_guess(self.contest, self.season, guess)
        self._same(line, "the verdict", found.as_dict(), line.facts["score"])

    def _rank(self, line: LogLine) -> None:
        told = line.facts.get("files", {}).get(RANKING)
        if told is None:
            return
        text = ranking_text(self.contest, self.season)
        if line.number == self.last:
            stands = json.loads(self.contest.path(RANKING).read_bytes())["ranking"]
            self._same(line, "the ranking", json.loads(text)["ranking"], stands)
        else:
            # Of a ranking that was written anew since, its digest alone is left.
            with tempfile.TemporaryDirectory() as draft:
                path = Path(draft, RANKING)
                path.write_text(text, encoding="utf-8")
                self._same(line, "the digest of the ranking", public_digest(path), told)


def _place(line: LogLine) -> str:
    team = line.facts.get("team")
    return f"{LOG}, line {line.number} ({line.step}{f' by {team}' if team else ''})"


def _first_difference(found: object, told: object, at: str = "") -> str:
    """Describe where two values first differ, and how."""
    if isinstance(found, dict) and isinstance(told, dict):
        for name in sorted({*found, *told}):
            if name not in found or name not in told or canonical(found[name]) != canonical(told[name]):
                return _first_difference(found.get(name), told.get(name), f"{at}.{name}" if at else name)
    if isinstance(found, (list, tuple)) and isinstance(told, (list, tuple)) and len(found) == len(told):
        for place, (one, other) in enumerate(zip(found, told, strict=True)):
            if canonical(one) != canonical(other):
                return _first_difference(one, other, f"{at}[{place}]")
    return f"{at + ': ' if at else ''}{canonical(found)} when worked out again, {canonical(told)} in the log"


HOUSE = "house-"
PAGE, STANDINGS, ATTACKS = "results.html", "standings.svg", "attacks.svg"


def simulate(edition: Edition, folder: Path | str, *, n_teams: int, seed: int, source: Path | None = None) -> Contest:
    """Play a whole contest in a folder, from preparing it to closing it, and write a page of its results."""
    if n_teams < 1:
        raise InputError.of("at least 1 team", option="teams", value=n_teams)
    contest = prepare(edition, folder, seed=seed, source=source)
    teams = team_names(edition, n_teams)
    with step("anonymizing", n_teams) as bar:
        for team, name in teams.items():
            with played_release(contest, name, team) as release:
                submit(contest, team, release)
            bar.advance()
    publish(contest)
    pairs = [(target, name) for target in teams for name in edition.attacks()]
    with step("attacking", len(pairs)) as bar:
        for target, name in pairs:
            for level in contest.terms.knowledge_files:
                with played_guess(contest, name, f"{HOUSE}{name}", target, level) as guess:
                    attack(contest, f"{HOUSE}{name}", target, guess, knowledge=level)
            bar.advance()
    judge(contest)
    close(contest)
    write_results(contest, f"A simulated season of {n_teams} teams, each a built-in anonymizer (seed {seed}).")
    return contest


def team_names(edition: Edition, n_teams: int) -> dict[str, str]:
    """Name the teams after the anonymizers that they play."""
    anonymizers = list(edition.anonymizers())
    teams = {}
    for number in range(n_teams):
        name, turn = anonymizers[number % len(anonymizers)], number // len(anonymizers)
        teams[f"{name}-{turn + 1}" if turn else name] = name
    return teams


@contextmanager
def played_release(contest: Contest, name: str, team: str) -> Iterator[Path]:
    """Create a folder with the release that a built-in anonymizer makes for a team."""
    season = contest.season()
    season.check_may_submit(team)
    _check_known(name, contest.edition.anonymizers(), "anonymizer")
    with tempfile.TemporaryDirectory() as folder:
        seed = contest.key.seed("play", "release", team, season.n_releases(team))
        contest.edition.anonymize(name, contest.all_data_of(season, team), Path(folder), seed=seed)
        yield Path(folder)


@contextmanager
def played_guess(contest: Contest, name: str, attacker: str, target: str, level: str) -> Iterator[Path]:
    """Create a folder with the guess that a built-in attack makes from public files only."""
    season = contest.season()
    season.check_may_attack(attacker, target, level)
    _check_known(name, contest.edition.attacks(), "attack")
    known = files_in(contest.path(PUBLIC, "knowledge"), contest.terms.knowledge_files[level])
    data, published = contest.all_data_of(season, attacker), contest.published_files(season, target)
    with tempfile.TemporaryDirectory() as folder:
        seed = contest.key.seed("play", "guess", attacker, target, level, season.n_guesses_by(attacker))
        contest.edition.attack(name, data, known, published, Path(folder), seed=seed)
        yield Path(folder)


def write_results(contest: Contest, introduction: str) -> None:
    """Write the page of results and its figures beside the log."""
    season = contest.season()
    entries = season.entries()
    standings = season.standings()
    results_page(contest.terms, entries, standings, introduction=introduction).write(contest.path(PAGE))
    rule = contest.terms.attack_rule
    write_text(contest.path(STANDINGS), utility_and_safety_svg(entries, standings, rule))
    write_text(contest.path(ATTACKS), attack_matrix_svg(entries, standings, rule))


def _check_known(name: str, known: Sequence[str], kind: str) -> None:
    if name not in known:
        raise UnknownPart(kind, name, known)
