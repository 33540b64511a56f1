"""The kit of a contest: a zip file with all that a team needs, and nothing that is secret.

It holds what is public at the time: the rules in both languages, the data, and one whole round played with seeds that
everybody knows (a sample release, knowledge, what is published of it, the truth, a guess); when attacks have begun,
also the real knowledge and the published releases. It is made from the public folder; the secrets are never opened.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tokumei.contest.custom.edition import CustomEdition
from tokumei.contest.edition import LATEST, ContestTerms, Edition, FileRole, files_in
from tokumei.contest.folder import PUBLIC, Contest, files_below
from tokumei.contest.rules_page import rules_text
from tokumei.contest.season import ATTACK, CLOSED
from tokumei.contest.setting import SETTING, read_setting, with_counts, write_setting
from tokumei.core.progress import step
from tokumei.core.registry import part_name, part_options
from tokumei.data.files.atomic import atomic_path

# The first day that a zip file can hold.
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
# Everybody may know the seed of the sample: no real seed is ever made from it.
SAMPLE_SEED = 0


def kit_of_contest(contest: Contest, out: Path | str) -> list[str]:
    """Write the kit of a contest as it is now; give the names of the files in it."""
    season = contest.season()
    data = contest.data_files(season)
    shown = {"data": contest.path(PUBLIC, "data")}
    if season.phase in (ATTACK, CLOSED):
        shown |= {name: contest.path(PUBLIC, name) for name in ("knowledge", "releases")}
    files = {}
    for name, folder in shown.items():
        for path in files_below(folder):
            # Only what the log tells of: a file that was put there by a slip goes to nobody.
            contest.verify(contest.name(path), season.files.get(contest.name(path), ""))
            files[f"{name}/{path.relative_to(folder).as_posix()}"] = path
    return _write_kit(contest.edition, data, files, Path(out), contest.terms.counts)


def kit_of_edition(
    edition: Edition,
    out: Path | str,
    *,
    seed: int = SAMPLE_SEED,
    source: Path | None = None,
) -> list[str]:
    """Write a kit to practice with, on data of its own, without a contest."""
    with tempfile.TemporaryDirectory() as folder:
        edition.make_data(Path(folder), seed=seed, source=source)
        data = files_in(Path(folder), edition.terms.data_files)
        files = {f"data/{path.name}": path for path in data.values()}
        return _write_kit(edition, data, files, Path(out))


def open_kit(folder: Path | str) -> tuple[Edition, dict[str, Path], dict[str, Path]]:
    """Give the edition, the data and the knowledge of an unpacked kit: the real knowledge once it was handed out."""
    folder = Path(folder)
    edition = read_setting(folder / SETTING)
    real, sample = folder / "knowledge", folder / "sample" / "knowledge"
    known = files_in(real if real.is_dir() else sample, edition.terms.all_knowledge_files)
    return edition, files_in(folder / "data", edition.terms.data_files), known


def is_kit(folder: Path | str) -> bool:
    """Tell whether a folder is an unpacked kit."""
    return (Path(folder) / SETTING).is_file() and (Path(folder) / "data").is_dir()


def _write_kit(
    edition: Edition, data: dict[str, Path], files: dict[str, Path], out: Path, counts: str = LATEST
) -> list[str]:
    terms = replace(edition.terms, counts=counts)
    texts = {
        SETTING: with_counts(write_setting(edition), counts if counts != LATEST else None),
        "RULES.md": rules_text(terms, "en"),
        "RULES.ja.md": rules_text(terms, "ja"),
        "README.md": readme_text(edition),
    }
    with tempfile.TemporaryDirectory() as folder:
        _play_sample(edition, data, Path(folder))
        sample = {f"sample/{path.relative_to(folder).as_posix()}": path for path in files_below(Path(folder))}
        entries = {name: text.encode() for name, text in texts.items()}
        entries |= {name: path.read_bytes() for name, path in (files | sample).items()}
        with atomic_path(out) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as kit:
            for name in sorted(entries):
                info = zipfile.ZipInfo(name, FIRST_DAY)
                info.compress_type = zipfile.ZIP_DEFLATED
                info.create_system = 3
                info.external_attr = 0o644 << 16
                kit.writestr(info, entries[name])
    return sorted(entries)


def _play_sample(edition: Edition, data: dict[str, Path], folder: Path) -> None:
    """Play one round with the simplest anonymizer and the simplest attack, and knowledge drawn for the sample."""
    terms = edition.terms
    release, knowledge, published, truth, guess = (
        folder / name for name in ("release", "knowledge", "published", "truth", "guess")
    )
    for new in (release, knowledge, published, truth, guess):
        new.mkdir()
    with step("making the sample", 4) as bar:
        edition.anonymize(edition.anonymizers()[0], data, release, seed=SAMPLE_SEED)
        bar.advance()
        edition.draw_knowledge(data, knowledge, seed=SAMPLE_SEED)
        bar.advance()
        edition.publish(data, files_in(release, terms.release_files), published, truth, seed=SAMPLE_SEED)
        bar.advance()
        level = next(iter(terms.knowledge_files))
        known = files_in(knowledge, terms.knowledge_files[level])
        seen = files_in(published, terms.published_files)
        edition.attack(edition.attacks()[0], data, known, seen, guess, seed=SAMPLE_SEED)
        bar.advance()


def readme_text(edition: Edition) -> str:
    """Write the page that a team reads first: what is in the kit, and the commands."""
    terms = edition.terms
    folders = {
        "data/": _listed(terms.data_files),
        "sample/release/": f"a sample release: {_listed(terms.release_files)}",
        "sample/knowledge/": _knowledge_words(terms),
        "sample/published/": f"what attackers see of the sample: {_listed(terms.published_files)}",
        "sample/truth/": f"the truth behind it: {_listed(terms.truth_files)}",
        "sample/guess/": f"a sample attack on it: {_listed(terms.guess_files)}",
        "knowledge/, releases/": "what attackers know and see; in the kit once attacks have begun",
    }
    lines = [
        f"# {terms.title}: kit for teams",
        "",
        "`RULES.md` are the rules, `RULES.ja.md` the same in Japanese (日本語の規則は `RULES.ja.md`).",
        "",
        "| in this kit | holds |",
        "|---|---|",
        *(f"| `{name}` | {holds} |" for name, holds in folders.items()),
        "",
        "Run in this folder, these check and score a release as the organizer will, with the same digits. Use your own",
        "files in place of the sample's. Until the real knowledge is handed out, scores of safety that need it are",
        "those against the sample's knowledge, and differ a little from the organizer's.",
        "",
        "```console",
        *(f"$ {command}" for command in team_commands(edition)),
        "```",
    ]
    return "\n".join(lines) + "\n"


def _knowledge_words(terms: ContestTerms) -> str:
    if not terms.all_knowledge_files:
        return "nothing: attackers of this contest know all data"
    return "knowledge drawn for the sample; the real one comes when attacks begin"


def team_commands(edition: Edition) -> list[str]:
    """Give the commands by which a team checks and scores its files, run in the unpacked kit."""
    terms = edition.terms
    commands = ["tokumei contest check . sample/release", "tokumei contest score . sample/release"]
    commands.append("tokumei contest check . sample/guess --published sample/published")
    commands.append("tokumei contest judge . sample/guess --published sample/published --truth sample/truth")
    if isinstance(edition, CustomEdition):
        return commands
    changed = [
        f" --set {option.name}={_typed(value)}"
        for option in part_options(type(edition))
        if (value := getattr(edition, option.name)) != option.default and value is not None
    ]
    edition_option = f"--edition {part_name(edition)}{''.join(changed)}"
    data = "".join(f" --data {role.name}=data/{role.file_name}" for role in terms.data_files)
    known = "".join(f" --knowledge {role.name}=sample/knowledge/{role.file_name}" for role in terms.all_knowledge_files)
    release = " ".join(f"sample/release/{role.file_name}" for role in terms.release_files)
    return [
        *commands,
        f"tokumei check {edition_option}{data} {release}",
        f"tokumei score {edition_option}{data}{known} {release} --json",
    ]


def _typed(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _listed(roles: Sequence[FileRole]) -> str:
    return "; ".join(f"`{role.file_name}` ({role.holds})" for role in roles)
