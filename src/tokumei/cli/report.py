"""`tokumei report`, `sweep` and `demo`: one release in full, and many in comparison.

The demo goes the whole way on made-up data and ends in a report.
"""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import click

from tokumei.cli.options import (
    DrawOption,
    ForceOption,
    HierarchiesOption,
    ItemHierarchyOption,
    SeedOption,
    item_file,
    reads_histories,
)
from tokumei.cli.output import EXIT_CHECK_FAILED, show, showing_progress
from tokumei.cli.parameters import Argument, Names, Option
from tokumei.cli.request import ArxOption, asks
from tokumei.core.errors import InputError
from tokumei.core.result import Answer, Facts
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.tasks.request import Requirements

NOTHING = Requirements()
TABLES = "Reports on tables"


class Language(StrEnum):
    """The languages of reports on tables."""

    EN = "en"
    JA = "ja"


SWEEP_FILES = ("sweep.json", "sweep.html")
KnowledgeOption = Annotated[
    list[str] | None,
    Option("--knowledge", metavar="25=T25", help="Percentage known and its file; drawn anew without one."),
]
AttacksOption = Annotated[
    list[str] | None, Names("--attacks", help="Which attacks; the strongest and s1 to s6 if not given.")
]
MinutesOption = Annotated[
    float | None,
    Option(
        "--minutes",
        metavar="N",
        help="Try the strongest attacks that fit in this time; the report lists those left out.",
    ),
]
SampleOption = Annotated[
    int | None, Option("--sample", min=2, metavar="N", help="Attack so many customers; as take minutes if not given.")
]


@reads_histories
@asks(Requirements, panel=TABLES)
def report(
    release: Annotated[Path, Option("--release", metavar="A", help="The release; of a history row for row.")],
    out: Annotated[Path, Option("--out", metavar="FILE.html", help="The report.")],
    original: Annotated[
        Path | None, Option("--original", metavar="T", help="The original history or table; that of --from-arx if not.")
    ] = None,
    knowledge: KnowledgeOption = None,
    draw: DrawOption = "contest",
    attacks: AttacksOption = None,
    minutes: MinutesOption = None,
    sample: SampleOption = None,
    made_up: Annotated[
        bool, Option("--made-up", help="No row of the released history is anybody's: there is no pseudonym to find.")
    ] = False,
    sweep: Annotated[
        Path | None, Option("--sweep", metavar="DIR", help="Show the frontier of a finished sweep.")
    ] = None,
    hierarchy: ItemHierarchyOption = None,
    seed: SeedOption = 0,
    qi: Annotated[
        list[str] | None, Names("--qi", panel=TABLES, help="The files are tables: what others may know.")
    ] = None,
    sensitive: Annotated[
        list[str] | None, Names("--sensitive", panel=TABLES, help="What others want to learn.")
    ] = None,
    rows: Annotated[
        Path | None, Option("--rows", metavar="FILE", panel=TABLES, help="The original row of each released row.")
    ] = None,
    in_order: Annotated[
        bool,
        Option(
            "--in-order",
            panel=TABLES,
            help="Row n of both files is the same person. Without it and --rows no row is taken for anybody's, as of "
            "synthetic rows.",
        ),
    ] = False,
    threat: Annotated[
        str | None,
        Option("--threat", metavar="WHO", panel=TABLES, help="Who attacks, as for 'attack table'; everybody if not."),
    ] = None,
    control: Annotated[
        Path | None,
        Option("--control", metavar="C", panel=TABLES, help="People who are not in the release, 400 or more."),
    ] = None,
    from_arx: ArxOption = None,
    request: Requirements = NOTHING,
    population_size: Annotated[
        int | None,
        Option("--population-size", min=1, panel=TABLES, help="Estimate who is unique among this many people."),
    ] = None,
    weights: Annotated[
        str | None,
        Option("--weights", metavar="COLUMN", panel=TABLES, help="How many people each row stands for, in a survey."),
    ] = None,
    context: Annotated[
        Path | None,
        Option(
            "--context",
            metavar="JOB.toml",
            panel=TABLES,
            help="A job file, whose [context] says who receives the release and what follows; its reviewer decides.",
        ),
    ] = None,
    public: Annotated[
        bool, Option("--public", panel=TABLES, help="Write a version to publish: nothing in it leads to a person.")
    ] = False,
    hierarchies: HierarchiesOption = None,
    lang: Annotated[Language, Option("--lang", panel=TABLES, help="The language of the pages.")] = Language.EN,
    force: ForceOption = False,
    reading: Reading = AS_IT_IS,
) -> None:
    """Measure and attack a release in every way, and write one self-contained page.

    With --qi the files are tables, else histories.
    The page of a table may be .html, .md, .pdf (where Chromium is installed) or .json.

    Example: tokumei report --original T.csv --release AT.csv --knowledge 25=T25.csv --knowledge 100 --out report.html
    """
    from tokumei.data.files.outputs import guarded
    from tokumei.tasks.report_history import report_history

    if qi is not None or from_arx is not None:
        more = {
            "asked": request,
            "rows": rows,
            "in_order": in_order,
            "threat": threat,
            "control": control,
            "hierarchies": hierarchies,
            "population_size": population_size,
            "weights": weights,
            **_stated(context),
        }
        _report_table(
            original, from_arx, release, qi or [], sensitive or [], out, more, reading, lang, public=public, force=force
        )
        return
    of_tables = (
        *(sensitive, rows, in_order, threat, control, population_size, weights, hierarchies),
        *(context, public),
    )
    if any(of_tables) or request != NOTHING:
        raise InputError.of("--qi, which says that the files are tables", option="--qi")
    if original is None:
        raise InputError.of("the original history or table", option="--original")
    items = item_file(hierarchy)
    read = [original, release, items, *files_of(knowledge), None if sweep is None else sweep / "sweep.json"]
    with showing_progress(), guarded({"--out": out}, inputs=read, pages=["--out"], force=force) as drafts:
        done = report_history(
            original,
            release,
            knowledge=knowledge,
            draw=draw,  # type: ignore[arg-type]
            attacks=attacks,
            minutes=minutes,
            swept=None if sweep is None else _read_sweep(sweep),
            sample=sample,
            seed=seed,
            reading=reading,
            hierarchy=items,
            made_up=made_up,
            name=f"Report on {release.name}",
        )
        done.page().write(drafts["--out"])
    show(Answer({**done.to_dict(), "out": str(out)}, [*done.sections(), Facts({"page": str(out)})]))


@reads_histories
def sweep(
    file: Annotated[Path, Argument(metavar="T", help="The original history or table.")],
    out: Annotated[Path, Option("--out", metavar="DIR", help="Folder for the results; a sweep goes on there.")],
    grid: Annotated[
        Path | None, Option("--grid", metavar="FILE.toml", help="A [[pipeline]] for each way to anonymize.")
    ] = None,
    knowledge: KnowledgeOption = None,
    draw: DrawOption = "contest",
    attacks: AttacksOption = None,
    minutes: MinutesOption = None,
    sample: SampleOption = None,
    hierarchy: ItemHierarchyOption = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    reading: Reading = AS_IT_IS,
) -> None:
    """Anonymize a history in many ways and draw what safety costs; what was done before is not done again.

    Example: tokumei sweep T.csv --knowledge 25=T25.csv --out sweep
    """
    from tokumei.data.files.outputs import check_folder, guarded
    from tokumei.tasks.report_history import sweep_history

    items = item_file(hierarchy)
    read = [file, grid, items, *files_of(knowledge)]
    check_folder(out, ("results", *SWEEP_FILES), option="--out", inputs=read, force=force)
    with showing_progress():
        done = sweep_history(
            file,
            out,
            grid=grid,
            knowledge=knowledge,
            draw=draw,  # type: ignore[arg-type]
            attacks=attacks,
            minutes=minutes,
            sample=sample,
            seed=seed,
            reading=reading,
            hierarchy=items,
        )
        with guarded({name: out / name for name in SWEEP_FILES}, inputs=read, force=True) as drafts:
            done.ways.write_json(drafts["sweep.json"])
            done.page().write(drafts["sweep.html"])
    page = Facts({"page": str(out / "sweep.html")})
    show(Answer({**done.to_dict(), "out": str(out)}, [*done.sections(), page]))


def _report_table(
    original: Path | None,
    from_arx: Path | None,
    release: Path,
    qi: list[str],
    sensitive: list[str],
    out: Path,
    options: dict[str, Any],
    reading: Reading,
    language: Language,
    *,
    public: bool,
    force: bool,
) -> None:
    """Report on a table: the page by the suffix of its file."""
    from tokumei.data.files.formats import read_beside
    from tokumei.data.files.outputs import guarded
    from tokumei.tasks.arx_project import read_arx_project
    from tokumei.tasks.dossier import check_page, original_of, report_table

    check_page(out)
    read = [original, from_arx, release, options["rows"], options["hierarchies"], options["asked"].population]
    read.append(options["control"])
    with showing_progress(), guarded({"--out": out}, inputs=read, force=force) as drafts:
        project = None if from_arx is None else read_arx_project(from_arx)
        people = original_of(original, qi, sensitive, reading, project)
        if project is not None:
            options["asked"] = project.requirements(options["asked"])
            options["not_checked"] = project.not_checked
            # ARX keeps the order of rows; of a release that lacks some nobody says whose they are.
            is_whole = options["rows"] is None and read_beside(release, reading, people.roles).height == people.n_rows
            options["in_order"] = options["in_order"] or is_whole
        done = report_table(people, str(release), reading=reading, **options)
        done.write(drafts["--out"], language.value, out.suffix, is_public=public)
    show(done.written_to(out))
    if not done.dossier["holds"]:
        raise click.exceptions.Exit(EXIT_CHECK_FAILED)


def _stated(file: Path | None) -> dict[str, object]:
    """Read what people state of the release, and who decides, from a job file."""
    from tokumei.tasks.job_file import Job

    if file is None:
        return {}
    job = Job.read(file)
    return {"context": job.context, "reviewer": job.reviewer}


def files_of(texts: list[str] | None) -> list[str]:
    """Return the files from which knowledge is read."""
    return [file for text in texts or [] if (file := text.partition("=")[2])]


def _read_sweep(folder: Path) -> Any:
    import polars as pl

    file = folder / "sweep.json"
    if not file.exists():
        raise InputError.of("the folder of a finished sweep", file=folder)
    return pl.read_json(file)


KNOWN_PER_CENT = (25, 50, 75, 100)


def demo(
    out: Annotated[Path, Option("--out", metavar="FILE.html", help="The report.")] = Path("tokumei-demo.html"),
    customers: Annotated[int, Option(min=2, help="Number of made-up customers.")] = 400,
    seed: SeedOption = 1,
    force: ForceOption = False,
) -> None:
    """Make up a retail history, anonymize it, attack it, measure it, and write a report.

    Example: tokumei demo --out report.html
    """
    from tokumei.data.files.outputs import guarded
    from tokumei.data.history import History
    from tokumei.data.made_retail import make_retail
    from tokumei.methods.registry import HISTORY_ANONYMIZERS
    from tokumei.reports.evaluation import evaluate
    from tokumei.reports.history_page import history_page

    started = time.perf_counter()
    with showing_progress(), guarded({"--out": out}, pages=["--out"], force=force) as drafts:
        original = History.of(make_retail(customers, seed=seed), name="made-up retail")
        release = HISTORY_ANONYMIZERS.make("pseudonyms", lifetime=1).anonymize(original, seed=seed)
        known = {str(share): original.known(share / 100, seed=seed) for share in KNOWN_PER_CENT}
        done = evaluate(original, History(release.frame), known)
        page = history_page(
            "A new name each month does not hide a customer",
            done,
            introduction=f"{customers:,} made-up customers bought {original.n_rows:,} times in a year (seed {seed}). "
            "Their history is released with a new pseudonym for each customer in each month and nothing else changed.",
        )
        page.write(drafts["--out"])
    attack, found = done.best_attack(str(KNOWN_PER_CENT[0]))
    summary: dict[str, object] = {
        "rows": original.n_rows,
        "customers": customers,
        "found": found,
        "found_by": f"{attack}, {KNOWN_PER_CENT[0]} % of the purchases known",
        "use_lost": done.contest_utility,
        "report": str(out),
        "seconds": round(time.perf_counter() - started, 2),
    }
    show(Answer(summary, [Facts(summary, "Tokumei demo")]))
