"""The folder of a contest, which can be zipped, moved and audited; all paths in it are relative.

| path                            | holds                                                      | since    |
|---------------------------------|------------------------------------------------------------|----------|
| contest.toml                    | the edition and its options, or a contest of one's own     | prepare  |
| log.jsonl, head.json            | every step, and how long the log is                        | prepare  |
| public/data/                    | the data files                                             | prepare  |
| secret/data/                    | data that nobody sees, of which teams get parts            | prepare  |
| public/knowledge/               | what attackers know                                        | publish  |
| public/releases/TEAM/           | what attackers see of a team's release                     | publish  |
| ranking.json                    | the final ranking                                          | close    |
| secret/key                      | 32 bytes that all seeds follow from                        | prepare  |
| secret/knowledge/               | what attackers will know                                   | prepare  |
| secret/submissions/TEAM/001/    | each release that passed the check                         | submit   |
| secret/truth/TEAM/              | the truth behind a published release                       | publish  |
| secret/guesses/TEAM/0001/       | each guess that passed the check, by attacker              | attack   |
"""

from __future__ import annotations

import hmac
import os
import shutil
import stat
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from tokumei.contest.edition import ContestTerms, Edition, FileRole, Files, files_in
from tokumei.contest.log import Log, locked_log, read_log
from tokumei.contest.season import PlayedGuess, PlayedRelease, Season, check_team_name
from tokumei.contest.setting import SETTING, Secret, public_digest, read_counts, read_setting
from tokumei.core.errors import InputError, NotFound, PromiseBroken
from tokumei.core.text import JsonView, Text, counted

PUBLIC, SECRET, RANKING = "public", "secret", "ranking.json"
# The first time that a zip file can hold. Real times would tell which file was made first.
FIXED_TIME = 315_532_800
# Far more than any contest's release; what a gzipped file unpacks to is limited where it is read.
LARGEST_FILE = 512 * 1024 * 1024
DRAFT = ".draft-"


@dataclass(frozen=True)
class SealedScore:
    """A score, with the code that binds it to the files it was given to."""

    score: JsonView
    seal: str


@dataclass(frozen=True)
class Contest:
    """A contest in its folder."""

    folder: Path

    @cached_property
    def edition(self) -> Edition:
        """Its rules and scores."""
        return read_setting(self.folder / SETTING)

    @cached_property
    def terms(self) -> ContestTerms:
        """What its edition says of itself, and which releases count."""
        return replace(self.edition.terms, counts=read_counts(self.folder / SETTING))

    @cached_property
    def key(self) -> Secret:
        """Its secret."""
        return Secret.read(self.folder / SECRET / "key")

    def season(self) -> Season:
        """Read what its log tells now."""
        return Season.of(self.terms, read_log(self.folder), self.edition.rank)

    @contextmanager
    def writing(self) -> Iterator[tuple[Log, Season]]:
        """Hold the log, and give what it tells, while one step is added."""
        with locked_log(self.folder) as log:
            yield log, Season.of(self.terms, log.lines, self.edition.rank)

    @contextmanager
    def draft(self) -> Iterator[Path]:
        """Create a folder among the secrets that is gone afterwards, but for what was moved out of it."""
        draft = Path(tempfile.mkdtemp(prefix=DRAFT, dir=self.folder / SECRET))
        try:
            yield draft
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def path(self, *names: str) -> Path:
        """Return a path in the folder."""
        return self.folder.joinpath(*names)

    def name(self, path: Path) -> str:
        """Return the name by which the log knows a file."""
        return path.relative_to(self.folder).as_posix()

    def digest(self, path: Path) -> str:
        """Return the digest of a file as the log shows it: keyed for a secret one."""
        is_secret = path.relative_to(self.folder).parts[0] == SECRET
        return self.key.digest(path) if is_secret else public_digest(path)

    def digests(self, folder: Path) -> dict[str, str]:
        """Return the digest of every file below a folder by its name."""
        return {self.name(path): self.digest(path) for path in files_below(folder)}

    def verify(self, name: str, expected: str) -> Path:
        """Return the path of a file after checking that it is what the log says."""
        path = self.folder / name
        if not path.is_file() or path.is_symlink():
            raise PromiseBroken(f"{name}: is missing.")
        if self.digest(path) != expected:
            raise PromiseBroken(f"{name}: is not the file that the log tells of.")
        return path

    def seal(self, score: Mapping[str, object], files: Files, target: str = "") -> SealedScore:
        """Bind a score to its files, and that of a guess to the team whose release it is about."""
        digests = {name: self.key.digest(path) for name, path in files.items()}
        return SealedScore(score, self.key.seal({"score": score, "files": digests, "target": target}))

    def holds_seal(self, scored: SealedScore, files: Files, target: str = "") -> bool:
        """Whether a score and its files are those that were sealed."""
        return hmac.compare_digest(self.seal(scored.score, files, target).seal, scored.seal)

    def opened(self, scored: SealedScore, files: Files, target: str = "") -> JsonView:
        """Return a score if its seal holds."""
        if not self.holds_seal(scored, files, target):
            raise PromiseBroken("The score is not the one that these files were given.")
        return scored.score

    def verified(self, season: Season, folder: str, roles: Sequence[FileRole]) -> dict[str, Path]:
        """Find files by their roles in a folder of the contest, each what the log says it was."""
        found = files_in(self.folder / folder, roles)
        for path in found.values():
            name = self.name(path)
            if name not in season.files:
                raise PromiseBroken(f"{name}: no line of the log tells of this file.")
            self.verify(name, season.files[name])
        return found

    def data_files(self, season: Season) -> dict[str, Path]:
        """Find the data that everybody has."""
        return self.verified(season, f"{PUBLIC}/data", self.terms.data_files)

    def own_files(self, season: Season, team: str | None) -> dict[str, Path]:
        """Draw the data that a team has alone: always the same, in a folder that is gone with this object."""
        roles = self.terms.own_files
        if not roles:
            return {}
        if team is None:
            raise InputError.of("the team, which has data of its own in this contest", option="team")
        check_team_name(team)
        folder = self._own / team
        if not folder.is_dir():
            folder.mkdir(mode=0o700)
            data = self.data_files(season) | self.hidden_files(season)
            self.edition.draw_own(data, folder, seed=self.key.seed("own", team))
        return files_in(folder, roles)

    @cached_property
    def _own(self) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="tokumei-own-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return folder

    def hidden_files(self, season: Season) -> dict[str, Path]:
        """Find the data that nobody sees."""
        roles = self.terms.hidden_files
        return self.verified(season, f"{SECRET}/data", roles) if roles else {}

    def all_data_of(self, season: Season, team: str | None) -> dict[str, Path]:
        """Find the data that a team has: what everybody has, and its own."""
        return self.data_files(season) | self.own_files(season, team)

    def knowledge_files(self, season: Season) -> dict[str, Path]:
        """Find the knowledge of all levels, from among the secrets."""
        return self.verified(season, f"{SECRET}/knowledge", self.terms.all_knowledge_files)

    def release_files(self, season: Season, release: PlayedRelease) -> dict[str, Path]:
        """Find a release as it was submitted."""
        folder = f"{SECRET}/submissions/{release.team}/{release.number:03d}"
        return self.verified(season, folder, self.terms.release_files)

    def published_files(self, season: Season, team: str) -> dict[str, Path]:
        """Find what attackers see of a release."""
        return self.verified(season, f"{PUBLIC}/releases/{team}", self.terms.published_files)

    def truth_files(self, season: Season, team: str) -> dict[str, Path]:
        """Find the truth behind a release."""
        return self.verified(season, f"{SECRET}/truth/{team}", self.terms.truth_files)

    def guess_files(self, season: Season, guess: PlayedGuess) -> dict[str, Path]:
        """Find a guess as it was submitted."""
        folder = f"{SECRET}/guesses/{guess.attacker}/{guess.number:04d}"
        return self.verified(season, folder, self.terms.guess_files)


def open_contest(folder: Path | str) -> Contest:
    """Open a contest; its log must be whole."""
    contest = Contest(Path(folder))
    lines = read_log(contest.folder)
    if not lines:
        raise NotFound(f"{folder} is no contest: its log is empty.")
    files = lines[0].facts.get("files")
    contest.verify(SETTING, files.get(SETTING, "") if isinstance(files, dict) else "")
    return contest


def files_below(folder: Path) -> list[Path]:
    """List all files below a folder in the order of their names, but those of drafts."""
    return [
        path
        for path in sorted(folder.rglob("*"), key=lambda path: path.relative_to(folder).parts)
        if not path.is_dir() and not any(part.startswith(DRAFT) for part in path.relative_to(folder).parts)
    ]


def take_in(given: Path, roles: Sequence[FileRole], folder: Path) -> dict[str, Path]:
    """Copy what was handed in, so that it cannot change between its check and its score.

    A folder is searched for the files of the roles; a single file will do where there is but one role.
    """
    if len(roles) == 1 and given.is_file():
        found: Mapping[str, Path] = {roles[0].name: given}
    elif given.is_dir():
        found = files_in(given, roles)
    else:
        wanted = " and ".join(role.file_name for role in roles)
        raise InputError.of(f"a folder with {wanted}", file=given)
    folder.mkdir(parents=True, exist_ok=True)
    taken = {}
    for role in roles:
        path = found[role.name]
        taken[role.name] = folder / (f"{role.file_name}.gz" if path.suffix == ".gz" else role.file_name)
        _copy(path, taken[role.name])
    return taken


def _copy(path: Path, target: Path) -> None:
    """Copy a plain file of a sane size; a link could lead to another team's files or to the secrets."""
    try:
        # Systems without these flags have no links that anybody may make, and no pipes among files.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        raise InputError.of("a plain file that may be read, not a link", file=path) from error
    with os.fdopen(descriptor, "rb") as source, target.open("xb") as copy:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise InputError.of("a plain file", file=path)
        if status.st_size > LARGEST_FILE:
            raise InputError.of(
                Text("a file of at most {n:,} bytes", n=LARGEST_FILE), file=path, value=counted(status.st_size, "byte")
            )
        shutil.copyfileobj(source, copy)


def seal(folder: Path, *, is_secret: bool) -> None:
    """Fix the times of a folder and its files, and let only their owner read secret ones."""
    for path in [*folder.rglob("*"), folder]:
        if path.is_dir():
            path.chmod(0o700 if is_secret else 0o755)
        else:
            path.chmod(0o600 if is_secret else 0o644)
    # Children first, since touching them touches their folder.
    for path in sorted([*folder.rglob("*"), folder], key=lambda path: -len(path.parts)):
        os.utime(path, (FIXED_TIME, FIXED_TIME))


def move(draft: Path, target: Path) -> None:
    """Move a finished folder into its place; what a broken step left there before gives way."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        shutil.rmtree(target)
    for path in files_below(draft):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    draft.rename(target)
