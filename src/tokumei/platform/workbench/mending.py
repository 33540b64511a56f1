"""What is wrong with a file or a job, in words for its owner, each with the control that mends it.

A fault of the library names a column, an option or a line. A column is mended by its role, an option where it is
asked for; only what stands in a line of the file is told with its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tokumei.core.errors import Fault
from tokumei.core.text import Json, JsonView
from tokumei.platform.messages import translated
from tokumei.platform.workbench import editing
from tokumei.platform.workbench import folder as files
from tokumei.platform.workbench.models import Piece
from tokumei.platform.workbench.words import ROLES, expected_in_words
from tokumei.tasks.table_release import NAMED, RARE, STOPS

WHY_STOPPED: Mapping[str, str | Promise] = {
    NAMED: gettext_lazy("Some of its values would go out as they are, and they lead to people."),
    RARE: gettext_lazy("Some of its numbers are one person's alone. Round them, or cut off the ends."),
}
# How a value begins to be refused that next month's file has and this one had not.
UNSEEN = "a value that the recipe knows"
STOPPED = gettext_lazy("It would go out as it is, and its values lead to people.")


@dataclass(frozen=True)
class Mended:
    """One fault as a page shows it."""

    column: str | None
    said: str | Promise
    reason: str = ""
    values: str = ""
    # The field of the column's role on the page of columns, and what it is now.
    field: str | None = None
    role: str | None = None
    is_stop: bool = False
    is_goal: bool = False


def mended(piece: Piece, told: JsonView | None) -> Json | None:
    """Put what is wrong into words, with what mends it; faults in lines of the file stay a table."""
    if told is None:
        return None
    look = files.read(piece.folder, files.LOOK)
    job = files.job_of(piece.folder) if look else {}
    listed = [Fault.from_json(one) for one in told["faults"]]
    in_file = [one for one, fault in zip(told["faults"], listed, strict=True) if fault.line is not None and not look]
    others = [one for one in listed if one.line is None or look]
    return {
        "in_file": in_file,
        "is_of_file": look is None,
        "listed": list(_shown(others, look or {"columns": {}}, job, is_table=piece.kind == "table")),
        "said": "" if listed else translated(told["said"]),
        "roles": ROLES.items(),
    }


def _shown(faults: Sequence[Fault], look: JsonView, job: JsonView, *, is_table: bool) -> Iterator[Mended]:
    columns = list(look["columns"])
    kept, roles = job.get("output", {}).get("keep", []), job.get("roles", {})
    for fault in faults:
        is_known = is_table and fault.column in columns
        role = editing.KEPT if fault.column in kept else roles.get(fault.column, editing.OTHER)
        place = f"r{columns.index(str(fault.column))}" if is_known else None
        values = "" if fault.value is None else translated(fault.value)
        if fault.form in STOPS and is_known:
            looks, why = look["columns"][fault.column]["reason"], fault.values["why"]
            reason = "; ".join(dict.fromkeys(translated(one) for one in (looks, why)))
            yield Mended(fault.column, WHY_STOPPED.get(fault.form, STOPPED), reason, values, place, role, is_stop=True)
            continue
        if fault.form.startswith(UNSEEN):
            said = _(
                "The recipe has no label for this value. Leave such rows out, or hide the values, and apply again."
            )
            yield Mended(fault.column, said, "", values)
            continue
        said = _("Expected: %s") % expected_in_words(fault)
        yield Mended(fault.column, said, "", values, place, role if is_known else None, is_goal=bool(columns))
