"""The legal pages of a dossier: each law's items with what was found in the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.inspection.legal_case import LegalCase
from tokumei.inspection.legal_europe import wp216
from tokumei.inspection.legal_japan import anonymously_processed, pseudonymously_processed
from tokumei.inspection.legal_us import safe_harbor

PAGES = (anonymously_processed, pseudonymously_processed, wp216, safe_harbor)
OTHERS_MAY = 0o077


def legal_pages(
    frame: pl.DataFrame, results: Mapping[str, Any], bounds: Sequence[Mapping[str, Any]], secret: Path | None
) -> list[dict[str, Any]]:
    """Check a released frame by every law; `secret` is the folder of what must be kept apart."""
    known = [name for name, role in results["roles"].items() if role == "quasi-identifier" and name in frame.columns]
    kept = [] if secret is None else sorted(one.name for one in secret.iterdir() if one.is_file())
    is_apart = None if secret is None else not secret.stat().st_mode & OTHERS_MAY
    case = LegalCase(frame, known, results["after"]["k"], results["attacks"], bounds, is_apart, kept)
    return [check(case) for check in PAGES]
