"""Which attacks on a history are tried: the strongest first, as many as fit in the time given."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.core.cost import GIGABYTE, Cost
from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.core.wording import counted
from tokumei.data.history import History
from tokumei.report.needs import absent_in_words, lacks

# The rest of the memory is for the rows themselves, and for others.
MOST_MEMORY = 0.7
# By what they found on the releases of the docs; attacks of other packages come after them.
STRONGEST_FIRST = ("linkage", "row-counts", "tfidf", "jaccard", "s6", "s5", "s4", "s2", "s3", "s1")
# A join and a count of all rows, as measured for the attacks that look for equal rows.
ROW_SECONDS = 2e-6


def by_strength(names: Sequence[str]) -> list[str]:
    """Put attacks in order, the strongest first."""
    return sorted(names, key=lambda name: STRONGEST_FIRST.index(name) if name in STRONGEST_FIRST else len(names) + 99)


def fitting_attacks(history: History, names: Sequence[str] | None = None) -> tuple[list[str], dict[str, Text]]:
    """Return the attacks that a history allows, the strongest first, and why others are left out."""
    possible, left_out = [], {}
    for name in by_strength(list(HISTORY_ATTACKS) if names is None else names):
        absent = lacks(history, HISTORY_ATTACKS.make(name), name)
        if absent:
            left_out[name] = absent_in_words(absent)
        else:
            possible.append(name)
    return possible, left_out


def within_time(
    names: Sequence[str], history: History, knowledge: Mapping[str, History], minutes: float, *, n_releases: int = 1
) -> tuple[list[str], dict[str, Text]]:
    """Return the attacks that fit in the time, the strongest first, and how long each other would take.

    What an attack takes is estimated on the original: a release has about as many rows and at least as many names.
    """
    if not minutes > 0:
        raise InputError.of("more than 0 minutes", option="minutes", value=minutes)
    left, fitting, left_out = minutes * 60, [], {}
    for name in by_strength(names):
        seconds = n_releases * sum(seconds_of(name, part, history) for part in knowledge.values())
        if seconds <= left:
            fitting.append(name)
            left -= seconds
        else:
            left_out[name] = Text(
                "it would take about {n:,.0f} seconds of the {m:,.0f} that are left (--minutes)", n=seconds, m=left
            )
    return [name for name in names if name in fitting], left_out


def seconds_of(name: str, known: History, seen: History) -> float:
    """Estimate what an attack takes, by itself where it can tell, else by its rows."""
    estimate = getattr(HISTORY_ATTACKS.make(name), "estimate", None)
    return ROW_SECONDS * (known.n_rows + seen.n_rows) if estimate is None else float(estimate(known, seen).seconds)


def announce(part: Any, name: str, known: History, seen: History) -> None:
    """Announce the expected cost of an attack; refuse one that the machine cannot hold."""
    estimate = getattr(part, "estimate", None)
    if estimate is None:
        return
    cost: Cost = estimate(known, seen)
    cost.say(f"attacking by {name}")
    if cost.n_bytes > MOST_MEMORY * machine_bytes():
        raise InputError.of(
            f"fewer customers: {name} would take {cost}, and this machine has {machine_bytes() / GIGABYTE:.0f} GB; "
            "'tokumei report --sample' attacks some of them",
            file=known.name,
            value=Text(
                "{customers} and {pseudonyms}",
                customers=counted(len(known.customers), "customer"),
                pseudonyms=counted(len(seen.customers), "pseudonym"),
            ),
        )


def machine_bytes() -> float:
    """Return the memory of this machine; infinite if unknown."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return math.inf
