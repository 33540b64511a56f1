"""The registry of a provider's sources: which people have been offered before, so that no two offers tell of the same.

Two offers of nearly the same people give away by their difference what neither does alone: one who came in between, or
a class where the levels of the two cross. What is kept of a table (`same_people`) are keyed hashes beside the
provider's key, in files that only the provider can read; nothing of it is published.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tokumei.core.chain import canonical
from tokumei.core.errors import CannotAnonymize, NotAllowed
from tokumei.core.text import Json, Text
from tokumei.data.files.keys import PrivateKey, write_secret
from tokumei.engines.count import count_classes
from tokumei.exchange.counted_table import CountedTable
from tokumei.exchange.same_people import HashedTable, Likeness, hashed, likeness

# What all formulas of the same people may tell together: noise is drawn anew for each table, so that their ε add up.
MOST_EPSILON = 10.0
RETIRED = "retired.json"
# A name that says that an offer is out; before, an attempt that was cut short may be made again.
OPEN_END = ".open"


@dataclass(frozen=True, eq=False)
class OfferSource:
    """One table that is offered: its hashes, where it and its desk are, and the ε of its formula.

    `epsilon` is None where the offer publishes more than a formula.
    """

    table: HashedTable
    desk: str
    name: str
    place: str
    epsilon: float | None
    is_open: bool = False


@dataclass(frozen=True)
class Before:
    """What was offered of the same people before: the desks that a new offer takes the place of, and their ε."""

    replaced: tuple[Path, ...] = ()
    epsilon: float = 0.0


@dataclass(frozen=True)
class SourceRegistry:
    """All sources of one provider: a folder that only they can read, and the key that their hashes are made by.

    root: where all desks lie, if they are brought from one machine to another: they are known by their place in it.
    """

    folder: Path
    key: PrivateKey
    root: Path | None = None

    @classmethod
    def beside(cls, key_file: Path, key: PrivateKey) -> SourceRegistry:
        """Return the registry beside a key's file."""
        return cls(key_file.with_suffix(".sources"), key)

    def source(
        self,
        table: CountedTable,
        *,
        place: str,
        desk: Path,
        name: str,
        epsilon: float | None,
        person: str | None = None,
    ) -> OfferSource:
        """Make what the registry keeps of a table, with its people if a column names them."""
        people = people_of(table, person) if person else ()
        return OfferSource(hashed(table, self.key.secret, people), self._name(desk), name, place, epsilon)

    def check(self, source: OfferSource) -> Before:
        """Refuse a source whose people were offered before; tell what the new offer takes the place of.

        An earlier desk may be replaced where both offers publish a formula alone, and nothing was given at it.
        """
        replaced, spent = [], 0.0
        for known in self._known():
            if not known.is_open:
                # An attempt that was cut short before anything was published.
                continue
            found = Likeness(1.0, "rows", True) if known.place == source.place else likeness(known.table, source.table)
            if not found.is_same:
                continue
            if known.epsilon is None or source.epsilon is None or _has_given(self._desk(known.desk)):
                raise NotAllowed(
                    Text(
                        "{p:.0%} of these {by} are offered as '{name}' already: two offers of the same people "
                        "tell by their difference what neither does alone. Answer requests for that offer, or "
                        "say that these are other people (--other-people).",
                        p=found.share,
                        by=found.by,
                        name=known.name,
                    )
                )
            replaced.append(self._desk(known.desk))
            spent += known.epsilon
        if source.epsilon is not None and replaced and spent + source.epsilon > MOST_EPSILON:
            raise NotAllowed(
                f"Formulas of these people were published with ε = {spent:g} in all; with ε = {source.epsilon:g} more "
                f"it would be above {MOST_EPSILON:g}, and their noise would hide nobody any more."
            )
        return Before(tuple(replaced), spent)

    def add(self, source: OfferSource, before: Before) -> None:
        """Note a source before its offer is published, and what it takes the place of."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        shape = {
            "table": source.table.as_dict(),
            "desk": source.desk,
            "name": source.name,
            "place": source.place,
            "epsilon": source.epsilon,
            "replaces": [self._name(each) for each in before.replaced],
        }
        number = len(list(self.folder.glob("*.json"))) + 1
        while True:
            try:
                write_secret(self.folder / f"{number:04}.json", canonical(shape) + "\n")
                return
            except FileExistsError:
                # Somebody else noted one at the same time.
                number += 1

    def confirm(self, desk: Path) -> list[Path]:
        """Note that the offer of a desk is published, and close the desks that it takes the place of; give these."""
        closed = []
        for path in sorted(self.folder.glob("*.json")):
            mark = path.with_suffix(OPEN_END)
            if mark.exists():
                continue
            shape: Json = json.loads(path.read_text(encoding="utf-8"))
            if self._desk(shape["desk"]) != desk.resolve():
                continue
            for replaced in map(self._desk, shape["replaces"]):
                retired = replaced / "private" / RETIRED
                if retired.parent.is_dir() and not retired.exists():
                    write_secret(retired, canonical({"for": shape["desk"]}) + "\n")
                    closed.append(replaced)
            write_secret(mark, "")
        return closed

    def _name(self, desk: Path) -> str:
        own = desk.resolve()
        return str(own if self.root is None else own.relative_to(self.root.resolve()))

    def _desk(self, name: str) -> Path:
        # A whole path stays what it is.
        return Path(name) if self.root is None else self.root.resolve() / name

    def _known(self) -> Iterator[OfferSource]:
        for path in sorted(self.folder.glob("*.json")):
            shape: Json = json.loads(path.read_text(encoding="utf-8"))
            desk, name, place = (str(shape[each]) for each in ("desk", "name", "place"))
            epsilon = None if shape["epsilon"] is None else float(shape["epsilon"])
            is_open = path.with_suffix(OPEN_END).exists() or (self._desk(desk) / "offer.json").is_file()
            yield OfferSource(HashedTable.of_dict(shape["table"]), desk, name, place, epsilon, is_open)


def people_of(table: CountedTable, person: str) -> list[object]:
    """Return the names of a table's people; one who has several rows is refused, since k counts rows."""
    counts = count_classes(table.source, [person], **table.reading)
    n_several = int((counts.sizes > 1).sum())
    if n_several:
        raise CannotAnonymize(
            Text(
                "{n:,} people of {person} have several rows, up to {m:,}. k counts rows, so that a class of "
                "one person would pass for many: make it one row for each.",
                n=n_several,
                person=person,
                m=int(counts.sizes.max()),
            )
        )
    return counts.domains[0].to_list()


def check_not_retired(folder: Path) -> None:
    """Refuse to answer at a desk whose people are offered anew."""
    if (folder / "private" / RETIRED).is_file():
        raise NotAllowed("This desk was closed when the table that grew out of its own was offered.")


def place_of(source: str) -> str:
    """Return where a source is: a file by its own number and time, so that another name for it is no other source."""
    try:
        found = Path(source).stat()
    except OSError:
        return source
    return f"{found.st_dev}:{found.st_ino}:{found.st_mtime_ns}"


def _has_given(desk: Path) -> bool:
    """Whether a desk has given a release; one that cannot be read any more may have."""
    log = desk / "private" / "log.jsonl"
    return not log.is_file() or '"outcome":"served"' in log.read_text(encoding="utf-8")
