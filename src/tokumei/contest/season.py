"""The rulebook of a contest: what counts, who stands where, and what may be done next.

Which of a team's releases counts is its latest, its best, or the one it chose. The best is the one that the edition
would rank first, were each release a team of its own that nobody has attacked; of equally good ones the latest. Where a
team may choose and has not, its latest counts. Places go to the lowest values first, and equals share one; attackers
have a board of their own.

The functions take plain values and return plain values: `Season` applies them to the lines of a log, a server to its
rows.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from tokumei.contest.edition import (
    BEST,
    CHOSEN,
    AttackRule,
    Attempt,
    ContestTerms,
    GuessScore,
    ReleaseScore,
    Standing,
    TeamEntry,
)
from tokumei.contest.log import LOG, LogLine
from tokumei.core.errors import InputError, NotAllowed, NotFound, PromiseBroken
from tokumei.core.text import Json, Text, counted

Rank = Callable[[Sequence[TeamEntry]], list[Standing]]
Entered = TypeVar("Entered")
# Values that differ by less are equal: the difference is rounding.
DIGITS = 12


def which_counts(
    rule: str,
    releases: Sequence[Entered],
    rank: Rank,
    score_of: Callable[[Entered], ReleaseScore],
    is_chosen: Callable[[Entered], bool] = lambda _release: False,
) -> Entered:
    """Return the release of a team that counts; its releases come in order of submission.

    score_of: asked where `scores_decide` alone.
    is_chosen: whether the team chose a release.
    """
    if rule == CHOSEN:
        return next((one for one in releases if is_chosen(one)), releases[-1])
    if not scores_decide(rule) or len(releases) == 1:
        return releases[-1]
    # The latest has the first name, since some editions tell equals apart by their names.
    latest_first = {f"release-{place:05d}": one for place, one in enumerate(reversed(releases))}
    lines = rank([TeamEntry(name, score_of(one)) for name, one in latest_first.items()])
    first = min(line.place for line in lines)
    return latest_first[min(line.team for line in lines if line.place == first)]


def scores_decide(rule: str) -> bool:
    """Whether the scores of a team's releases decide which one counts."""
    return rule == BEST


def team_entries(
    releases: Mapping[str, ReleaseScore], attacks: Mapping[str, Sequence[Attempt]], without: Container[str] = ()
) -> list[TeamEntry]:
    """Gather what is ranked: the release of each team that counts, with the judged attacks on it.

    attacks: by the team whose release was attacked.
    without: teams whose releases and attacks count no more.
    """
    return [
        TeamEntry(team, score, tuple(one for one in attacks.get(team, ()) if one.attacker not in without))
        for team, score in releases.items()
        if team not in without
    ]


def standings_of(entries: Sequence[TeamEntry], rank: Rank) -> list[Standing]:
    """Rank the teams; where none has a release that counts, there is nothing that an edition could rank."""
    return rank(entries) if entries else []


def place_teams(lines: Sequence[Standing], tie: Callable[[Standing], float] = lambda _line: 0.0) -> list[Standing]:
    """Order the lines by value and then by team; those without a value come last and share the last place.

    tie: what tells lines of one value apart, the lowest first; else they share a place.
    """
    keys = {line.team: (*_key(line), round(tie(line), DIGITS)) for line in lines}
    ordered = sorted(lines, key=lambda line: (keys[line.team], line.team))
    in_order = sorted(keys.values())
    # As in sport: after two teams in the first place comes the third.
    return [replace(line, place=1 + bisect_left(in_order, keys[line.team])) for line in ordered]


def _key(line: Standing) -> tuple[bool, float]:
    return line.value is None, 0.0 if line.value is None else round(line.value, DIGITS)


def attacks_found(entries: Sequence[TeamEntry], rule: AttackRule) -> dict[tuple[str, str], float]:
    """Return what each attacker found in each release by the rule, by attacker and release."""
    return {
        (attacker, entry.team): rule.found(
            (one.knowledge, one.score.success) for one in entry.attempts if one.attacker == attacker
        )
        for entry in entries
        for attacker in dict.fromkeys(one.attacker for one in entry.attempts)
    }


def best_guesses(entries: Sequence[TeamEntry]) -> dict[tuple[str, str, str], float]:
    """Return the best guess at each release by each attacker with each level of knowledge."""
    best: dict[tuple[str, str, str], float] = {}
    for entry in entries:
        for one in entry.attempts:
            key = (entry.team, one.attacker, one.knowledge)
            best[key] = max(best.get(key, 0.0), float(one.score.success))
    return best


def safety_lost(standing: Standing, found: Mapping[tuple[str, str], float]) -> float:
    """Return a team's loss of safety; where its edition gives none, what the best attacker found."""
    if standing.safety is not None:
        return float(standing.safety)
    return max((success for (_, target), success in found.items() if target == standing.team), default=0.0)


@dataclass(frozen=True)
class AttackPlace:
    """One line of the board of attackers: the mean over the releases of others of its best success on each."""

    place: int
    team: str
    found: float
    n_attacked: int

    def as_dict(self) -> Json:
        """Return the place for JSON."""
        return {"place": self.place, "team": self.team, "found": self.found, "attacked": self.n_attacked}


def rank_attackers(entries: Sequence[TeamEntry]) -> list[AttackPlace]:
    """Order the attackers by what they found, the most first; of a release that one did not attack it found nothing.

    Where there are several levels of knowledge, the best of them counts.
    """
    best: dict[str, dict[str, float]] = {}
    for entry in entries:
        for one in entry.attempts:
            if one.attacker != entry.team:
                found = best.setdefault(one.attacker, {})
                found[entry.team] = max(found.get(entry.team, 0.0), one.score.success)
    means = {
        team: round(math.fsum(found.values()) / max(1, sum(entry.team != team for entry in entries)), DIGITS)
        for team, found in best.items()
    }
    ordered = sorted(means, key=lambda team: (-means[team], team))
    return [
        AttackPlace(1 + sum(other > means[team] for other in means.values()), team, means[team], len(best[team]))
        for team in ordered
    ]


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
        chosen = self.choices.get(releases[0].team)
        return which_counts(
            self.terms.counts, releases, self.rank, lambda one: one.score, lambda one: one.number == chosen
        )

    def entries(self) -> list[TeamEntry]:
        """Gather what is ranked: neither releases nor guesses of teams that are disqualified."""
        attacks: dict[str, list[Attempt]] = {}
        for guess in self.guesses.values():
            if guess.score is not None:
                attacks.setdefault(guess.target, []).append(Attempt(guess.attacker, guess.knowledge, guess.score))
        releases = {team: release.score for team, release in self.counting_releases().items()}
        return team_entries(releases, attacks, self.disqualified)

    def standings(self) -> list[Standing]:
        """Rank the teams that count."""
        return standings_of(self.entries(), self.rank)

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
