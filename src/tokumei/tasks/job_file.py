"""A job file: from raw data to a dossier in one TOML file, every slip told by its line.

`table_of` reads the table that a job is about, with its roles and a hierarchy for each column that needs one. Nothing
here loads an attack, so that whoever only looks at a table need not wait for one.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import polars as pl

from tokumei.attacks.registry import ALL, DISCLOSURE_ATTACKS, HISTORY_ATTACKS
from tokumei.attacks.table_threats import TABLE_THREATS
from tokumei.core.errors import InputError, nearest
from tokumei.core.registry import Registry, part_options
from tokumei.core.seeds import LARGEST_SEED
from tokumei.core.text import Json, JsonView, choice_of
from tokumei.data.context import NOT_STATED, QUESTIONS, ReleaseContext, expected, fits
from tokumei.data.files.formats import read_frame
from tokumei.data.files.reading import Reading
from tokumei.data.files.toml import Section, Where, make_part, parse_toml, read_toml
from tokumei.data.table import Role, Table
from tokumei.hierarchies.files import read_hierarchy
from tokumei.hierarchies.hierarchy import BUILDERS, Hierarchy
from tokumei.measures.registry import HISTORY_UTILITIES, TABLE_UTILITIES
from tokumei.methods.pipeline import pipeline_of
from tokumei.methods.registry import HISTORY_ANONYMIZERS, TABLE_ANONYMIZERS
from tokumei.tasks.preparing import PSEUDONYMS, WAYS, Preparation, check_preparations, made_hierarchy, prepare
from tokumei.tasks.request import (
    OF_COLUMNS,
    OF_POPULATION,
    Kind,
    ReleaseRequest,
    Requirements,
    request_fields,
    role_fields,
)

KINDS = ("table", "history")
# What a folder of results has: the secrets, and the seed among them.
SECRET = "secret"  # noqa: S105 - a folder.
JOB, SEED = "job.toml", "seed.json"
ROLES = ("identifier", "quasi-identifier", "sensitive", "person", "household", "other")
SECTIONS = (
    "job",
    "input",
    "prepare",
    "roles",
    "hierarchies",
    "requirements",
    "method",
    "threat",
    "measures",
    "bound",
    "context",
    "output",
)
# What is asked of the rows that are written, which stands in [output].
IN_OUTPUT = ("keep", "keep_anyway", "keep_order", "reproducible")
MOST = 1_000_000_000
# Several methods of a history, one after the other.
PIPELINE = "pipeline"


@dataclass(frozen=True)
class Threat:
    """Somebody who may attack: the columns they know, how many people they know, and how they go about it.

    preset: of a table, who attacks, as `tokumei attack table --threat` names them; all their attacks if none are named.
    """

    name: str
    knows: tuple[str, ...]
    share: float
    attacks: tuple[str, ...]
    preset: str = ""


@dataclass(frozen=True)
class Bound:
    """A number that must not be passed, and the line of the file that says so."""

    of: str
    least: float | None
    most: float | None
    line: int | None

    def holds(self, value: float) -> bool:
        """Whether a number lies within."""
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)


@dataclass(frozen=True)
class Job:
    r"""What is to be done with a file, from its columns to what must hold of the release.

    >>> import tokumei as tk
    >>> tk.write_frame(tk.Table({"age": ["31", "31", "52", "52"]}).frame, "people.csv")
    >>> text = '[input]\nfile = "people.csv"\n[roles]\nage = "quasi-identifier"\n[requirements]\nk = 2\n'
    >>> job = tk.Job.of(text)
    >>> tk.run(job, "dossier").holds
    True
    """

    where: Where
    # Where the files that it names lie.
    folder: Path
    name: str
    kind: str
    file: Path
    reading: Reading
    roles: Mapping[str, str] = field(default_factory=dict)
    # What is done to single columns before anything else, in this order.
    preparations: Sequence[Preparation] = ()
    # For each column a file, or a builder by name with its options.
    hierarchies: JsonView = field(default_factory=dict)
    requirements: JsonView = field(default_factory=dict)
    methods: Sequence[tuple[str, JsonView]] = ()
    threats: Sequence[Threat] = ()
    measures: tuple[str, ...] | None = None
    bounds: Sequence[Bound] = ()
    keep: Sequence[str] = ()
    keep_anyway: bool | Sequence[str] = False
    keep_order: bool = False
    reproducible: bool = False
    # The key by which the dossier is signed, if it is.
    sign: Path | None = None
    seed: int | None = None
    # How many people the rows are a sample of, if they are.
    population_size: int | None = None
    # The column that says how many people each row stands for, in a survey.
    weights: str | None = None
    reviewer: str | None = None
    expires: str | None = None
    # The dossier of the release before this one, which it is compared with.
    earlier: Path | None = None
    # What only people know: who receives the release, and what follows from that.
    context: ReleaseContext = NOT_STATED

    def __new__(cls, *given: object, **named: object) -> Self:
        """Refuse a frame and its roles: a job is about a file, so that what was done can be held against it."""
        unknown = [name for name in named if name not in cls.__dataclass_fields__]
        if unknown or (given and not isinstance(given[0], Where)):
            expected = "a job file, as tk.Job.read('job.toml'), or its text, as tk.Job.of(text)"
            hint = "; a frame is anonymized by tk.anonymize(df, qi=…)"
            raise InputError.of(expected + hint, value=unknown[0] if unknown else type(given[0]).__name__)
        return super().__new__(cls)

    @classmethod
    def read(cls, path: Path | str) -> Job:
        """Read a job file; files that it names lie beside it."""
        return _job(*read_toml(Path(path)), Path(path).parent)

    @classmethod
    def of(cls, text: str, *, folder: Path | str = ".") -> Job:
        """Read the text of a job file; files that it names lie in the folder."""
        return _job(*parse_toml(text, "job"), Path(folder))

    @property
    def prepared(self) -> list[dict[str, str]]:
        """What is done to which column first, as a dossier tells it; where the keys lie is not in it."""
        return [{"column": one.column, "by": one.by} for one in self.preparations]

    def columns_with(self, role: str) -> list[str]:
        """Return the columns of a role."""
        return [name for name, found in self.roles.items() if found == role]

    def request(self, method: str, options: Mapping[str, object], seed: int) -> ReleaseRequest:
        """Return what is asked of the release of a table by one of the methods."""
        output = {name: getattr(self, name) for name in IN_OUTPUT}
        if self.keep_anyway is not True:
            # Whoever asks for pseudonyms means them to be released; the dossier says that they lead to people.
            made = [one.column for one in self.preparations if one.by == PSEUDONYMS and one.column in self.keep]
            output["keep_anyway"] = list(dict.fromkeys([*(self.keep_anyway or ()), *made]))
        spends = getattr(TABLE_ANONYMIZERS.get(method), "spends_budget", False)
        # Noise that a promise rests on must follow from nothing that is kept.
        own = None if spends and not self.reproducible else seed
        return ReleaseRequest(**self.requirements, **self.whose, **output, method=method, options=options, seed=own)

    @property
    def whose(self) -> Json:
        """The columns that tell whose a row is, and whose household it is of, as a request names them."""
        return {role.value: next(iter(self.columns_with(role)), None) for role in (Role.PERSON, Role.HOUSEHOLD)}

    def promised(self) -> Requirements:
        """Return what every class of the release must hold, but for what is counted in a population without labels."""
        fields = [*request_fields(Requirements), *role_fields(Requirements)]
        own = {one.name for one in fields} - {"population", *OF_POPULATION}
        asked = {**self.requirements, **self.whose}
        return Requirements(**{name: value for name, value in asked.items() if name in own})


def _job(where: Where, found: JsonView, folder: Path) -> Job:
    for name, value in found.items():
        if name not in SECTIONS:
            raise where.fault(
                f"a section: {', '.join(SECTIONS)}", name, "", value if not isinstance(value, dict) else name
            )
        wanted = list if name in ("prepare", "method", "threat", "bound") else dict
        if not isinstance(value, wanted):
            raise where.fault(f"[[{name}]]" if wanted is list else f"[{name}]", name)
    general = Section(where, "job", found.get("job", {}))
    kind = general.choice("kind", KINDS, "table")
    source = Section(where, "input", found.get("input", {}))
    file = folder / source.text("file", expected="the file to read")
    made = Job(
        where=where,
        folder=folder,
        name=general.text("name", file.stem),
        kind=kind,
        file=file,
        reading=_reading(source),
        roles=_roles(where, found, kind),
        preparations=[_preparation(one, folder) for one in _listed(where, found, "prepare")],
        hierarchies=_hierarchies(where, found, folder),
        requirements=_requirements(where, found, kind, folder),
        methods=_methods(where, found, kind, folder),
        threats=_threats(where, found, kind),
        measures=_measures(where, found, kind),
        bounds=[_bound(section) for section in _listed(where, found, "bound")],
        **_output(where, found, folder),
        seed=general.whole("seed", 0, LARGEST_SEED, None) if "seed" in general.found else None,
        population_size=general.whole("population_size", 0, 100 * MOST, 0) or None,
        weights=general.maybe_text("weights", "the column that says how many people each row stands for"),
        reviewer=general.maybe_text("reviewer", "a name"),
        expires=general.maybe_text("expires", "a day"),
        earlier=_earlier(general, folder),
        context=_context(where, found),
    )
    general.finish()
    _check_columns_are_declared(made)
    return made


def _listed(where: Where, found: JsonView, name: str) -> list[Section]:
    return [Section(where, name, one, number) for number, one in enumerate(found.get(name, []), start=1)]


def _reading(source: Section) -> Reading:
    columns = source.inside("columns")
    texts: Json = {
        key: source.maybe_text(key, "text") for key in ("encoding", "delimiter", "sheet", "date_format", "format")
    }
    reading = Reading(
        **texts,
        skip_rows=source.whole("skip_rows", 0, MOST, 0),
        null_values=source.names("null_values", []),
        has_header=source.flag("has_header", True),
        trim=source.flag("trim", False),
        rename=source.flag("rename", False),
        codes=source.flag("codes", False),
        columns={key: columns.text(key) for key in columns.found},
    )
    source.finish()
    return reading


def _roles(where: Where, found: JsonView, kind: str) -> dict[str, str]:
    section = Section(where, "roles", found.get("roles", {}))
    if kind == "history":
        section.finish()
        return {}
    roles = {column: section.choice(column, ROLES) for column in section.found}
    for role in (Role.PERSON, Role.HOUSEHOLD):
        columns = [column for column, found in roles.items() if found == role]
        if len(columns) > 1:
            raise section.fault(f'one column that is a "{role}"', columns[1], role)
    if "quasi-identifier" not in roles.values():
        raise section.fault('a column that is a "quasi-identifier", or more')
    return roles


def _preparation(section: Section, folder: Path) -> Preparation:
    by = section.choice("by", WAYS)
    needs = {"pseudonyms": ("key",), "shift-dates": ("key", "person", "days"), "top-code": ("at",), "mask": ()}
    given: dict[str, Any] = {}
    for name in needs.get(by, ("base",)):
        if name == "key":
            given[name] = folder / section.text("key", expected="the file of a key")
        elif name == "person":
            given[name] = section.text("person", expected="the column that says whose each row is")
        elif name == "days":
            given[name] = section.whole("days", 1, 36_500)
        else:
            given[name] = section.number(name, -1e15 if name == "at" else 1e-9, 1e15)
    made = Preparation(section.text("column", expected="a column"), by, **given)
    section.finish()
    return made


def _hierarchies(where: Where, found: JsonView, folder: Path) -> Json:
    section = Section(where, "hierarchies", found.get("hierarchies", {}))
    made: dict[str, Any] = {}
    for column in section.found:
        expected = 'a file, or a builder as { builder = "prefix" }'
        given = section.get(column, expected, (str, dict))
        if isinstance(given, str):
            made[column] = folder / given
            if not made[column].is_file():
                raise section.fault("a hierarchy file that exists", column, given)
            continue
        options = dict(given)
        if not isinstance(options.get("builder"), str):
            raise section.fault(expected, column, given)
        made[column] = make_part(section, BUILDERS, options.pop("builder"), options, key=column, inside=column)
    return made


def _requirements(where: Where, found: JsonView, kind: str, folder: Path) -> Json:
    """Read what is asked of a release: the fields of its request that no other section has."""
    section = Section(where, "requirements", found.get("requirements", {}))
    if kind == "history":
        section.finish()
        return {}
    asked = _fields(section, [one.name for one in request_fields(ReleaseRequest) if one.name not in IN_OUTPUT], folder)
    section.finish()
    return asked


def _fields(section: Section, names: Sequence[str], folder: Path) -> Json:
    """Read the fields of a request that stand in a section."""
    section.asked |= set(names)
    kinds = {one.name: one.metadata["kind"] for one in request_fields(ReleaseRequest)}
    return {name: _field(section, name, kinds[name], folder) for name in names if name in section.found}


def _field(section: Section, name: str, kind: Kind, folder: Path) -> Any:
    """Read one field of a request as a TOML file has it."""
    if kind == Kind.WHOLE:
        return section.whole(name, 1, MOST)
    if kind == Kind.SHARE:
        return section.number(name, 0, 1)
    if kind == Kind.FLAG:
        return section.flag(name, False)
    if kind == Kind.FLAG_OR_NAMES and isinstance(section.found.get(name), bool):
        return section.flag(name, False)
    if kind in (Kind.NAMES, Kind.FLAG_OR_NAMES):
        return section.names(name)
    if kind in (Kind.LEVELS, Kind.WEIGHTS):
        return dict(section.get(name, f"columns and numbers, as {name} = {{ illness = 2 }}", dict))
    text = section.text(name)
    return str(folder / text) if kind == Kind.FILE else text


def _methods(where: Where, found: Mapping[str, object], kind: str, folder: Path) -> list[tuple[str, JsonView]]:
    registry: Registry[Any] = TABLE_ANONYMIZERS if kind == "table" else HISTORY_ANONYMIZERS
    made: list[tuple[str, JsonView]] = []
    for section in _listed(where, found, "method"):
        name = section.text("name", expected=f"a method: {', '.join(registry.names())}")
        if name == PIPELINE and kind == "history":
            made.append((name, _steps(section)))
            continue
        options = {key: value for key, value in section.found.items() if key != "name"}
        make_part(section, registry, name, options, kind="method", inside=None)
        # Steps of histories name files from where the job is run.
        is_beside = kind == "table" or getattr(registry.get(name), "draws_all_rows", False)
        files = [one.name for one in part_options(registry.get(name)) if one.is_file] if is_beside else []
        named = {key: str(folder / value) for key, value in options.items() if key in files and isinstance(value, str)}
        made.append((name, options | named))
    if not made and kind == "history":
        raise where.fault('a [[method]] or more, as name = "pseudonyms"', "method")
    return made or [("optimal", {})]


def _steps(section: Section) -> Json:
    """Read several methods that follow each other: step = [{ method = "perturb" }, { method = "pseudonyms" }]."""
    given = {key: value for key, value in section.found.items() if key != "name"}
    try:
        pipeline_of(given)
    except InputError as error:
        raise section.fault(error.faults[0].expected, "step", error.faults[0].value) from None
    return given


def _threats(where: Where, found: Mapping[str, object], kind: str) -> list[Threat]:
    known: Registry[Any] = DISCLOSURE_ATTACKS if kind == "table" else HISTORY_ATTACKS
    made = []
    for section in _listed(where, found, "threat"):
        knows = section.names("knows", [])
        share = section.number("share", 0, 1, 1.0 if kind == "table" else 0.25)
        preset = section.text("preset", "") if kind == "table" else ""
        if preset and (preset not in TABLE_THREATS or TABLE_THREATS[preset].lacks(has_population=False)):
            usable = [one for one, threat in TABLE_THREATS.items() if not threat.lacks(has_population=False)]
            raise section.fault(choice_of(usable), "preset", preset)
        usual = [ALL] if preset else ["record-linkage" if kind == "table" else "linkage"]
        attacks = section.names("attacks", usual, known=[*known.names(), *usual])
        made.append(Threat(section.text("name"), knows, share, attacks, preset))
        section.finish()
        if [one.name for one in made].count(made[-1].name) > 1:
            raise section.fault("each name once", "name", made[-1].name)
    return made


def _measures(where: Where, found: JsonView, kind: str) -> tuple[str, ...] | None:
    section = Section(where, "measures", found.get("measures", {}))
    known: Registry[Any] = TABLE_UTILITIES if kind == "table" else HISTORY_UTILITIES
    names = section.names("names", known=known.names()) if "names" in section.found else None
    section.asked.add("names")
    section.finish()
    return names


def _bound(section: Section) -> Bound:
    of = section.text("of", expected="what is bounded, as k, loss, suppressed or 'prosecutor-risk'")
    ends = {key: section.number(key, -1e18, 1e18) for key in ("least", "most") if key in section.found}
    section.asked |= {"least", "most"}
    section.finish()
    if not ends:
        raise section.fault("least or most, as most = 0.2", "of", of)
    line = section.where.line("bound", "of", section.nth)
    return Bound(of, ends.get("least"), ends.get("most"), line)


def _earlier(general: Section, folder: Path) -> Path | None:
    name = general.maybe_text("earlier", "the dossier of the release before, as tokumei run writes it")
    if name is not None and not (folder / name).is_file():
        raise general.fault("a dossier that exists", "earlier", name)
    if name is not None and general.found.get("kind") == "history":
        raise general.fault("a job on a table: histories are not compared with the release before", "earlier", name)
    return None if name is None else folder / name


def _context(where: Where, found: JsonView) -> ReleaseContext:
    """Read what people state of the release; a key that is left out is not stated."""
    section = Section(where, "context", found.get("context", {}))
    given: dict[str, Any] = {}
    for name, question in QUESTIONS.items():
        value = section.get(name, expected(question), (str, int, float, dt.date), None)
        # TOML has days of its own.
        value = value.isoformat() if isinstance(value, dt.date) else value
        if value is not None and not fits(question, value):
            raise section.fault(expected(question), name, value)
        given[name] = value
    section.finish()
    return ReleaseContext(**given)


def _output(where: Where, found: JsonView, folder: Path) -> Json:
    section = Section(where, "output", found.get("output", {}))
    made = _fields(section, IN_OUTPUT, folder)
    key = section.maybe_text("sign", "the file of a key, as tokumei exchange keys writes it")
    if key is not None:
        made["sign"] = folder / key
        if not made["sign"].is_file():
            raise section.fault("the file of a key that exists", "sign", key)
    section.finish()
    return made


def _check_columns_are_declared(job: Job) -> None:
    """Refuse columns that have no role: what a file says nothing about is not released, and so cannot be asked for."""
    if job.kind == "history":
        return
    asked = {
        "job": [] if job.weights is None else [job.weights],
        "hierarchies": list(job.hierarchies),
        "output": list(job.keep),
        "prepare": [one.column for one in job.preparations],
        "requirements": [column for name in OF_COLUMNS for column in job.requirements.get(name, {})],
    }
    for section, columns in asked.items():
        for column in columns:
            if column not in job.roles:
                raise job.where.fault("a column that has a role in [roles]", section, column, column)
    for number, threat in enumerate(job.threats, start=1):
        for column in threat.knows:
            if column not in job.roles:
                raise job.where.fault("columns that have a role in [roles]", "threat", "knows", column, number)
    if job.weights is not None and job.roles[job.weights] in ("identifier", "quasi-identifier"):
        expected = "sampling weights in a column of another role, such as 'other'"
        raise job.where.fault(expected, "job", "weights", job.weights)
    for column in job.keep:
        if job.roles[column] == "identifier":
            raise InputError.of("no identifier among the columns to keep", file=job.where.file, column=column)


def check_columns(job: Job, present: Sequence[str]) -> None:
    """Refuse a job whose columns are not in its file."""
    for column in job.roles:
        if column not in present:
            near = nearest(column, present)
            expected = f"a column of {job.file.name}: {repr(near) if near else ', '.join(present)}"
            raise job.where.fault(expected, "roles", column, column)
    check_preparations(present, job.preparations, job.file.name)


def table_of(job: Job, frame: pl.DataFrame | None = None) -> tuple[Table, dict[str, str]]:
    """Return the original without identifiers and columns without a role, and a description of each made hierarchy.

    frame: what was read of the file already, as the job says that it is read.
    """
    if frame is None:
        frame = read_frame(job.file, job.reading)
    check_columns(job, frame.columns)
    used = [name for name, role in job.roles.items() if role != "identifier"]
    frame = prepare(frame, job.preparations, job.file.name)
    frame = frame.select(name for name in frame.columns if name in used)
    qi, sensitive = job.columns_with("quasi-identifier"), job.columns_with("sensitive")
    table = Table(frame, qi, sensitive, **job.whose, name=job.file.name)
    made = {name: _hierarchy(job, table, name) for name in dict.fromkeys([*qi, *job.hierarchies]) if name in used}
    table.hierarchies = {name: hierarchy for name, (hierarchy, _said) in made.items()}
    return table, {name: said for name, (_hierarchy, said) in made.items() if said}


def _hierarchy(job: Job, table: Table, column: str) -> tuple[Hierarchy, str]:
    given = job.hierarchies.get(column)
    if given is None:
        return made_hierarchy(column, table.frame[column])
    if isinstance(given, Path):
        return read_hierarchy(given, column), ""
    try:
        built: Hierarchy = given.build(column, table.frame[column])
    except InputError as error:
        raise job.where.fault(str(error), "hierarchies", column) from None
    return built, ""
