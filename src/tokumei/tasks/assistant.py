"""What an assistant may be told of data that it must not see: names of columns, counts, figures and verdicts.

Each function takes the words of a caller who is no person, and returns what JSON holds. No value of a cell is in it, in
errors neither: what is told is chosen field by field, so that a new field of a result is not told by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tokumei.core.errors import Fault, InputError, NotFound, TokumeiError
from tokumei.core.text import Json, Text
from tokumei.reports.japanese import Words

if TYPE_CHECKING:
    from tokumei.inspection.kinds import Role
    from tokumei.tasks.inspect_table import Inspection

ROLES = ("identifier", "quasi-identifier", "sensitive", "other")
# What a column is, without its reason, which has examples and ends of ranges.
OF_COLUMN = ("role", "kind", "type", "distinct", "unique", "missing")
OF_OUTCOME = ("measure", "success", "interval", "baseline", "control", "risk", "certain")
# What a fault found is in no sentence that stands in the code.
HIDDEN = "what was found is in the file and is not told here; run the command to see it"


@dataclass(frozen=True)
class Assistant:
    """Answers about the files below one folder."""

    folder: Path

    def inspect(self, file: str) -> Json:
        """Describe each column of a table, named by the first row: its suggested role, kind, type and counts."""
        from tokumei.tasks.inspect_table import inspect

        found = inspect(self._path(file)).to_dict()
        columns = {name: {key: one[key] for key in OF_COLUMN} for name, one in found["columns"].items()}
        sets = [{key: one[key] for key in ("columns", "distinction", "unique")} for one in found["sets"]]
        return {"rows": found["rows"], "columns": columns, "sets_that_single_out": sets}

    def plan(
        self,
        file: str,
        job: str,
        k: int = 5,
        suppress: float = 0.05,
        roles: Mapping[str, str] | None = None,
        l_diversity: Mapping[str, int] | None = None,
    ) -> Json:
        """Write a job file for a table: roles as suggested but for those given, and what each class must hold."""
        from tokumei.data.files.disk import write_text
        from tokumei.data.files.reading import AS_IT_IS
        from tokumei.tasks.inspect_table import inspect
        from tokumei.tasks.job_file import Job
        from tokumei.tasks.job_writing import table_template

        source, target = self._path(file), self._path(job)
        if target.suffix != ".toml" or target.exists():
            raise InputError.of("a new file that ends in .toml", option="job")
        found = _with_roles(inspect(source), roles or {})
        text = table_template(found, source, AS_IT_IS, beside=target.parent)
        text = _set(text, r"^k = \d+$", f"k = {int(k)}")
        text = _set(text, r'^of = "k"\nleast = \d+$', f'of = "k"\nleast = {int(k)}')
        text = _set(text, r'^of = "prosecutor-risk"\nmost = .*$', f'of = "prosecutor-risk"\nmost = {1 / max(1, k):g}')
        text = _set(text, r"^suppress = .*$", f"suppress = {float(suppress)}")
        if l_diversity:
            least = ", ".join(f"{_key(name)} = {int(value)}" for name, value in l_diversity.items())
            text = _set(text, r"^(# )?l_diversity = .*$", f"l_diversity = {{ {least} }}")
        Job.of(text, folder=target.parent)
        write_text(target, text)
        return {"job": job, "roles": found.roles, "k": int(k), "next": "run"}

    def run(self, job: str, out: str) -> Json:
        """Do a job: release, attack, measure, and write the dossier to a folder; return its report."""
        from tokumei.tasks.job_file import Job
        from tokumei.tasks.run_job import run_job

        run_job(Job.read(self._path(job)), self._path(out))
        return self.report(out)

    def report(self, folder: str) -> Json:
        """Read a dossier: the decision, what must hold, what each attack found, use lost, clauses by verdict."""
        file = self._path(folder) / "public.json"
        if not file.is_file():
            raise NotFound("No dossier is in that folder.")
        found = json.loads(file.read_text(encoding="utf-8"))
        results = found["results"]
        attacks = [
            {"attack": one["attack"], "threat": one["threat"]}
            | {key: one["outcome"][key] for key in OF_OUTCOME if one.get("outcome")}
            for one in results.get("attacks", [])
        ]
        use = {name: one["value"] for name, one in results.get("use", {}).get("scores", {}).items()}
        return {
            "decision": found["decision"]["outcome"],
            "holds": found["holds"],
            "bounds": [{key: one[key] for key in ("of", "least", "most", "value", "holds")} for one in found["bounds"]],
            "rows": results.get("rows"),
            "released": results.get("released"),
            "attacks": attacks,
            "use_lost": use,
            "clauses": {
                one["name"]: _counted(clause["verdict"] for clause in one["clauses"]) for one in found["frameworks"]
            },
            "read_by_people": [f"{folder}/public.html", f"{folder}/report.html"],
        }

    def _path(self, given: str) -> Path:
        """Return a path below the folder; nothing outside it is read or written."""
        path = (self.folder / given).resolve()
        if not path.is_relative_to(self.folder.resolve()):
            raise InputError.of("a file below the folder that is served")
        return path


def without_values(error: TokumeiError) -> Json:
    """Return what went wrong without anything that was found: the kind, and where."""
    told: Json = {"error": type(error).__name__}
    if not isinstance(error, InputError):
        # A sentence that stands in the code, its values left out.
        form = getattr(error.text, "form", None)
        return told | {"message": form if form in Words("") else HIDDEN}
    known = Words("error", "")
    return told | {"faults": [_fault(one, known) for one in error.faults[:5]], "message": HIDDEN}


def _fault(fault: Fault, known: Words) -> Json:
    places = {"line": fault.line, "column": fault.column, "option": fault.option}
    return {name: value for name, value in places.items() if value is not None} | (
        {"expected": fault.form} if fault.form in known else {}
    )


def _with_roles(found: Inspection, roles: Mapping[str, str]) -> Inspection:
    """Return what was found with these roles in place of those suggested."""
    for name, role in roles.items():
        if name not in found.columns:
            raise NotFound("No column has that name.")
        if role not in ROLES:
            raise InputError.of(f"one of {', '.join(ROLES)}", option="roles")
    columns = dict(found.columns)
    for name, role in roles.items():
        stated = replace(columns[name].suggestion, role=cast("Role", role), reason=Text("as it was asked for"))
        columns[name] = replace(columns[name], suggestion=stated)
    return replace(found, columns=columns)


def _set(text: str, pattern: str, line: str) -> str:
    return re.sub(pattern, lambda _: line, text, flags=re.MULTILINE)


def _key(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _counted(words: Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for word in words:
        found[word] = found.get(word, 0) + 1
    return found


NAME, NUMBER, WHOLE = {"type": "string"}, {"type": "number"}, {"type": "integer"}
BY_COLUMN = {"type": "object", "additionalProperties": NAME}
# What each tool takes; those that have no default are required.
TOOLS: Mapping[str, tuple[Callable[..., Json], Mapping[str, Json], Sequence[str]]] = {
    "inspect": (Assistant.inspect, {"file": NAME}, ["file"]),
    "plan": (
        Assistant.plan,
        {
            "file": NAME,
            "job": NAME,
            "k": WHOLE,
            "suppress": NUMBER,
            "roles": BY_COLUMN,
            "l_diversity": {"type": "object", "additionalProperties": WHOLE},
        },
        ["file", "job"],
    ),
    "run": (Assistant.run, {"job": NAME, "out": NAME}, ["job", "out"]),
    "report": (Assistant.report, {"folder": NAME}, ["folder"]),
}
