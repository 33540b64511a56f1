"""How long pseudonyms live, read off the release: between two epochs all of them change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokumei.attacks.linkage.fields import Ints

# More pseudonyms than customers in an epoch: some changed theirs within it.
MOST_NAMES = 1.02


@dataclass(frozen=True)
class Epoch:
    """Months in a row, and the pseudonyms that live in them; `is_whole` if nobody changes pseudonyms within."""

    months: Ints
    names: Ints
    is_whole: bool


def find_epochs(n_rows: Ints, n_customers: int) -> list[Epoch]:
    """Cut the months where no pseudonym (down) has rows on both sides; months across.

    Where lives of different lengths leave nothing to cut, each month is taken for itself.
    """
    is_alive = n_rows > 0
    until = np.maximum.accumulate(is_alive, axis=1)
    after = np.maximum.accumulate(is_alive[:, ::-1], axis=1)[:, ::-1]
    is_crossed = (until[:, :-1] & after[:, 1:]).any(axis=0)
    cuts = np.split(np.arange(n_rows.shape[1]), np.flatnonzero(~is_crossed) + 1)
    epochs = []
    for months in cuts:
        names = np.flatnonzero(is_alive[:, months].any(axis=1))
        if len(names) <= max(1, MOST_NAMES * n_customers):
            epochs.append(Epoch(months, names, True))
        else:
            epochs += [Epoch(np.array([month]), np.flatnonzero(is_alive[:, month]), False) for month in months]
    return [epoch for epoch in epochs if len(epoch.names)]
