"""A contest as a bundle for Codabench: one zip file, which its upload page takes.

Before releases are published, its second phase has nothing to attack yet; the bundle that is exported afterwards has it
all. What tells secrets lies in reference data alone, which Codabench gives to the scoring program and to nobody else.
The contest's key and the data that nobody sees stay in the contest's folder.
"""

from __future__ import annotations

import struct
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import yaml

from tokumei.contest.codabench.pages import TERMS, overview
from tokumei.contest.codabench.programs import (
    FOUND,
    GUESSES,
    SAFETY,
    SCORE,
    TASK,
    UTILITY,
    Task,
    pairs_of,
)
from tokumei.contest.custom.edition import CustomEdition
from tokumei.contest.edition import BEST, CHOSEN, LATEST, ContestTerms
from tokumei.contest.folder import PUBLIC, Contest, files_below
from tokumei.contest.kit import kit_of_contest, packed
from tokumei.contest.pages import rules_text
from tokumei.contest.season import ANONYMIZE, ATTACK, Season, check_team_name
from tokumei.contest.setting import SETTING
from tokumei.core.errors import InputError
from tokumei.core.text import Json, Text
from tokumei.data.files.disk import atomic_path

# As Codabench keeps them in its database.
LONGEST_TITLE, LONGEST_COLUMN, DIGITS = 256, 36, 10
# How Codabench calls what our rules say of a team's releases.
WHICH_COUNTS = {LATEST: "Force_Last", BEST: "Force_Best", CHOSEN: "Add_And_Delete"}
CHECKING, SCORING = "ingestion_program", "scoring_program"
# In seconds; a submission that needs longer is a failed one there.
TIME_LIMIT = 1200
PHASE_DAYS = 14
PROGRAM = "import sys\n\nfrom tokumei.contest.codabench.programs import main\n\nsys.exit(main(sys.argv[1:]))\n"
COMMANDS = {
    CHECKING: "python3 program.py check /app/input_data /app/ingested_program",
    SCORING: "python3 program.py score /app/input /app/output",
}


@dataclass(frozen=True)
class Dates:
    """When the phases begin and the contest ends, in UTC."""

    start: datetime
    attacks: datetime
    end: datetime

    @classmethod
    def of(
        cls, contest: Contest, start: str | None = None, attacks: str | None = None, end: str | None = None
    ) -> Dates:
        """Read what was given; else what a contest of one's own says, else two weeks for each phase from today on."""
        said: dict[str, tuple[datetime | None, datetime | None]] = {}
        if isinstance(contest.edition, CustomEdition):
            said = {phase.name: (phase.opens, phase.closes) for phase in contest.edition.settings.phases}
        opens, (attacks_open, closes) = said.get(ANONYMIZE, (None, None))[0], said.get(ATTACK, (None, None))
        today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        first = _moment("start", start) or opens or today
        second = _moment("attacks", attacks) or attacks_open or first + timedelta(days=PHASE_DAYS)
        last = _moment("end", end) or closes or second + timedelta(days=PHASE_DAYS)
        found = cls(
            *(
                moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
                for moment in (first, second, last)
            )
        )
        for name, before, after in (("attacks", found.start, found.attacks), ("end", found.attacks, found.end)):
            if after <= before:
                raise InputError.of(
                    Text("a time after {moment}", moment=f"{before:%Y-%m-%d %H:%M}"),
                    option=name,
                    value=f"{after:%Y-%m-%d %H:%M}",
                )
        return found


def _moment(option: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InputError.of("a time such as 2026-08-01 or 2026-08-01T09:00", option=option, value=text) from None


def export_bundle(
    contest: Contest, out: Path, *, image: str, dates: Dates, teams: Sequence[str] = (), is_shown: bool = False
) -> list[str]:
    """Write the bundle of a contest as it is now; return the names of what lies in it.

    image: the container image that Codabench runs the programs in; it holds this version of Tokumei.
    teams: who takes part, where teams have data of their own; the data of others are not in the bundle.
    is_shown: whether the board, and so each team, gets the success of guesses while attacks go on.
    """
    season, terms = contest.season(), contest.terms
    if bool(terms.own_files) is not bool(teams):
        expected = (
            "the name of each team, which has data of its own" if terms.own_files else "no team: all have the same data"
        )
        raise InputError.of(expected, option="team", value=", ".join(teams) or None)
    for team in teams:
        check_team_name(team)
    targets = () if season.phase == ANONYMIZE else tuple(season.counting_releases())
    tasks = {ANONYMIZE: Task(ANONYMIZE), ATTACK: Task(ATTACK, targets, is_shown)}
    with tempfile.TemporaryDirectory() as folder:
        kit_of_contest(contest, Path(folder, "kit.zip"))
        entries = {"starting_kit.zip": Path(folder, "kit.zip").read_bytes()}
    seen = {
        ANONYMIZE: _public(contest, season, ["data"]),
        ATTACK: _public(contest, season, ["data", "knowledge", "releases"]),
    }
    for phase, task in tasks.items():
        about = {SETTING: contest.path(SETTING).read_bytes(), TASK: task.written().encode()}
        shown = {name: content for name, content in seen[phase].items() if not name.startswith("knowledge/")}
        entries[f"{phase}/public_data.zip"] = packed(seen[phase] or about)
        entries[f"{phase}/input_data.zip"] = packed(about | shown)
        entries[f"{phase}/reference_data.zip"] = packed(
            about | shown | _secrets(contest, season, phase, teams, targets)
        )
    for name, command in COMMANDS.items():
        entries[f"{name}.zip"] = packed({"program.py": PROGRAM.encode(), "metadata.yaml": _yaml({"command": command})})
    texts = {
        "pages/overview.md": overview(terms, "en", is_shown=is_shown),
        "pages/overview.ja.md": overview(terms, "ja", is_shown=is_shown),
        "pages/rules.md": rules_text(terms, "en"),
        "pages/rules.ja.md": rules_text(terms, "ja"),
        "pages/terms.md": TERMS,
    }
    entries |= {name: text.encode() for name, text in texts.items()}
    entries["logo.png"] = _logo()
    entries["competition.yaml"] = _yaml(_competition(terms, image, dates, tasks[ATTACK]))
    with atomic_path(out) as draft:
        draft.write_bytes(packed(entries))
        # It holds the truth: for its organizer alone.
        draft.chmod(0o600)
    return sorted(entries)


def _public(contest: Contest, season: Season, folders: Sequence[str]) -> dict[str, bytes]:
    """Read what everybody may see, each file as the log tells of it."""
    root = contest.path(PUBLIC)
    paths = [path for name in folders if (root / name).is_dir() for path in files_below(root / name)]
    return {
        path.relative_to(root).as_posix(): contest.verify(
            contest.name(path), season.files.get(contest.name(path), "")
        ).read_bytes()
        for path in paths
    }


def _secrets(
    contest: Contest, season: Season, phase: str, teams: Sequence[str], targets: Sequence[str]
) -> dict[str, bytes]:
    """Read what scoring needs and nobody may see: never the key, and of the hidden data only what teams have of it."""
    found = {f"own/{team}": contest.own_files(season, team) for team in teams}
    if phase == ANONYMIZE:
        found["knowledge"] = contest.knowledge_files(season)
    else:
        found |= {f"truth/{target}": contest.truth_files(season, target) for target in targets}
    return {f"{folder}/{path.name}": path.read_bytes() for folder, files in found.items() for path in files.values()}


def _competition(terms: ContestTerms, image: str, dates: Dates, attack: Task) -> Json:
    moments = {ANONYMIZE: (dates.start, dates.attacks - timedelta(seconds=1)), ATTACK: (dates.attacks, dates.end)}
    limits = {ANONYMIZE: terms.n_releases_allowed, ATTACK: terms.n_guesses_allowed}
    names = {ANONYMIZE: "Anonymize / 匿名加工", ATTACK: "Attack / 攻撃"}
    phases = [
        {
            "index": index,
            "name": names[phase],
            "description": names[phase],
            # As text: a bare time loses its hours when Codabench reads it.
            "start": f"{moments[phase][0]:%Y-%m-%d %H:%M:%S}",
            "end": f"{moments[phase][1]:%Y-%m-%d %H:%M:%S}",
            "max_submissions": limits[phase],
            "max_submissions_per_day": limits[phase],
            "execution_time_limit": TIME_LIMIT,
            "hide_output": False,
            "hide_prediction_output": False,
            # Each file of a score, in attacks: its team could learn the truth from it.
            "hide_score_output": phase == ATTACK,
            "accepts_only_result_submissions": True,
            "starting_kit": "starting_kit.zip",
            "public_data": f"{phase}/public_data.zip",
            "tasks": [index],
        }
        for index, phase in enumerate(moments)
    ]
    tasks = [
        {
            "index": index,
            "name": phase,
            "description": f"{terms.title}: {phase}",
            "input_data": f"{phase}/input_data.zip",
            "reference_data": f"{phase}/reference_data.zip",
            "ingestion_program": f"{CHECKING}.zip",
            "scoring_program": f"{SCORING}.zip",
        }
        for index, phase in enumerate(moments)
    ]
    pages = {"Overview": "overview.md", "Rules": "rules.md", "概要": "overview.ja.md", "ルール": "rules.ja.md"}
    return {
        "version": 2,
        "title": terms.title[:LONGEST_TITLE],
        "description": terms.summary,
        "image": "logo.png",
        "terms": "pages/terms.md",
        "docker_image": image,
        "registration_auto_approve": False,
        "make_programs_available": False,
        "make_input_data_available": False,
        "enable_detailed_results": False,
        "can_participants_make_submissions_public": False,
        "pages": [{"title": title, "file": f"pages/{file}"} for title, file in pages.items()],
        "tasks": tasks,
        "phases": phases,
        "leaderboards": [
            {
                "title": "Results",
                "key": "results",
                "submission_rule": WHICH_COUNTS[terms.counts],
                "columns": [
                    {"title": title, "key": key, "index": index, "sorting": sorting, "precision": DIGITS}
                    for index, (key, title, sorting) in enumerate(columns_of(terms, attack))
                ],
            }
        ],
    }


def columns_of(terms: ContestTerms, attack: Task) -> list[tuple[str, str, str]]:
    """Return the columns of the board: the key of each, its title, and which end is the better one."""
    columns = [
        (SCORE, "score (lower is better)", "asc"),
        (UTILITY, "utility lost", "asc"),
        (SAFETY, "safety lost", "asc"),
        (GUESSES, "guesses taken", "desc"),
    ]
    if attack.is_shown:
        columns.append((FOUND, "found (mean over releases)", "desc"))
        for key, (target, level) in pairs_of(terms, attack.targets).items():
            # The number tells columns apart whose names are cut.
            title = f"{key.removeprefix(FOUND)[1:]} {target} {level}".strip()
            columns.append((key, title[:LONGEST_COLUMN], "desc"))
    return columns


def _yaml(found: object) -> bytes:
    return yaml.safe_dump(found, allow_unicode=True, sort_keys=False, width=120).encode()


def _logo(size: int = 128) -> bytes:
    """Draw the picture that Codabench asks for: a dark square with a light one in it."""
    edge = size // 4
    dark, light = b"\x1f\x2d\x3d", b"\xf4\xf1\xe8"
    plain = b"\0" + dark * size
    barred = b"\0" + dark * edge + light * (size - 2 * edge) + dark * edge
    rows = plain * edge + barred * (size - 2 * edge) + plain * edge

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
