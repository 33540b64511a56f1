"""Commands that look at a table as it stands: `tokumei inspect`, `count`, `predict` and `audit`.

They tell what a file holds and the roles that its columns may have, the classes of some columns on any engine, the k of
nodes without counting them, and every safety measure with whether what was stated holds.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import click

from tokumei.cli.options import (
    CautionOption,
    EngineOption,
    ForceOption,
    HierarchiesOption,
    LargestOption,
    NNodesOption,
    RuleOption,
    SeedOption,
    SourceArgument,
    level_pairs,
    reads_histories,
    reads_tables,
)
from tokumei.cli.output import EXIT_CHECK_FAILED, show, showing_progress
from tokumei.cli.parameters import Names, Option
from tokumei.cli.request import ArxOption, HierarchyOption, asks, hierarchies_of
from tokumei.core.errors import InputError
from tokumei.core.result import Answer
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.tasks.request import Requirements


@reads_tables
def inspect(
    file: SourceArgument,
    out: Annotated[Path | None, Option("--out", metavar="PAGE.html", help="Write one page with figures.")] = None,
    job: Annotated[Path | None, Option("--job", metavar="JOB.toml", help="Write a job file to edit and run.")] = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    reading: Reading = AS_IT_IS,
) -> None:
    """Describe each column: what it is, which single people out, and which roles they may have.

    Roles are suggested with their reasons; nothing is changed. The job file is that of `tokumei job new`.

    Example: tokumei inspect patients.csv --out patients.html --job job.toml
    """
    from tokumei.data.files.disk import write_text
    from tokumei.data.files.outputs import guarded
    from tokumei.tasks.inspect_table import inspect as look
    from tokumei.tasks.job_writing import table_template

    with (
        showing_progress(),
        guarded({"--out": out, "--job": job}, inputs=[file], pages=["--out"], force=force) as drafts,
    ):
        found = look(file, seed=seed, reading=reading)
        if out is not None:
            found.page().write(drafts["--out"])
        if job is not None:
            write_text(drafts["--job"], table_template(found, Path(file), reading, beside=job.parent))
    show(found.written_to(out or job))


@reads_tables
def count(
    file: SourceArgument,
    by: Annotated[list[str], Names("--by", help="Columns whose classes are counted.")],
    levels: Annotated[
        list[str] | None, Option("--levels", metavar="A=1,B=2", help="Generalize columns to a level first.")
    ] = None,
    hierarchies: HierarchiesOption = None,
    engine: EngineOption = "local",
    reading: Reading = AS_IT_IS,
) -> None:
    """Count the classes of some columns: how many there are, the smallest (k), and the rows that are alone.

    Example: tokumei count adult.csv --by sex,age --levels age=2 --hierarchies hierarchies/
    """
    from tokumei.engines.count import count_classes
    from tokumei.hierarchies.files import read_hierarchies

    wanted = level_pairs(levels or [])
    if wanted and hierarchies is None:
        raise InputError.of("--hierarchies DIR, which --levels needs")
    for name in wanted:
        if name not in by:
            raise InputError.of(f"a column of --by: {', '.join(by)}", option="--levels", value=name)
    recodings = []
    if hierarchies is not None:
        found = read_hierarchies(hierarchies, wanted)
        recodings = [found[name].recoding(level) for name, level in wanted.items()]
    started = time.perf_counter()
    with showing_progress():
        counts = count_classes(file, by, recodings=recodings, engine=engine, reading=reading)
    result: dict[str, object] = {
        "rows": counts.n_rows,
        "classes": counts.n_classes,
        "k": counts.k,
        "unique": counts.n_unique,
        "seconds": round(time.perf_counter() - started, 4),
    }
    show(Answer(result))


# More nodes than this are summed up, not listed, unless asked for.
LISTED = 40


@reads_tables
def predict(
    file: SourceArgument,
    qi: Annotated[list[str], Names("--qi", help="The quasi-identifiers.")],
    hierarchies: HierarchiesOption = None,
    hierarchy: HierarchyOption = None,
    method: Annotated[
        str | None, Option("--method", help="Only this predictor: see 'tokumei parts predictor'.")
    ] = None,
    levels: Annotated[
        list[str] | None, Option("--levels", metavar="A=1,B=2", help="Only this node; all nodes if not given.")
    ] = None,
    k: Annotated[int, Option("--k", min=1, help="The k that a release must have.")] = 2,
    rule: RuleOption = "low",
    largest: LargestOption = None,
    n_nodes: NNodesOption = None,
    caution: CautionOption = None,
    limit: Annotated[int, Option("--limit", min=1, help="Nodes to list.")] = LISTED,
    engine: EngineOption = "local",
    reading: Reading = AS_IT_IS,
) -> None:
    """Predict the k of nodes from few counts, and compare it with the k that counting gives.

    Example: tokumei predict people.csv --qi sex,age,prefecture --hierarchies hierarchies --k 10
    """
    from tokumei.tasks.predict_table import predict_source

    with showing_progress():
        result = predict_source(
            file,
            qi,
            k=k,
            method=method,
            levels=None if levels is None else level_pairs(levels),
            limit=limit,
            hierarchies=hierarchies_of(hierarchies, hierarchy),
            rule=rule,
            largest=largest,
            n_nodes=n_nodes,
            caution=caution,
            engine=engine,
            reading=reading,
        )
    show(result)


NOTHING = Requirements()


@reads_histories
@asks(Requirements)
def audit(
    file: SourceArgument,
    qi: Annotated[
        list[str] | None,
        Names(
            "--qi",
            help="The quasi-identifiers: what others may know. With --against, FILE and each of its files have classes "
            "by those that they have. Not of generalized histories.",
        ),
    ] = None,
    sensitive: Annotated[list[str] | None, Names("--sensitive", help="The columns others want to learn.")] = None,
    against: Annotated[
        list[str] | None,
        Option(
            "--against",
            metavar="FILE",
            help="An earlier release or another table of the same people, to see what comparing gives away; "
            "repeatable. Whose each row is must be told by --id, --rows or --in-order.",
        ),
    ] = None,
    matched_by: Annotated[
        str | None,
        Option(
            "--id",
            metavar="COLUMN",
            help="Says whose each row is, in all files: your own secret copy of the releases. A person may have "
            "several rows. Used for --against only; --person if not given.",
        ),
    ] = None,
    rows: Annotated[
        Path | None,
        Option("--rows", metavar="FILE", help="The row of the original behind each row of FILE, counted from 1."),
    ] = None,
    against_rows: Annotated[
        list[Path] | None,
        Option("--against-rows", metavar="FILE", help="The rows of each --against, in order; repeatable."),
    ] = None,
    in_order: Annotated[
        bool, Option("--in-order", help="Row n of every file is the same person, as after --keep-order.")
    ] = False,
    hierarchies: HierarchiesOption = None,
    from_arx: ArxOption = None,
    request: Requirements = NOTHING,
    original: Annotated[
        str | None,
        Option(
            "--original",
            metavar="FILE",
            help="What the release was made of: what compares a class with all rows is held against both.",
        ),
    ] = None,
    recipe: Annotated[
        Path | None, Option("--recipe", metavar="FILE", help="How the release was made: a promise that is void fails.")
    ] = None,
    threshold: Annotated[float, Option("--threshold", help="Records with a larger risk are counted.")] = 0.2,
    population_size: Annotated[
        int | None,
        Option("--population-size", min=1, metavar="N", help="Estimate who is unique among this many people."),
    ] = None,
    weights: Annotated[
        str | None,
        Option(
            "--weights",
            metavar="COLUMN",
            help="How many people each row stands for, in a survey: the risk of each row, of a person and of a "
            "household follows.",
        ),
    ] = None,
    suda: Annotated[
        int | None,
        Option(
            "--suda", min=1, metavar="[N]", alone="3", help="Find the rows that up to N columns single out (SUDA2)."
        ),
    ] = None,
    engine: EngineOption = "local",
    reading: Reading = AS_IT_IS,
) -> None:
    """Measure how safe a table is as it stands; exit 1 if a stated requirement fails.

    With --against, the k of --k must also hold for all releases together: by sequential-k, or by multi-r-k-anonymity
    where a person has several rows in one of them.

    A generalized history with --against, --original and --in-order: how many customers fit each person in one release,
    and in all together; --k must hold for all together.

    Example: tokumei audit release.csv --qi sex,age --sensitive illness --k 5 --l-diversity illness=3
    """
    from tokumei.tasks.audit_generalized import audit_generalized, is_generalized
    from tokumei.tasks.audit_releases import Matching
    from tokumei.tasks.audit_sample import Sampling
    from tokumei.tasks.audit_table import audit_source

    known = qi or []
    secret = sensitive or []
    trees: object = hierarchies
    whole: object = original
    not_checked: Sequence[str] = ()
    if from_arx is not None:
        from tokumei.tasks.arx_project import read_arx_project

        with showing_progress():
            project = read_arx_project(from_arx)
        known, secret = known or project.columns_of("quasi-identifier"), secret or project.columns_of("sensitive")
        trees = project.hierarchies if hierarchies is None else hierarchies
        whole = project.data if original is None else original
        request, not_checked = project.requirements(request), project.not_checked
    if qi is None and from_arx is None:
        if not is_generalized(Path(file), reading):
            raise InputError.of("the quasi-identifiers", option="--qi")
        with showing_progress():
            generalized = audit_generalized(
                Path(file),
                [Path(one) for one in against or []],
                original=None if original is None else Path(original),
                k=request.k,
                in_order=in_order,
                reading=reading,
            )
        show(generalized)
        if not generalized.holds:
            raise click.exceptions.Exit(EXIT_CHECK_FAILED)
        return
    for option, typed in (("--columns", reading.columns), ("--date-format", reading.date_format)):
        if typed:
            raise InputError.of("a generalized history, whose original it reads", option=option)
    with showing_progress():
        result = audit_source(
            file,
            known,
            [name for name in secret if name not in known],
            request,
            name=file,
            against=against or [],
            matching=Matching(matched_by, rows, against_rows or [], in_order),
            original=whole,
            recipe=recipe,
            threshold=threshold,
            hierarchies=trees,
            sampling=Sampling(population_size, weights, suda),
            engine=engine,
            reading=reading,
        )
    result = replace(result, not_checked=not_checked)
    show(result)
    if not result.holds:
        raise click.exceptions.Exit(EXIT_CHECK_FAILED)
