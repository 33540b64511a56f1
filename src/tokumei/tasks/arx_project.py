"""Projects of ARX (`.deid`): the table, the roles of its columns, their hierarchies, and what was asked for.

A project is a zip. Read are these members; those of Java's own serialization are not.

| member | holds |
|---|---|
| `project.xml` | the delimiter of its CSV files |
| `data/input.csv` | the original |
| `output/definition.xml`, or `input/…` where nothing was released | the role, type and hierarchy of each column |
| `output/config.xml`, or `input/…` | the privacy models, and the share of rows that might be suppressed |
| `…/hierarchies/COLUMN.csv` | the hierarchy of a column |
"""

from __future__ import annotations

import re
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TypeVar

# What could be dangerous in XML starts with a document type, which `_Elements` refuses.
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.data.files.csv import check_delimiter, read_csv
from tokumei.data.files.disk import BLOCK, UNPACK_LIMIT, check_is_file
from tokumei.data.files.text_bytes import to_utf8
from tokumei.data.table import Table
from tokumei.hierarchies.files import read_hierarchy
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.tasks.preparing import is_of_numbers
from tokumei.tasks.request import Level, ReleaseRequest, Requirements

R = TypeVar("R", bound=Requirements)

DATA, PROJECT = "data/input.csv", "project.xml"
# What made the release stands first.
SIDES = ("output/", "input/")
MOST_MEMBERS = 20_000
XML_LIMIT, HIERARCHY_LIMIT = 16 * 1024**2, 256 * 1024**2
ROLES = {
    "IDENTIFYING_ATTRIBUTE": "identifier",
    "QUASI_IDENTIFYING_ATTRIBUTE": "quasi-identifier",
    "SENSITIVE_ATTRIBUTE": "sensitive",
    "INSENSITIVE_ATTRIBUTE": "insensitive",
}
OF_NUMBERS = ("Integer", "Decimal")
# How ARX writes a missing value.
MISSING = "NULL"
NUMBER = r"([0-9.]+(?:E-?[0-9]+)?)"
ATTRIBUTE = r".* for attribute '(.*)'"
K_ANONYMITY = re.compile(r"\(?([0-9]+)\)?-anonymity")
# The privacy models of a sensitive column that can be checked here, and the number that the check takes.
MODELS: Mapping[str, tuple[str, Callable[[re.Match[str]], Level]]] = {
    rf"distinct-{NUMBER}-diversity{ATTRIBUTE}": ("l_diversity", lambda found: found[1]),
    rf"(?:shannon-)?entropy-{NUMBER}-diversity{ATTRIBUTE}": ("l_diversity", lambda found: f"{found[1]}:entropy"),
    rf"recursive-\({NUMBER}, ?{NUMBER}\)-diversity{ATTRIBUTE}": (
        "l_diversity",
        lambda found: f"{found[2]}:recursive:{found[1]}",
    ),
    rf"{NUMBER}-closeness with (equal|ordered|hierarchical){ATTRIBUTE}": (
        "t_closeness",
        lambda found: f"{found[1]}:{found[2]}",
    ),
    rf"{NUMBER}-disclosure privacy{ATTRIBUTE}": ("delta_disclosure", lambda found: found[1]),
    rf"(basic|enhanced)-{NUMBER}-likeness{ATTRIBUTE}": ("beta_likeness", lambda found: f"{found[2]}:{found[1]}"),
}


@dataclass(frozen=True)
class ArxProject:
    """What a project of ARX says of a table and its release.

    data: the original; None where the project holds no table.
    roles: the role of each column, in their order.
    numeric: the columns that ARX reads as numbers.
    asked: the privacy models, as `tk.audit` takes them.
    not_checked: the privacy models that are not among them, in ARX's words.
    suppress: the share of rows that ARX might suppress.
    """

    file: Path
    data: pl.DataFrame | None
    roles: Mapping[str, str]
    hierarchies: Mapping[str, Hierarchy]
    numeric: Sequence[str] = ()
    asked: Requirements = field(default_factory=Requirements)
    not_checked: Sequence[str] = ()
    suppress: float | None = None

    def columns_of(self, role: str) -> list[str]:
        """Return the columns of a role."""
        return [name for name, own in self.roles.items() if own == role]

    def requirements(self, given: R) -> R:
        """Return what was given, with what the project asks for where nothing was."""
        plain = Requirements()
        names = [one.name for one in fields(Requirements)]
        more = {name: getattr(self.asked, name) for name in names if getattr(given, name) == getattr(plain, name)}
        if isinstance(given, ReleaseRequest) and given.suppress is None:
            more["suppress"] = self.suppress
        return replace(given, **more)

    def original(self, qi: Sequence[str] = (), sensitive: Sequence[str] = ()) -> Table:
        """Return the table of the project, in its roles but for those that are given."""
        if self.data is None:
            raise InputError.of("a project that holds its table, or --original FILE", file=f"{self.file}: {DATA}")
        known = list(qi) or self.columns_of("quasi-identifier")
        wanted = list(sensitive) or [name for name in self.columns_of("sensitive") if name not in known]
        numbers = [name for name in known if name in self.numeric and is_of_numbers(self.data[name])]
        trees = dict(self.hierarchies) or None
        return Table(self.data, known, wanted, hierarchies=trees, numeric=numbers, name=str(self.file))


def read_arx_project(file: Path | str) -> ArxProject:
    """Read a project of ARX; nothing is unpacked to where it says, and no more than fits."""
    path = check_is_file(file)
    try:
        with zipfile.ZipFile(path) as archive:
            members = _Members(path, archive)
            side = next((one for one in SIDES if f"{one}definition.xml" in members.names), SIDES[-1])
            return _project(members, side)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        raise InputError.of("a project of ARX: a whole zip file without a password", file=path) from None


def _project(members: _Members, side: str) -> ArxProject:
    delimiter = members.xml(PROJECT).findtext("separator") or ";"
    with members.told_apart(PROJECT):
        check_delimiter(delimiter)
    definition = f"{side}definition.xml"
    roles: dict[str, str] = {}
    hierarchies: dict[str, Hierarchy] = {}
    numeric = []
    # So it is spelled.
    for one in members.xml(definition).iter("assigment"):
        name, kind = one.findtext("name") or "", one.findtext("type") or ""
        if not name or name in roles:
            raise InputError.of("a name for each attribute, each once", file=members.place(definition), value=name)
        if kind not in ROLES:
            expected = f"one of {', '.join(ROLES)}"
            raise InputError.of(expected, file=members.place(definition), column=name, value=kind)
        roles[name] = ROLES[kind]
        if one.findtext("datatype") in OF_NUMBERS:
            numeric.append(name)
        # ARX 3.4.1 refers to hierarchies that it did not write.
        member = f"{side}{one.findtext('ref') or f'hierarchies/{name}.csv'}"
        if roles[name] in ("quasi-identifier", "sensitive") and member in members.names:
            with members.unpacked(member, HIERARCHY_LIMIT) as copy:
                tree = read_hierarchy(copy, name, delimiter=delimiter, may_cross=True)
            hierarchies[name] = _of_numbers(tree) if name in numeric else tree
    if not roles:
        raise InputError.of("an attribute or more", file=members.place(definition))
    data = None
    if DATA in members.names:
        with members.unpacked(DATA, UNPACK_LIMIT) as copy:
            data = read_csv(copy, delimiter=delimiter, encoding=None, finds_missing=True).frame
        for name in roles:
            if name not in data.columns:
                raise InputError.of(f"the column {name}, which {definition} names", file=members.place(DATA))
    config = members.xml(f"{side}config.xml")
    asked, not_checked = _asked([one.text or "" for one in config.iter("criterion")], roles)
    suppress = config.findtext("relativeMaxOutliers")
    try:
        share = None if suppress is None else float(suppress)
    except ValueError:
        raise InputError.of("a share", file=members.place(f"{side}config.xml"), value=suppress) from None
    return ArxProject(members.path, data, roles, hierarchies, numeric, asked, not_checked, share)


def _of_numbers(tree: Hierarchy) -> Hierarchy:
    """Leave out the leaf that ARX has for a missing number."""
    kept = [at for at, leaf in enumerate(tree.leaves) if leaf != MISSING]
    if len(kept) in (0, len(tree.leaves)):
        return tree
    labels = [tree.labels_at(level) for level in range(len(tree.levels))]
    return Hierarchy.of_levels(tree.attribute, [[own[at] for at in kept] for own in labels])


def _asked(models: Sequence[str], roles: Mapping[str, str]) -> tuple[Requirements, list[str]]:
    """Return the privacy models that can be checked, and those that cannot, in ARX's words."""
    ks: list[int] = []
    by_column: dict[str, dict[str, Level | list[Level]]] = {}
    others = []
    for model in models:
        if found := K_ANONYMITY.fullmatch(model):
            ks.append(int(found[1]))
            continue
        for form, (name, level) in MODELS.items():
            found = re.fullmatch(form, model)
            column = "" if found is None else str(found[found.re.groups])
            if found is not None and column in roles:
                listed = by_column.setdefault(name, {}).setdefault(column, [])
                listed.append(level(found))  # type: ignore[union-attr]
                break
        else:
            others.append(model)
    return Requirements(k=max(ks, default=None), **by_column), others  # type: ignore[arg-type]


class _Elements(TreeBuilder):
    """Elements of XML without a document type: it could declare entities that grow, or that are other files."""

    def doctype(self, *_: object) -> None:
        """Refuse a document type before anything in it is read."""
        raise InputError.of("XML without a document type")


class _Members:
    """The members of a project, each read by its whole name up to a limit, with errors that name it."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self.path, self.archive = path, archive
        listed = [member.filename for member in archive.infolist()]
        if len(listed) > MOST_MEMBERS:
            raise InputError.of(Text("at most {n:,} members", n=MOST_MEMBERS), file=path, value=f"{len(listed):,}")
        self.names = frozenset(listed)
        if len(self.names) < len(listed):
            twice = next(name for name in listed if listed.count(name) > 1)
            raise InputError.of("each member once", file=path, value=twice[:100])

    def place(self, member: str) -> str:
        """Name a member in a message."""
        return f"{self.path}: {member}"

    @contextmanager
    def told_apart(self, member: str) -> Iterator[None]:
        """Put the project and the member into errors of what is read from it."""
        try:
            yield
        except InputError as error:
            faults = [replace(one, file=self.place(member)) for one in error.faults]
            raise InputError(faults, error.n_faults) from None

    def blocks(self, member: str, limit: int) -> Iterator[bytes]:
        """Read a member; how large it says it is may be a lie, so that what comes out is counted."""
        if member not in self.names:
            raise InputError.of("a project of ARX, which has this member", file=self.place(member))
        n_bytes = 0
        with self.archive.open(member) as handle:
            while block := handle.read(BLOCK):
                n_bytes += len(block)
                if n_bytes > limit:
                    raise InputError.of(Text("at most {n:,} bytes when unpacked", n=limit), file=self.place(member))
                yield block

    @contextmanager
    def unpacked(self, member: str, limit: int) -> Iterator[Path]:
        """Unpack a member under a name of our own, and delete it afterwards."""
        with tempfile.TemporaryDirectory() as folder, self.told_apart(member):
            copy = Path(folder) / "member.csv"
            with copy.open("wb") as handle:
                for block in self.blocks(member, limit):
                    handle.write(block)
            yield copy

    def xml(self, member: str) -> Element:
        """Read a member as XML."""
        with self.told_apart(member):
            text = to_utf8(b"".join(self.blocks(member, XML_LIMIT)), self.path, None).decode()
            parser = XMLParser(target=_Elements())  # noqa: S314 - Without a document type.
            try:
                parser.feed(text)
                return parser.close()
            except ParseError as error:
                raise InputError.of(Text("well-formed XML ({why})", why=str(error))) from None
