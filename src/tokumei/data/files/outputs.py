"""The output guard: no output is an input, none is replaced unasked, and all get their names together or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tokumei.core.errors import Fault, InputError
from tokumei.data.files.disk import check_can_write, draft_folder, flush_to_disk, keep_private, remove_folder
from tokumei.data.files.formats import is_glob, part_files

# More files than this in a folder of inputs are not looked at one by one: it holds no hierarchies.
MOST_INPUTS = 100_000
# They tell who is who, so that nobody but their owner may read them, whatever stood there before.
SECRETS = ("truth", "rows")
PAGES = (".html", ".htm")


@contextmanager
def guarded(
    outputs: Mapping[str, Path | str | None],
    *,
    inputs: Iterable[object] = (),
    pages: Iterable[str] = (),
    force: bool = False,
) -> Iterator[dict[str, Path]]:
    """Provide a draft for each output; all get their names at the end, or none if anything fails.

    Outputs go by the option that names them, and those that are None are left out. Inputs are files, or folders with
    all that is in them; what is no path that exists, such as a table of a database, is passed over. Links are followed.
    An output that exists is an error unless `force`; what replaces it is not read by more people than it was, and what
    tells who is who by its owner alone. Those named in `pages` are HTML, whatever else their suffix would promise.
    """
    for option in pages:
        page = outputs[option]
        if page is not None and Path(page).suffix.lower() not in PAGES:
            raise InputError.of("a file that ends in .html", option=option, value=Path(page).name)
    targets = check_outputs(outputs, inputs=inputs, force=force)
    folders = {option: draft_folder(target) for option, target in targets.items()}
    drafts = {option: folders[option] / target.name for option, target in targets.items()}
    try:
        for folder in folders.values():
            # Whoever could read a draft would see what its place will hide.
            folder.mkdir(mode=0o700)
        yield drafts
        written = {option: draft for option, draft in drafts.items() if draft.exists()}
        for option, draft in written.items():
            keep_private(draft, targets[option], is_secret=option.lstrip("-") in SECRETS)
            flush_to_disk(draft)
        # Looked at again, since another may have written there while this worked.
        check_outputs(outputs, inputs=inputs, force=force)
        _name_together([(draft, targets[option]) for option, draft in written.items()])
    except (OSError, InputError) as error:
        raise _about_target(error, {str(drafts[option]): str(outputs[option]) for option in drafts}) from None
    finally:
        for folder in folders.values():
            remove_folder(folder)


def check_outputs(
    outputs: Mapping[str, Path | str | None], *, inputs: Iterable[object] = (), force: bool = False
) -> dict[str, Path]:
    """Check that outputs may be written before any work is done, and give where each leads when links are followed."""
    named = {option: Path(given) for option, given in outputs.items() if given is not None}
    targets = {option: Path(os.path.realpath(given)) for option, given in named.items()}
    read = _read_files(inputs)
    taken: dict[object, str] = {}
    for option, target in targets.items():
        given = named[option]
        check_can_write(given if given.name else target)
        check_can_write(target)
        _check_is_no_input(given, target, read)
        for identity in _identities(target):
            if identity in taken:
                raise InputError.of(f"another file for {option} than for {taken[identity]}", file=given)
            taken[identity] = option
        if target.exists() and not (target.is_file() or target.is_dir()):
            raise InputError.of("a file or a folder, not a device", file=given)
        if target.exists() and not force:
            # Functions call their outputs by plain names, commands by their options.
            forcing = "--force" if option.startswith("--") else "force=True"
            raise InputError.of(f"a file that does not exist yet as {option}, or {forcing} to replace it", file=given)
    return targets


def check_folder(
    folder: Path | str, own: Iterable[str], *, option: str, inputs: Iterable[object] = (), force: bool = False
) -> None:
    """Check that results may be written into a folder that a command goes on with, before any work is done.

    The folder is new, empty, or holds what the command wrote there before, by the names in `own`; any other is an error
    unless `force`. Nothing that is read may be where something is written.
    """
    given, names = Path(folder), list(own)
    if given.exists() and not given.is_dir():
        raise InputError.of("a folder, not a file", file=given, option=option)
    there = {file.name for file in given.iterdir()} if given.exists() else set()
    if there and not there & set(names) and not force:
        raise InputError.of(f"a new or empty folder as {option}, or --force to write beside what it holds", file=given)
    nearest = next(parent for parent in (given, *given.absolute().parents) if parent.exists())
    check_can_write(nearest / "x")
    check_outputs({name: given / name for name in names if name in there}, inputs=inputs, force=True)


def _check_is_no_input(given: Path, target: Path, read: Mapping[object, str]) -> None:
    """Refuse an output that is an input, or a folder that would replace one with an input in it."""
    for identity in _identities(target):
        if identity in read:
            raise InputError.of(f"another file than the input {read[identity]}", file=given)
    if target.is_dir():
        for identity, name in read.items():
            if isinstance(identity, Path) and target in identity.parents:
                raise InputError.of(f"a folder without the input {name} in it", file=given)


def _read_files(inputs: Iterable[object]) -> dict[object, str]:
    """Return all files that are read, by path and by number on the disk, with the name to call them by."""
    found: dict[object, str] = {}
    for given in inputs:
        if not isinstance(given, (str, Path)):
            continue
        path = Path(given)
        try:
            listed = [path, *_within(path)] if path.is_dir() else [path] if path.exists() else []
            listed += part_files(path) if is_glob(path) else []
        except OSError:
            # The text of a query or an address is no path.
            continue
        for file in listed:
            for identity in _identities(Path(os.path.realpath(file))):
                found.setdefault(identity, str(file))
    return found


def _within(folder: Path) -> Iterator[Path]:
    for index, file in enumerate(folder.rglob("*")):
        if index == MOST_INPUTS:
            return
        yield file


def _identities(path: Path) -> list[object]:
    """Return what distinguishes a file from all others: its path and, if it exists, its number on its disk."""
    try:
        status = path.stat()
    except OSError:
        return [path]
    return [path, (status.st_dev, status.st_ino)]


def _name_together(moves: Iterable[tuple[Path, Path]]) -> None:
    """Put drafts into their places; if one cannot go there, put back what stood in the others'."""
    done: list[tuple[Path, Path, Path | None]] = []
    try:
        for draft, target in moves:
            if target.exists() and target.is_dir() != draft.is_dir():
                kind = "folder" if target.is_dir() else "file"
                raise InputError.of(f"a name that is not taken by a {kind}", file=target)
            old = draft.with_name(f"{draft.name}.old") if target.exists() else None
            if old is not None:
                target.replace(old)
            done.append((draft, target, old))
            draft.replace(target)
    except BaseException:
        for draft, target, old in reversed(done):
            if target.exists() and not draft.exists():
                target.replace(draft)
            if old is not None:
                old.replace(target)
        raise


def _about_target(error: OSError | InputError, given: Mapping[str, str]) -> OSError | InputError:
    """Name the file that was asked for in place of its draft."""
    if isinstance(error, InputError):
        error.faults = _renamed(error.faults, given)
        error.groups = tuple(replace(one, first=_renamed(one.first, given)) for one in error.groups)
        return error
    for draft, target in given.items():
        if draft in (str(error.filename), str(error.filename2)) or draft in str(error):
            return OSError(error.errno or 0, error.strerror or str(error), target)
    return error


def _renamed(faults: Iterable[Fault], given: Mapping[str, str]) -> tuple[Fault, ...]:
    return tuple(replace(one, file=given.get(str(one.file), one.file)) for one in faults)
