"""The dossier of a job, and the report of one released table.

Both have the legal pages: each law's items with what was found in the release. A dossier adds hashes of what went in
and came out, versions, who decides until when, and all numbers. A report has promises recounted, risks before and
after, attacks, use, and the law.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.attacks.registry import DISCLOSURE_ATTACKS, attack_title
from tokumei.core.chain import canonical
from tokumei.core.errors import InputError
from tokumei.core.result import Facts, Result, Rows, Section
from tokumei.data.files.disk import write_text
from tokumei.data.files.formats import read_frame
from tokumei.data.files.keys import PrivateKey
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.table import Table
from tokumei.inspection.legal import LegalCase, safe_harbor, wp216
from tokumei.inspection.legal_japan import anonymously_processed, pseudonymously_processed
from tokumei.reports.dossier_pages import PUBLISHER, table_document
from tokumei.reports.history_dossier import history_document
from tokumei.reports.page import Document
from tokumei.tasks.arx_project import ArxProject
from tokumei.tasks.attack_table import ANYBODY, attack_release, attack_table
from tokumei.tasks.audit_table import NOTHING, audit_table, in_roles_of
from tokumei.tasks.measure_table import measure_table, profile, typed_alike
from tokumei.tasks.request import Requirements
from tokumei.tasks.run_steps import file_hash, without_times
from tokumei.tasks.table_release import published

LEGAL_PAGES = (anonymously_processed, pseudonymously_processed, wp216, safe_harbor)
OTHERS_MAY = 0o077
# What somebody sees who watches a purchase.
SEEN = ("date", "item")


def legal_pages(
    frame: pl.DataFrame,
    results: Mapping[str, Any],
    bounds: Sequence[Mapping[str, Any]],
    secret: Path | None,
    *,
    kind: str = "table",
) -> list[dict[str, Any]]:
    """Check a released table or history by every law; `secret` is the folder of what must be kept apart."""
    if kind == "table":
        roles, k = results["roles"], results["after"]["k"]
        known = [name for name, role in roles.items() if role == "quasi-identifier" and name in frame.columns]
        pseudonyms: list[str] = []
    else:
        known, pseudonyms = [name for name in SEEN if name in frame.columns], ["customer"]
        k = _fewest_customers(frame, known)
    kept = [] if secret is None else sorted(one.name for one in secret.iterdir() if one.is_file())
    is_apart = None if secret is None else not secret.stat().st_mode & OTHERS_MAY
    ranges, gives_away = results.get("ranges"), results.get("gives_away")
    case = LegalCase(frame, known, k, results["attacks"], bounds, is_apart, kept, pseudonyms, ranges, gives_away)
    return [check(case) for check in LEGAL_PAGES]


def _fewest_customers(frame: pl.DataFrame, known: Sequence[str]) -> int:
    """Count the fewest pseudonyms that share a purchase, by what can be seen of one."""
    if not known or not frame.height:
        return 0
    found = frame.group_by(known).agg(pl.col("customer").n_unique().alias("n"))["n"].min()
    return int(found)  # type: ignore[arg-type]


DOSSIER = "dossier.json"
LANGUAGES = {"en": "report", "ja": "report.ja"}
PAGES = tuple(f"{name}{suffix}" for name in LANGUAGES.values() for suffix in (".html", ".md"))
# What is handed over, and what is kept apart. A seed has no hash here: one that is short could be found by trying.
HANDED_OVER = ("release.csv", "release.parquet", "published.csv", "job.toml")
KEPT_APART = ("secret/recipe.json", "secret/rows.txt", "secret/release.csv", "secret/pseudonyms.csv")


def write_dossier(done: Any, key: PrivateKey | None = None) -> Path:
    """Write the dossier beside the release, signed where there is a key; the seed is not in it."""
    out, job = done.out, done.job
    found = {
        "job": job.name,
        "kind": job.kind,
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "reviewer": job.reviewer,
        "expires": job.expires,
        "versions": {"tokumei": version("tokumei"), "polars": version("polars"), "python": platform.python_version()},
        "folder": os.path.relpath(job.folder.resolve(), out.resolve()),
        "input": {"file": os.path.relpath(job.file.resolve(), out.resolve()), "sha256": file_hash(job.file)},
        "files": {name: file_hash(out / name) for name in HANDED_OVER if (out / name).exists()},
        "kept_apart": {name: file_hash(out / name) for name in KEPT_APART if (out / name).exists()},
        "seed": "kept apart in secret/seed.json",
        "holds": done.holds,
        "bounds": list(done.bounds),
        "results": done.results,
    }
    found["legal"] = legal_pages(done.released, done.results, done.bounds, out / "secret", kind=job.kind)
    write = table_document if job.kind == "table" else history_document
    for language, name in LANGUAGES.items():
        document = write(found, language=language)
        document.write(out / f"{name}.html")
        document.write(out / f"{name}.md")
    found["pages"] = {name: file_hash(out / name) for name in PAGES if (out / name).exists()}
    if key is not None:
        found = json.loads(json.dumps(found, default=str))
        found["signature"] = {"key": key.public, "value": key.sign(signed_bytes(found))}
    path: Path = out / DOSSIER
    write_text(path, json.dumps(found, ensure_ascii=False, indent=1, default=str) + "\n")
    return path


def signed_bytes(dossier: Mapping[str, Any]) -> bytes:
    """Return the bytes that a signature covers: everything but the signature, in one spelling."""
    return canonical({name: value for name, value in dossier.items() if name != "signature"}).encode()


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
    weights: str | None = None,
    name: str | None = None,
    reading: Reading = AS_IT_IS,
    asked: Requirements = NOTHING,
    not_checked: Sequence[str] = (),
) -> TableReport:
    """Audit, attack and measure a release in every way that its columns allow.

    release: what `tk.anonymize` gave, or a frame or file, with `rows` that say whose each row is or `in_order`; without
        them no row is anybody's, as of synthetic rows, and what has to know it is not measured.
    reading: how the original's file was read; a release in a file that is like it is read so too.
    asked: what it must hold, as for `tk.audit`. not_checked: what else somebody asked for.
    population_size, weights: what is known of the rows as a sample of more people.
    """
    started = time.perf_counter()
    original = original.of_unit(asked.unit)
    given = published(original, release, rows, in_order=in_order, reading=reading, may_be_made_up=True)
    frame = given.table.frame
    is_made_up = not given.rows.len() > given.rows.null_count()
    owners = None if is_made_up else given.rows
    both = {"rows": rows, "in_order": in_order, "hierarchies": hierarchies, "reading": reading}
    facts = getattr(release, "facts", {})
    chosen = original.hierarchies if hierarchies is None else hierarchies
    trees = chosen if asked.t_closeness else None
    released = in_roles_of(original, frame, owners, given.table.name)
    after = without_times(audit_table(released, asked, original=original, hierarchies=trees).to_dict())
    after["requirements"] += [
        {"requirement": name, "value": score.value, "holds": True}
        for name, score in getattr(release, "promises", {}).items()
    ]
    results = {
        "chosen": facts.get("method", PUBLISHER),
        "loss": facts.get("loss"),
        "loss_name": facts.get("loss_name"),
        "levels": facts.get("levels"),
        "ranges": facts.get("ranges"),
        "gives_away": facts.get("gives_away"),
        "may_suppress": facts.get("may_suppress"),
        "methods": [],
        "kept_anyway": [one.as_dict() for one in getattr(release, "kept_anyway", [])],
        "before": without_times(audit_table(original).to_dict()),
        "after": after,
        "attacks": _attacks_on_made_up(original, release, released, both)
        if is_made_up
        else attack_table(original, release, **both).as_records(EVERYBODY, alone=ANYBODY),
        "use": without_times(measure_table(original, release, may_be_made_up=True, **both).to_dict()),
        "profile": profile(original, frame, owners, population_size=population_size, weights=weights),
        "copies": copies(original, released) if is_made_up else None,
        "added": [name for name in frame.columns if name not in original.frame.columns],
        "not_checked": list(not_checked),
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


def copies(original: Table, released: Table) -> dict[str, int]:
    """Count the released rows that are equal to a row of the original in all columns of both.

    alone: those equal to a row that no other of the original is equal to, and so to one person's.

    Example: of (f, 30), (f, 30), (m, 40) the rows (f, 30), (m, 40), (m, 50) hold two that are equal, one of them to a
    row that is alone.
    """
    both = [name for name in released.frame.columns if name in original.frame.columns]
    before, after = typed_alike(original, released, both)
    cells = [pl.col(name).cast(pl.String).alias(f"{at}") for at, name in enumerate(both)]
    sizes = before.frame.select(cells).group_by(pl.all()).agg(pl.len().alias("size"))
    on = [f"{at}" for at in range(len(both))]
    found = after.frame.select(cells).join(sizes, on=on, nulls_equal=True)["size"]
    return {"columns": len(both), "rows": len(found), "alone": int((found == 1).sum())}


def _attacks_on_made_up(
    original: Table, release: Any, released: Table, both: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Try the attacks that need not be told whose each row is, since no row is anybody's."""
    trees = original.hierarchies if both["hierarchies"] is None else both["hierarchies"]
    found = attack_release(released, hierarchies=trees).as_records(EVERYBODY, alone=ANYBODY)
    has = {"sensitive"} if released.sensitive else set()
    for name in DISCLOSURE_ATTACKS:
        kind = DISCLOSURE_ATTACKS.get(name)
        if not getattr(kind, "asks_whose", True) and has.issuperset(kind.needs):
            found += attack_table(original, release, [name], **both).as_records(EVERYBODY, alone=ANYBODY)
    return found


def _word(role: Any) -> str:
    return "other" if str(role) == "insensitive" else str(role)


def _hash(file: Any) -> str:
    return file_hash(Path(file)) if Path(str(file)).is_file() else "–"


def original_of(
    file: Path | None, qi: Sequence[str], sensitive: Sequence[str], reading: Any, project: ArxProject | None = None
) -> Table:
    """Read an original with its roles; what is not given is that of a project of ARX, where there is one."""
    if project is None:
        if file is None:
            raise InputError.of("the original", option="--original")
        return Table(read_frame(file, reading), qi, sensitive, name=str(file))
    if file is not None:
        project = replace(project, data=read_frame(file, reading), file=file)
    return project.original(qi, sensitive)
