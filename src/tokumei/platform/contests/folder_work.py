"""What the limited process of a job does for a contest: `tokumei.contest` on the files of a contest folder.

Files in other encodings and Excel sheets become CSV in UTF-8 first, with a note in the file NOTES beside them. Work
between two phases goes on where an earlier attempt broke off: what the folder's log already tells is not done again,
but held against what the server remembers.
"""

from __future__ import annotations

import fcntl
import gzip
import json
import re
import shutil
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date, datetime, time
from pathlib import Path

from tokumei.contest import phases
from tokumei.contest.checks import plain_source
from tokumei.contest.edition import FileRole, Files, OpenFiles, files_in
from tokumei.contest.folder import DRAFT, SECRET, Contest, SealedScore, files_below, open_contest
from tokumei.contest.kit import kit_of_contest
from tokumei.contest.log import read_log
from tokumei.contest.season import ANONYMIZE, ATTACK, CLOSED, PlayedGuess
from tokumei.contest.setting import SETTING, parse_setting
from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.text import Json, JsonView
from tokumei.data.files.disk import atomic_path, is_gzip, read_bytes, write_text
from tokumei.data.files.reading import Reading
from tokumei.data.files.text_bytes import UTF_8, find_encoding
from tokumei.platform.jobs.child import Refused

NOTES = "notes.json"
ISO_DATE = re.compile(rb"\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b")
SAMPLE = 4096
ZIP_MAGIC = b"PK\x03\x04"


def convert(folder: Path, roles: Sequence[FileRole], data: Files) -> None:
    """Convert the files of a folder in place where they need it, and note which and how.

    data: the files that everybody gets; dates and times of a workbook are written as they are there.
    """
    notes = notes_of(folder)
    write = _iso_cell if any(ISO_DATE.search(path.read_bytes()[:SAMPLE]) for path in data.values()) else _cell
    for path in files_in(folder, roles).values():
        note = _convert(path, write)
        if note is not None:
            notes.append(note)
    if notes:
        write_text(folder / NOTES, json.dumps(notes, ensure_ascii=False))


def notes_of(folder: Path) -> list[dict[str, str]]:
    """Return what was converted in a folder: the file, its former format, and the sheet if it has one."""
    path = folder / NOTES
    found: list[dict[str, str]] = json.loads(path.read_text("utf-8")) if path.is_file() else []
    return found


def _convert(path: Path, write: Callable[[object], str]) -> dict[str, str] | None:
    with path.open("rb") as handle:
        is_workbook = handle.read(len(ZIP_MAGIC)) == ZIP_MAGIC
    if is_workbook:
        sheet, text = _sheet_as_csv(path, write)
        _write(path, text.encode())
        return {"file": path.name, "was": "excel", "sheet": sheet}
    data = read_bytes(path)
    encoding = find_encoding(data)
    if encoding in (None, UTF_8):
        # What cannot be told is left for the check, which says where the first odd byte stands.
        return None
    _write(path, data.decode(encoding).encode())
    return {"file": path.name, "was": encoding, "sheet": ""}


def _write(path: Path, data: bytes) -> None:
    packed = gzip.compress(data, mtime=0) if is_gzip(path) else data
    with atomic_path(path) as draft:
        draft.write_bytes(packed)


def _sheet_as_csv(path: Path, write: Callable[[object], str]) -> tuple[str, str]:
    """Return the name of a workbook's only sheet, and its cells as lines."""
    import fastexcel

    from tokumei.data.files.excel import read_excel

    frame = read_excel(path, has_header=False)
    (sheet,) = fastexcel.read_excel(path).sheet_names
    lines = [",".join(write(value) for value in row) for row in frame.iter_rows()]
    return sheet, "".join(f"{line}\n" for line in lines)


def _iso_cell(value: object) -> str:
    """Write a cell with dates as 2011-01-05 and times with seconds."""
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return value.isoformat() if isinstance(value, date | time) else _cell(value)


def _cell(value: object) -> str:
    """Write a cell as the contests write theirs: dates as 2011/1/5, whole numbers without a point."""
    if value is None:
        return ""
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, datetime):
        return f"{_cell(value.date())} {_cell(value.time())}"
    if isinstance(value, date):
        return f"{value.year}/{value.month}/{value.day}"
    if isinstance(value, time):
        return f"{value.hour}:{value.minute:02d}"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = str(value)
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if any(mark in text for mark in ',"\r\n') else text


Asked = JsonView
# The first time that a zip can hold: real times would tell which file was made first.
FIXED_TIME = (1980, 1, 1, 0, 0, 0)


def score(asked: Asked) -> Json:
    """Check and score a release; the score is bound to its files."""
    contest = open_contest(asked["folder"])
    season = contest.season()
    data = OpenFiles(contest.all_data_of(season, asked["team"]))
    release = files_in(Path(asked["given"]), contest.terms.release_files)
    with step("check"), _refusing():
        contest.edition.check(data, release)
    with step("score"):
        found = contest.edition.score(data, contest.knowledge_files(season), release)
    return asdict(contest.seal(found.as_dict(), release))


def check(asked: Asked) -> Json:
    """Check files as if they were handed in, by what everybody knows alone: no knowledge and no truth is opened."""
    contest = open_contest(asked["folder"])
    season = contest.season()
    terms, data = contest.terms, OpenFiles(contest.all_data_of(season, asked["team"]))
    given, is_release = Path(asked["given"]), asked["target"] is None
    with step("check"), _refusing():
        convert(given, terms.release_files if is_release else terms.guess_files, data)
        if is_release:
            contest.edition.check(data, files_in(given, terms.release_files))
        else:
            published = contest.published_files(season, asked["target"])
            contest.edition.check_guess(data, published, files_in(given, terms.guess_files))
    return {}


def judge(asked: Asked) -> Json:
    """Check a guess and hold it against the truth; the score is bound to its files."""
    contest = open_contest(asked["folder"])
    season = contest.season()
    target = asked["target"]
    data = OpenFiles(contest.all_data_of(season, asked["team"]))
    published = contest.published_files(season, target)
    guess = files_in(Path(asked["given"]), contest.terms.guess_files)
    with step("check"), _refusing():
        contest.edition.check_guess(data, published, guess)
    with step("judge"):
        found = contest.edition.judge(data, published, contest.truth_files(season, target), guess)
    return asdict(contest.seal(found.as_dict(), guess, target))


def prepare(asked: Asked) -> Json:
    """Make the contest folder, unless an earlier attempt did."""
    folder = Path(asked["folder"])
    with alone(folder):
        # What an attempt that was killed left: an unfinished folder beside this one.
        for left in folder.parent.glob(f".*.{folder.name}"):
            shutil.rmtree(left, ignore_errors=True)
        if not (folder / SETTING).is_file():
            folder.parent.mkdir(parents=True, exist_ok=True)
            source = None if asked["source"] is None else Path(asked["source"])
            reading = Reading.of(asked["reading"])
            with _refusing(), plain_source(source, reading) as plain:
                # The data come with what is asked: a name in the text leads to no file of the server.
                phases.prepare(parse_setting(asked["setting"], folder=folder), folder, source=plain)
        contest = open_contest(folder)
        contest.season()
        return {"head": _head(contest)}


def publish(asked: Asked) -> dict[str, object]:
    """Enter each team's counting release with its score in the folder and publish them."""
    contest = open_contest(asked["folder"])
    roles, planned = contest.terms.release_files, {one["team"]: one for one in asked["releases"]}
    with alone(contest.folder):
        _clear_drafts(contest)
        season, differing = contest.season(), _unsealed(contest, roles, planned)
        if not differing and season.phase == ANONYMIZE:
            with step("releases", len(planned)) as bar:
                for team, one in planned.items():
                    known = contest.season().counting_releases().get(team)
                    if known is None or not _is_same(contest, roles, known.files, one):
                        phases.submit(contest, team, Path(one["given"]), scored=_sealed(one))
                    bar.advance()
            season = contest.season()
        if not differing:
            found = {team: release.score.as_dict() for team, release in season.counting_releases().items()}
            differing = _differing(planned, found)
        if not differing and season.phase == ANONYMIZE:
            phases.publish(contest)
        return {"differing": differing, "head": _head(contest)}


def close(asked: Asked) -> Json:
    """Enter every judged guess with its score in the folder and write the final ranking."""
    contest = open_contest(asked["folder"])
    planned = _numbered(asked["guesses"])
    with alone(contest.folder):
        _clear_drafts(contest)
        differing = _unsealed(contest, contest.terms.guess_files, planned)
        if not differing and contest.season().phase == ATTACK:
            _enter_guesses(contest, planned)
        if not differing:
            found = {name: one.score.as_dict() for name, one in _entered(contest).items() if one.score}
            differing = _differing(planned, found)
        if not differing and contest.season().phase != CLOSED:
            _disqualify(contest, asked["disqualified"])
            phases.close(contest)
        # The key leaves the secrets when nothing is left to guess at.
        key = "" if differing else contest.key.key.hex()
        told = {"differing": differing, "head": _head(contest), "key": key}
        return told | {"disqualified": asked["disqualified"]}


def amend(asked: Asked) -> dict[str, object]:
    """Record disqualifications in the log of a closed contest, and rank it again."""
    contest = open_contest(asked["folder"])
    with alone(contest.folder):
        _disqualify(contest, asked["disqualified"])
        return {"head": _head(contest), "disqualified": asked["disqualified"]}


def _disqualify(contest: Contest, reasons: Mapping[str, str]) -> None:
    """Bring the log in line with who is disqualified and why; who released nothing has nothing that could count."""
    season = contest.season()
    wanted = {team: reason for team, reason in reasons.items() if team in season.counting_releases()}
    for team in sorted(season.disqualified - set(wanted)):
        phases.readmit(contest, team)
    for team in sorted(set(wanted) - season.disqualified):
        phases.disqualify(contest, team, wanted[team])


def _head(contest: Contest) -> str:
    """Return the hash of the log's last line."""
    return read_log(contest.folder)[-1].hash


def _clear_drafts(contest: Contest) -> None:
    """Remove what an attempt that was killed left among the secrets."""
    for left in contest.path(SECRET).glob(f"{DRAFT}*"):
        shutil.rmtree(left, ignore_errors=True)


def _numbered(guesses: Sequence[Asked]) -> dict[str, Asked]:
    """Name guesses by their team and its number for them, as the log counts them."""
    named, counts = {}, Counter[str]()
    for guess in guesses:
        counts[guess["team"]] += 1
        named[f"{guess['team']} {counts[guess['team']]}"] = guess
    return named


def _entered(contest: Contest) -> dict[str, PlayedGuess]:
    return {f"{guess.attacker} {guess.number}": guess for guess in contest.season().guesses.values()}


def _enter_guesses(contest: Contest, planned: Mapping[str, Asked]) -> None:
    known = _entered(contest)
    with step("guesses", len(planned)) as bar:
        for name, one in planned.items():
            if name not in known:
                given, scored = Path(one["given"]), _sealed(one)
                phases.attack(contest, one["team"], one["target"], given, knowledge=one["knowledge"], scored=scored)
            bar.advance()
    known = _entered(contest)
    phases.judge(contest, scored={known[name].line: _sealed(one) for name, one in planned.items()})


def _sealed(planned: Asked) -> SealedScore:
    return SealedScore(planned["score"], planned["seal"])


def _unsealed(contest: Contest, roles: Sequence[FileRole], planned: Mapping[str, Asked]) -> list[str]:
    """Name those whose file or score was changed since it was scored."""
    return sorted(
        name
        for name, one in planned.items()
        if not contest.holds_seal(_sealed(one), files_in(Path(one["given"]), roles), one.get("target", ""))
    )


def _is_same(contest: Contest, roles: Sequence[FileRole], known: Mapping[str, str], planned: Asked) -> bool:
    """Whether a release that the log knows has the files that count now."""
    given = files_in(Path(planned["given"]), roles)
    return sorted(known.values()) == sorted(contest.key.digest(path) for path in given.values())


def _differing(planned: Mapping[str, Asked], found: Mapping[str, object]) -> list[str]:
    """Name what the folder and the server do not agree on."""
    scores = {name: one["score"] for name, one in planned.items()}
    return sorted(name for name in {*scores, *found} if scores.get(name) != found.get(name))


@contextmanager
def _refusing() -> Iterator[None]:
    """Separate the team's faults from our own errors."""
    try:
        yield
    except InputError as error:
        raise Refused(error) from None


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Wait until no other process changes this contest's folder: a late one may still be at it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f".{folder.name}.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def kit(asked: Asked) -> dict[str, object]:
    """Pack what a team needs, as far as it is public, with a sample round."""
    out = Path(asked["out"])
    out.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # What an attempt that was killed left.
    for left in out.parent.glob(f".*.{out.name}"):
        shutil.rmtree(left, ignore_errors=True)
    kit_of_contest(open_contest(asked["folder"]), out)
    return {}


def export(asked: Asked) -> dict[str, object]:
    """Pack the folder of a closed contest, whose secrets are none any more: without them nobody could replay it."""
    folder, out = Path(asked["folder"]), Path(asked["out"])
    out.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # What an attempt that was killed left.
    for left in out.parent.glob(f".*.{out.name}"):
        shutil.rmtree(left, ignore_errors=True)
    with atomic_path(out) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files_below(folder):
            _add(archive, path, f"{asked['slug']}/{path.relative_to(folder).as_posix()}")
    return {}


def _add(archive: zipfile.ZipFile, path: Path, name: str) -> None:
    member = zipfile.ZipInfo(name, FIXED_TIME)
    member.compress_type = zipfile.ZIP_DEFLATED
    member.external_attr = 0o100644 << 16
    with path.open("rb") as source, archive.open(member, "w") as target:
        shutil.copyfileobj(source, target, 1024 * 1024)
