"""What releases of one table have spent of its privacy budget: a chain of entries, each sealed by a digest."""

from __future__ import annotations

import hashlib
import json
import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokumei.core.errors import InputError, NotAllowed
from tokumei.core.text import Text
from tokumei.data.files.source import check_is_file

# Sums of the same numbers in another order differ by less.
ROUNDING = 1e-12


@dataclass(frozen=True)
class LedgerEntry:
    """One release: what it spent, the budget it kept to, and a digest of itself and of the release before."""

    epsilon: float
    budget: float | None
    # Tells apart releases that are alike in all else.
    nonce: str
    before: tuple[str, ...]

    @property
    def digest(self) -> str:
        """The seal of the entry: with any part of it changed, it is another."""
        sealed = json.dumps([self.epsilon, self.budget, self.nonce, list(self.before)])
        return hashlib.sha256(sealed.encode()).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """Return the entry for JSON."""
        return {
            "epsilon": self.epsilon,
            "budget": self.budget,
            "nonce": self.nonce,
            "before": list(self.before),
            "digest": self.digest,
        }


@dataclass(frozen=True)
class Ledger:
    """All entries that are known, by digest, and the last ones: more than one where releases went on side by side."""

    entries: dict[str, LedgerEntry]
    last: tuple[str, ...]

    @classmethod
    def read(cls, paths: Sequence[str]) -> Ledger:
        """Put the chains of some recipes together; an entry that two of them share was spent once."""
        entries: dict[str, LedgerEntry] = {}
        ends: list[str] = []
        for path in paths:
            chain = _chain(path)
            entries |= {one.digest: one for one in chain}
            ends.append(chain[-1].digest)
        followed = {digest for one in entries.values() for digest in one.before}
        return cls(entries, tuple(dict.fromkeys(digest for digest in ends if digest not in followed)))

    @property
    def spent(self) -> float:
        """What all releases spent together."""
        return sum(one.epsilon for one in self.entries.values())

    @property
    def budget(self) -> float | None:
        """The smallest budget that any of them kept to: nobody can raise it later."""
        return min((one.budget for one in self.entries.values() if one.budget is not None), default=None)

    def spend(self, epsilon: float, budget: float | None) -> Ledger:
        """Enter one more release; NotAllowed if that is more than the budget."""
        limits = [limit for limit in (self.budget, budget) if limit is not None]
        limit = min(limits, default=None)
        if limit is not None and self.spent + epsilon > limit + ROUNDING:
            raise NotAllowed(
                Text("ε = {e:g} on top of {s:g} spent exceeds the budget of {b:g}.", e=epsilon, s=self.spent, b=limit)
            )
        entry = LedgerEntry(epsilon, limit, secrets.token_hex(16), self.last)
        return Ledger({**self.entries, entry.digest: entry}, (entry.digest,))


def _chain(path: str) -> list[LedgerEntry]:
    """Read the chain of one recipe, from its first entry to its last."""
    file = check_is_file(path)
    try:
        options = json.loads(file.read_text(encoding="utf-8"))["options"]
        is_void = bool(options["reproducible"])
        chain = [_entry(one) for one in options["chain"]]
        known: set[str] = set()
        for one in chain:
            if not set(one.before) <= known:
                raise ValueError("an entry before is not in the chain")
            known.add(one.digest)
        if not chain or not math.isclose(sum(one.epsilon for one in chain), options["spent"], abs_tol=ROUNDING):
            raise ValueError("what was spent is not what the chain adds up to")
    except (UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        why = f"{type(error).__name__}: {error}" if isinstance(error, ValueError) else type(error).__name__
        raise InputError.of(f"the recipe of dp-counts, as it was written ({why})", file=file) from None
    if is_void:
        raise NotAllowed(f"The release of {path} can be reproduced: it promises nothing, and none can follow it.")
    return chain


def _entry(fields: dict[str, Any]) -> LedgerEntry:
    budget = fields["budget"]
    made = LedgerEntry(
        float(fields["epsilon"]),
        None if budget is None else float(budget),
        str(fields["nonce"]),
        tuple(str(one) for one in fields["before"]),
    )
    if not 0 < made.epsilon < math.inf or (made.budget is not None and not 0 < made.budget < math.inf):
        raise ValueError(f"spent {made.epsilon} of {made.budget}")
    if made.digest != fields["digest"]:
        raise ValueError("an entry was changed after it was sealed")
    return made
