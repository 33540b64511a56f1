"""Errors of the platform, and sentences and errors of the library for visitors, in the reader's language.

Sentences are stored with their forms. The status of each error is in `access.py`.

An error calls files by their base names, since where they lie is the server's business.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from django.db import models
from django.utils.translation import get_language

from tokumei.core.errors import InputError, NotAllowed, TokumeiError
from tokumei.core.text import Text, from_json, to_json
from tokumei.reports.japanese import OF_CONTESTS, sentence_in_japanese

if TYPE_CHECKING:
    TextField = models.TextField[str, str]
else:
    TextField = models.TextField


class DiskFull(TokumeiError):
    """The server has no space left; shown with the status 507."""


class NotReady(TokumeiError):
    """Something is being made: asking again in a moment gives it; shown with the status 503."""


class TooMany(NotAllowed):
    """Something was done too often, or somebody has too many of something; shown with the status 429."""


BEGIN = '{"said": '


class SentenceField(TextField):
    """A sentence in the database; one of the library comes back as a `Text`, since its reader may read Japanese."""

    def get_prep_value(self, value: object) -> object:
        """Write the form and what stands in it, where there is one."""
        written = json.dumps(to_json(value), ensure_ascii=False) if isinstance(value, Text) else value
        return super().get_prep_value(written)

    def from_db_value(self, value: str | None, *_: object) -> str | None:
        """Read a sentence back."""
        return value if value is None or not value.startswith(BEGIN) else from_json(json.loads(value))


class SentenceDecoder(json.JSONDecoder):
    """Reads JSON with sentences of the library, as `to_json` writes them."""

    def __init__(self) -> None:
        super().__init__(object_hook=from_json)


def without_folders(error: TokumeiError) -> TokumeiError:
    """Return the same error with every file called by its base name."""
    if not isinstance(error, InputError):
        return error
    faults = [replace(fault, file=None if fault.file is None else Path(fault.file).name) for fault in error.faults]
    return InputError(faults, error.n_faults)


def describe_error(error: TokumeiError) -> str:
    """Describe an error for a visitor: in the reader's language, as far as it is known there."""
    bare = without_folders(error)
    if isinstance(bare, InputError) and _is_japanese():
        return "\n".join(sentence_in_japanese(fault) for fault in bare.faults)
    return translated(bare.text)


def translated(text: str) -> str:
    """Translate a sentence of the library into the reader's language, if it is known there."""
    if not _is_japanese():
        return text
    return (text.in_words(OF_CONTESTS) if isinstance(text, Text) else OF_CONTESTS.get(text)) or text


def _is_japanese() -> bool:
    return (get_language() or "").startswith("ja")
