"""What many sentences say in the same way: numbers with their nouns, and lists to choose from."""

from __future__ import annotations

from collections.abc import Iterable

from tokumei.core.text import Text


def counted(n: int, noun: str, plural: str | None = None) -> Text:
    """Format a count with its noun; give the plural where it does not take an s.

    >>> counted(1, "row"), counted(2000, "row"), counted(0, "class", "classes")
    ('1 row', '2,000 rows', '0 classes')
    """
    return Text(f"{{n:,}} {noun if n == 1 else plural or noun + 's'}", n=n)


def choice_of(names: Iterable[object]) -> Text:
    """List the names of which one is expected.

    >>> choice_of(["first", "best"])
    'one of first, best'
    """
    return Text("one of {names}", names=", ".join(map(str, names)))
