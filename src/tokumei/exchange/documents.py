"""Documents of the exchange: JSON in one spelling, read strictly, and signed where somebody answers for them.

    {"tokumei": "offer", "version": 1, "body": {…}, "signature": {"key": "…", "value": "…"}}

The signature is over the first three in canonical spelling, so that a changed letter anywhere is noticed.

Safety criteria by recipient say how large every class must be for whom.

| criterion                | k  | risk allowed | for                                      |
|--------------------------|----|--------------|------------------------------------------|
| `cheo-trusted-recipient` | 3  | 0.33         | a trusted recipient, bound by contract   |
| `cheo-public-release`    | 20 | 0.05         | everybody                                |
| `cheo-breach`            | 6  | 0.27/6       | a recipient who may lose the data        |
| `NAME=K`                 | K  | 1/K          | whom the provider names                  |
| `NAME=0.1`               | 10 | 0.1          | the same, by the risk that is allowed    |

Whoever the offer does not list by their key is served by the strictest. What one recipient may have, those who are
trusted more may know too: a criterion with a larger k stands for a wider circle. CHEO's 0.33 is 3-anonymity, as the
thesis prints it; an own risk t becomes the smallest k with 1/k ≤ t.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tokumei.core.chain import canonical, digest_of
from tokumei.core.errors import InputError, PromiseBroken, UnknownPart
from tokumei.core.fields import Fields
from tokumei.core.text import Json, JsonView, Text
from tokumei.data.files.disk import check_is_file, write_text
from tokumei.data.files.keys import PrivateKey, is_signed_by
from tokumei.measures.safety.risks import PRESETS

# A hierarchy of a million values fits; more is an attempt to fill the memory.
LARGEST_DOCUMENT = 64 * 1024 * 1024


@dataclass(frozen=True)
class Signed:
    """A document as it was signed: what it is, what it says, and by whom."""

    kind: str
    version: int
    body: JsonView
    key: str
    signature: str

    @property
    def digest(self) -> str:
        """The hash that other documents name this one by; what somebody else signed has another."""
        return digest_of(
            canonical(
                {"signed": digest_of(_signed_bytes(self.kind, self.version, self.body)), "key": self.key}
            ).encode()
        )

    def text(self) -> str:
        """Return the document as it is written."""
        shape = {"tokumei": self.kind, "version": self.version, "body": self.body}
        return canonical({**shape, "signature": {"key": self.key, "value": self.signature}}) + "\n"

    def write(self, path: Path | str) -> None:
        """Write the document as a file."""
        write_text(path, self.text())


@dataclass
class Document(Fields):
    """The fields of one JSON object."""

    found: JsonView
    file: str | None = None
    index: str = ""
    asked: set[str] = field(default_factory=set)
    may_be_blank = True
    longest = 10_000

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts."""
        values = self.items(name)
        if not all(isinstance(value, str) for value in values):
            raise self.fault("a list of texts", name, values)
        return tuple(values)

    def wholes(self, name: str) -> dict[str, int]:
        """Return whole numbers of 0 or more by name."""
        inside = self.inside(name)
        return {each: inside.whole(each) for each in inside.found}

    def items(self, name: str) -> list[Any]:
        """Return a list of anything."""
        values: list[Any] = self.get(name, "a list", list)
        return values

    def objects(self, name: str) -> list[Document]:
        """Return a list of objects."""
        return [
            Document(_object(value, self.file, where := f"{self._path(name)}[{number}]"), self.file, where)
            for number, value in enumerate(self.items(name))
        ]

    def inside(self, key: str) -> Document:
        """Return the fields of an object within this one."""
        return Document(self.get(key, "an object", dict), self.file, self._path(key))

    def fault(self, expected: str, key: str = "", value: object = None) -> InputError:
        """Make the error for a field."""
        value = self.found.get(key) if value is None else value
        shown = value if value is None or isinstance(value, str) else json.dumps(value, default=str)[:200]
        return InputError.of(expected, file=self.file, column=self._path(key), value=shown)

    def _path(self, name: str) -> str:
        return f"{self.index}.{name}" if self.index else name


def sign(kind: str, version: int, body: Mapping[str, object], key: PrivateKey) -> Signed:
    """Sign what a document says."""
    return Signed(kind, version, body, key.public, key.sign(_signed_bytes(kind, version, body)))


def read_signed(path: Path | str, kind: str, version: int) -> Signed:
    """Read a document from a file and check its signature."""
    path = check_is_file(path)
    if path.stat().st_size > LARGEST_DOCUMENT:
        raise InputError.of(Text("at most {n:,} bytes", n=LARGEST_DOCUMENT), file=path, value=path.stat().st_size)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError.of("text in UTF-8", file=path) from None
    return parse_signed(text, kind, version, file=str(path))


def parse_signed(text: str, kind: str, version: int, *, file: str | None = None) -> Signed:
    """Read a document from text; PromiseBroken if it was changed after it was signed."""
    shape = Document(_object(read_json(text, file=file), file, ""), file)
    shape.choice("tokumei", [kind])
    if shape.whole("version", least=1) != version:
        raise shape.fault(f"version {version}, the only one that this Tokumei reads", "version")
    signature = shape.inside("signature")
    signed = Signed(
        kind, version, shape.inside("body").found, signature.text("key", most=100), signature.text("value", most=200)
    )
    signature.finish()
    shape.finish()
    if not is_signed_by(signed.key, _signed_bytes(kind, version, signed.body), signed.signature):
        raise PromiseBroken(
            Text(
                "{document}: the signature does not fit; the {sort} was changed after it was signed.",
                document=file or kind,
                sort=kind,
            )
        )
    return signed


def read_json(text: str, *, file: str | None = None) -> Any:
    """Read JSON without what only Python allows: names that repeat, and numbers that are none."""

    def once(pairs: list[tuple[str, object]]) -> Json:
        names = dict(pairs)
        if len(names) < len(pairs):
            twice = next(name for index, (name, _) in enumerate(pairs) if name in dict(pairs[:index]))
            raise InputError.of("each name once", file=file, value=twice)
        return names

    def no_number(name: str) -> object:
        raise InputError.of("a finite number", file=file, value=name)

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=no_number)
    except json.JSONDecodeError as error:
        raise InputError.of(Text("JSON ({why})", why=error.msg), file=file, line=error.lineno) from None
    except (RecursionError, ValueError):
        raise InputError.of("JSON of sensible depth, with numbers of sensible length", file=file) from None


def _object(value: object, file: str | None, index: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise InputError.of("an object", file=file, column=index or None)
    return value


def _signed_bytes(kind: str, version: int, body: Mapping[str, object]) -> bytes:
    return canonical({"tokumei": kind, "version": version, "body": body}).encode()


@dataclass(frozen=True)
class Criterion:
    """What a release for one kind of recipient must hold: every class at least k rows."""

    name: str
    k: int
    source: str = "the provider's own"

    def __post_init__(self) -> None:
        if self.k < 2:
            raise InputError.of("a k of 2 or more", column=self.name, value=self.k)
        if not self.name or len(self.name) > 100 or not self.name.isprintable():
            raise InputError.of("a name of 1 to 100 letters", column="criterion", value=self.name)

    @classmethod
    def of_risk(cls, name: str, risk: float) -> Criterion:
        """Make the criterion that allows a risk of finding somebody again."""
        if not 0 < risk <= 0.5:
            raise InputError.of("a risk above 0 and at most 0.5", column=name, value=risk)
        # A hair less, lest 1/0.1 become 11 by rounding.
        return cls(name, math.ceil(1 / risk - 1e-9), f"the provider's own, risk {risk:g}")

    def as_dict(self) -> dict[str, object]:
        """Return the criterion for JSON."""
        return {"name": self.name, "k": self.k, "source": self.source}


def read_criterion(text: str) -> Criterion:
    """Read a criterion as typed: a preset's name, NAME=K or NAME=RISK."""
    name, mark, value = text.partition("=")
    if not mark:
        if name not in PRESETS:
            raise UnknownPart("criterion", name, PRESETS)
        preset = PRESETS[name]
        return Criterion(name, preset.k, preset.source)
    if value.isdecimal():
        return Criterion(name.strip(), int(value))
    try:
        return Criterion.of_risk(name.strip(), float(value))
    except ValueError:
        raise InputError.of("NAME=K or NAME=RISK", column="criterion", value=text) from None


def criterion_of(fields: Document) -> Criterion:
    """Read a criterion from a document."""
    read = Criterion(
        fields.text("name", most=100), fields.whole("k", least=2, most=10**9), fields.text("source", most=500)
    )
    fields.finish()
    return read


def check_distinct(criteria: Iterable[Criterion]) -> tuple[Criterion, ...]:
    """Return the criteria, strictest first; two of one name are refused."""
    listed = sorted(criteria, key=lambda one: (-one.k, one.name))
    names = [one.name for one in listed]
    if not listed or len(set(names)) < len(names):
        raise InputError.of("at least one criterion, each name once", column="criteria", value=", ".join(names))
    return tuple(listed)
