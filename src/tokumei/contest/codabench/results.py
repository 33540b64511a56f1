"""What comes back from Codabench: its results as CSV, or the outputs of the scoring program, ranked by the edition.

A CSV file holds numbers alone, as the board shows them. Where a ranking needs more (who found which rows), the outputs
have it: `tokumei.json`, or the zip files in which Codabench hands them to the organizer, in a folder.
"""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from tokumei.contest.codabench.bundle import columns_of
from tokumei.contest.codabench.programs import RESULT, SAFETY, SCORE, UTILITY, Task, pairs_of
from tokumei.contest.edition import Attempt, GuessScore, ReleaseScore, Standing, TeamEntry
from tokumei.contest.folder import Contest
from tokumei.contest.season import (
    ANONYMIZE,
    ATTACK,
    AttackPlace,
    place_teams,
    rank_attackers,
    standings_of,
    team_entries,
)
from tokumei.core.errors import InputError, NotAllowed
from tokumei.core.text import Json, JsonView, Text
from tokumei.data.files.disk import check_is_file, read_bytes

USER = "Username"
# `name of the task(its number)-title of the column`
COLUMN = re.compile(r"(?P<task>.+)\(\d+\)-(?P<title>.+)")


@dataclass(frozen=True)
class Ranked:
    """A phase on Codabench as the edition ranks it."""

    phase: str
    standings: Sequence[Standing]
    attackers: Sequence[AttackPlace] = ()


@dataclass
class _Attacks:
    """Judged guesses, by the team whose release each is about."""

    found: dict[str, list[Attempt]] = field(default_factory=dict)

    def add(self, attacker: str, target: str, level: str, score: GuessScore) -> None:
        """Take in one; a team's guess at its own release says nothing."""
        if attacker != target:
            self.found.setdefault(target, []).append(Attempt(attacker, level, score))


class _NumbersAlone(Json):
    """The details of a score of which a CSV file holds one number."""

    def __missing__(self, name: str) -> NoReturn:
        raise InputError.of(
            Text(
                "a folder with the outputs of scoring ({file}): this ranking needs more than a CSV holds", file=RESULT
            ),
            option="import",
        )


def rank_results(contest: Contest, path: Path) -> Ranked:
    """Rank what came back from Codabench: a CSV file of results, or a folder with outputs of scoring."""
    return _rank_outputs(contest, path) if path.is_dir() else _rank_csv(contest, check_is_file(path))


def _rank_csv(contest: Contest, path: Path) -> Ranked:
    phase, rows = _read_csv(path)
    if phase == ANONYMIZE:
        titles = {key: title for key, title, _ in columns_of(contest.terms, Task(ANONYMIZE))}
        lines = []
        for user, numbers in rows.items():
            value, utility, safety = (numbers.get(titles[key]) for key in (SCORE, UTILITY, SAFETY))
            if utility is None:
                raise InputError.of(f"a number in the column '{titles[UTILITY]}'", file=path, value=user)
            lines.append(Standing(0, user, value, utility, safety))
        return Ranked(phase, place_teams(lines))
    targets = _targets(contest)
    shown = Task(ATTACK, targets, is_shown=True)
    pairs, attacks = pairs_of(contest.terms, targets), _Attacks()
    known = {title: pairs[key] for key, title, _ in columns_of(contest.terms, shown) if key in pairs}
    if not any(title in known for numbers in rows.values() for title in numbers):
        expected = Text("a folder with the outputs of scoring ({file}): this board has no verdicts", file=RESULT)
        raise InputError.of(expected, file=path)
    for user, numbers in rows.items():
        for title, success in numbers.items():
            if title in known:
                attacks.add(user, *known[title], GuessScore(_share(path, title, success), _NumbersAlone()))
    return _rank_attacks(contest, attacks)


def _share(path: Path, title: str, found: float) -> float:
    if not 0 <= found <= 1:
        raise InputError.of("a share from 0 to 1", file=path, column=title, value=found)
    return found


def _rank_outputs(contest: Contest, folder: Path) -> Ranked:
    releases: dict[str, ReleaseScore] = {}
    attacks, phases = _Attacks(), set()
    for name, found in _outputs(folder):
        try:
            phases.add(found["phase"])
            team = str(found["team"])
            if "release" in found:
                if team in releases:
                    raise InputError.of(
                        "one output for each team: that of the release that counts", file=name, value=team
                    )
                releases[team] = ReleaseScore.of(found["release"])
            for one in found.get("guesses", ()):
                attacks.add(team, one["target"], one["knowledge"], GuessScore.of(one["score"]))
        except (KeyError, TypeError, AttributeError):
            raise InputError.of("an output of the scoring program of this bundle", file=name) from None
    if len(phases) != 1:
        raise InputError.of(f"a folder with outputs of scoring ({RESULT}), all of one phase", file=folder)
    if phases == {ANONYMIZE}:
        entries = [TeamEntry(team, release) for team, release in sorted(releases.items())]
        return Ranked(ANONYMIZE, standings_of(entries, contest.edition.rank))
    return _rank_attacks(contest, attacks)


def _targets(contest: Contest) -> tuple[str, ...]:
    season = contest.season()
    if season.phase == ANONYMIZE:
        raise NotAllowed(
            "The releases of this contest are not published: there is nothing that guesses could be about."
        )
    return tuple(season.counting_releases())


def _rank_attacks(contest: Contest, attacks: _Attacks) -> Ranked:
    targets = _targets(contest)
    for target in attacks.found:
        if target not in targets:
            raise InputError.of(Text("a team of this contest: {names}", names=", ".join(targets)), value=target)
    season = contest.season()
    releases = {team: release.score for team, release in season.counting_releases().items()}
    entries = team_entries(releases, attacks.found, season.disqualified)
    return Ranked(ATTACK, standings_of(entries, contest.edition.rank), rank_attackers(entries))


def _read_csv(path: Path) -> tuple[str, dict[str, dict[str, float]]]:
    """Return the phase of a CSV file of results, and the numbers of each participant by the titles of columns."""
    try:
        text = read_bytes(path).decode("utf-8-sig")
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error):
        raise InputError.of("a CSV file in UTF-8", file=path) from None
    if not rows or rows[0][:1] != [USER] or len(rows[0]) < 2:
        raise InputError.of(f"Codabench's results, whose first column is '{USER}'", file=path, line=1)
    told = [COLUMN.fullmatch(title) for title in rows[0][1:]]
    phases = {one["task"] for one in told if one is not None}
    if None in told or len(phases) != 1 or not phases <= {ANONYMIZE, ATTACK}:
        expected = f"the results of one phase of this bundle, in columns such as '{ANONYMIZE}(7)-utility lost'"
        raise InputError.of(expected, file=path, line=1)
    titles = [one["title"] for one in told if one is not None]
    found: dict[str, dict[str, float]] = {}
    for line, row in enumerate(rows[1:], 2):
        if len(row) != len(rows[0]) or row[0] in found:
            raise InputError.of(f"{len(rows[0])} cells, and each participant once", file=path, line=line)
        found[row[0]] = {
            title: _number(path, line, title, cell) for title, cell in zip(titles, row[1:], strict=True) if cell
        }
    return phases.pop(), found


def _number(path: Path, line: int, title: str, cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise InputError.of("a number", file=path, line=line, column=title, value=cell) from None


def _outputs(folder: Path) -> Iterator[tuple[str, JsonView]]:
    """Read the outputs of scoring below a folder, packed or not."""
    for path in sorted(folder.rglob("*")):
        content = None
        if path.name == RESULT:
            content = path.read_bytes()
        elif path.suffix == ".zip":
            try:
                with zipfile.ZipFile(path) as archive:
                    content = archive.read(RESULT) if RESULT in archive.namelist() else None
            except zipfile.BadZipFile:
                raise InputError.of("a zip file", file=path) from None
        if content is not None:
            try:
                yield str(path), json.loads(content)
            except ValueError:
                raise InputError.of("an output of the scoring program of this bundle", file=path) from None
