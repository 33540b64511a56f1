"""What is asked of a release of a table: one request, from which every door makes what it offers.

The fields of `Requirements` and `ReleaseRequest` are the keywords of `tk.anonymize`, the options of the commands, the
keys of a job file and the fields of the workbench's form. The own options of methods, attacks and measures follow, as
keywords of the public functions: which part takes which is said by `tokumei parts`, and one from another package takes
its options as fields of the part itself. A test holds these against what the registries find.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict, cast

from tokumei.core.errors import InputError, word_meant
from tokumei.core.text import Json, Text, choice_of
from tokumei.data.table import Unit

if TYPE_CHECKING:
    from tokumei.data.table import Table
    from tokumei.measures.losses import Loss
    from tokumei.measures.requirement import Requirement
    from tokumei.methods.registry import TableAnonymizer


# Whose shares count where rows are left out, and the other words that may follow a number; the first is the default.
WHOSE = ("both", "original", "release")
DIVERSITIES = ("distinct", "entropy", "recursive:C")
DISTANCES = ("equal", "ordered", "hierarchical")
LIKENESS = ("basic", "enhanced")
PRESETS = ("cheo-trusted-recipient", "cheo-public-release", "cheo-breach")
LOSSES = ("ncp", "prec", "dis", "entropy", "dm", "average-class-size", "price")
# A number, or one with its kind, as "2:entropy" or (2, "entropy").
Level = float | str | tuple[object, ...]
# One for every sensitive column, or one or more by column.
PerColumn = Level | Mapping[str, Level | list[Level]]
DEFAULT_METHOD = "optimal"
# The share of rows that may be left out where nobody says, by methods that recode whole columns alike: there a few
# unusual rows make all others coarser. On 16 public tables (k = 5, `optimal`) none left out hid 31 of 71 columns for a
# mean NCP of .46; .02 hid 13 for .25, .05 hid 8 for .20.
DEFAULT_SUPPRESS = 0.05


class Kind(StrEnum):
    """How a field is written where only text, numbers and lists are."""

    WHOLE = "a whole number"
    SHARE = "a share"
    TEXT = "text"
    FILE = "a file"
    FLAG = "yes or no"
    COLUMN = "a column"
    FLAG_OR_NAMES = "yes or no, or columns"
    NAMES = "columns"
    WEIGHTS = "a number by column"
    LEVELS = "a number and its kind by column"
    # Given by Python alone, or put together from several options.
    OBJECT = "an object"


def about(
    kind: Kind,
    label: str = "",
    help: str = "",  # noqa: A002 - as argparse has it.
    metavar: str | None = None,
    *,
    words: Sequence[str] = (),
    then: Mapping[str, Sequence[str]] | None = None,
) -> Json:
    """Return what is said of a field at every door.

    words: the texts to choose from; a text of another part will do, too.
    then: what may follow each number, after a colon, in this order.
    """
    return {"kind": kind, "label": label, "help": help, "metavar": metavar, "words": words, "then": then or {}}


@dataclass(frozen=True, kw_only=True)
class Requirements:
    """What every class of a table must hold."""

    k: int | None = field(
        default=None,
        metadata=about(
            Kind.WHOLE,
            "k: rows that must look alike",
            "Fewest rows in a class: each looks like k − 1 others or more.",
        ),
    )
    preset: str | None = field(
        default=None,
        metadata=about(Kind.TEXT, "A known standard", "What a known standard of health data asks for.", words=PRESETS),
    )
    l_diversity: PerColumn | None = field(
        default=None,
        metadata=about(
            Kind.LEVELS,
            "ℓ-diversity",
            "Fewest different values in a class.",
            "COLUMN=L[:KIND]",
            then={"KIND": DIVERSITIES},
        ),
    )
    t_closeness: PerColumn | None = field(
        default=None,
        metadata=about(
            Kind.LEVELS,
            "t-closeness",
            "How far the values of a class may be from those of all rows, from 0 to 1.",
            "COLUMN=T[:…]",
            then={"KIND": DISTANCES, "WHOSE": WHOSE},
        ),
    )
    alpha_k: PerColumn | None = field(
        default=None,
        metadata=about(
            Kind.LEVELS,
            "(α,k)-anonymity",
            "Largest share that one value may have in a class, from 0 to 1; goes with k.",
            "COLUMN=ALPHA",
        ),
    )
    beta_likeness: PerColumn | None = field(
        default=None,
        metadata=about(
            Kind.LEVELS,
            "β-likeness",
            "How much the share of a value may grow from all rows to a class: 1 lets it double.",
            "COLUMN=BETA[:…]",
            then={"KIND": LIKENESS, "WHOSE": WHOSE},
        ),
    )
    delta_disclosure: PerColumn | None = field(
        default=None,
        metadata=about(
            Kind.LEVELS,
            "δ-disclosure privacy",
            "How far the share of a value in a class may be from that in all rows, in bits.",
            "COLUMN=DELTA[:…]",
            then={"WHOSE": WHOSE},
        ),
    )
    k_map: int | None = field(
        default=None, metadata=about(Kind.WHOLE, "k-map", "Fewest people of the population that a record fits.")
    )
    delta_presence: float | str | tuple[object, ...] | None = field(
        default=None,
        metadata=about(
            Kind.TEXT,
            "δ-presence",
            "Largest share of each class of the population that may be in the table, from 0 to 1; "
            "as 0.1:0.5 with the least share before it.",
            "[MIN:]MAX",
        ),
    )
    population: Any = field(
        default=None,
        metadata=about(Kind.FILE, "Population", "A file of everybody, for k-map and δ-presence.", "FILE"),
    )
    missing_is_a_value: bool = field(
        default=False,
        metadata=about(Kind.FLAG, "Count a missing value", "Let a missing sensitive value count as one more value."),
    )
    person: str | None = field(
        default=None,
        metadata=about(
            Kind.COLUMN,
            "Whose a row is",
            "The column that tells whose a row is, where people have several: k and all else is then of people.",
            "COLUMN",
        ),
    )
    household: str | None = field(
        default=None,
        metadata=about(
            Kind.COLUMN,
            "Whose household a row is of",
            "The column that tells whose household a row is of: k and all else is then of households.",
            "COLUMN",
        ),
    )
    requirements_given: Sequence[Requirement] = field(default=(), metadata=about(Kind.OBJECT))

    def __post_init__(self) -> None:
        for name in ("k", "k_map"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, whole_number(getattr(self, name), name))

    @property
    def needs_population(self) -> bool:
        """Whether everybody has to be counted too."""
        return any(getattr(self, name) is not None for name in OF_POPULATION)

    @property
    def unit(self) -> Unit | None:
        """Who is protected; None where every row is somebody else."""
        return Unit.of(self.person, self.household)

    def of_table(self, table: Table) -> Self:
        """Return the same for a table whose roles tell the sensitive columns, and whose each row is."""
        made = self.of_columns(table.sensitive)
        unit = table.unit
        if unit is None or self.unit is not None:
            return made
        return replace(made, household=unit.column) if unit.role == "household" else replace(made, person=unit.column)

    def of_columns(self, sensitive: Sequence[str]) -> Self:
        """Return the same with a column for each number: all sensitive ones for a number that names none."""
        named: Json = {}
        for name in OF_COLUMNS:
            given = getattr(self, name)
            if given is not None and not isinstance(given, Mapping):
                if not sensitive:
                    form = "a sensitive column: sensitive=['illness'], {name}={{'illness': …}}, or --sensitive illness"
                    raise InputError.of(Text(form, name=name), option=name, value=given)
                named[name] = dict.fromkeys(sensitive, given)
        return replace(self, **named)

    def role_columns(self) -> list[str]:
        """Return the columns that tell whose a row is."""
        return [column for column in (self.person, self.household) if column is not None]

    def sensitive_columns(self) -> list[str]:
        """Return the columns that the requirements name, without making them."""
        named = [column for name in OF_COLUMNS for column in getattr(self, name) or {}]
        given = [column for one in self.requirements_given for column in one.sensitive_columns]
        return list(dict.fromkeys([*named, *given]))


@dataclass(frozen=True, kw_only=True)
class ReleaseRequest(Requirements):
    """What a release of a table must hold, and how it is to be made."""

    suppress: float | None = field(
        default=None,
        metadata=about(
            Kind.SHARE,
            "Rows that may be left out",
            "Share of rows that may be left out: without a few unusual ones the others stay finer. "
            "If not given, 0.05 for methods that recode whole columns, 0 for others.",
            "0–1",
        ),
    )
    loss: str | Loss | None = field(
        default=None, metadata=about(Kind.TEXT, "Loss", "What to keep small; ncp if not given.", words=LOSSES)
    )
    prices: Path | str | None = field(
        default=None,
        metadata=about(Kind.FILE, "Prices", "For the loss price: attribute, label and price as CSV.", "FILE"),
    )
    weights: Mapping[str, float] = field(
        default_factory=dict,
        metadata=about(Kind.WEIGHTS, "Weights", "How much each column's loss counts; 1 if not given.", "A=2,B=1"),
    )
    prefer: Sequence[str] = field(
        default=(),
        metadata=about(
            Kind.NAMES,
            "Columns to keep finest",
            "Columns to keep finest, among equal losses; the first matters most.",
            "A,B,…",
        ),
    )
    numeric: Sequence[str] | None = field(
        default=None,
        metadata=about(
            Kind.NAMES, "Columns of numbers", "Columns of numbers; those that hold numbers if not given.", "A,B,…"
        ),
    )
    # A folder of hierarchy files, or a hierarchy by column; "" names the folder beside single ones.
    hierarchies: Any = field(default=None, metadata=about(Kind.OBJECT))
    method: str | TableAnonymizer = field(default=DEFAULT_METHOD, metadata=about(Kind.OBJECT))
    # The method's own options.
    options: Mapping[str, Any] = field(default_factory=dict, metadata=about(Kind.OBJECT))
    keep: Sequence[str] = field(
        default=(), metadata=about(Kind.NAMES, "Further columns", "Further columns to release, unchanged.", "A,B,…")
    )
    # True for all of them.
    keep_anyway: bool | Sequence[str] = field(
        default=False,
        metadata=about(
            Kind.FLAG_OR_NAMES,
            "Keep what singles people out",
            "Keep these columns although they single people out or are free text; all that are kept if none is named.",
            "[A,B,…]",
        ),
    )
    keep_order: bool = field(
        default=False,
        metadata=about(
            Kind.FLAG,
            "Keep the order of rows",
            "Release rows in their order; else they are shuffled by a secret seed.",
        ),
    )
    seed: int | None = field(
        default=None,
        metadata=about(
            Kind.OBJECT, "Seed", "The same seed gives the same release; a secret one is drawn if not given."
        ),
    )
    reproducible: bool = field(
        default=False,
        metadata=about(
            Kind.FLAG,
            "Reproducible",
            "Take a seed though the promise rests on noise nobody knows; it is then void.",
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.suppress is not None and (isinstance(cast("Any", self.suppress), str) or not 0 <= self.suppress <= 1):
            raise InputError.of("a share of rows from 0 to 1", option="suppress", value=self.suppress)
        for name in ("prefer", "numeric", "keep", "keep_anyway"):
            if isinstance(getattr(self, name), str):
                object.__setattr__(self, name, [getattr(self, name)])

    def guarded(self, columns: Sequence[str]) -> list[str]:
        """Return the columns that must not single people out, of those that are released unchanged."""
        if isinstance(self.keep_anyway, bool):
            return [] if self.keep_anyway else list(columns)
        for name in self.keep_anyway:
            if name not in columns:
                known = ", ".join(columns) or "none"
                raise InputError.of(
                    Text("a column that is kept: {names}", names=known), option="keep_anyway", value=name
                )
        return [name for name in columns if name not in self.keep_anyway]

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Make a request of keywords; those that are no field are options of the method."""
        known = {one.name for one in fields(cls)}
        own = {name: value for name, value in given.items() if name not in known}
        mine = {name: value for name, value in given.items() if name in known and (value is not None or name == "seed")}
        return cls(**{**mine, "options": {**mine.get("options", {}), **own}})


def request_fields(kind: type[Requirements]) -> list[Field[object]]:
    """Return the fields of a request that can be written at any door; columns in a role stand with the other roles."""
    return [one for one in fields(kind) if one.metadata["kind"] not in (Kind.OBJECT, Kind.COLUMN)]


def role_fields(kind: type[Requirements]) -> list[Field[object]]:
    """Return the fields of a request that name the column in a role."""
    return [one for one in fields(kind) if one.metadata["kind"] == Kind.COLUMN]


# The requirements that everybody is counted for, the fields that name a file, and the requirements that name columns.
OF_POPULATION = ("k_map", "delta_presence")
FILES = tuple(one.name for one in fields(ReleaseRequest) if one.metadata["kind"] == Kind.FILE)
OF_COLUMNS = tuple(one.name for one in fields(Requirements) if one.metadata["kind"] == Kind.LEVELS)


# What nothing has to be said for.
NOT_ASKED = {
    "drop": "columns without a role are not released; keep names those that are to be",
    "columns": "the columns are those of qi, sensitive and keep",
    "inplace": "the table that is given is never changed; the release is the result's frame",
}


def refuse_unknown(options: Mapping[str, object], known: Sequence[str], job: str) -> None:
    """Raise for a keyword that a job does not know, with the nearest name."""
    for name in options:
        if name in NOT_ASKED:
            raise InputError.of(Text("an option of {what} ({why})", what=job, why=Text(NOT_ASKED[name])), value=name)
        near = word_meant(name, known)
        hint = f"'{near}'" if near else choice_of(sorted(set(known)))
        raise InputError.of(Text("an option of {what}: {names}", what=job, names=hint), value=name)


def number_of(text: Any, option: str) -> float:
    """Read an option that is a number."""
    try:
        return float(text)
    except (TypeError, ValueError):
        raise InputError.of("a number", option=option, value=text) from None


def whole_number(value: object, option: str) -> int:
    """Read an option that is a whole number from 1 on; a Python float or text that is one will do."""
    number = number_of(value, option)
    if isinstance(value, bool) or number != number // 1 or number < 1:
        raise InputError.of("a whole number from 1 on", option=option, value=value)
    return int(number)


Ranges = Literal["grid", "tight"]


class TableMethodOptions(TypedDict, total=False):
    """Options of the methods that anonymize tables."""

    anyway: bool
    below: bool
    beside: Sequence[str]
    block: int
    bottom: float
    bound: float
    budget: float | str | None
    by: str
    columns: Sequence[str]
    constraints: Sequence[str]
    cuts: Literal["checked", "safe"]
    delta: float
    domain: Sequence[str]
    earlier: Sequence[str]
    epsilon: float
    finer: bool
    finds: bool
    high: Sequence[float]
    hold_out: float | None
    is_clamped: bool
    is_complete: bool
    is_proper: bool
    kind: Literal["strict", "relaxed", "laplace", "gaussian", "bottom-up", "top-down"]
    least: int
    levels: Sequence[str]
    low: Sequence[float]
    margin: float
    most_cells: int
    most_rows: int | None
    n_rows: int
    n_way: int
    neighbors: Literal["add-or-remove", "replace"]
    noise: Literal["geometric", "laplace"]
    order: Literal["smallest", "random"]
    p: float
    pk: float | None
    predictor: str
    publish: Literal["tables", "rows"]
    ranges: Ranges
    rare: int
    retain: float | None
    scale: float | None
    seconds: float
    sequence: Sequence[str]
    shadow_runs: int
    share: float
    table: str
    top: float
    ways: int
    within: Sequence[str]
    write: Literal["mean", "median", "bound"]
    z: int


class HistoryMethodOptions(TypedDict, total=False):
    """Options of the methods that anonymize histories."""

    alpha: float | None
    among: int
    anyway: bool
    attributed: float
    bound: float
    budget: str | None
    characters: int
    classes: int
    clusters: int | Literal["best"] | None
    days: int
    deals: Literal["rows", "baskets"]
    delta: float
    epsilon: float
    every: int
    hides_times: bool
    hold_out: float | None
    item_list: str | None
    items: float
    k: int
    known: float
    least: int
    level: int
    lifetime: int
    m: int
    months: str | None
    most: float
    most_items: int
    most_months: int
    most_open: float
    most_together: int
    n_customers: int
    once: bool
    price_deviations: float
    prices: float
    quantities: float
    random: float
    ranges: Ranges
    reproducible: bool
    risk_limit: float | None
    rounds: int
    shadow_runs: int
    share: float
    smallest: int
    telling: float
    unhidden: int
    whole_baskets: bool
    within: Literal["month", "quantity", "price"]


class TableAttackOptions(TypedDict, total=False):
    """Options of the attacks on tables, and changes to a threat: the fields of `TableThreat`."""

    aim: Literal["everybody", "anybody", "riskiest", "named"]
    alpha: float
    beside: Sequence[str]
    beta: float
    c: float
    codes_wrong: float
    column: str
    complete: bool
    counts: str
    descriptions: int
    distance: Literal["equal", "ordered", "hierarchical"]
    draws: int
    epsilon: float
    excludes: int
    first: str
    fits: int
    holds: Sequence[str]
    kind: Literal["distinct", "entropy", "recursive"]
    knows: Sequence[str]
    knows_who_is_in: bool
    l: float  # noqa: E741 - as the requirement is called.
    least: int
    method_known: Literal["nothing", "name", "options"]
    most_rows: int
    named: Sequence[int]
    numbers_off: float
    people: int
    people_share: float
    points: int
    ranges: Literal["", "grid", "tight"]
    rounded: int
    rounding: Literal["nearest", "random"]
    rounds: Literal["", "any", "finest"]
    seconds: float
    shadows: int
    share: float
    suppressed: int
    t: float
    targets: int
    total: int
    unlisted: Literal["none", "unknown"]
    wants: Sequence[str]
    ways: int
    who: str


class HistoryAttackOptions(TypedDict, total=False):
    """Options of the attacks on histories."""

    alpha: str | float
    each_once: bool
    fields: Sequence[str]
    n_guesses: int
    p: str | float
    rounds: int
    submit_all: bool


class ThreatOptions(TypedDict, total=False):
    """Changes to a threat: the fields of `HistoryThreat`."""

    days: int
    draw: Literal["contest", "uniform", "basket", "memorable"]
    is_told: bool
    item_characters: int | None
    knows_places: bool
    period: Literal["same", "other"]
    price_share: float
    rows: int | None
    share: float
    who: str


class TableMeasureOptions(TypedDict, total=False):
    """Options of the measures of tables; what an original says of itself is not asked again."""

    classifier: Literal["logistic", "tree"]
    held_out: float
    metric: Literal["auc", "accuracy"]
    most_rows: int
    n_compared: int
    seed: int
    target: str


class HistoryMeasureOptions(TypedDict, total=False):
    """Options of the measures of histories; of a list of values each is measured."""

    by: Sequence[str]
    column: Literal["date", "price", "quantity"] | Sequence[str]
    count: Literal["purchases", "pieces"]
    diagonal: bool
    k: int | Sequence[int]
    kind: Literal["wholesale", "retail", "top"]
    largest_size: int
    least_confidence: float
    least_support: float | None
    most_dozens: int
    n_items: int
    n_ranks: int
    n_rules: int
    n_sets: int
    normalize: Literal["worst", "range"]
    released_master: object
    sample: int
    statistic: str | Sequence[str]
