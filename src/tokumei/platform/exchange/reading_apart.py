"""What providers send from home is read in a limited process first: what takes too much there is never read here."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from tokumei.core.errors import NotAllowed
from tokumei.platform.jobs import process
from tokumei.platform.jobs.reasons import in_words

log = logging.getLogger("tokumei.exchange")
# Somebody waits for it: what is honest takes a second or two.
SECONDS = 30.0
MEMORY_BYTES = 3 * 1024**3
# In memory a document is some thirty times its text: what is smaller than this is not worth a process.
SMALL = 64 * 1024


def read_offer_apart(offer_text: str, first_release: str) -> None:
    """Refuse an offer that takes too much to read; what else is wrong with it is left to whoever reads it then."""
    _apart("try_offer", {"offer": offer_text, "release": first_release}, len(offer_text) + len(first_release))


def verify_log_apart(folder: Path) -> None:
    """Refuse a public desk whose log takes too much to verify."""
    n_bytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    _apart("try_log", {"folder": str(folder)}, n_bytes)


def _apart(function: str, asked: Mapping[str, Any], n_bytes: int) -> None:
    if n_bytes <= SMALL:
        return
    answer = process.run(
        f"tokumei.platform.exchange.home_work:{function}",
        asked,
        seconds=SECONDS,
        memory_bytes=MEMORY_BYTES,
        beat=lambda _progress: True,
        is_stopping=lambda: False,
    )
    if answer.failure:
        log.warning("what came from home was refused", extra={"facts": {"failure": answer.failure}})
        raise NotAllowed(_(in_words(answer.failure)))
