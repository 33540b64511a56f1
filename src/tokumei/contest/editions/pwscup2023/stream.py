"""Ruby's random numbers, from which PWSCUP 2023 drew its tables.

Ruby's generator is the Mersenne twister of 1997 in 32 bits. `rand(x)` takes the lowest bits that can hold x − 1 of its
next output, and draws again while they are too large. NumPy has the same generator; its seed and its outputs are used
here, and what Ruby makes of both is added.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]
Digits = npt.NDArray[np.uint8]
WORD = 2**32


class RubyStream:
    """The outputs of Ruby's generator in their order, from a whole number that is not negative."""

    def __init__(self, seed: int) -> None:
        words = [seed >> shift & (WORD - 1) for shift in range(0, max(seed.bit_length(), 1), 32)]
        # A highest word of 1 is dropped, so that 2³² begins as 0 does.
        if len(words) > 1 and words[-1] == 1:
            words.pop()
        self._state = np.random.RandomState(words[0] if len(words) == 1 else words)
        self._left: Words = np.empty(0, np.uint32)

    def digits(self, n: int) -> Digits:
        """Return the next n numbers of rand(10)."""
        found, n_found = [], 0
        while n_found < n:
            low = (self._some(2 * (n - n_found)) & 15).astype(np.uint8)
            places = np.flatnonzero(low < 10)[: n - n_found]
            found.append(low[places])
            n_found += len(places)
            self._drop(len(low) if n_found < n else int(places[-1]) + 1 if len(places) else 0)
        return np.concatenate(found) if found else np.empty(0, np.uint8)

    def skip_shuffle(self, n: int) -> None:
        """Draw what shuffling n rows draws, rand(n), rand(n − 1), …, rand(2), and do nothing with it."""
        limit = n - 1
        while limit >= 1:
            mask, lowest = (1 << limit.bit_length()) - 1, 1 << (limit.bit_length() - 1)
            n_used = 0
            # The limit falls by one with each number that is not too large; below `lowest` fewer bits are taken.
            for value in self._lowest_bits(mask, 2 * (limit - lowest + 1) + 16):
                n_used += 1
                if value <= limit:
                    limit -= 1
                    if limit < lowest:
                        break
            self._drop(n_used)

    def _lowest_bits(self, mask: int, n: int) -> Iterator[int]:
        yield from (self._some(n) & mask).tolist()

    def _some(self, n: int) -> Words:
        """Return at least the next n outputs; they count as drawn when they are dropped."""
        if len(self._left) < n:
            more = self._state.randint(0, WORD, n - len(self._left), dtype=np.uint32)
            self._left = np.concatenate([self._left, more])
        return self._left[:n]

    def _drop(self, n: int) -> None:
        self._left = self._left[n:]


def public_table(n_rows: int, n_columns: int, seed: int) -> Digits:
    """Draw P: each cell is the lesser of two digits."""
    drawn = RubyStream(seed).digits(2 * n_rows * n_columns).reshape(n_rows, n_columns, 2)
    found: Digits = drawn.min(axis=2)
    return found


def secret_table(n_rows: int, n_columns: int, seed: int) -> Digits:
    """Draw R from a team's seed: the sums of two tables by their last digits.

    The contest's program meant to shuffle each table, draws for that, and moves nothing.
    """
    stream, total = RubyStream(seed), np.zeros((n_rows, n_columns), np.uint8)
    for _ in range(2):
        total += stream.digits(n_rows * n_columns).reshape(n_rows, n_columns)
        stream.skip_shuffle(n_rows)
    found: Digits = total % 10
    return found
