"""What a release still tells as it is, though other columns are changed at random."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from tokumei.anonymize.perturbation import Original
from tokumei.core.errors import CannotAnonymize


def fewest_alike(original: Original, changed: Sequence[str], *, missing_stays: bool) -> int:
    """Give the fewest rows that agree on the quasi-identifiers that are not changed; all rows if all are.

    An attacker who knows them looks for a person only among these rows, so that a promise about random changes must be
    made for so many records and no more. Where missing values stay missing, rows must agree on which are.
    """
    frame = original.frame
    told = [frame[name] for name in original.quasi_identifiers if name not in changed]
    if missing_stays:
        told += [frame[name].is_null() for name in changed]
    if not told or not frame.height:
        return frame.height
    named = pl.DataFrame([one.alias(str(index)) for index, one in enumerate(told)])
    return int(named.group_by(named.columns).len()["len"].min())  # type: ignore[arg-type]


def check_enough(pk: float, n_alike: int) -> None:
    """Raise CannotAnonymize if no change at random can make so few rows Pk-anonymous with this k."""
    if n_alike < pk:
        needed = f"Pk-anonymity with k = {pk:g} needs as many rows that agree on what is not changed"
        raise CannotAnonymize(f"{needed}; the fewest that do are {n_alike:,}.")
