"""Long work that goes on where it was broken off: what is done lies in a hidden folder beside what is written.

The folder is named by what decides the result: the files that are read, how, by which options, and the version of this
program. Whoever gives the same command again finds it. It holds copies of rows, so that nobody but its owner may read
it, and it is removed when the work ends, well or with an error; only a broken-off run leaves it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tokumei.core.errors import InputError
from tokumei.core.seeds import fresh_seed
from tokumei.data.files.atomic import remove_folder
from tokumei.data.files.parquet import is_glob, part_files

log = logging.getLogger("tokumei.notes")
LOCK, SEED = "lock", "seed"


@contextmanager
def resumable(beside: Path, inputs: Iterable[Path | str], options: Mapping[str, Any]) -> Iterator[Path]:
    """Provide a folder for the pieces of some work, with those that an earlier run left there."""
    folder = Path(os.path.realpath(beside)).parent / f".tokumei-{_fingerprint(inputs, options)}"
    if folder.exists():
        log.info("Going on where the same command was broken off: %s has what was done.", folder)
    folder.mkdir(mode=0o700, exist_ok=True)
    lock = _locked(folder)
    is_broken_off = False
    try:
        yield folder
    except KeyboardInterrupt:
        is_broken_off = True
        log.info("What was done is in %s, rows included: the same command goes on from there.", folder)
        raise
    finally:
        os.close(lock)
        if not is_broken_off:
            remove_folder(folder)


def kept_seed(folder: Path, seed: int | None) -> int:
    """Return the seed, or else the secret one that was drawn when the work began."""
    if seed is not None:
        return seed
    file = folder / SEED
    if not file.exists():
        draft = file.with_suffix(".draft")
        draft.write_text(str(fresh_seed()))
        draft.replace(file)
    return int(file.read_text())


def _fingerprint(inputs: Iterable[Path | str], options: Mapping[str, Any]) -> str:
    files = [file for given in inputs for file in _files(given)]
    read = [(os.path.realpath(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    told = json.dumps([version("tokumei"), read, options], sort_keys=True, default=str)
    return hashlib.blake2b(told.encode(), digest_size=8).hexdigest()


def _files(given: Path | str) -> list[Path]:
    path = Path(given)
    return part_files(path) if path.is_dir() or is_glob(path) else [path] if path.exists() else []


def _locked(folder: Path) -> int:
    """Keep others from working in the same folder at once, where the system has locks."""
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        pass
    except OSError:
        os.close(descriptor)
        raise InputError.of("no other run of the same command at the same time", file=folder) from None
    return descriptor
