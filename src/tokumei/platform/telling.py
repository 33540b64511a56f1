"""Errors as visitors may read them: files go by their names alone, since where they lie is the server's business."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tokumei.core.errors import InputError, TokumeiError


def without_folders(error: TokumeiError) -> TokumeiError:
    """Give the same error with every file called by its last name."""
    if not isinstance(error, InputError):
        return error
    faults = [replace(fault, file=None if fault.file is None else Path(fault.file).name) for fault in error.faults]
    return InputError(faults, error.n_faults)


def in_words(error: TokumeiError) -> str:
    """Say what is wrong, as a visitor may read it."""
    return str(without_folders(error))
