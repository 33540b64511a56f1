"""Why a job failed: the kinds of failure, how often each is tried, and the sentence that a person reads.

Sentences are stored in English and translated when shown.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

from tokumei.platform.jobs.limits import MOST_ATTEMPTS, MOST_ATTEMPTS_AT_ITS_LIMIT
from tokumei.platform.jobs.process import TIMEOUT

# Rust ends the process when it gets no memory, by the signal of abort(); Linux kills who has taken the most.
OUT_OF_MEMORY = frozenset({"MemoryError", "ENOMEM", "ended by signal 6"})
FULL = frozenset({"ENOSPC", "EDQUOT"})

TOO_LONG = _("The work took longer than is allowed.")
TOO_LARGE = _("The work needed more memory than is allowed.")
NO_SPACE = _("The server has no space left.")
BROKE_OFF = _("The work broke off several times.")


def is_at_its_limit(failure: str) -> bool:
    """Whether the work used up what it is allowed: its subject's fault, mostly, and sure to happen again."""
    return failure == TIMEOUT or failure in OUT_OF_MEMORY


def attempts_allowed(failure: str) -> int:
    """Return how many attempts a job has that failed like this."""
    return MOST_ATTEMPTS_AT_ITS_LIMIT if is_at_its_limit(failure) else MOST_ATTEMPTS


def in_words(failure: str) -> str:
    """Return the sentence for a kind of failure."""
    if failure == TIMEOUT:
        return TOO_LONG
    if failure in OUT_OF_MEMORY:
        return TOO_LARGE
    return NO_SPACE if failure in FULL else BROKE_OFF
