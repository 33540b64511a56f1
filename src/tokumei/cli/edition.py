"""Check and score a release by the rules of an edition, without a contest folder."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tokumei.cli.options import part_options
from tokumei.cli.output import show, showing_progress
from tokumei.cli.parameters import Argument, Option
from tokumei.core.errors import InputError
from tokumei.core.result import Answer, Rows, Sentence
from tokumei.core.text import Json, Text

if TYPE_CHECKING:
    from tokumei.contest.edition import Edition, FileRole

# Options of their own for the data files that most editions have.
MASTER, HISTORY = "M", "T"

ReleaseArgument = Annotated[
    list[Path], Argument(metavar="FILE…", help="The files of the release, in the order the edition lists them.")
]
EditionOption = Annotated[str, Option("--edition", help="See 'tokumei parts edition'.")]
MasterOption = Annotated[Path | None, Option("--master", metavar="M", help="Same as --data M=….")]
HistoryOption = Annotated[Path | None, Option("--history", metavar="T", help="Same as --data T=….")]
DataOption = Annotated[
    list[str] | None, Option("--data", metavar="NAME=FILE", help="A data file by its name; repeatable.")
]
SetOption = Annotated[
    list[str] | None, Option("--set", metavar="NAME=VALUE", help="An option of the edition; repeatable.")
]


def check(
    release: ReleaseArgument,
    edition: EditionOption,
    master: MasterOption = None,
    history: HistoryOption = None,
    data: DataOption = None,
    options: SetOption = None,
) -> None:
    """Check a release by the rules of an edition; every fault names line, column, value and rule.

    Example: tokumei check --edition pwscup2017 --master M.csv --history T.csv AT.csv
    """
    judge = _edition(edition, options)
    given = _data_files(judge, master, history, data)
    started = time.perf_counter()
    with showing_progress():
        judge.check(given, _in_order(judge.terms.release_files, release))
    seconds = round(time.perf_counter() - started, 3)
    result = {"edition": edition, "is_valid": True, "rules": len(judge.terms.release_rules), "seconds": seconds}
    show(Answer(result))


def score(
    release: ReleaseArgument,
    edition: EditionOption,
    master: MasterOption = None,
    history: HistoryOption = None,
    data: DataOption = None,
    knowledge: Annotated[
        list[str] | None,
        Option("--knowledge", metavar="LEVEL=FILE", help="What attackers know at a level; repeatable."),
    ] = None,
    options: SetOption = None,
) -> None:
    """Check a release and score it by the formulas of an edition.

    Example: tokumei score --edition pwscup2018 --history T.csv A.csv --json
    """
    judge = _edition(edition, options)
    given = _data_files(judge, master, history, data)
    known = _knowledge_files(judge, knowledge)
    files = _in_order(judge.terms.release_files, release)
    with showing_progress():
        found = judge.check_and_score(given, known, files)
    table = Rows(["score", "value"], list(leaves(found.details).items()))
    show(Answer(found.details, [table, *map(Sentence, found.flags)]))


def _edition(name: str, options: list[str] | None) -> Edition:
    from tokumei.contest.edition import EDITIONS

    return EDITIONS.make_from_text(name, part_options(options))


def _data_files(edition: Edition, master: Path | None, history: Path | None, data: list[str] | None) -> dict[str, Path]:
    """Find all data files among the options, by the names that the edition gives them."""
    given = _named(data or [], "--data")
    for name, path, option in ((MASTER, master, "--master"), (HISTORY, history, "--history")):
        if path is not None:
            if name in given:
                raise InputError.of(f"{name} once", option=option, value=path)
            given[name] = path
    roles = {role.name: role for role in (*edition.terms.data_files, *edition.terms.own_files)}
    for name in given:
        if name not in roles:
            raise InputError.of(f"a data file of the edition: {', '.join(roles)}", option="--data", value=name)
    for name, role in roles.items():
        if name not in given:
            raise InputError.of(f"--data {name}=FILE ({role.holds})")
    return given


def _knowledge_files(edition: Edition, knowledge: list[str] | None) -> dict[str, Path]:
    """Read the files of levels such as 25=T25.csv; a level of several files has each under its own name."""
    levels = edition.terms.knowledge_files
    names = {level: roles[0].name for level, roles in levels.items() if len(roles) == 1}
    names |= {role.name: role.name for roles in levels.values() for role in roles}
    found = {}
    for level, path in _named(knowledge or [], "--knowledge").items():
        if level not in names:
            wanted = ", ".join(level for level in levels if level) or "none, attackers of this edition know all data"
            raise InputError.of(Text("a level of knowledge: {names}", names=wanted), option="--knowledge", value=level)
        if names[level] in found:
            raise InputError.of("each level once", option="--knowledge", value=level)
        found[names[level]] = path
    return found


def _named(texts: Sequence[str], option: str) -> dict[str, Path]:
    """Read NAME=FILE; a file's name may hold commas and further equals signs."""
    found: dict[str, Path] = {}
    for text in texts:
        name, mark, path = text.partition("=")
        if not mark or not name or not path:
            raise InputError.of("NAME=FILE", option=option, value=text)
        if name in found:
            raise InputError.of("each name once", option=option, value=text)
        found[name] = Path(path)
    return found


def _in_order(roles: Sequence[FileRole], paths: Sequence[Path]) -> dict[str, Path]:
    if len(paths) != len(roles):
        wanted = ", ".join(f"{role.name} ({role.holds})" for role in roles)
        raise InputError.of(f"the files of the release: {wanted}", value=" ".join(map(str, paths)))
    for path in paths:
        # A name that leads nowhere is a slip of who checks, and no fault of the release.
        if not path.exists() or path.is_dir():
            raise InputError.of("a file that exists", file=path)
    return {role.name: path for role, path in zip(roles, paths, strict=True)}


def leaves(value: object, name: str = "") -> Json:
    """Lay an object of objects out as lines: the way to each number, and the number."""
    if not isinstance(value, Mapping):
        return {name: value}
    return {leaf: one for key, part in value.items() for leaf, one in leaves(part, f"{name} {key}".strip()).items()}
