"""`tokumei contest make-release|make-guess`: a first release and a first guess from a kit, to begin with."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from tokumei.cli.options import SeedOption
from tokumei.cli.output import JsonFlag, show, showing_progress
from tokumei.core.errors import InputError, UnknownPart
from tokumei.core.result import Answer

KitArgument = Annotated[Path, typer.Argument(metavar="KIT", help="The folder of the unpacked kit.")]
OutOption = Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder to make.")]


def make_release(
    kit: KitArgument,
    out: OutOption,
    method: Annotated[str | None, typer.Option("--method", help="A built-in team; the simplest if not given.")] = None,
    seed: SeedOption = 0,
    json: JsonFlag = False,
) -> None:
    """Make a release as a built-in team does, to begin with.

    Example: tokumei contest make-release kit --out my-release
    """
    from tokumei.contest.kit import open_kit

    with showing_progress(), _new_folder(out, kit) as draft:
        rules, data, _ = open_kit(kit)
        name = _chosen(method, list(rules.anonymizers()), "anonymizer")
        rules.anonymize(name, data, draft, seed=seed)
    show(Answer({"out": str(out), "method": name, "next": f"tokumei contest check {kit} {out}"}), json=json)


def make_guess(
    kit: KitArgument,
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The folder of a published release.")],
    out: OutOption,
    level: Annotated[str | None, typer.Option("--level", help="Of knowledge; the first if not given.")] = None,
    method: Annotated[str | None, typer.Option("--method", help="A built-in attack; the simplest if none.")] = None,
    seed: SeedOption = 0,
    json: JsonFlag = False,
) -> None:
    """Guess at a published release as a built-in attack does, to begin with.

    Example: tokumei contest make-guess kit kit/sample/published --out my-guess
    """
    from tokumei.contest.edition import files_in
    from tokumei.contest.kit import open_kit

    with showing_progress(), _new_folder(out, kit) as draft:
        rules, data, known = open_kit(kit)
        levels = rules.terms.knowledge_files
        chosen = _chosen(level, list(levels), "level of knowledge")
        name = _chosen(method, list(rules.attacks()), "attack")
        part = {role.name: known[role.name] for role in levels[chosen]}
        rules.attack(name, data, part, files_in(release, rules.terms.published_files), draft, seed=seed)
    facts = {"out": str(out), "method": name} | ({"level": chosen} if chosen else {})
    show(Answer(facts | {"next": f"tokumei contest check {kit} {out} --published {release}"}), json=json)


def _chosen(wanted: str | None, known: list[str], kind: str) -> str:
    if wanted is not None and wanted not in known:
        raise UnknownPart(kind, wanted, known)
    return known[0] if wanted is None else wanted


@contextmanager
def _new_folder(out: Path, kit: Path) -> Iterator[Path]:
    """Create a folder that gets its name when all is done; an existing one stays."""
    from tokumei.contest.kit import is_kit

    if not is_kit(kit):
        raise InputError.of("the folder of an unpacked kit", file=kit)
    if out.exists():
        raise InputError.of("a folder that does not exist yet", file=out)
    if not out.resolve().parent.is_dir():
        raise InputError.of("a folder that exists", file=out.parent)
    draft = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.resolve().parent))
    try:
        yield draft
        draft.chmod(0o755)
        draft.rename(out)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
