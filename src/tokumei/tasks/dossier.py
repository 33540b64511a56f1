"""The dossier of a job, and the report of one released table.

Both decide whether to release, and have a page for each framework: its clauses with what was measured and what people
state. A dossier adds hashes of what went in and came out, versions, who decides until when, and all numbers, and comes
with a public document, in which nothing leads to a person.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.attacks.registry import DISCLOSURE_ATTACKS, DisclosureAttack, attack_title
from tokumei.attacks.table_threats import TableThreat
from tokumei.core.chain import canonical
from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.result import Facts, Result, Rows, Section
from tokumei.core.text import Json, JsonView, Text, to_json
from tokumei.data.context import NOT_STATED, ReleaseContext
from tokumei.data.files.disk import file_hash, write_text
from tokumei.data.files.formats import read_frame
from tokumei.data.files.keys import PrivateKey
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.table import Table
from tokumei.inspection.decision import decide
from tokumei.inspection.evidence import VERSION, Evidence, clauses_of
from tokumei.inspection.law_europe import gdpr, ico
from tokumei.inspection.law_japan import appi_anonymous, appi_pseudonymous, appi_public_bodies
from tokumei.inspection.law_states import expert, nist_188, nist_226, safe_harbor
from tokumei.inspection.standards import iso_20889, iso_27559
from tokumei.methods.synthetic.account import account_of
from tokumei.reports.dossier_pages import PUBLISHER, table_document
from tokumei.reports.history_dossier import history_document
from tokumei.reports.page import Document, check_suffix, print_page
from tokumei.reports.public_document import public_document, public_dossier
from tokumei.tasks.arx_project import ArxProject
from tokumei.tasks.attack_table import ANYBODY, attack_release, attack_table
from tokumei.tasks.audit_table import NOTHING, audit_table, in_roles_of
from tokumei.tasks.measure_table import copies, drawn_rows, measure_table, profile
from tokumei.tasks.request import Requirements
from tokumei.tasks.run_steps import without_times
from tokumei.tasks.table_release import published

# In the order of the pages.
FRAMEWORKS = (
    *(iso_27559, iso_20889, appi_anonymous, appi_public_bodies, appi_pseudonymous, gdpr, ico),
    *(safe_harbor, expert, nist_188, nist_226),
)
# What somebody sees who watches a purchase.
SEEN = ("date", "item")


def judged(dossier: JsonView, frame: pl.DataFrame, context: ReleaseContext) -> Json:
    """Fill the clauses of every framework from what a dossier holds and what people state, and decide by it."""
    case = _evidence(dossier, frame, context)
    listed = [fill(case).as_dict() for fill in FRAMEWORKS]
    for clause in clauses_of(listed):
        clause["command"] = f"tokumei verify {DOSSIER} --clause {clause['id']}" if clause["figure"] else None
    has_sensitive = "sensitive" in dossier["results"].get("roles", {}).values()
    return {
        "context": context.stated(),
        "frameworks_of": VERSION,
        "frameworks": listed,
        "decision": decide(case, has_sensitive=has_sensitive).as_dict(),
    }


def _evidence(dossier: JsonView, frame: pl.DataFrame, context: ReleaseContext) -> Evidence:
    """Gather from a dossier what clauses are judged by."""
    results = dossier["results"]
    is_table = "roles" in results
    if is_table:
        known = [
            name for name, role in results["roles"].items() if role == "quasi-identifier" and name in frame.columns
        ]
        after, profile_of = results["after"], results["profile"]
    else:
        known, after, profile_of = [name for name in SEEN if name in frame.columns], {}, {}
    is_drawn = results.get("drawn") is not None
    has_classes = is_table and not is_drawn
    risks = {
        side: {name: one["value"] for name, one in results[side]["measures"]["classes"].items()} if has_classes else {}
        for side in ("before", "after")
    }
    drawn = results.get("drawn") or {}
    epsilon = [float(one["value"]) for one in after.get("requirements", []) if one["requirement"] == "epsilon"]
    alone = None if is_drawn else profile_of.get("population_uniques")
    return Evidence(
        frame,
        known,
        after["k"] if is_table else _fewest_customers(frame, known),
        attacks=results["attacks"],
        bounds=dossier["bounds"],
        requirements=after.get("requirements", []),
        risks=risks["after"],
        risks_before=risks["before"],
        population=None if alone is None else alone["n"],
        population_uniques=None if alone is None else alone["after"],
        unit=after.get("unit") or drawn.get("protects", "rows"),
        n_alone=0 if is_drawn else after.get("unique", 0),
        is_drawn=is_drawn,
        secrets=[Path(name).name for name in dossier["kept_apart"]],
        pseudonyms=() if is_table else ("customer",),
        ranges=results.get("ranges"),
        gives_away=results.get("gives_away"),
        method=results["chosen"],
        kept_anyway=[one["column"] for one in results.get("kept_anyway", [])],
        several_rows_by=_several_rows_by(results) if after.get("unit", "rows") == "rows" and not is_drawn else None,
        n_released=profile_of.get("released", 0),
        n_unchanged=None if is_drawn else profile_of.get("unchanged"),
        loss=results.get("loss"),
        epsilon=epsilon[0] if epsilon else drawn.get("epsilon"),
        delta=float(drawn.get("delta", 0.0)),
        account=results.get("account") or {},
        audit=drawn.get("audit") or {},
        context=context,
        reviewer=dossier["reviewer"],
        earlier=results.get("earlier"),
        today=dt.date.fromisoformat(dossier["date"]),
    )


def _several_rows_by(results: JsonView) -> str | None:
    """Return the column by which people seem to have several rows."""
    said = results["before"].get("several_rows") if "before" in results else None
    if said is None:
        return None
    return str((said.values if isinstance(said, Text) else said["values"])["column"])


def _fewest_customers(frame: pl.DataFrame, known: Sequence[str]) -> int:
    """Count the fewest pseudonyms that share a purchase, by what can be seen of one."""
    if not known or not frame.height:
        return 0
    found = frame.group_by(known).agg(pl.col("customer").n_unique().alias("n"))["n"].min()
    return int(found)  # type: ignore[arg-type]


DOSSIER = "dossier.json"
LANGUAGES = {"en": "", "ja": ".ja"}
INTERNAL, PUBLIC = "report", "public"
PAGES = tuple(
    f"{name}{language}{suffix}"
    for name in (INTERNAL, PUBLIC)
    for language in LANGUAGES.values()
    for suffix in (".html", ".md")
)
# Each page that can be printed, and the file of its print.
PRINTS = {name: f"{name.removesuffix('.html')}.pdf" for name in PAGES if name.endswith(".html")}
PUBLIC_NUMBERS = "public.json"
# What is handed over, and what is kept apart. A seed has no hash here: one that is short could be found by trying.
HANDED_OVER = ("release.csv", "release.parquet", "published.csv")
KEPT_APART = ("job.toml", "secret/recipe.json", "secret/rows.txt", "secret/release.csv", "secret/pseudonyms.csv")


def write_dossier(done: Any, key: PrivateKey | None = None, *, today: dt.date | None = None, pdf: bool = False) -> Path:
    """Write the dossier beside the release, signed where there is a key; the seed is not in it.

    today: by which ages and reviews are counted; that of a dossier which is checked, so that the same is found again.
    pdf: print every page too; a print names its day and hour, so that only its hash can be checked.
    """
    out, job = done.out, done.job
    found = {
        "job": job.name,
        "kind": job.kind,
        "document": "internal",
        "date": (today or dt.datetime.now(dt.UTC).date()).isoformat(),
        "reviewer": job.reviewer,
        "expires": job.expires,
        "versions": {"tokumei": version("tokumei"), "polars": version("polars"), "python": platform.python_version()},
        "folder": os.path.relpath(job.folder.resolve(), out.resolve()),
        "input": {"file": os.path.relpath(job.file.resolve(), out.resolve()), "sha256": file_hash(job.file)},
        "files": {name: file_hash(out / name) for name in HANDED_OVER if (out / name).exists()},
        "kept_apart": {name: file_hash(out / name) for name in KEPT_APART if (out / name).exists()},
        "seed": "kept apart in secret/seed.json",
        "earlier": None
        if job.earlier is None
        else {"file": os.path.relpath(job.earlier.resolve(), out.resolve()), "sha256": file_hash(job.earlier)},
        "holds": done.holds,
        "bounds": list(done.bounds),
        "results": done.results,
    }
    found |= judged(found, done.released, job.context)
    # As it will be read, so that the same pages can be written of it again.
    found = json.loads(json.dumps(found, default=str))
    for name, text in page_texts(found):
        write_text(out / name, text)
    found["pages"] = {name: file_hash(out / name) for name in (*PAGES, PUBLIC_NUMBERS) if (out / name).exists()}
    # Prints of an earlier run show other pages than those that stand there now.
    for name in _printed_before(out / DOSSIER):
        (out / name).unlink(missing_ok=True)
    if pdf:
        with step("printing", len(PRINTS)) as bar:
            for page, name in PRINTS.items():
                print_page(out / page, out / name)
                bar.advance()
        found["prints"] = {name: file_hash(out / name) for name in PRINTS.values()}
    if key is not None:
        found["signature"] = {"key": key.public, "value": key.sign(signed_bytes(found))}
    path: Path = out / DOSSIER
    write_text(path, json.dumps(found, ensure_ascii=False, indent=1, default=str) + "\n")
    return path


def _printed_before(dossier: Path) -> list[str]:
    try:
        prints = json.loads(dossier.read_text(encoding="utf-8")).get("prints", {})
    except (OSError, ValueError):
        return []
    return [name for name in PRINTS.values() if name in prints]


def page_texts(dossier: JsonView) -> Iterator[tuple[str, str]]:
    """Yield every page of a dossier with its text: both documents in both languages, and the public numbers."""
    public = public_dossier(dossier)
    yield PUBLIC_NUMBERS, json.dumps(public, ensure_ascii=False, indent=1) + "\n"
    write = table_document if dossier["kind"] == "table" else history_document
    for language, ending in LANGUAGES.items():
        for name, document in (
            (INTERNAL, write(dossier, language=language)),
            (PUBLIC, public_document(public, language=language)),
        ):
            yield f"{name}{ending}.html", document.to_page().to_html()
            yield f"{name}{ending}.md", document.to_markdown()


def signed_bytes(dossier: Mapping[str, object]) -> bytes:
    """Return the bytes that a signature covers: everything but the signature, in one spelling."""
    return canonical({name: value for name, value in dossier.items() if name != "signature"}).encode()


# Who attacks where nobody is named: the strongest.
EVERYBODY = "somebody who knows everybody"


@dataclass(frozen=True, eq=False, repr=False)
class TableReport(Result):
    """Everything that was found about one released table, and the pages that show it."""

    dossier: JsonView
    seconds: float

    def to_dict(self) -> Json:
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

    def document(self, language: str = "en", *, is_public: bool = False) -> Document:
        """Return the pages in a language, en or ja; those that may be published, in which nothing leads to a person."""
        if is_public:
            return public_document(public_dossier(self.dossier), language=language)
        return table_document(self.dossier, language=language)

    def write(self, path: Path, language: str = "en", suffix: str | None = None, *, is_public: bool = False) -> None:
        """Write the pages, or with the suffix .json the numbers; of both only what may be published, if asked."""
        if (suffix or path.suffix) == ".json":
            found = public_dossier(self.dossier) if is_public else self.dossier
            write_text(path, json.dumps(found, ensure_ascii=False, indent=1, default=str) + "\n")
        else:
            self.document(language, is_public=is_public).write(path, suffix)


def check_page(path: Path) -> None:
    """Refuse a file that a report cannot be written to, by its suffix."""
    if path.suffix != ".json":
        check_suffix(path)


# Of more rows fewer descriptions are tried, each of which is held against every row.
MANY_ROWS, FEW_DESCRIPTIONS = 50_000, 500


def report_table(
    original: Table,
    release: Any,
    *,
    rows: Any = None,
    in_order: bool = False,
    threat: str | TableThreat | None = None,
    control: Any = None,
    population: Any = None,
    hierarchies: Any = None,
    population_size: int | None = None,
    weights: str | None = None,
    name: str | None = None,
    reading: Reading = AS_IT_IS,
    asked: Requirements = NOTHING,
    not_checked: Sequence[str] = (),
    context: ReleaseContext = NOT_STATED,
    reviewer: str | None = None,
) -> TableReport:
    """Audit, attack and measure a release in every way that its columns allow.

    release: what `tk.anonymize` gave, or a frame or file, with `rows` that say whose each row is or `in_order`; without
        them no row is anybody's, as of synthetic rows, and what has to know it is not measured.
    threat: who attacks; somebody who knows everybody if not given. control: people who are not in the release, of whom
        400 let it be tried who is in it. population: everybody who might be in it; that of `asked` if not given.
    reading: how the original's file was read; a release in a file that is like it is read so too.
    asked: what it must hold, as for `tk.audit`. not_checked: what else somebody asked for.
    population_size, weights: what is known of the rows as a sample of more people.
    context, reviewer: what only people know of the release, and who decides on it.
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
    attacked = attack_table(
        original,
        release,
        [_as_long_as_fits(name, original.n_rows) for name in DISCLOSURE_ATTACKS],
        optional=True,
        threat=threat,
        made_up=is_made_up,
        control=control,
        population=asked.population if population is None else population,
        **both,
    )
    who = EVERYBODY if attacked.threat is None else attacked.threat.who
    # Of made-up rows, whose truth nobody knows, labels are read without it.
    alone = attack_release(released, hierarchies=chosen).as_records(who, alone=ANYBODY) if is_made_up else []
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
        "attacks": attacked.as_records(who, alone=ANYBODY) + alone,
        "left_out": {name: str(why) for name, why in attacked.left_out.items()},
        "reasons": to_json(attacked.left_out),
        "threat": None if attacked.threat is None else attacked.threat.as_dict(),
        "use": without_times(measure_table(original, release, may_be_made_up=True, **both).to_dict()),
        "profile": profile(original, frame, owners, population_size=population_size, weights=weights),
        "copies": copies(original, released) if is_made_up else None,
        "drawn": drawn_rows(facts),
        "account": account_of(facts),
        "added": [name for name in frame.columns if name not in original.frame.columns],
        "not_checked": list(not_checked),
        "roles": {name: _word(role) for name, role in original.roles.items()},
    }
    dossier: dict[str, object] = {
        "job": name or Path(original.name).name,
        "document": "internal",
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "reviewer": reviewer,
        "expires": None,
        "versions": {"tokumei": version("tokumei"), "polars": version("polars"), "python": platform.python_version()},
        "input": {"file": original.name, "sha256": _hash(original.name)},
        "files": {str(release): _hash(release)} if isinstance(release, (str, Path)) else {},
        "kept_apart": {},
        "holds": all(one["holds"] for one in results["after"]["requirements"]),
        "bounds": [],
        "results": results,
    }
    dossier |= judged(dossier, frame, context)
    return TableReport(dossier, round(time.perf_counter() - started, 2))


def _as_long_as_fits(name: str, n_rows: int) -> DisclosureAttack:
    """Make an attack that takes minutes at most, by looking at fewer of what it tries where rows are many."""
    if name == "singling-out" and n_rows > MANY_ROWS:
        return DISCLOSURE_ATTACKS.make(name, descriptions=FEW_DESCRIPTIONS)
    return DISCLOSURE_ATTACKS.make(name)


def _word(role: object) -> str:
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
