"""Every error a user can meet.

TokumeiError
├── InputError        a file, a value or an option cannot be used as it is
├── MissingExtra      the work asked for needs an optional part that is not installed
├── NotFound          nothing has that name
│   ├── UnknownPart   no part is registered under that name
│   └── UnknownName   an object has no such name; says which one is meant
├── DuplicatePart     two parts claim one name
├── NotAllowed        the rules forbid it
├── CannotAnonymize   no release meets what was asked
└── PromiseBroken     a release was recounted and does not hold what its method promised
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any

from tokumei.core.text import Json, JsonView, Text, from_json, to_json

LISTED_FAULTS = 20
# Of each kind so many are shown with their places, where faults are told by kinds.
GROUP_LISTED = 5
NO_MORE: Mapping[tuple[str | None, ...], int] = {}
SHOWN_VALUE_LENGTH = 60


class TokumeiError(Exception):
    """The root of all errors that are meant for a user to read."""

    @property
    def text(self) -> str:
        """What it says, with its form where it was given one."""
        return self.args[0] if self.args and isinstance(self.args[0], Text) else str(self)

    def as_dict(self) -> Json:
        """Return the error in the one JSON shape that every command prints."""
        return {"error": type(self).__name__, "message": str(self)}


@dataclass(frozen=True)
class Fault:
    """One thing wrong with an input: where it stands, what stands there, and what was expected.

    `expected` may be a text with its form, or have {names}, whose values are the parameters: so it can be said in
    another language. `value` is a text where a check says what it found, as a number of rows; what stands in a file is
    no such text, whatever it reads. `rule` is the name of the rule that a submission breaks, where it is one.
    """

    expected: str
    file: str | None = None
    line: int | None = None
    column: str | None = None
    value: str | None = None
    rule: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    option: str | None = None

    @property
    def form(self) -> str:
        """What was expected, with {names} where it has some."""
        return self.expected.form if isinstance(self.expected, Text) else self.expected

    @property
    def values(self) -> JsonView:
        """What stands in the {names} of the form."""
        return self.expected.values if isinstance(self.expected, Text) else self.parameters

    @property
    def wanted(self) -> str:
        """What was expected, in English."""
        return self.expected.format(**self.parameters) if self.parameters else self.expected

    def as_dict(self) -> Json:
        """Return the fault for JSON: in English, with its rule and parameters, if any."""
        found = asdict(self) | {"expected": self.wanted}
        return {name: value for name, value in found.items() if value or name not in ("rule", "parameters", "option")}

    def to_json(self) -> Json:
        """Return the fault for a file or a database, with all that is needed to translate it later."""
        found: Json = to_json(asdict(self) | {"expected": self.form, "parameters": self.values})
        return found

    @classmethod
    def from_json(cls, found: JsonView) -> Fault:
        """Read a fault back."""
        values = found.get("parameters", {})
        return cls(**{**_texts(found), "parameters": _texts(values)})

    @property
    def text(self) -> Text:
        """The whole of it: where, what was found and what was expected."""
        said = Text("expected {wanted}", wanted=Text(self.form, **self.values))
        if self.value is not None:
            said = Text("found {value}, {said}", value=_quoted(self.value), said=said)
        if self.rule:
            said = Text("{said} (rule {rule})", said=said, rule=self.rule)
        places = {"option {name}": self.option, "line {name}": self.line, "column {name}": self.column}
        index = [] if self.file is None else [Text("{file}", file=self.file)]
        index += [Text(form, name=name) for form, name in places.items() if name is not None]
        return Text("{place}: {said}", place=reduce(_within, index), said=said) if index else said

    def __str__(self) -> str:
        return str(self.text)


@dataclass(frozen=True)
class FaultGroup:
    """Faults of one kind, which differ in their places alone: how many there are, and the first of them."""

    n_faults: int
    first: tuple[Fault, ...]

    def __str__(self) -> str:
        """Describe once what was expected where many places are wrong in the same way."""
        if self.n_faults <= GROUP_LISTED:
            return "\n".join(map(str, self.first))
        lines = [f"{replace(self.first[0], line=None, value=None)} ({self.n_faults:,} times)"]
        for fault in self.first:
            place = [] if fault.line is None else [f"line {fault.line}"]
            lines.append("  " + ": ".join([*place, *([] if fault.value is None else [f"found {shown(fault.value)}"])]))
        return "\n".join([*lines, f"  … and {self.n_faults - len(self.first):,} more"])


class InputError(TokumeiError):
    """What was given cannot be used; names file, line, column, value and what was expected.

    `groups` has the same faults by their kinds, all of them counted.
    """

    def __init__(
        self, faults: Fault | Sequence[Fault], n_faults: int | None = None, groups: Sequence[FaultGroup] | None = None
    ) -> None:
        self.faults: tuple[Fault, ...] = (faults,) if isinstance(faults, Fault) else tuple(faults)
        self.n_faults = len(self.faults) if n_faults is None else n_faults
        self.groups = tuple(grouped(self.faults) if groups is None else groups)
        super().__init__(str(self))

    @classmethod
    def of(
        cls,
        expected: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        column: str | None = None,
        value: object = None,
        option: str | None = None,
    ) -> InputError:
        """Make the error for a single fault."""
        name = None if file is None else str(file)
        return cls(Fault(expected, name, line, column, _found(value), option=option))

    @property
    def text(self) -> Text:
        """What it says, a line for each fault."""
        lines = [fault.text for fault in self.faults]
        if self.n_unlisted:
            lines.append(Text("… and {n:,} more", n=self.n_unlisted))
        return reduce(lambda above, below: Text("{above}\n{below}", above=above, below=below), lines)

    @property
    def n_unlisted(self) -> int:
        """Number of faults that were counted but are not in `faults`."""
        return self.n_faults - len(self.faults)

    def __str__(self) -> str:
        return str(self.text)

    @property
    def by_kind(self) -> str:
        """The same for a screen, on which twenty lines of one kind would hide the others."""
        return "\n".join(map(str, self.groups))

    def as_dict(self) -> Json:
        """Return the error with its faults one by one."""
        return super().as_dict() | {"faults": [fault.as_dict() for fault in self.faults], "n_faults": self.n_faults}

    @property
    def breaks_rules(self) -> bool:
        """Whether these are faults of a submission, which can be read and breaks a rule."""
        return any(fault.rule for fault in self.faults)

    def under(self, rule: str) -> InputError:
        """Return the same faults as those of a rule."""
        groups = [
            FaultGroup(one.n_faults, tuple(replace(fault, rule=rule) for fault in one.first)) for one in self.groups
        ]
        return InputError([replace(fault, rule=rule) for fault in self.faults], self.n_faults, groups)

    def within(self, file: str | Path) -> InputError:
        """Return the same faults with the file, where a column is named and no file."""

        def told(fault: Fault) -> Fault:
            return replace(fault, file=str(file)) if fault.column is not None and fault.file is None else fault

        groups = [FaultGroup(one.n_faults, tuple(told(fault) for fault in one.first)) for one in self.groups]
        return InputError([told(fault) for fault in self.faults], self.n_faults, groups)


class MissingExtra(TokumeiError):
    """The work asked for needs an optional part that is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            Text(
                "{what} needs the extra '{extra}': pip install 'tokumei[{again}]'", what=what, extra=extra, again=extra
            )
        )


@contextmanager
def needing(what: str, extra: str) -> Iterator[None]:
    """Name the extra to install where an import in the block finds no package."""
    try:
        yield
    except ModuleNotFoundError:
        raise MissingExtra(what, extra) from None


class NotFound(TokumeiError):
    """Nothing has that name."""


class UnknownPart(NotFound):
    """No part is registered under that name; says which registered name is nearest."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = nearest(name, names)
        hint = (
            Text(" Did you mean '{near}'?", near=near)
            if near
            else Text(" Known: {names}.", names=", ".join(names))
            if names
            else ""
        )
        super().__init__(Text("There is no {sort} named '{name}'.{hint}", sort=kind, name=name, hint=hint))
        self.nearest = near


class UnknownName(NotFound, AttributeError):
    """An object has no such name; says which one is meant, where others call it so or one is near."""

    def __init__(self, what: str, name: str, known: Iterable[str], others: Mapping[str, str]) -> None:
        near = others.get(name) or nearest(name, known)
        hint = Text(" Write {what}.{near}.", what=what, near=near) if near else ""
        super().__init__(Text("There is no {what}.{name}.{hint}", what=what, name=name, hint=hint))


class DuplicatePart(TokumeiError):
    """Two parts claim one name."""


class NotAllowed(TokumeiError):
    """The rules forbid it."""


class CannotAnonymize(TokumeiError):
    """No release meets what was asked."""


class PromiseBroken(TokumeiError):
    """A release was recounted and does not hold what its method promised."""


@dataclass
class FaultList:
    """Collects the faults of one file, to be raised as one error: the first twenty listed, the rest counted."""

    file: str | None = None
    faults: list[Fault] = field(default_factory=list)
    n_faults: int = 0
    # How many there are of each kind beside those in `faults`.
    more: dict[tuple[str | None, ...], int] = field(default_factory=dict)

    def add(
        self,
        expected: str,
        *,
        line: int | None = None,
        column: str | None = None,
        value: object = None,
        rule: str | None = None,
        parameters: Mapping[str, object] | None = None,
    ) -> None:
        """Add one fault."""
        self.faults.append(Fault(expected, self.file, line, column, _found(value), rule, parameters or {}))
        self.n_faults += 1

    def count_more(self, n: int) -> None:
        """Count faults of the kind added last that come later in the file than twenty of their kind."""
        if n > 0:
            self.n_faults += n
            kind = kind_of(self.faults[-1])
            self.more[kind] = self.more.get(kind, 0) + n

    def raise_if_any(self) -> None:
        """Raise one InputError that lists the first faults in the order of the file."""
        if self.n_faults:
            # Stable, so that faults of one line stay in the order of its columns.
            listed = sorted(self.faults, key=lambda fault: fault.line or 0)[:LISTED_FAULTS]
            raise InputError(listed, self.n_faults, grouped(self.faults, self.more))


def kind_of(fault: Fault) -> tuple[str | None, ...]:
    """Return a key that differs for faults that are more than the same thing in another place."""
    return fault.file, fault.rule, fault.expected, fault.column


def grouped(faults: Sequence[Fault], more: Mapping[tuple[str | None, ...], int] = NO_MORE) -> list[FaultGroup]:
    """Put faults of one kind together, in the order in which the kinds were found; `more` counts those not listed."""
    kinds: dict[tuple[str | None, ...], list[Fault]] = {}
    for fault in faults:
        kinds.setdefault(kind_of(fault), []).append(fault)
    listed = {kind: sorted(of, key=lambda fault: fault.line or 0)[:GROUP_LISTED] for kind, of in kinds.items()}
    return [FaultGroup(len(of) + more.get(kind, 0), tuple(listed[kind])) for kind, of in kinds.items()]


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like the one typed, or None when none is close."""
    matches = difflib.get_close_matches(name.lower(), list(known), n=1, cutoff=0.6)
    return matches[0] if matches else None


# What others call an option, with its names here; the first that a job knows is meant.
OTHER_WORDS: Mapping[str, Sequence[str]] = {
    "l": ("l_diversity",),
    "t": ("t_closeness",),
    "alpha": ("alpha_k",),
    "beta": ("beta_likeness",),
    "delta": ("delta_disclosure",),
    **dict.fromkeys(("suppression", "suppression_limit", "max_suppression"), ("suppress",)),
    **dict.fromkeys(("quasi_identifiers", "quasi_ids", "qid", "qids", "qis"), ("qi",)),
    **dict.fromkeys(("sensitive_attributes", "sensitive_columns", "sa", "target"), ("sensitive",)),
    **dict.fromkeys(("random_state", "random_seed"), ("seed",)),
    **dict.fromkeys(("max_found", "max_risk", "risk", "limit", "threshold"), ("bound", "threshold", "limit")),
    **dict.fromkeys(("hierarchy", "generalization", "vghs"), ("hierarchies",)),
    **dict.fromkeys(("algorithm", "algo", "model"), ("method", "methods")),
    **dict.fromkeys(("metric", "metrics"), ("measures", "loss")),
}


def word_meant(name: str, known: Sequence[str]) -> str | None:
    """Return the known option that somebody means who calls it so elsewhere, or the one most like it."""
    return next((one for one in OTHER_WORDS.get(name, ()) if one in known), None) or nearest(name, known)


def _within(place: Text, inner: Text) -> Text:
    return Text("{place}, {inner}", place=place, inner=inner)


def _found(value: object) -> str | None:
    return value if value is None or isinstance(value, Text) else str(value)


def _quoted(value: str) -> Text:
    """Quote what was found: a text keeps its form, unless what stands in it has to be cut or escaped."""
    bare = shown(value)[1:-1]
    return Text("'{value}'", value=value if bare == value else bare)


def _texts(found: Mapping[str, object]) -> Json:
    return {name: from_json(one) if isinstance(one, dict) else one for name, one in found.items()}


def shown(value: str) -> str:
    """Quote a value for a message: control characters escaped, long ones cut."""
    cut = value if len(value) <= SHOWN_VALUE_LENGTH else value[: SHOWN_VALUE_LENGTH - 1] + "…"
    return "'" + "".join(ch if ch.isprintable() else repr(ch)[1:-1] for ch in cut) + "'"
