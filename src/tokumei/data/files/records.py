"""Where the records, lines and quotes of a piece of delimited text are, as arrays of places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

LINE_FEED, CARRIAGE_RETURN, QUOTE = 10, 13, 34
# Where a quote stands among so many bytes or more, runs between quotes are written faster than quotes are counted.
FEW_QUOTES = 16

Positions = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Records:
    """Whole records of a file, the first of which starts at the first byte."""

    data: bytes
    codes: Codes
    line_ends: Positions
    # Those line ends that are not inside a quoted cell.
    ends: Positions
    starts: Positions
    # The number of cells of each record.
    n_cells: Positions
    # Tells for each record whether its line end is \r\n.
    has_return: Mask
    # The first of them opens, the second closes, and so on.
    quotes: Positions

    @classmethod
    def of(cls, data: bytes, delimiter: int) -> Records | None:
        """Find the records that end in this data; None when none does.

        Bytes are gone through once for all that parts them, which are few; the rest looks at these alone.
        """
        codes = np.frombuffer(data, np.uint8)
        marks = np.flatnonzero((codes == LINE_FEED) | (codes == delimiter))
        quotes = np.flatnonzero(codes == QUOTE) if b'"' in data else marks[:0]
        is_inside = _between(quotes, marks)
        kinds = codes[marks]
        line_ends = None
        if is_inside is not None:
            line_ends = marks[kinds == LINE_FEED]
            marks, kinds = marks[~is_inside], kinds[~is_inside]
        at_end = np.flatnonzero(kinds == LINE_FEED)
        if not len(at_end):
            return None
        ends = marks[at_end]
        n_bytes = int(ends[-1]) + 1
        return cls(
            data=data[:n_bytes],
            codes=codes[:n_bytes],
            line_ends=ends if line_ends is None else line_ends[line_ends < n_bytes],
            ends=ends,
            starts=np.concatenate(([0], ends[:-1] + 1)),
            n_cells=np.diff(at_end, prepend=-1),
            # The first byte has none before it, and -1 would name the last one.
            has_return=(codes[ends - 1] == CARRIAGE_RETURN) & (ends > 0),
            quotes=quotes[: int(np.searchsorted(quotes, n_bytes))],
        )

    @property
    def has_quotes(self) -> bool:
        """Whether any quote stands in these records."""
        return len(self.quotes) > 0

    def stray_quotes(self, delimiter: int) -> Positions:
        """Find the quotes that do not open right after a delimiter or line end, or close right before one."""
        opening, closing = self.quotes[::2], self.quotes[1::2]
        # Next to another quote it is one of the two that stand for a quote inside a cell.
        edges = np.array([delimiter, LINE_FEED, QUOTE], np.uint8)
        is_opening_fine = (opening == 0) | np.isin(self.codes[opening - 1], edges)
        is_closing_fine = np.isin(self.codes[closing + 1], np.append(edges, np.uint8(CARRIAGE_RETURN)))
        return np.sort(np.concatenate([opening[~is_opening_fine], closing[~is_closing_fine]]))


def _between(quotes: Positions, marks: Positions) -> Mask | None:
    """Return the marks where an odd number of quotes opens; None where there are none, as beside empty cells."""
    lengths = np.diff(np.searchsorted(marks, quotes), prepend=0, append=len(marks))
    return np.repeat(np.arange(len(lengths)) % 2 == 1, lengths) if lengths[1::2].any() else None


def inside_quotes(codes: Codes) -> Mask | None:
    """Mark each byte that an odd number of quotes opens, itself included; None without quotes.

    A doubled quote closes and opens again at once, which leaves all other bytes on the right side.
    """
    quotes = np.flatnonzero(codes == QUOTE)
    if not len(quotes):
        return None
    if len(quotes) * FEW_QUOTES > len(codes):
        # Only the lowest bit of the running count matters, so a byte that overflows does no harm.
        return (np.cumsum(codes == QUOTE, dtype=np.uint8) & 1).astype(np.bool_)
    lengths = np.diff(quotes, prepend=0, append=len(codes))
    return np.repeat(np.arange(len(lengths)) % 2 == 1, lengths)


def opening_quote(data: bytes) -> int | None:
    """Find the quote that was opened and never closed; None when all are closed."""
    if data.count(b'"') % 2 == 0:
        return None
    codes = np.frombuffer(data, np.uint8)
    indices = np.flatnonzero(codes == QUOTE)
    # Every second one opens; one right behind another is half of a doubled quote inside the cell.
    opening = indices[::2]
    return int(opening[(opening == 0) | (codes[opening - 1] != QUOTE)][-1])
