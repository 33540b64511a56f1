"""Errors as visitors may read them: files go by their names alone, since where they lie is the server's business."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from django.utils.translation import get_language

from tokumei.contest.fault_words import WORDS, sentence_in_japanese
from tokumei.core.errors import InputError, TokumeiError
from tokumei.core.text import Text


def without_folders(error: TokumeiError) -> TokumeiError:
    """Return the same error with every file called by its base name."""
    if not isinstance(error, InputError):
        return error
    faults = [replace(fault, file=None if fault.file is None else Path(fault.file).name) for fault in error.faults]
    return InputError(faults, error.n_faults)


def in_words(error: TokumeiError) -> str:
    """Describe an error for a visitor: in the reader's language, as far as it is known there."""
    bare = without_folders(error)
    if isinstance(bare, InputError) and _is_japanese():
        return "\n".join(sentence_in_japanese(fault) for fault in bare.faults)
    return told(bare.text)


def told(text: str) -> str:
    """Translate a sentence of the library into the reader's language, if it is known there."""
    if not _is_japanese():
        return text
    return (text.in_words(WORDS) if isinstance(text, Text) else WORDS.get(text)) or text


def _is_japanese() -> bool:
    return (get_language() or "").startswith("ja")
