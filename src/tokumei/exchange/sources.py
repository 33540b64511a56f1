"""The registry of a provider's sources: which people have been offered before, so that no two offers tell of the same.

Two offers of nearly the same people give away by their difference what neither does alone: one who came in between, or
a class where the levels of the two cross. Rows, or people where a column names them, are kept as keyed hashes beside
the provider's key, in files that only the provider can read; nothing of it is published.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tokumei.core.chain import canonical
from tokumei.core.errors import NotAllowed
from tokumei.counting.count import count_classes
from tokumei.exchange.counted_table import CountedTable
from tokumei.exchange.keys import PrivateKey, write_secret

# Of the smaller table's people, so many or more are those of the other.
SAME_PEOPLE = 0.5
# The same by rows, which may be alike though the people are others: two samples of one town are.
SAME_ROWS = 0.95
RETIRED = "retired.json"

Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Source:
    """The rows or people of one table, as hashes with how often each occurs."""

    by: str
    hashes: Hashes
    counts: npt.NDArray[np.int64]
    desk: str
    name: str
    place: str
    is_formula: bool

    def share_of(self, other: Source) -> float:
        """Give the share of the smaller table that the two have in common; 0 where they cannot be compared."""
        if self.by != other.by:
            return 0.0
        _, ours, theirs = np.intersect1d(self.hashes, other.hashes, assume_unique=True, return_indices=True)
        common = int(np.minimum(self.counts[ours], other.counts[theirs]).sum())
        return common / max(1, min(int(self.counts.sum()), int(other.counts.sum())))


@dataclass(frozen=True)
class Registry:
    """All sources of one provider: a folder that only they can read, and the key that their hashes are made by."""

    folder: Path
    key: PrivateKey

    @classmethod
    def beside(cls, key_file: Path, key: PrivateKey) -> Registry:
        """Give the registry beside a key's file."""
        return cls(key_file.with_suffix(".sources"), key)

    def source(
        self, table: CountedTable, *, place: str, desk: Path, name: str, is_formula: bool, person: str | None = None
    ) -> Source:
        """Make what the registry keeps of a table; by a column that names people, if there is one."""
        by = f"people by {person}" if person else f"rows of {canonical(sorted(table.lattice.attributes))}"
        if person:
            counts = count_classes(table.source, [person], **table.reading)
            columns = [person]
        else:
            columns = sorted(table.lattice.attributes)
            counts = table.classes(table.lattice.bottom).over(columns)
        texts = [[self._text(value) for value in domain] for domain in counts.domains]
        rows = zip(
            *(np.array(text, object)[codes] for text, codes in zip(texts, counts.codes, strict=True)), strict=True
        )
        hashes = np.fromiter((self._hash(row) for row in rows), np.uint64, counts.n_classes)
        order = np.argsort(hashes)
        return Source(by, hashes[order], counts.sizes[order], str(desk.resolve()), name, place, is_formula)

    def check(self, source: Source) -> list[Path]:
        """Refuse a source whose people were offered before; give the desks that the new offer takes the place of.

        An earlier desk may be replaced where both offers publish a formula alone, and nothing was given at it.
        """
        replaced = []
        for known in self._known():
            share = 1.0 if known.place == source.place else known.share_of(source)
            limit = SAME_PEOPLE if source.by.startswith("people") else SAME_ROWS
            if share < limit or known.desk == source.desk:
                continue
            desk = Path(known.desk)
            if known.is_formula and source.is_formula and not _has_given(desk):
                replaced.append(desk)
                continue
            raise NotAllowed(
                f"{share:.0%} of these {'people' if limit == SAME_PEOPLE else 'rows'} are offered as '{known.name}' "
                "already: two offers of the same people tell by their difference what neither does alone. Answer "
                "requests for that offer, or say that these are other people."
            )
        return replaced

    def add(self, source: Source, replaced: list[Path]) -> None:
        """Note a source, and close the desks that its offer takes the place of."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        number = len(list(self.folder.glob("*.json"))) + 1
        shape = {
            "by": source.by,
            "desk": source.desk,
            "name": source.name,
            "place": source.place,
            "is_formula": source.is_formula,
            "hashes": base64.b64encode(source.hashes.tobytes()).decode(),
            "counts": base64.b64encode(source.counts.astype(np.int64).tobytes()).decode(),
        }
        write_secret(self.folder / f"{number:04}.json", canonical(shape) + "\n")
        for desk in replaced:
            path = desk / "private" / RETIRED
            if path.parent.is_dir() and not path.exists():
                write_secret(path, canonical({"for": source.desk}) + "\n")

    def _known(self) -> Iterator[Source]:
        for path in sorted(self.folder.glob("*.json")):
            shape: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            hashes = np.frombuffer(base64.b64decode(shape["hashes"]), np.uint64)
            counts = np.frombuffer(base64.b64decode(shape["counts"]), np.int64)
            desk, name, place = (str(shape[each]) for each in ("desk", "name", "place"))
            yield Source(str(shape["by"]), hashes, counts, desk, name, place, bool(shape["is_formula"]))

    def _hash(self, row: tuple[bytes, ...]) -> int:
        hashed = blake2b(b"".join(row), digest_size=8, key=self.key.secret)
        return int.from_bytes(hashed.digest(), "little")

    @staticmethod
    def _text(value: object) -> bytes:
        text = b"" if value is None else b"=" + str(value).encode()
        return len(text).to_bytes(4, "little") + text


def check_not_retired(folder: Path) -> None:
    """Refuse to answer at a desk whose people are offered anew."""
    if (folder / "private" / RETIRED).is_file():
        raise NotAllowed("This desk was closed when the table that grew out of its own was offered.")


def place_of(source: str) -> str:
    """Give where a source is: a file by its own number, so that another name for it is no other source."""
    try:
        found = Path(source).stat()
    except OSError:
        return source
    return f"{found.st_dev}:{found.st_ino}"


def _has_given(desk: Path) -> bool:
    """Whether a desk has given a release; one that cannot be read any more may have."""
    log = desk / "private" / "log.jsonl"
    return not log.is_file() or '"outcome":"served"' in log.read_text(encoding="utf-8")
