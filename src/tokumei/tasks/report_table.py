"""One released table in full: promises recounted, risks before and after, attacks, use, and the law."""

from __future__ import annotations

import datetime as dt
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tokumei.attacks.registry import attack_title
from tokumei.core.result import Facts, Result, Rows, Section
from tokumei.data.files.formats import read_frame
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.table import Table
from tokumei.report.document import Document
from tokumei.report.dossier_pages import table_document
from tokumei.tasks.attack_table import ANYBODY, attack_table
from tokumei.tasks.audit_table import NOTHING, audit_table
from tokumei.tasks.legal import legal_pages
from tokumei.tasks.measure_table import measure_table
from tokumei.tasks.pairs import published
from tokumei.tasks.request import Requirements
from tokumei.tasks.step_store import file_hash
from tokumei.tasks.table_profile import profile
from tokumei.tasks.ways import without_times

# Who attacks where nobody is named: the strongest.
EVERYBODY = "somebody who knows everybody"


@dataclass(frozen=True, eq=False, repr=False)
class TableReport(Result):
    """Everything that was found about one released table, and the pages that show it."""

    dossier: Mapping[str, Any]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return the result as `tokumei report --json` prints it."""
        return {**self.dossier, "seconds": self.seconds}

    def sections(self) -> Sequence[Section]:
        """Return the release in few numbers, and what the attacks found."""
        found = self.dossier["results"]
        facts = {"rows": found["before"]["rows"], "released": found["profile"]["released"], "k": found["after"]["k"]}
        rows = [
            [attack_title(one["attack"], one["sensitive"]), kind, score["value"], score.get("baseline")]
            for one in found["attacks"]
            for kind, score in one["scores"].items()
        ]
        return [Facts(facts), Rows(["attack", "success", "found", "blindly"], rows)]

    def document(self, language: str = "en") -> Document:
        """Return the pages in a language: en or ja."""
        return table_document(self.dossier, language=language)


def report_table(
    original: Table,
    release: Any,
    *,
    rows: Any = None,
    in_order: bool = False,
    hierarchies: Any = None,
    population_size: int | None = None,
    name: str | None = None,
    reading: Reading = AS_IT_IS,
    asked: Requirements = NOTHING,
) -> TableReport:
    """Audit, attack and measure a release in every way that its columns allow.

    release: what `tk.anonymize` gave, or a frame or file, with `rows` that say whose each row is or `in_order`.
    reading: how the original's file was read; a release in a file that is like it is read so too.
    asked: what it must hold, as for `tk.audit`.
    """
    started = time.perf_counter()
    given = published(original, release, rows, in_order=in_order, reading=reading)
    frame = given.table.frame
    both = {"rows": rows, "in_order": in_order, "hierarchies": hierarchies, "reading": reading}
    facts = getattr(release, "facts", {})
    after = without_times(audit_table(given.table, asked, original=original).to_dict())
    after["requirements"] += [
        {"requirement": name, "value": score.value, "holds": True}
        for name, score in getattr(release, "promises", {}).items()
    ]
    results = {
        "chosen": facts.get("method", "the publisher"),
        "loss": facts.get("loss"),
        "loss_name": facts.get("loss_name"),
        "levels": facts.get("levels"),
        "ranges": facts.get("ranges"),
        "gives_away": facts.get("gives_away"),
        "methods": [],
        "before": without_times(audit_table(original).to_dict()),
        "after": after,
        "attacks": attack_table(original, release, **both).as_records(EVERYBODY, alone=ANYBODY),
        "use": without_times(measure_table(original, release, **both).to_dict()),
        "profile": profile(original, frame, given.rows, population_size=population_size),
        "roles": {name: _word(role) for name, role in original.roles.items()},
    }
    dossier: dict[str, Any] = {
        "job": name or Path(original.name).name,
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "reviewer": None,
        "expires": None,
        "versions": {"tokumei": version("tokumei"), "polars": version("polars"), "python": platform.python_version()},
        "input": {"file": original.name, "sha256": _hash(original.name)},
        "files": {str(release): _hash(release)} if isinstance(release, (str, Path)) else {},
        "kept_apart": {},
        "holds": all(one["holds"] for one in results["after"]["requirements"]),
        "bounds": [],
        "results": results,
    }
    dossier["legal"] = legal_pages(frame, results, [], None)
    return TableReport(dossier, round(time.perf_counter() - started, 2))


def _word(role: Any) -> str:
    return "other" if str(role) == "insensitive" else str(role)


def _hash(file: Any) -> str:
    return file_hash(Path(file)) if Path(str(file)).is_file() else "–"


def original_of(file: Path, qi: Sequence[str], sensitive: Sequence[str], reading: Any) -> Table:
    """Read an original with its roles."""
    return Table(read_frame(file, reading), qi, sensitive, name=str(file))
