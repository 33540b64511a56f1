"""Commands that anonymize purchase histories and measure what use is left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tokumei.cli.options import EngineOption, ForceOption, ItemHierarchyOption, item_file, part_options, reads_histories
from tokumei.cli.output import show, showing_progress
from tokumei.cli.parameters import Argument, Names, Option
from tokumei.core.errors import InputError
from tokumei.core.result import Answer
from tokumei.data.files.reading import AS_IT_IS, Reading

if TYPE_CHECKING:
    from polars import DataFrame

SetOption = Annotated[
    list[str] | None, Option("--set", metavar="NAME=VALUE", help="An option of the method; repeatable.")
]
OutFormatOption = Annotated[
    str | None,
    Option(
        "--out-format",
        metavar="FORMAT",
        help="table, or a contest's such as pwscup2017; if not given, as it was read where that form has releases of "
        "this kind, else a table.",
    ),
]
OriginalOption = Annotated[Path, Option("--original", metavar="T", help="The original history.")]
ReleaseOption = Annotated[Path, Option("--release", metavar="A", help="The release, row for row.")]


@reads_histories
def anonymize_history(
    file: Annotated[Path, Argument(metavar="FILE", help="A history: a table with a header, or T of a contest.")],
    out: Annotated[Path, Option("--out", metavar="OUT", help="The release, row for row, deleted rows too.")],
    method: Annotated[str | None, Option("--method", help="See 'tokumei parts history-anonymizer'.")] = None,
    options: SetOption = None,
    pipeline: Annotated[
        Path | None, Option("--pipeline", metavar="FILE.toml", help="Several methods, one after the other.")
    ] = None,
    seed: Annotated[
        int | None,
        Option("--seed", min=0, help="The same seed gives the same release; a secret one is drawn if not given."),
    ] = None,
    published: Annotated[
        Path | None, Option("--published", metavar="S", help="Also write the rows left, shuffled.")
    ] = None,
    truth: Annotated[
        Path | None, Option("--truth", metavar="F", help="Also write who is who, to judge attacks by.")
    ] = None,
    rows: Annotated[
        Path | None,
        Option("--rows", metavar="FILE", help="Also write which row each purchase was, to judge attribution by."),
    ] = None,
    out_format: OutFormatOption = None,
    carry: Annotated[
        list[str] | None, Names("--carry", help="Further columns to release as they are; others are left out.")
    ] = None,
    hierarchy: ItemHierarchyOption = None,
    carry_anyway: Annotated[
        bool, Option("--carry-anyway", help="Carry columns even if they single customers out.")
    ] = False,
    budget: Annotated[
        Path | None,
        Option(
            "--budget", metavar="FILE", help="What all releases of these people may spend of ε and δ, and have spent."
        ),
    ] = None,
    anyway: Annotated[
        bool, Option("--anyway", help="Release drawn purchases that attacks find customers by all the same.")
    ] = False,
    engine: EngineOption = "local",
    dry_run: Annotated[
        bool,
        Option(
            "--dry-run",
            help="Predict what permute-groups would cost, of several values of an option, with commas, each; on an "
            "engine: say how many passes, memory and time it would take. Writes nothing.",
        ),
    ] = False,
    force: ForceOption = False,
    reading: Reading = AS_IT_IS,
) -> None:
    """Anonymize a purchase history by one method or a pipeline.

    On another engine than the local one, rows are never in memory together, and the same seed draws other numbers.
    Work that is broken off goes on when the same command is given again.

    Example: tokumei anonymize history T.csv --method pseudonyms --set lifetime=1 --seed 1 --out AT.csv
    """
    from tokumei.data.files.histories import TABLE, form_of, form_of_release
    from tokumei.data.files.outputs import guarded
    from tokumei.engines.connect import check_engine
    from tokumei.tasks.anonymize_history import anonymize_history as anonymize
    from tokumei.tasks.anonymize_history import generalizes, steps_of
    from tokumei.tasks.histories import history_of, release_sections

    if (method is None) == (pipeline is None):
        raise InputError.of("either --method or --pipeline; 'tokumei parts history-anonymizer' lists the methods")
    outputs = {"--out": out, "--published": published, "--truth": truth, "--rows": rows}
    if rows is not None and engine != "local":
        raise InputError.of("the local engine, which --rows needs", option="--engine", value=engine)
    items = item_file(hierarchy)
    if items is None:
        # The same by the name that the method has for it.
        given = [text for text in options or [] if text.startswith("hierarchy=")]
        options = [text for text in options or [] if text not in given]
        items = Path(given[-1].partition("=")[2]) if given else None
    typed = part_options(options, anonymize)
    typed |= ({} if budget is None else {"budget": str(budget)}) | ({"anyway": "true"} if anyway else {})
    if dry_run and engine == "local":
        _predict(file, method, typed, outputs, seed, reading, force=force)
        return
    steps = steps_of(method, pipeline, items, typed)
    if dry_run:
        _plan(file, steps, outputs, engine, reading, force=force)
        return
    with showing_progress(), guarded(outputs, inputs=[file, pipeline, items, budget], force=force) as drafts:
        is_generalized = generalizes(steps)
        # An engine writes values as tables alone.
        read_as = TABLE if engine != "local" and not is_generalized else form_of(file, reading)
        form = form_of_release(read_as, out_format, is_generalized=is_generalized)
        wanted = tuple(carry or ())
        if wanted and form != TABLE:
            expected = f"no column to carry, since {form} has no place for it"
            raise InputError.of(expected, option="--carry", value=",".join(wanted))
        if engine != "local":
            check_engine(engine)
            from tokumei.tasks.anonymize_history import write_history_on_engine

            named = {option.removeprefix("--"): draft for option, draft in drafts.items()}
            how: dict[str, Any] = {"reading": replace(reading, carry=wanted), "form": form, "seed": seed}
            written = write_history_on_engine(file, steps, named, out=out, engine=engine, **how)
            result = {**written.to_dict(), "out": str(out)}
        else:
            done = anonymize(
                history_of(file, replace(reading, carry=wanted)),
                method=method,
                pipeline=pipeline,
                seed=seed,
                form=form,
                carry_anyway=carry_anyway,
                hierarchy=items,
                **typed,
            )
            done.write(drafts["--out"], drafts.get("--published"), drafts.get("--truth"), drafts.get("--rows"))
            result = {**done.to_dict(), "out": str(out)}
    show(Answer(result, release_sections(result)))


def _predict(
    file: Path,
    method: str | None,
    options: dict[str, str],
    outputs: dict[str, Path | None],
    seed: int | None,
    reading: Reading,
    *,
    force: bool,
) -> None:
    """Predict what a release would cost."""
    from tokumei.data.files.outputs import check_outputs
    from tokumei.tasks.histories import history_of
    from tokumei.tasks.predict_history import PERMUTE_GROUPS, predict_history

    if method is None:
        expected = f"another engine than the local one, whose work can be told before, or --method {PERMUTE_GROUPS}"
        raise InputError.of(expected, option="--dry-run")
    check_outputs(outputs, inputs=[file], force=force)
    with showing_progress():
        done = predict_history(history_of(file, reading), method=method, seed=seed or 0, **options)
    show(done)


def _plan(
    file: Path, steps: Any, outputs: dict[str, Path | None], engine: str, reading: Reading, *, force: bool
) -> None:
    """Estimate what anonymizing on an engine would take."""
    from tokumei.data.files.outputs import check_outputs
    from tokumei.engines.connect import check_engine
    from tokumei.tasks.long_work import plan_history

    check_engine(engine)
    from tokumei.methods.history.on_engine import check_engine_can

    check_outputs(outputs, inputs=[file], force=force)
    check_engine_can(steps)
    published = outputs["--published"] is not None
    show(plan_history(file, steps, engine=engine, reading=reading, published=published))


@reads_histories
def measure_history(
    original: OriginalOption,
    release: ReleaseOption,
    measures: Annotated[list[str] | None, Names("--measures", help="Only these; all if not given.")] = None,
    master: Annotated[
        Path | None, Option("--master", metavar="M", help="The customers' sex, birth, country, for measures of buyers.")
    ] = None,
    options: Annotated[
        list[str] | None,
        Option(
            "--set",
            metavar="NAME=VALUE",
            help="An option of the one measure asked for, or MEASURE.NAME=VALUE; several values, with commas, measure "
            "each; repeatable.",
        ),
    ] = None,
    draws: Annotated[
        int | None,
        Option(
            "--draws", min=1, help="Draw values this many times from a release with ranges and sets, and measure those."
        ),
    ] = None,
    seed: Annotated[int, Option("--seed", min=0, help="Seed of --draws.")] = 1,
    engine: EngineOption = "local",
    reading: Reading = AS_IT_IS,
) -> None:
    """Measure how much use a released history lost, by every measure that its columns allow.

    Example: tokumei measure history --original T.csv --release AT.csv --set top-items.k=50
    """
    from tokumei.tasks.measure_history import measure_history as measure
    from tokumei.tasks.measure_history import options_from_text

    given = options_from_text(options or [], measures)
    with showing_progress():
        people = None if master is None else read_master(master, reading)
        how: dict[str, Any] = {"master": people, "reading": reading, "engine": engine}
        done = measure(original, release, measures, options=given, draws=draws, seed=seed, **how)
    show(done)


def read_master(path: Path, reading: Reading) -> DataFrame:
    """Read the customers: M of 2017, or a table with the column customer or that which --columns calls so."""
    from tokumei.contest.editions.pwscup2017.files import read_master
    from tokumei.data.files.formats import TEXT_SUFFIXES, format_of, read_beside
    from tokumei.data.files.histories import first_cells

    own = reading.columns.get("customer") or "customer"
    is_plain = reading == AS_IT_IS or reading.format is not None
    if is_plain and format_of(path) in TEXT_SUFFIXES and "customer" not in first_cells(path):
        return read_master(path)
    people = read_beside(path, replace(reading, columns={}, date_format=None, format=None), ["customer", own])
    if own in people.columns and "customer" not in people.columns:
        people = people.rename({own: "customer"})
    if "customer" not in people.columns:
        raise InputError.of("a column named customer", file=path, value=", ".join(people.columns))
    return people
