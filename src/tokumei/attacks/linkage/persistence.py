"""How long customers keep a pseudonym, and what a customer's other epochs say on who they are in this one.

A pseudonym need not belong to one customer for as long as it has rows: customers may exchange theirs, or get new ones
at times of their own. So what is weighed against a customer is a *piece*: the rows of a pseudonym in one epoch. The
epochs of a customer are a chain (a hidden Markov model, Rabiner 1989): from one to the next a customer keeps the
pseudonym with a chance that is learned for each two epochs, or gets another, or none. Who buys nothing in an epoch
keeps a pseudonym unseen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tokumei.attacks.linkage.evidence import Evidence
from tokumei.attacks.linkage.fields import Epoch, Floats, Ints

Flags = npt.NDArray[np.bool_]

# One epoch speaks against a pseudonym by no more than this, in log odds beside its best: evidence may mislead.
BEYOND = 10.0
# Keeping is believed in as if so many customers had been seen, of whom such a share kept theirs; nothing is surer.
PRIOR_SEEN, PRIOR_SHARE, SUREST = 5.0, 0.9, 0.9999
# Ends of the chance of having no pseudonym in an epoch.
NONE = (0.02, 0.98)
# How often what epochs say to each other is weighed before how long pseudonyms are kept is known well enough.
N_JOINED = 2
# Pseudonyms of each customer that are followed from epoch to epoch.
N_FOLLOWED = 64
# Customers, epochs and pseudonyms that are followed at once.
CHUNK_CELLS = 400_000


@dataclass
class Chain:
    """The pieces of all epochs by pseudonym, and how likely customers keep theirs from each epoch to the next."""

    columns: list[Ints]  # The number of the pseudonym of each piece of each epoch.
    n_customers: int
    is_there: Flags  # Epochs (down) by pseudonyms that have rows there.
    stay: Floats
    stays: Floats  # How often pseudonyms were kept, as expected by what was last joined,
    seen: Floats  # of so many times that it would be seen.

    @classmethod
    def of(cls, evidence: Evidence, epochs: Sequence[Epoch]) -> Chain:
        """Find which pieces are of one pseudonym."""
        names = np.array(evidence.compared.pseudonyms, dtype=object)
        _, numbers = np.unique(names.astype(str), return_inverse=True)
        columns = [numbers[epoch.names] for epoch in epochs]
        # One more, which never has rows, is nobody's.
        is_there = np.zeros((len(epochs), int(numbers.max(initial=-1)) + 2), np.bool_)
        for at, column in enumerate(columns):
            is_there[at, column] = True
        nothing = np.zeros(len(epochs) - 1)
        return cls(columns, len(evidence.compared.customers), is_there, nothing + PRIOR_SHARE, nothing, nothing)

    @property
    def is_linked(self) -> bool:
        """Whether any pseudonym lives in several epochs."""
        return bool((self.is_there.sum(axis=0) > 1).any())

    def learned(self) -> Chain:
        """Learn from what was last joined how likely pseudonyms are kept."""
        usual = (self.stays.sum() + PRIOR_SEEN * PRIOR_SHARE) / (self.seen.sum() + PRIOR_SEEN)
        stay = (self.stays + PRIOR_SEEN * usual) / (self.seen + PRIOR_SEEN)
        return replace(self, stay=np.minimum(stay, SUREST))

    def join(
        self, odds: Sequence[Floats], freedom: Sequence[Floats] | None = None, out: list[Floats] | None = None
    ) -> tuple[list[Floats], float]:
        """Return what the other epochs say on each customer (down) and piece (across), and how likely all is.

        freedom: added to the odds of each piece; out: what is written over, so that numbers of all pairs stand once.
        """
        n_customers, size = len(odds[0]), max(1, CHUNK_CELLS // (len(odds) * N_FOLLOWED))
        self.stays, self.seen, total = np.zeros(len(self.stay)), np.zeros(len(self.stay)), 0.0
        found = [np.empty_like(one) for one in odds] if out is None else out
        free = freedom or [np.zeros(one.shape[1]) for one in odds]
        for at in range(0, n_customers, size):
            some = slice(at, at + size)
            messages, likelihood = self._join([one[some] + own for one, own in zip(odds, free, strict=True)])
            total += likelihood
            for written, message in zip(found, messages, strict=True):
                written[some] = message
        return found, total

    def _join(self, odds: Sequence[Floats]) -> tuple[list[Floats], float]:
        """Follow the likeliest pseudonyms of some customers."""
        n_customers, n_names = len(odds[0]), self.is_there.shape[1]
        gap = np.full((n_customers, n_names), -np.inf)
        for column, one in zip(self.columns, odds, strict=True):
            gap[:, column] = np.maximum(gap[:, column], one - np.maximum(one.max(axis=1, initial=0.0), 0.0)[:, None])
        n = min(N_FOLLOWED, n_names)
        names = np.argpartition(-gap, n - 1, axis=1)[:, :n]
        followed = np.zeros((len(odds), n_customers, n))
        full = np.zeros((n_customers, n_names))
        for at, (column, one) in enumerate(zip(self.columns, odds, strict=True)):
            full[:] = 0
            full[:, column] = one
            followed[at] = np.take_along_axis(full, names, axis=1)
        messages, others, likelihood = self.pass_on(followed, names)
        found = []
        for at, column in enumerate(self.columns):
            full[:] = others[at][:, None]
            np.put_along_axis(full, names, messages[at], axis=1)
            found.append(full[:, column])
        return found, likelihood

    def pass_on(self, odds: Floats, names: Ints) -> tuple[Floats, Floats, float]:
        """Go forth and back over the epochs: messages to names that are followed, to any other, and how likely all is.

        `odds` are those of epochs (first), customers and the names that each follows, against having none.
        """
        n_epochs = len(odds)
        is_there = self.is_there[:, names]
        largest = np.maximum(odds.max(axis=2, initial=0.0), 0.0)
        seen = np.where(is_there, np.exp(np.maximum(odds - largest[:, :, None], -BEYOND)), 0.0)
        absent = np.exp(np.maximum(-largest, -BEYOND))
        seen = np.where(is_there, seen, absent[:, :, None])
        # A name is kept as long as it has rows to come. Whoever has none gets one that has rows now, or none again.
        is_left = np.maximum.accumulate(self.is_there[::-1], axis=0)[::-1]
        kept = self.stay[:, None, None] * is_left[1:, names]
        n_there = self.is_there.sum(axis=1)
        none = np.clip(1 - n_there / self.n_customers, *NONE)
        each = (1 - none) / np.maximum(n_there, 1)
        # A name that somebody had before is as likely to be had anew as it was given up.
        is_given_up = np.ones(self.is_there.shape)
        was_there = np.maximum.accumulate(self.is_there, axis=0)[:-1]
        is_given_up[1:] = np.where(was_there, 1 - self.stay[:, None], 1.0)
        new = self.is_there * is_given_up
        new = (new * ((1 - none) / new.sum(axis=1))[:, None])[:, names]
        before, before_none = np.empty_like(odds), np.empty(odds.shape[:2])
        after, after_none = np.ones_like(odds), np.ones(odds.shape[:2])
        held, gone = np.empty_like(odds), np.empty(odds.shape[:2])
        before[0], before_none[0] = new[0], none[0]
        total = 0.0
        for at in range(n_epochs):
            if at:
                stays = held[at - 1] * kept[at - 1]
                leaves = 1 - stays.sum(axis=1)
                before[at] = stays + leaves[:, None] * new[at]
                before_none[at] = leaves * none[at]
            now, now_none = before[at] * seen[at], before_none[at] * absent[at]
            scale = now.sum(axis=1) + now_none
            held[at], gone[at] = now / scale[:, None], now_none / scale
            total += float((np.log(scale) + largest[at]).sum())
        for at in range(n_epochs - 2, -1, -1):
            ahead, ahead_none = seen[at + 1] * after[at + 1], absent[at + 1] * after_none[at + 1]
            anew = (ahead * new[at + 1]).sum(axis=1) + ahead_none * none[at + 1]
            staying = kept[at] * ahead
            back = staying + (1 - kept[at]) * anew[:, None]
            both = is_there[at] & is_there[at + 1]
            now = held[at] * back
            chance = now.sum(axis=1) + gone[at] * anew
            self.stays[at] += ((held[at] * staying * both).sum(axis=1) / chance).sum()
            self.seen[at] += ((now * both).sum(axis=1) / chance).sum()
            scale = np.maximum(back.max(axis=1, initial=0.0), anew)
            after[at], after_none[at] = back / scale[:, None], anew / scale
        chances, away = before * after, before_none * after_none
        away += np.where(is_there, 0.0, chances).sum(axis=2)
        # Of who knows nothing of other epochs the odds stay as they were.
        base = np.log(none / each)[:, None] - np.log(np.maximum(away, 1e-300))
        anew = before_none * (each / none)[:, None] * after_none
        return np.log(np.maximum(chances, 1e-300)) + base[:, :, None], np.log(np.maximum(anew, 1e-300)) + base, total
