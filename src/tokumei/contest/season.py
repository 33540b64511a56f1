"""What a contest's log tells: its phase, the releases, the guesses, and what may be done next.

The log is a chain of steps (`core/chain.py`) in a file that two processes cannot both add to. `head.json` beside the
log tells how many lines there are and the hash of the last, so that lines missing at the end are noticed too; whoever
publishes the head now and then can show later that nothing before it was changed. No line holds a time: the same key
and the same files give the same bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tokumei.contest.edition import CHOSEN, Attempt, ContestTerms, GuessScore, ReleaseScore, TeamEntry
from tokumei.contest.measures import Rank, which_counts
from tokumei.core.chain import ChainFile, Link, canonical
from tokumei.core.errors import InputError, NotAllowed, NotFound, PromiseBroken
from tokumei.core.text import Text, counted
from tokumei.data.files.disk import write_text

LOG, HEAD = "log.jsonl", "head.json"


@dataclass(frozen=True)
class LogLine:
    """One step of a contest: its number from 1, what was done, the facts, and the hash that the next is bound to."""

    number: int
    step: str
    facts: Mapping[str, Any]
    hash: str

    @classmethod
    def of(cls, link: Link) -> LogLine:
        """Read a step from a line of the chain."""
        step, facts = link.payload.get("step"), link.payload.get("facts")
        if not isinstance(step, str) or not isinstance(facts, dict):
            raise PromiseBroken(f"{LOG}, line {link.number}: is no step of a contest.")
        return cls(link.number, step, facts, link.hash)


class Log:
    """The lines of a log while nobody else can add to it."""

    def __init__(self, folder: Path, links: list[Link]) -> None:
        self._folder = folder
        self._links = links
        self.lines = [LogLine.of(link) for link in links]

    def append(self, step: str, facts: Mapping[str, Any]) -> LogLine:
        """Add a line and see it onto the disk before saying so; where that fails, the log is as it was."""
        payload = {"step": step, "facts": dict(facts)}
        line = _file(self._folder).append(self._links, payload, lambda link: _write_head(self._folder, link))
        self.lines.append(line)
        return line


def start_log(folder: Path, facts: Mapping[str, Any]) -> None:
    """Write the log of a new contest, with its first line."""
    (folder / LOG).touch()
    Log(folder, []).append("prepare", facts)


@contextmanager
def locked_log(folder: Path) -> Iterator[Log]:
    """Hold the log so that no other process adds to it; it is read and its chain verified anew."""
    _check_exists(folder)
    with _file(folder).locked():
        yield Log(folder, _read_links(folder))


def read_log(folder: Path) -> list[LogLine]:
    """Read the log of a contest; a changed, missing or moved line is named."""
    _check_exists(folder)
    with _file(folder).locked(is_shared=True):
        return [LogLine.of(link) for link in _read_links(folder)]


def _file(folder: Path) -> ChainFile:
    return ChainFile(folder / LOG)


def _check_exists(folder: Path) -> None:
    if not (folder / LOG).is_file():
        raise NotFound(f"{folder} is no contest: it has no {LOG}. 'tokumei contest prepare' makes one.")


def _read_links(folder: Path) -> list[Link]:
    """Read the whole lines of a log, as many as its head tells of."""
    links = _file(folder).read()
    _check_head(folder, links)
    return links


def _write_head(folder: Path, link: Link) -> LogLine:
    write_text(folder / HEAD, canonical({"hash": link.hash, "number": link.number}) + "\n")
    return LogLine.of(link)


def _check_head(folder: Path, links: list[Link]) -> None:
    try:
        head = json.loads((folder / HEAD).read_bytes())
        number, told = int(head["number"]), str(head["hash"])
    except (OSError, ValueError, KeyError, TypeError):
        raise PromiseBroken(f"{HEAD}: is missing or not as it was written.") from None
    if number > len(links):
        raise PromiseBroken(f"{LOG}, line {number}: is missing at the end; {HEAD} tells of {counted(number, 'line')}.")
    # One line more than told: the machine stopped between the line and the head. The next line brings it up to date.
    if number < max(1, len(links) - 1):
        raise PromiseBroken(f"{HEAD}: tells of {counted(number, 'line')}, {LOG} has {len(links)}.")
    if links[number - 1].hash != told:
        raise PromiseBroken(f"{LOG}, line {number}: was changed; {HEAD} tells another hash.")


ANONYMIZE, ATTACK, CLOSED = "anonymize", "attack", "closed"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", re.ASCII)


@dataclass(frozen=True)
class PlayedRelease:
    """A release that passed the check: the team's number for it, its files by path, and its score."""

    line: int
    team: str
    number: int
    files: Mapping[str, str]
    score: ReleaseScore


@dataclass(frozen=True)
class PlayedGuess:
    """A guess that passed the check; its score is missing until it is judged."""

    line: int
    attacker: str
    target: str
    knowledge: str
    number: int
    files: Mapping[str, str]
    score: GuessScore | None = None


@dataclass
class Season:
    """A contest as its log tells it, read line by line.

    The same questions (`check_may_…`) are asked before a step is done and when the log is replayed.
    """

    terms: ContestTerms
    rank: Rank
    phase: str = ANONYMIZE
    releases: list[PlayedRelease] = field(default_factory=list)
    guesses: dict[int, PlayedGuess] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    # Teams of which nothing counts any more.
    disqualified: set[str] = field(default_factory=set)
    # The number of the release that a team chose.
    choices: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, terms: ContestTerms, lines: Iterable[LogLine], rank: Rank) -> Season:
        """Read a whole log."""
        season = cls(terms, rank)
        for line in lines:
            season.read(line)
        return season

    def read(self, line: LogLine) -> None:
        """Take in one line."""
        try:
            self._read(line)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise PromiseBroken(f"{LOG}, line {line.number} ({line.step}): lacks facts.") from None

    def _read(self, line: LogLine) -> None:
        facts = line.facts
        if line.step == "submit":
            score = ReleaseScore.of(facts["score"])
            self.releases.append(PlayedRelease(line.number, facts["team"], facts["number"], facts["files"], score))
        elif line.step == "choose":
            self.choices[facts["team"]] = facts["number"]
        elif line.step == "publish":
            self.phase = ATTACK
        elif line.step == "attack":
            self.guesses[line.number] = PlayedGuess(
                line.number, facts["team"], facts["target"], facts["knowledge"], facts["number"], facts["files"]
            )
        elif line.step == "judge":
            guess = self.guesses[facts["guess"]]
            self.guesses[guess.line] = replace(guess, score=GuessScore.of(facts["score"]))
        elif line.step == "close":
            self.phase = CLOSED
        elif line.step == "disqualify":
            self.disqualified.add(facts["team"])
        elif line.step == "readmit":
            self.disqualified.remove(facts["team"])
        self.files.update(facts.get("files", {}))

    def counting_releases(self) -> dict[str, PlayedRelease]:
        """Return each team's release that counts by the contest's rule, in the order of the teams' names."""
        found: dict[str, list[PlayedRelease]] = {}
        for release in self.releases:
            found.setdefault(release.team, []).append(release)
        return {team: self._counting(found[team]) for team in sorted(found)}

    def _counting(self, releases: list[PlayedRelease]) -> PlayedRelease:
        number = self.choices.get(releases[0].team)
        chosen = next((place for place, one in enumerate(releases) if one.number == number), None)
        return releases[which_counts(self.terms.counts, [one.score for one in releases], self.rank, chosen)]

    def entries(self) -> list[TeamEntry]:
        """Gather what the ranking is made of: neither releases nor guesses of teams that are disqualified."""
        return [
            TeamEntry(
                team,
                release.score,
                tuple(
                    Attempt(guess.attacker, guess.knowledge, guess.score)
                    for guess in self.guesses.values()
                    if guess.target == team and guess.score is not None and guess.attacker not in self.disqualified
                ),
            )
            for team, release in self.counting_releases().items()
            if team not in self.disqualified
        ]

    def waiting(self) -> list[PlayedGuess]:
        """List the guesses that are not judged yet."""
        return [guess for guess in self.guesses.values() if guess.score is None]

    def n_releases(self, team: str) -> int:
        """How many releases of a team passed the check."""
        return sum(release.team == team for release in self.releases)

    def n_guesses(self, attacker: str, target: str, knowledge: str) -> int:
        """How many guesses a team made at one release with one level of knowledge."""
        return sum(
            (guess.attacker, guess.target, guess.knowledge) == (attacker, target, knowledge)
            for guess in self.guesses.values()
        )

    def n_guesses_by(self, attacker: str) -> int:
        """How many guesses a team made in all."""
        return sum(guess.attacker == attacker for guess in self.guesses.values())

    def check_phase(self, phase: str, what: str) -> None:
        """Refuse what belongs to another phase."""
        if self.phase != phase:
            raise NotAllowed(f"{what} belongs to the phase '{phase}'; this contest is in the phase '{self.phase}'.")

    def check_name(self, team: str) -> None:
        """Refuse a name that is not plain, or differs from another team's in its capitals only."""
        check_team_name(team)
        for known in {*(r.team for r in self.releases), *(g.attacker for g in self.guesses.values())}:
            if known.casefold() == team.casefold() and known != team:
                raise InputError.of(f"a name unlike that of the team '{known}'", column="team", value=team)

    def check_may_submit(self, team: str) -> None:
        """Refuse a release out of its phase or over the limit."""
        self.check_phase(ANONYMIZE, "Submitting a release")
        self.check_name(team)
        if self.n_releases(team) >= self.terms.n_releases_allowed:
            raise NotAllowed(
                Text(
                    "The team '{team}' has used all of its {releases}.",
                    team=team,
                    releases=counted(self.terms.n_releases_allowed, "release"),
                )
            )

    def check_may_choose(self, team: str, number: int) -> None:
        """Refuse a choice out of its phase, where the rules leave none, or of what is no release of the team."""
        self.check_phase(ANONYMIZE, "Choosing a release")
        if self.terms.counts != CHOSEN:
            raise NotAllowed(
                f"Teams do not choose in this contest: of a team's releases the {self.terms.counts} counts."
            )
        if not any((one.team, one.number) == (team, number) for one in self.releases):
            raise NotFound(f"The team '{team}' has no release number {number} that passed the check.")

    def check_may_publish(self) -> None:
        """Refuse to publish nothing, or twice."""
        self.check_phase(ANONYMIZE, "Publishing")
        if not self.releases:
            raise NotAllowed("There is nothing to publish: no team has a release that passed the check.")

    def check_may_attack(self, attacker: str, target: str, knowledge: str) -> None:
        """Refuse a guess out of its phase, at one's own release, at none, or over the limit."""
        self.check_phase(ATTACK, "Attacking")
        self.check_name(attacker)
        if attacker == target:
            raise NotAllowed(Text("The team '{team}' cannot attack itself.", team=attacker))
        if target not in self.counting_releases():
            raise NotFound(Text("No team named '{team}' has published a release.", team=target))
        if knowledge not in self.terms.knowledge_files:
            levels = ", ".join(f"'{level}'" for level in self.terms.knowledge_files)
            raise InputError.of(
                Text("a level of knowledge: {names}", names=levels), option="knowledge", value=knowledge
            )
        if self.n_guesses(attacker, target, knowledge) >= self.terms.n_guesses_allowed:
            at = f" with knowledge {knowledge}" if knowledge else ""
            allowed = counted(self.terms.n_guesses_allowed, "guess", "guesses")
            raise NotAllowed(f"The team '{attacker}' has used all of its {allowed} at '{target}'{at}.")

    def check_may_judge(self, guess: int) -> None:
        """Refuse to judge what is no guess, or twice."""
        self.check_phase(ATTACK, "Judging")
        if guess not in self.guesses:
            raise NotFound(f"Line {guess} of the log is no guess.")
        if self.guesses[guess].score is not None:
            raise NotAllowed(f"The guess of line {guess} is judged already.")

    def check_may_close(self) -> None:
        """Refuse to close while a guess waits for its verdict."""
        self.check_phase(ATTACK, "Closing")
        if self.waiting():
            raise NotAllowed(f"Guesses not judged yet: {len(self.waiting())}; 'tokumei contest judge' judges them.")

    def check_may_disqualify(self, team: str, *, is_back: bool = False) -> None:
        """Refuse to disqualify before the releases are out, nobody who released, or twice; and to readmit others."""
        if self.phase == ANONYMIZE:
            raise NotAllowed("Before the releases are published, a team is disqualified by leaving its release out.")
        if team not in self.counting_releases():
            raise NotFound(Text("No team named '{team}' has published a release.", team=team))
        if (team in self.disqualified) is not is_back:
            raise NotAllowed(f"The team '{team}' is {'not disqualified' if is_back else 'disqualified already'}.")

    def check_may(self, line: LogLine) -> None:
        """Ask whether the rules allowed a line of the log at its place."""
        facts: Mapping[str, Any] = line.facts
        if line.step == "submit":
            self.check_may_submit(facts["team"])
            _check_number(facts["number"], self.n_releases(facts["team"]) + 1)
        elif line.step == "choose":
            self.check_may_choose(facts["team"], facts["number"])
        elif line.step == "publish":
            self.check_may_publish()
        elif line.step == "attack":
            self.check_may_attack(facts["team"], facts["target"], facts["knowledge"])
            _check_number(facts["number"], self.n_guesses_by(facts["team"]) + 1)
        elif line.step == "judge":
            self.check_may_judge(facts["guess"])
        elif line.step == "close":
            self.check_may_close()
        elif line.step in ("disqualify", "readmit"):
            self.check_may_disqualify(facts["team"], is_back=line.step == "readmit")
        elif line.step not in ("prepare", "refuse") or (line.step == "prepare") != (line.number == 1):
            raise NotAllowed(f"A log has no step '{line.step}' here.")


def _check_number(told: object, expected: int) -> None:
    if told != expected:
        raise NotAllowed(f"It should be number {expected} of its team, not {told}.")


def check_team_name(team: str) -> None:
    """Refuse a name that could lead out of its folder or pass for another."""
    if NAME.fullmatch(team) is None:
        raise InputError.of(
            "a name of at most 40 letters, digits, '_' and '-' that starts with a letter or digit",
            column="team",
            value=team,
        )
