"""What runs on Codabench: one program checks a submission before, the other scores it.

Both find the contest beside them, in folders that Codabench lays out. Participants never see the second.

| path                       | holds                                     | with the check | with the scoring  |
|----------------------------|-------------------------------------------|----------------|-------------------|
| contest.toml, task.json    | the edition, the phase, whom to attack    | yes            | yes               |
| data/, releases/TEAM/      | what everybody has                        | yes            | yes               |
| knowledge/                 | what attackers will know                  |                | while anonymizing |
| own/TEAM/                  | data that a team has alone                |                | yes               |
| truth/TEAM/                | the truth behind a release                |                | in attacks        |

A submission holds `team.txt`, one line with the name of the team, and beside it the files of a release, or for each
attacked team a folder of its name with a guess (in folders named after levels of knowledge where there are such).
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tokumei.contest.edition import ContestTerms, Edition, GuessScore, OpenFiles, TeamEntry, files_in
from tokumei.contest.season import ANONYMIZE, check_team_name
from tokumei.contest.setting import SETTING, read_setting
from tokumei.core.errors import InputError, NotAllowed, TokumeiError
from tokumei.core.text import Text

TASK, TEAM, SCORES, RESULT = "task.json", "team.txt", "scores.json", "tokumei.json"
# What stands on Codabench's board: its keys, and whether it is of the anonymizing phase.
SCORE, UTILITY, SAFETY, GUESSES, FOUND = "score", "utility", "safety", "guesses", "found"


@dataclass(frozen=True)
class Task:
    """One phase of a contest on Codabench."""

    phase: str
    targets: tuple[str, ...] = ()
    # Whether scores of guesses go to the board, from where their teams may read them.
    is_shown: bool = False
    version: str = version("tokumei")

    def written(self) -> str:
        """Return the text of its file."""
        return json.dumps(vars(self), indent=1) + "\n"

    @classmethod
    def read(cls, folder: Path) -> Task:
        """Read it beside the data; the program that scores must be the one that made the bundle."""
        found = json.loads((folder / TASK).read_text(encoding="utf-8"))
        task = cls(found["phase"], tuple(found["targets"]), found["is_shown"], found["version"])
        if task.version != version("tokumei"):
            raise NotAllowed(
                f"This contest was exported by tokumei {task.version}, and the image of the competition holds "
                f"{version('tokumei')}: scores could differ. Use an image with the same version."
            )
        return task


def pairs_of(terms: ContestTerms, targets: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Name the column of each guess, by the team that is attacked and the level of knowledge."""
    pairs = [(target, level) for target in targets for level in terms.knowledge_files]
    return {f"{FOUND}_{number:03d}": pair for number, pair in enumerate(pairs, 1)}


def check(inputs: Path, given: Path) -> None:
    """Check a submission with what everybody has; where teams have data of their own, its files alone."""
    task, edition = Task.read(inputs), read_setting(inputs / SETTING)
    terms, (team, folder) = edition.terms, _opened(given)
    if task.phase == ANONYMIZE:
        release = files_in(folder, terms.release_files)
        if not terms.own_files:
            edition.check(files_in(inputs / "data", terms.data_files), release)
        return
    data = {} if terms.own_files else files_in(inputs / "data", terms.data_files)
    for target, _, place in _guesses(task, edition, team, folder):
        guess = files_in(place, terms.guess_files)
        if not terms.own_files:
            edition.check_guess(data, files_in(inputs / "releases" / target, terms.published_files), guess)


def score(inputs: Path, given: Path, out: Path) -> dict[str, float]:
    """Check and score a submission, and write what Codabench shows and what it keeps for the organizer."""
    task, edition = Task.read(inputs), read_setting(inputs / SETTING)
    terms, (team, folder) = edition.terms, _opened(given)
    data = OpenFiles(files_in(inputs / "data", terms.data_files) | _own(inputs, terms, team))
    kept: dict[str, Any] = {"phase": task.phase, "team": team, "version": task.version}
    if task.phase == ANONYMIZE:
        knowledge = files_in(inputs / "knowledge", terms.all_knowledge_files)
        found = edition.check_and_score(data, knowledge, files_in(folder, terms.release_files))
        value = edition.rank([TeamEntry(team, found)])[0].value
        numbers = {SCORE: value, UTILITY: found.utility, SAFETY: found.safety}
        kept["release"] = found.as_dict()
    else:
        judged = []
        for target, level, place in list(_guesses(task, edition, team, folder)):
            published = files_in(inputs / "releases" / target, terms.published_files)
            truth = files_in(inputs / "truth" / target, terms.truth_files)
            verdict = edition.check_and_judge(data, published, truth, files_in(place, terms.guess_files))
            judged.append((target, level, verdict))
        numbers = {GUESSES: float(len(judged))}
        if task.is_shown:
            numbers |= _told(terms, task, team, judged)
        kept["guesses"] = [
            {"target": target, "knowledge": level, "score": verdict.as_dict()} for target, level, verdict in judged
        ]
    told = {name: number for name, number in numbers.items() if number is not None and math.isfinite(number)}
    (out / SCORES).write_text(json.dumps(told, allow_nan=False) + "\n", encoding="utf-8")
    (out / RESULT).write_text(json.dumps(kept, ensure_ascii=False) + "\n", encoding="utf-8")
    return told


def _told(
    terms: ContestTerms, task: Task, team: str, judged: Sequence[tuple[str, str, GuessScore]]
) -> Mapping[str, float]:
    """Return the success of each guess by its column, and the mean over all others' releases of the best on each."""
    columns = {pair: name for name, pair in pairs_of(terms, task.targets).items()}
    best: dict[str, float] = {}
    for target, _, verdict in judged:
        best[target] = max(best.get(target, 0.0), verdict.success)
    n_others = sum(target != team for target in task.targets)
    mean = math.fsum(best.values()) / max(1, n_others)
    return {FOUND: mean} | {columns[target, level]: verdict.success for target, level, verdict in judged}


def _opened(given: Path) -> tuple[str, Path]:
    """Return the team and the folder of a submission, which may lie in the only folder of what was packed."""
    folder, inner = given, _folders(given)
    if not (given / TEAM).is_file() and len(inner) == 1:
        folder = inner[0]
    if not (folder / TEAM).is_file():
        raise InputError.of(f"a file {TEAM} with the name of your team, beside the other files")
    lines = (folder / TEAM).read_bytes().decode("utf-8-sig", "replace").split("\n")
    team = lines[0].strip()
    check_team_name(team)
    return team, folder


def _folders(folder: Path) -> list[Path]:
    """List the folders in one, but for those that a Mac packs unasked."""
    return sorted(one for one in folder.iterdir() if one.is_dir() and not one.name.startswith((".", "__MACOSX")))


def _own(inputs: Path, terms: ContestTerms, team: str) -> dict[str, Path]:
    if not terms.own_files:
        return {}
    if not (inputs / "own" / team).is_dir():
        raise InputError.of("the name of a team of this contest", file=TEAM, value=team)
    return files_in(inputs / "own" / team, terms.own_files)


def _guesses(task: Task, edition: Edition, team: str, folder: Path) -> Iterator[tuple[str, str, Path]]:
    """Find the guesses of a submission: whom each is about, its level of knowledge, and its folder."""
    if not task.targets:
        raise NotAllowed("The attacks have not begun: no release is published yet.")
    levels, names = edition.terms.knowledge_files, ", ".join(task.targets)
    found = _folders(folder)
    if not found:
        raise InputError.of(Text("a folder for each team that is attacked, named after it: {names}", names=names))
    for path in found:
        if path.name not in task.targets:
            raise InputError.of(Text("a folder named after a team: {names}", names=names), file=path.name)
        if path.name == team:
            raise NotAllowed(Text("The team '{team}' cannot attack itself.", team=team))
        if tuple(levels) == ("",):
            yield path.name, "", path
            continue
        inner = _folders(path)
        if not inner or any(one.name not in levels for one in inner):
            raise InputError.of(
                Text("a folder for each level of knowledge: {names}", names=", ".join(levels)), file=path.name
            )
        yield from ((path.name, one.name, one) for one in inner)


def main(arguments: Sequence[str]) -> int:
    """Run a program of a bundle, `check INPUT_DATA SUBMISSION` or `score INPUT OUTPUT`; return its exit code."""
    what, *paths = arguments
    first, second = map(Path, paths)
    try:
        if what == "check":
            check(first, second)
        else:
            score(first / "ref", first / "res", second)
    except TokumeiError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    # Never a number: what a guess found is not for its team to read here.
    sys.stdout.write("The submission keeps the rules.\n")
    return 0
