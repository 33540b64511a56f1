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
# What somebody sees who watches a purchase.
SEEN = ("date", "item")


def legal_pages(
    frame: pl.DataFrame,
    results: Mapping[str, Any],
    bounds: Sequence[Mapping[str, Any]],
    secret: Path | None,
    *,
    kind: str = "table",
) -> list[dict[str, Any]]:
    """Check a released table or history by every law; `secret` is the folder of what must be kept apart."""
    if kind == "table":
        roles, k = results["roles"], results["after"]["k"]
        known = [name for name, role in roles.items() if role == "quasi-identifier" and name in frame.columns]
        pseudonyms: list[str] = []
    else:
        known, pseudonyms = [name for name in SEEN if name in frame.columns], ["customer"]
        k = _fewest_customers(frame, known)
    kept = [] if secret is None else sorted(one.name for one in secret.iterdir() if one.is_file())
    is_apart = None if secret is None else not secret.stat().st_mode & OTHERS_MAY
    ranges, gives_away = results.get("ranges"), results.get("gives_away")
    case = LegalCase(frame, known, k, results["attacks"], bounds, is_apart, kept, pseudonyms, ranges, gives_away)
    return [check(case) for check in PAGES]


def _fewest_customers(frame: pl.DataFrame, known: Sequence[str]) -> int:
    """Count the fewest pseudonyms that share a purchase, by what can be seen of one."""
    if not known or not frame.height:
        return 0
    found = frame.group_by(known).agg(pl.col("customer").n_unique().alias("n"))["n"].min()
    return int(found)  # type: ignore[arg-type]
