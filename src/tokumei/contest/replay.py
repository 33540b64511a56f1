"""Replaying a contest: every file, score, verdict and place is worked out again and held against the log."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tokumei.contest.folder import PUBLIC, RANKING, SECRET, Contest, files_below, open_contest
from tokumei.contest.log import LOG, LogLine, read_log
from tokumei.contest.phases import judge_guess, publish_release, ranking_text
from tokumei.contest.season import Season
from tokumei.contest.secret import public_digest
from tokumei.core.chain import canonical
from tokumei.core.errors import InputError, PromiseBroken, TokumeiError
from tokumei.core.progress import step

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

    def _same(self, line: LogLine, what: str, found: Any, told: Any) -> None:
        if canonical(found) != canonical(told):
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
            data, knowledge = Path(draft, "data"), Path(draft, "knowledge")
            data.mkdir()
            knowledge.mkdir()
            if not is_sampled or self.source is not None:
                contest.edition.make_data(data, seed=key.seed("data"), source=self.source)
                self._same_files(line, data, f"{PUBLIC}/data")
            contest.edition.draw_knowledge(contest.data_files(self.season), knowledge, seed=key.seed("knowledge"))
            self._same_files(line, knowledge, f"{SECRET}/knowledge")

    def _submit(self, line: LogLine) -> None:
        contest, season = self.contest, self.season
        data, files = contest.data_files(season), contest.release_files(season, season.releases[-1])
        score = contest.edition.check_and_score(data, contest.knowledge_files(season), files)
        self._same(line, "the score", score.as_dict(), line.facts["score"])

    def _publish(self, line: LogLine) -> None:
        contest, season = self.contest, self.season
        data = contest.data_files(season)
        with tempfile.TemporaryDirectory() as draft:
            for name in ("releases", "truth"):
                Path(draft, name).mkdir()
            for team in season.counting_releases():
                publish_release(contest, data, season, team, Path(draft))
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
        contest.edition.check_guess(contest.data_files(season), published, contest.guess_files(season, guess))
        self.n_worked_out += 1

    def _judge(self, line: LogLine) -> None:
        guess = self.season.guesses[line.facts["guess"]]
        found = judge_guess(self.contest, self.contest.data_files(self.season), self.season, guess)
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


def _first_difference(found: Any, told: Any, at: str = "") -> str:
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
