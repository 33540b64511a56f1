"""What an edition of a contest states, and what its functions give.

An edition works on files and holds no state: the commands and the server call the same functions and print the same
digits. Files go by the names that the edition gives them, such as `T` or `AT`; `files_in` finds them in a folder.

| who        | when       | does                                                             |
|------------|------------|------------------------------------------------------------------|
| organizer  | prepare    | `make_data`, `draw_knowledge`; for each team `draw_own`          |
| team       | anonymize  | submits `release_files`: `check`, then `score`                   |
| organizer  | publish    | `publish`: what attackers see, and the truth that stays secret   |
| team       | attack     | submits `guess_files`: `check_guess`, then `judge`               |
| organizer  | close      | `rank`                                                           |

`EDITIONS` has them by name.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from tokumei.core.errors import InputError, UnknownPart
from tokumei.core.registry import Registry
from tokumei.core.text import Json, JsonView, Text

# Which of a team's releases counts.
LATEST, BEST, CHOSEN = COUNTS = ("latest", "best", "chosen")
Files = Mapping[str, Path]
Read = TypeVar("Read")
Part = TypeVar("Part")


class OpenFiles(dict[str, Path]):
    """Files of which what was read is kept, so that checking and scoring read them once."""

    def __init__(self, files: Files) -> None:
        super().__init__(files)
        self._kept: dict[Callable[[Files], Any], Any] = {}

    def read_once(self, read: Callable[[Files], Read]) -> Read:
        """Read the files, or give what the same reader gave before."""
        if read not in self._kept:
            self._kept[read] = read(self)
        found: Read = self._kept[read]
        return found


def read_once(files: Files, read: Callable[[Files], Read]) -> Read:
    """Read files; those that are kept open are read the first time only."""
    return files.read_once(read) if isinstance(files, OpenFiles) else read(files)


@dataclass(frozen=True)
class FileRole:
    """One file of a contest: its name there, and what it holds in both languages."""

    name: str
    holds: str
    holds_ja: str
    suffix: str = ".csv"

    @property
    def file_name(self) -> str:
        """The name of the file in a folder."""
        return f"{self.name}{self.suffix}"


@dataclass(frozen=True)
class Rule:
    """One rule that a submission must keep, in both languages; `name` is what faults and tests call it."""

    name: str
    says: str
    says_ja: str


@dataclass(frozen=True)
class Measure:
    """One number of a score and what it says, in both languages; `name` is its key in the details of a score.

    `title` is what readers see in place of the name, where that alone would not tell them.
    """

    name: str
    says: str
    says_ja: str
    title: str = ""
    title_ja: str = ""


@dataclass(frozen=True)
class ReleaseScore:
    """What a release is worth.

    `details` is the object that `tokumei score --json` prints. `utility` and `safety` sum it up as losses (0 is best);
    `safety` is missing where only attacks of other teams decide it. `flags` are sentences about what is suspicious.
    """

    details: JsonView
    utility: float
    safety: float | None = None
    flags: tuple[str, ...] = ()

    def as_dict(self) -> Json:
        """Return the score for a log."""
        return {
            "details": dict(self.details),
            "utility": self.utility,
            "safety": self.safety,
            "flags": list(self.flags),
        }

    @classmethod
    def of(cls, written: JsonView) -> ReleaseScore:
        """Read it back from a log."""
        return cls(written["details"], written["utility"], written["safety"], tuple(written["flags"]))


@dataclass(frozen=True)
class GuessScore:
    """How right a guess was, from 0 to 1; `is_proof` tells, where an edition tests that, if the release is unsafe."""

    success: float
    details: JsonView
    is_proof: bool | None = None

    def as_dict(self) -> Json:
        """Return the score for a log."""
        return {"success": self.success, "details": dict(self.details), "is_proof": self.is_proof}

    @classmethod
    def of(cls, written: JsonView) -> GuessScore:
        """Read it back from a log."""
        return cls(written["success"], written["details"], written["is_proof"])


@dataclass(frozen=True)
class Attempt:
    """One judged attack on a release: by whom, and with which knowledge (empty where an edition has one level only)."""

    attacker: str
    knowledge: str
    score: GuessScore


@dataclass(frozen=True)
class TeamEntry:
    """A team's release that counts, and all judged attacks on it."""

    team: str
    release: ReleaseScore
    attempts: Sequence[Attempt] = ()


@dataclass(frozen=True)
class Standing:
    """One line of the ranking; `value` is what teams are ordered by, lower is better, and missing where not ranked.

    `numbers` are further columns of the scoreboard by name. `reason` says why a team is not ranked like the others,
    and `proven_by` names the teams that proved its release unsafe, if that is why.
    """

    place: int
    team: str
    value: float | None
    utility: float
    safety: float | None
    numbers: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    proven_by: tuple[str, ...] = ()

    def as_dict(self) -> Json:
        """Return the standing for JSON."""
        return {
            "place": self.place,
            "team": self.team,
            "value": self.value,
            "utility": self.utility,
            "safety": self.safety,
            "numbers": dict(self.numbers),
            "reason": self.reason,
        }


@dataclass(frozen=True)
class AttackRule:
    """How the guesses at one release become one number, and the words for it: board, heat map and rules all follow it.

    `levels` are those of knowledge whose best guesses are averaged; without any the best guess of all counts.
    """

    levels: tuple[str, ...] = ()

    def found(self, guesses: Iterable[tuple[str, float]]) -> float:
        """Return what guesses found, each a knowledge level and its success; 0 where there is none."""
        if not self.levels:
            return max((success for _, success in guesses), default=0.0)
        best = dict.fromkeys(self.levels, 0.0)
        for level, success in guesses:
            if level in best:
                best[level] = max(best[level], success)
        return math.fsum(best.values()) / len(best)

    def found_by_others(self, entry: TeamEntry) -> float:
        """Return what other teams found in a release; a team knows its own truth, which proves nothing."""
        others = (one for one in entry.attempts if one.attacker != entry.team)
        return self.found((one.knowledge, one.score.success) for one in others)

    @property
    def says(self) -> str:
        """The rule in words."""
        if len(self.levels) < 2:
            return "the best guess counts"
        return "the best guess at each level of knowledge counts, averaged over the levels, 0 where nobody guessed"

    @property
    def says_ja(self) -> str:
        """The rule in Japanese."""
        if len(self.levels) < 2:
            return "最良の推定の成功率とする"
        return "知識レベルごとの最良の推定の成功率の、全レベルでの平均とする（推定のないレベルは 0）"


@dataclass(frozen=True)
class ContestTerms:
    """What an edition says of itself, for the rules page, the kit and the forms; both languages.

    `summary` tells in a few sentences what is anonymized, what attackers know and how teams are ranked.
    `own_files` are data that each team has alone, drawn for it by `draw_own`; `hidden_files` are written by `make_data`
    and seen by nobody. `knowledge_files` are handed out when attacks begin, by level; one level "" without files where
    attackers know all the data. `measures` explain the numbers of scores, and `attack_rule` says how guesses count. The
    limits are of attempts a team has: on releases in all, and on guesses at one release and level. `counts` is for
    whoever runs the contest to say: which of a team's releases counts.
    """

    title: str
    title_ja: str
    summary: str
    summary_ja: str
    data_files: Sequence[FileRole]
    release_files: Sequence[FileRole]
    published_files: Sequence[FileRole]
    truth_files: Sequence[FileRole]
    guess_files: Sequence[FileRole]
    knowledge_files: Mapping[str, Sequence[FileRole]]
    release_rules: Sequence[Rule]
    guess_rules: Sequence[Rule]
    measures: Sequence[Measure] = ()
    n_releases_allowed: int = 20
    n_guesses_allowed: int = 10
    attack_rule: AttackRule = AttackRule()
    counts: str = LATEST
    own_files: Sequence[FileRole] = ()
    hidden_files: Sequence[FileRole] = ()

    @property
    def all_knowledge_files(self) -> list[FileRole]:
        """The files of knowledge of all levels."""
        return [role for roles in self.knowledge_files.values() for role in roles]


class Edition(ABC):
    """A contest's rules and scores; its fields are its options."""

    # What `anonymize` and `attack` can do, by name.
    ANONYMIZERS: ClassVar[Iterable[str]] = ()
    ATTACKS: ClassVar[Iterable[str]] = ()

    @property
    @abstractmethod
    def terms(self) -> ContestTerms:
        """What the edition says of itself."""

    @abstractmethod
    def make_data(self, folder: Path, *, seed: int, source: Path | None = None) -> None:
        """Write the data files: sampled from the source, or made up where none is given."""

    # Most have nothing of the kind.
    def draw_own(self, data: Files, folder: Path, *, seed: int) -> None:  # noqa: B027
        """Write the data that one team has alone; `data` holds the hidden files, too."""

    def draw_knowledge(self, data: Files, folder: Path, *, seed: int) -> None:  # noqa: B027
        """Write the files of knowledge of all levels; `data` holds the hidden files, too."""

    @abstractmethod
    def check(self, data: Files, release: Files) -> None:
        """Raise one InputError with every fault of a release: line, column, value and rule."""

    @abstractmethod
    def score(self, data: Files, knowledge: Files, release: Files) -> ReleaseScore:
        """Score a release that passed the check; `knowledge` holds the files of all levels by their names."""

    def check_and_score(self, data: Files, knowledge: Files, release: Files) -> ReleaseScore:
        """Check a release and score it; the data are read once for both."""
        opened = OpenFiles(data)
        self.check(opened, release)
        return self.score(opened, knowledge, release)

    def check_and_judge(self, data: Files, published: Files, truth: Files, guess: Files) -> GuessScore:
        """Check a guess and judge it; the data are read once for both."""
        opened = OpenFiles(data)
        self.check_guess(opened, published, guess)
        return self.judge(opened, published, truth, guess)

    @abstractmethod
    def publish(self, data: Files, release: Files, folder: Path, truth_folder: Path, *, seed: int) -> None:
        """Write what attackers see of a release in an order that tells nothing, and apart from it the truth.

        data: what everybody has, what the team has alone, and the hidden files.
        """

    @abstractmethod
    def check_guess(self, data: Files, published: Files, guess: Files) -> None:
        """Raise one InputError with every fault of a guess; `data` holds what the attacker has alone, too."""

    @abstractmethod
    def judge(self, data: Files, published: Files, truth: Files, guess: Files) -> GuessScore:
        """Hold a guess that passed the check against the truth."""

    @abstractmethod
    def rank(self, entries: Sequence[TeamEntry]) -> list[Standing]:
        """Order the teams, the best first; the order of the entries does not matter."""

    def anonymizers(self) -> Sequence[str]:
        """Name what `anonymize` can do, simplest first; the first is the kit's sample."""
        return list(self.ANONYMIZERS)

    @abstractmethod
    def anonymize(self, name: str, data: Files, folder: Path, *, seed: int) -> None:
        """Write the release files that a built-in anonymizer makes."""

    def attacks(self) -> Sequence[str]:
        """Name what `attack` can do, simplest first; the first is the kit's sample."""
        return list(self.ATTACKS)

    @abstractmethod
    def attack(self, name: str, data: Files, knowledge: Files, published: Files, folder: Path, *, seed: int) -> None:
        """Write the guess files that a built-in attack makes from the knowledge of one level."""


def chosen_part(kind: str, name: str, parts: Mapping[str, Part]) -> Part:
    """Return a built-in anonymizer or attack by its name."""
    if name not in parts:
        raise UnknownPart(kind, name, parts)
    return parts[name]


def check_at_least(edition: Edition, **least: int) -> None:
    """Refuse options of an edition that are smaller than any contest can have."""
    for option, value in least.items():
        if getattr(edition, option) < value:
            raise InputError.of(f"at least {value}", option=option, value=getattr(edition, option))


def files_in(folder: Path, roles: Sequence[FileRole]) -> dict[str, Path]:
    """Find the files of a folder by their names, plain or gzipped; a missing one is an error."""
    found = {}
    for role in roles:
        plain = folder / role.file_name
        path = next((path for path in (plain, plain.with_name(f"{plain.name}.gz")) if path.is_file()), None)
        if path is None:
            raise InputError.of(Text("the file {file}: {what}", file=role.file_name, what=role.holds), file=folder)
        found[role.name] = path
    return found


EDITIONS: Registry[Edition] = Registry(
    "edition",
    "tokumei.contest.editions",
    {
        f"{name}.edition": [name]
        for name in (
            *(f"pwscup{year}" for year in (2015, 2016, 2017, 2018, 2019, 2020, 2021, 2022, 2023, 2024, 2025, 2026)),
            "ipws2023",
        )
    },
)
