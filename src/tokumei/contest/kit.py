"""The kit of a contest: a zip file with all that a team needs, and nothing that is secret from it.

It holds what is public at the time: the rules in both languages, the data, and one whole round played with seeds that
everybody knows (a sample release, knowledge, what is published of it, the truth, a guess); when attacks have begun,
also the real knowledge and the published releases. It is made from the public folder; the secrets are never opened.
"""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tokumei.contest.custom.edition import CustomEdition
from tokumei.contest.edition import LATEST, Edition, FileRole, files_in
from tokumei.contest.folder import PUBLIC, Contest, files_below
from tokumei.contest.pages import Language, rules_text
from tokumei.contest.season import ATTACK, CLOSED
from tokumei.contest.setting import SETTING, read_setting, with_counts, write_setting
from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.registry import part_name, part_options
from tokumei.data.files.disk import atomic_path


@dataclass(frozen=True)
class _Words:
    """The fixed words of the page that a team reads first, in one language."""

    title: str
    rules: str
    columns: tuple[str, str]
    own: str
    release: str
    knowledge: str
    no_knowledge: str
    published: str
    truth: str
    guess: str
    later: str
    commands: tuple[str, ...]


ENGLISH = _Words(
    title="{}: kit for teams",
    rules="`RULES.md` are the rules. In Japanese (日本語): `README.ja.md`, `RULES.ja.md`.",
    columns=("in this kit", "holds"),
    own="what the sample's team and its attacker have alone; put your own files in a folder `own`: {}",
    release="a sample release: {}",
    knowledge="knowledge drawn for the sample; the real one comes when attacks begin",
    no_knowledge="nothing: attackers of this contest know all data",
    published="what attackers see of the sample: {}",
    truth="the truth behind it: {}",
    guess="a sample attack on it: {}",
    later="what attackers know and see; in the kit once attacks have begun",
    commands=(
        "Run in this folder, these check and score a release as the organizer will, with the same digits. Use your own",
        "files in place of the sample's. Until the real knowledge is handed out, scores of safety that need it are",
        "those against the sample's knowledge, and differ a little from the organizer's.",
    ),
)
JAPANESE = _Words(
    title="{}：チーム用キット",
    rules="ルールは `RULES.ja.md` にあります。英語版（English）は `README.md` と `RULES.md` です。",
    columns=("このキットにあるもの", "内容"),
    own="例のチームと攻撃者それぞれのデータ。自分のデータはフォルダー `own` に置いてください：{}",
    release="加工データの例：{}",
    knowledge="例のために抽出した知識。本番の知識は攻撃フェーズの開始時に配布されます",
    no_knowledge="なし（このコンテストの攻撃者はデータのすべてを知っています）",
    published="例のうち攻撃者に見えるもの：{}",
    truth="その正解：{}",
    guess="それに対する攻撃の例：{}",
    later="攻撃者が知り、見るもの。攻撃フェーズの開始後にキットに入ります",
    commands=(
        "このフォルダーで次のコマンドを実行すると、運営者と同じ検査と評価ができ、同じ桁まで一致します。例のファイルの",
        "代わりに自分のファイルを使ってください。本番の知識が配布されるまでは、知識を使う安全性のスコアは例の知識による",
        "もので、運営者のスコアとは少し異なります。",
    ),
)
# The first day that a zip file can hold.
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
# Everybody may know the seed of the sample: no real seed is ever made from it.
SAMPLE_SEED = 0


def kit_of_contest(contest: Contest, out: Path | str, *, team: str | None = None) -> list[str]:
    """Write the kit of a contest as it is now; give the names of the files in it.

    team: whose own data are packed, too, in a contest whose teams have some.
    """
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
    if team is not None:
        own = contest.own_files(season, team)
        if not own:
            raise InputError.of("a contest whose teams have data of their own", option="team", value=team)
        files |= {f"own/{path.name}": path for path in own.values()}
    return _write_kit(contest.edition, data, files, Path(out), contest.terms.counts)


def kit_of_edition(
    edition: Edition, out: Path | str, *, seed: int = SAMPLE_SEED, source: Path | None = None
) -> list[str]:
    """Write a kit to practice with, on data of its own, without a contest."""
    with tempfile.TemporaryDirectory() as folder:
        edition.make_data(Path(folder), seed=seed, source=source)
        data = files_in(Path(folder), edition.terms.data_files)
        files = {f"data/{path.name}": path for path in data.values()}
        return _write_kit(edition, data, files, Path(out))


def open_kit(folder: Path | str, *, is_guess: bool = False) -> tuple[Edition, dict[str, Path], dict[str, Path]]:
    """Return the edition, data and knowledge of an unpacked kit: the real knowledge once it was handed out.

    Where teams have data of their own, they are those that the team put in `own`, else those of the sample, in which
    one team released and another guesses.
    """
    folder = Path(folder)
    edition = read_setting(folder / SETTING)
    own = {}
    if edition.terms.own_files:
        sample = folder / "sample" / ("attacker" if is_guess else "own")
        own = files_in(folder / "own" if (folder / "own").is_dir() else sample, edition.terms.own_files)
    real, sample = folder / "knowledge", folder / "sample" / "knowledge"
    known = files_in(real if real.is_dir() else sample, edition.terms.all_knowledge_files)
    return edition, files_in(folder / "data", edition.terms.data_files) | own, known


def is_kit(folder: Path | str) -> bool:
    """Whether a folder is an unpacked kit."""
    return (Path(folder) / SETTING).is_file() and any((Path(folder) / name).is_dir() for name in ("data", "sample"))


def _write_kit(
    edition: Edition, data: dict[str, Path], files: dict[str, Path], out: Path, counts: str = LATEST
) -> list[str]:
    terms = replace(edition.terms, counts=counts)
    texts = {
        SETTING: with_counts(write_setting(edition), counts if counts != LATEST else None),
        "RULES.md": rules_text(terms, "en"),
        "RULES.ja.md": rules_text(terms, "ja"),
        "README.md": readme_text(edition, "en"),
        "README.ja.md": readme_text(edition, "ja"),
    }
    with tempfile.TemporaryDirectory() as folder:
        _play_sample(edition, data, Path(folder))
        sample = {f"sample/{path.relative_to(folder).as_posix()}": path for path in files_below(Path(folder))}
        entries = {name: text.encode() for name, text in texts.items()}
        entries |= {name: path.read_bytes() for name, path in (files | sample).items()}
        with atomic_path(out) as draft:
            draft.write_bytes(packed(entries))
    return sorted(entries)


def packed(entries: Mapping[str, bytes]) -> bytes:
    """Pack files by their names into a zip file that has the same bytes wherever it is made."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(entries):
            info = zipfile.ZipInfo(name, FIRST_DAY)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = 0o644 << 16
            archive.writestr(info, entries[name])
    return buffer.getvalue()


def _play_sample(edition: Edition, data: dict[str, Path], folder: Path) -> None:
    """Play one round with the simplest anonymizer and the simplest attack, and knowledge drawn for the sample."""
    terms = edition.terms
    release, knowledge, published, truth, guess = (
        folder / name for name in ("release", "knowledge", "published", "truth", "guess")
    )
    for new in (release, knowledge, published, truth, guess):
        new.mkdir()
    with step("making the sample", 4) as bar, tempfile.TemporaryDirectory() as practice:
        own, attacker, hidden = data, data, {}
        if terms.own_files:
            # Teams' data are drawn from what nobody may see: those of the sample from data made up for it.
            edition.make_data(Path(practice), seed=SAMPLE_SEED)
            hidden = files_in(Path(practice), terms.hidden_files)
            own, attacker = (
                data | _drawn(edition, data | hidden, folder / name, seed)
                for seed, name in enumerate(("own", "attacker"))
            )
        edition.anonymize(edition.anonymizers()[0], own, release, seed=SAMPLE_SEED)
        bar.advance()
        edition.draw_knowledge(data | hidden, knowledge, seed=SAMPLE_SEED)
        bar.advance()
        files = files_in(release, terms.release_files)
        edition.publish(own | hidden, files, published, truth, seed=SAMPLE_SEED)
        bar.advance()
        level = next(iter(terms.knowledge_files))
        known = files_in(knowledge, terms.knowledge_files[level])
        seen = files_in(published, terms.published_files)
        edition.attack(edition.attacks()[0], attacker, known, seen, guess, seed=SAMPLE_SEED)
        bar.advance()


def _drawn(edition: Edition, data: dict[str, Path], folder: Path, seed: int) -> dict[str, Path]:
    folder.mkdir()
    edition.draw_own(data, folder, seed=seed)
    return files_in(folder, edition.terms.own_files)


def readme_text(edition: Edition, language: Language = "en") -> str:
    """Write the page that a team reads first, in English or Japanese: what is in the kit, and the commands."""
    terms, words = edition.terms, JAPANESE if language == "ja" else ENGLISH
    roles = {
        **({"data/": ("{}", terms.data_files)} if terms.data_files else {}),
        **({"sample/own/, sample/attacker/": (words.own, terms.own_files)} if terms.own_files else {}),
        "sample/release/": (words.release, terms.release_files),
        "sample/knowledge/": (words.knowledge if terms.all_knowledge_files else words.no_knowledge, ()),
        "sample/published/": (words.published, terms.published_files),
        "sample/truth/": (words.truth, terms.truth_files),
        "sample/guess/": (words.guess, terms.guess_files),
        "knowledge/, releases/": (words.later, ()),
    }
    lines = [
        f"# {words.title.format(terms.title_ja if language == 'ja' else terms.title)}",
        "",
        words.rules,
        "",
        f"| {words.columns[0]} | {words.columns[1]} |",
        "|---|---|",
        *(f"| `{name}` | {holds.format(_listed(files, language))} |" for name, (holds, files) in roles.items()),
        "",
        *words.commands,
        "",
        "```console",
        *(f"$ {command}" for command in team_commands(edition)),
        "```",
    ]
    return "\n".join(lines) + "\n"


def team_commands(edition: Edition) -> list[str]:
    """Return the commands by which a team checks and scores its files, run in the unpacked kit."""
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
    data += "".join(f" --data {role.name}=sample/own/{role.file_name}" for role in terms.own_files)
    known = "".join(f" --knowledge {role.name}=sample/knowledge/{role.file_name}" for role in terms.all_knowledge_files)
    release = " ".join(f"sample/release/{role.file_name}" for role in terms.release_files)
    return [
        *commands,
        f"tokumei check {edition_option}{data} {release}",
        f"tokumei score {edition_option}{data}{known} {release} --json",
    ]


def _typed(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _listed(roles: Sequence[FileRole], language: Language) -> str:
    if language == "ja":
        return "、".join(f"`{role.file_name}`（{role.holds_ja}）" for role in roles)
    return "; ".join(f"`{role.file_name}` ({role.holds})" for role in roles)
