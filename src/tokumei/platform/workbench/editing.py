"""What a form says, as a change of the job file: nothing is remembered anywhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from django.http import QueryDict
from django.utils.translation import gettext as _

from tokumei.core.errors import InputError, NotAllowed
from tokumei.core.registry import part_options, read_option
from tokumei.core.text import Json, JsonView, choice_of
from tokumei.data.history_columns import SCHEMA
from tokumei.hierarchies.hierarchy import BUILDERS
from tokumei.methods.registry import HISTORY_ANONYMIZERS, TABLE_ANONYMIZERS
from tokumei.platform.workbench.words import MEASURED_WITH
from tokumei.tasks.job_file import ROLES
from tokumei.tasks.request import Kind, ReleaseRequest, request_fields

Found = Json
Change = Callable[[Found], None]
QUASI, SENSITIVE, OTHER, KEPT = "quasi-identifier", "sensitive", "other", "kept"
# What a column may be on the page: one more than in a job file, where a list says which others are released.
CHOICES = (*ROLES, KEPT)
# Columns of sampling weights are none that others know.
MAY_WEIGH = (OTHER, SENSITIVE)
MADE, FILE, GROUPS = "", "file", "groups"


def set_roles(columns: Sequence[str], sent: QueryDict) -> Change:
    """Read r0, r1, …: the role of each column; those that are not on the page stay as they are."""

    def change(found: Found) -> None:
        before = dict(found.get("roles", {}))
        roles, kept = dict(before), list(found.get("output", {}).get("keep", []))
        for number, column in enumerate(columns):
            chosen = sent.get(f"r{number}")
            if chosen is None:
                continue
            if chosen not in CHOICES:
                raise InputError.of(choice_of(CHOICES), column=column, value=chosen)
            roles[column] = OTHER if chosen == KEPT else chosen
            kept = [one for one in kept if one != column] + ([column] if chosen == KEPT else [])
        if QUASI not in roles.values():
            raise NotAllowed(_("Mark at least one column as a quasi-identifier."))
        found["roles"] = {column: roles[column] for column in columns if column in roles}
        output = found.setdefault("output", {})
        output["keep"] = kept
        # Who typed a column's name did so for the role that it had.
        same = {name for name, role in found["roles"].items() if role == before.get(name)}
        anyway = output.pop("keep_anyway", [])
        if left := [name for name in (anyway if isinstance(anyway, list) else []) if name in same]:
            output["keep_anyway"] = left
        _follow_roles(found)

    return change


def set_person(column: str) -> Change:
    """Name the column that tells whose a row is."""

    def change(found: Found) -> None:
        roles = found.setdefault("roles", {})
        for name in [name for name, role in roles.items() if role in ("person", "household")]:
            roles[name] = OTHER
        roles[column] = "person"
        output = found.setdefault("output", {})
        output["keep"] = [name for name in output.get("keep", []) if name != column]
        _follow_roles(found)

    return change


def _follow_roles(found: Found) -> None:
    """Remove what names columns when their roles change: weights, hierarchies, knowledge, requirements."""
    roles = found["roles"]
    known = [column for column, role in roles.items() if role == QUASI]
    sensitive = [column for column, role in roles.items() if role == SENSITIVE]
    if roles.get(found.get("job", {}).get("weights"), OTHER) not in MAY_WEIGH:
        del found["job"]["weights"]
    found["hierarchies"] = {name: one for name, one in found.get("hierarchies", {}).items() if name in known}
    for threat in found.get("threat", []):
        threat["knows"] = known
        attacks = [one for one in threat.get("attacks", []) if one != "homogeneity"]
        threat["attacks"] = [*attacks, *(["homogeneity"] if sensitive else [])]
    asked = found.get("requirements", {})
    for one in request_fields(ReleaseRequest):
        kind, given = one.metadata["kind"], asked.get(one.name)
        left = sensitive if kind == Kind.LEVELS else known
        if given and kind in (Kind.LEVELS, Kind.WEIGHTS):
            asked[one.name] = {column: value for column, value in given.items() if column in left}
        elif given and kind == Kind.NAMES:
            asked[one.name] = [column for column in given if column in left]
        if given and not asked[one.name]:
            del asked[one.name]


def set_history_columns(columns: Sequence[str], sent: QueryDict) -> Change:
    """Read m_customer, m_date, …: the column of each part of a history."""

    def change(found: Found) -> None:
        mapped = {}
        for role in SCHEMA:
            name = sent.get(f"m_{role}", "")
            if name and name not in columns:
                raise InputError.of(_("a column of the file"), column=role, value=name)
            # A column that bears the very name would be taken by itself; empty says that it is not to be.
            if name != role and (name or role in columns):
                mapped[role] = name
        found["input"]["columns"] = mapped
        if not mapped:
            del found["input"]["columns"]

    return change


def set_population(columns: Sequence[str], sent: QueryDict) -> Change:
    """Read of how many people the rows are a sample, and which column says how many each stands for.

    What is not sent is not known. The column is released no more than before.
    """

    def change(found: Found) -> None:
        job, roles = found.setdefault("job", {}), found.setdefault("roles", {})
        for name in ("population_size", "weights"):
            job.pop(name, None)
        if sent.get("population", "").strip():
            job["population_size"] = whole(sent, "population", 1, 10**10)
        weights = sent.get("weights", "")
        if weights and (weights not in columns or roles.get(weights, OTHER) not in MAY_WEIGH):
            raise InputError.of(_("a column of the file that others do not know"), column=weights)
        if weights:
            job["weights"] = weights
            roles.setdefault(weights, OTHER)

    return change


def set_k(found: Found, k: int) -> None:
    """Write the bounds that follow from k in the place of those before."""
    others = [one for one in found.get("bound", []) if one.get("of") not in ("k", "prosecutor-risk")]
    found["bound"] = [{"of": "k", "least": k}, {"of": "prosecutor-risk", "most": 1 / k}, *others]


def set_methods(sent: QueryDict) -> Change:
    """Put the methods that are ticked in the place of those before, whose options stay but for the kind of ranges."""

    def change(found: Found) -> None:
        known, names = {one["name"]: one for one in found.get("method", [])}, sent.getlist("method")
        for name in names:
            if name not in TABLE_ANONYMIZERS:
                raise InputError.of(_("a method of the list"), value=name)
        found["method"] = [known.get(name, {"name": name}) for name in names] or [{"name": "optimal"}]
        for one in found["method"]:
            one.pop("ranges", None)
            if sent.get("ranges") == "tight" and takes_ranges(one["name"]):
                one["ranges"] = "tight"

    return change


def takes_ranges(name: str) -> bool:
    """Whether a method makes ranges of numbers, which may be of a grid or tight."""
    return any(option.name == "ranges" for option in part_options(TABLE_ANONYMIZERS.get(name)))


def set_pipeline(sent: QueryDict) -> Change:
    """Read the steps of a history that are ticked, each with its options by the registry, and who may attack."""

    def change(found: Found) -> None:
        steps = [_step(name, sent) for name in sent.getlist("step")]
        named = sent.get("naming", "pseudonyms")
        steps.append(_step(named, sent))
        found["method"] = [as_method(steps)]
        threat = found.setdefault("threat", [{"name": "acquaintance"}])[0]
        threat["share"] = share(sent, "share")
        threat["attacks"] = sent.getlist("attack") or [MEASURED_WITH]
        if sent.get("target"):
            _set_target(found, threat, share(sent, "target"))

    return change


def target_of(job: JsonView) -> float | None:
    """Return the largest share of the customers of a history that an attack may find, where it is asked for."""
    name = _bound_name((job.get("threat") or [{}])[0])
    return next((one["most"] for one in job.get("bound", []) if one["of"] == name and "most" in one), None)


def _bound_name(threat: JsonView) -> str:
    return f"{threat.get('name', '')}: {MEASURED_WITH} found"


def _set_target(found: Found, threat: Found, most: float) -> None:
    """Bound what the strongest usual attack finds, so that a release beyond it does not pass."""
    if MEASURED_WITH not in threat["attacks"]:
        threat["attacks"] = [MEASURED_WITH, *threat["attacks"]]
    others = [one for one in found.get("bound", []) if one["of"] != _bound_name(threat)]
    found["bound"] = [*others, {"of": _bound_name(threat), "most": most}]


def as_method(steps: Sequence[Mapping[str, object]]) -> Found:
    """Write steps as a job file has them: one by its name, several as a pipeline."""
    if len(steps) == 1:
        return {"name": steps[0]["method"]} | {key: value for key, value in steps[0].items() if key != "method"}
    return {"name": "pipeline", "step": [dict(one) for one in steps]}


def steps_of(method: JsonView) -> list[Found]:
    """Read them back."""
    if method.get("name") == "pipeline":
        return [dict(one) for one in method["step"]]
    return [{"method": method["name"]} | {key: value for key, value in method.items() if key != "name"}]


def _step(name: str, sent: QueryDict) -> Found:
    if name not in HISTORY_ANONYMIZERS:
        raise InputError.of(_("a method of the list"), value=name)
    return {"method": name} | _options(HISTORY_ANONYMIZERS.get(name), name, sent)


def _options(part: type, prefix: str, sent: QueryDict) -> Found:
    """Read the options of a part that differ from what they are anyway; a box that is not ticked is not sent."""
    found: Found = {}
    for option in part_options(part):
        # A file of the server is nobody's to name.
        if option.is_file:
            continue
        field = f"{prefix}.{option.name}"
        text = sent.get(field, "").strip()
        if option.type is bool:
            text = "true" if text else "false"
        elif not text:
            continue
        value = read_option(option, text)
        if value != option.default:
            found[option.name] = list(value) if isinstance(value, tuple) else value
    return found


def set_hierarchy(column: str, sent: QueryDict, values: Sequence[str]) -> Change:
    """Read how one column is generalized: made by itself, by a builder with its options, or by groups put by hand."""

    def change(found: Found) -> None:
        chosen = sent.get("builder", MADE)
        trees = found.setdefault("hierarchies", {})
        if chosen == MADE:
            trees.pop(column, None)
        elif chosen == GROUPS:
            part = BUILDERS.get("ordered-groups")
            further = {name: value for name, value in _options(part, "o", sent).items() if name == "sizes"}
            trees[column] = {"builder": "ordered-groups", "groups": _groups(sent, values)} | further
        elif chosen in BUILDERS:
            trees[column] = {"builder": chosen} | _options(BUILDERS.get(chosen), "o", sent)
        elif chosen != FILE:
            raise InputError.of(_("a builder of the list"), value=chosen)

    return change


def _groups(sent: QueryDict, values: Sequence[str]) -> list[str]:
    """Read g0, g1, …: the group of each value; a value without one is a group of its own."""
    groups: dict[str, list[str]] = {}
    for number, value in enumerate(values):
        name = sent.get(f"g{number}", "").strip() or value
        if "|" in value or "=" in name or "|" in name:
            expected = _("values and groups without | and =; upload a hierarchy file for others")
            raise InputError.of(expected, value=value)
        groups.setdefault(name, []).append(value)
    order = [name.strip() for name in sent.get("order", "").replace("、", ",").split(",") if name.strip()]
    for name in order:
        if name not in groups:
            raise InputError.of(_("the name of a group: %s") % ", ".join(groups), column="order", value=name)
    chosen = [*dict.fromkeys(order), *(name for name in groups if name not in order)]
    return [f"{name}={'|'.join(groups[name])}" for name in chosen]


def whole(sent: QueryDict, name: str, least: int, most: int) -> int:
    """Read a whole number of a form."""
    text = sent.get(name, "").strip()
    if not text.isdecimal() or len(text) > 12 or not least <= int(text) <= most:
        raise InputError.of(
            _("a whole number from %(least)s to %(most)s") % {"least": least, "most": f"{most:,}"},
            column=name,
            value=text,
        )
    return int(text)


def share(sent: QueryDict, name: str) -> float:
    """Read a share that is sent in per cent."""
    found = number_of(sent.get(name, "0"), name)
    if not 0 <= found <= 100:
        raise InputError.of(_("per cent from 0 to 100"), column=name, value=found)
    return round(found / 100, 6)


def number_of(text: str, name: str) -> float:
    """Read a number of a form."""
    try:
        return float(text)
    except ValueError:
        raise InputError.of(_("a number"), column=name, value=text) from None
