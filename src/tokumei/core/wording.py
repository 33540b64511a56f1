"""Numbers with their nouns: 1 row, 2,000 rows."""

from __future__ import annotations


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """Give a count and what is counted; one that does not take an s is given in its plural, too.

    >>> counted(1, "row"), counted(2000, "row"), counted(0, "class", "classes")
    ('1 row', '2,000 rows', '0 classes')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
