"""`tokumei harden`: the least further changes to a release until no attack finds more than is allowed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tokumei.cli.history import OriginalOption, OutFormatOption
from tokumei.cli.options import (
    DrawOption,
    ForceOption,
    HierarchiesOption,
    ItemHierarchyOption,
    SeedOption,
    item_file,
    reads_histories,
    reads_tables,
)
from tokumei.cli.output import show, showing_progress
from tokumei.cli.parameters import Names, Option
from tokumei.cli.releases import (
    InOrderOption,
    KnownOption,
    KOption,
    MethodOption,
    MethodSetOption,
    PeopleOption,
    PopulationOption,
    ReleaseOption,
    RowsOption,
    SensitiveOption,
    check_names_nobody,
    told_method,
)
from tokumei.cli.report import KnowledgeOption, MinutesOption, SampleOption, files_of
from tokumei.cli.request import HierarchyOption, NumericOption, QiOption, hierarchies_of, read_table
from tokumei.core.text import Json
from tokumei.data.files.reading import AS_IT_IS, Reading

if TYPE_CHECKING:
    from tokumei.data.table import Table
    from tokumei.tasks.harden_table import HardenedTable


@reads_histories
def harden(
    original: OriginalOption,
    bound: Annotated[
        float, Option("--bound", metavar="0.25", help="Largest share of customers that any attack may find.")
    ],
    out: Annotated[Path, Option("--out", metavar="OUT", help="The hardened release, row for row.")],
    release: Annotated[
        Path | None, Option("--release", metavar="A", help="The release, row for row; not published yet.")
    ] = None,
    pipeline: Annotated[
        Path | None, Option("--pipeline", metavar="FILE.toml", help="Make the release first, by these methods.")
    ] = None,
    published: Annotated[
        Path | None, Option("--published", metavar="S", help="Also write the rows left, shuffled.")
    ] = None,
    truth: Annotated[
        Path | None, Option("--truth", metavar="F", help="Also write who is who, to judge attacks by.")
    ] = None,
    knowledge: KnowledgeOption = None,
    draw: DrawOption = "contest",
    draws: Annotated[int, Option("--draws", min=1, help="How often knowledge is drawn; all must hold.")] = 1,
    attacks: Annotated[
        list[str] | None, Names("--attacks", help="Which attacks; all that can work if not given.")
    ] = None,
    minutes: MinutesOption = None,
    changes: Annotated[
        list[str] | None, Names("--changes", help="Some of widen, delete, re-pseudonymize, permute; all if not given.")
    ] = None,
    sample: SampleOption = None,
    hierarchy: ItemHierarchyOption = None,
    seed: Annotated[
        int | None,
        Option("--seed", min=0, help="The same seed gives the same release; a secret one is drawn if not given."),
    ] = None,
    out_format: OutFormatOption = None,
    force: ForceOption = False,
    reading: Reading = AS_IT_IS,
) -> None:
    """Change the release of a history until every attack finds at most a share of the customers.

    No more is changed than needed. Prints what every attack finds before and after, and what it cost, measure by
    measure. `tokumei harden` without a kind means the same.

    Example: tokumei harden --original T.csv --release AT.csv --bound 0.25 --out hard.csv --published S.csv
    """
    from tokumei.data.files.histories import form_of, form_of_release
    from tokumei.data.files.outputs import guarded
    from tokumei.tasks.harden_history import harden_history

    outputs = {"--out": out, "--published": published, "--truth": truth}
    items = item_file(hierarchy)
    read = [original, release, pipeline, items, *files_of(knowledge)]
    with showing_progress(), guarded(outputs, inputs=read, force=force) as drafts:
        done = harden_history(
            original,
            release,
            bound=bound,
            pipeline=pipeline,
            knowledge=knowledge,
            draw=draw,  # type: ignore[arg-type]
            draws=draws,
            attacks=attacks,
            minutes=minutes,
            changes=changes,
            sample=sample,
            seed=seed,
            form=form_of_release(form_of(original, reading), out_format),
            reading=reading,
            hierarchy=items,
        )
        done.release.write(drafts["--out"], drafts.get("--published"), drafts.get("--truth"))
    show(done.written_to(out))


@reads_tables
def harden_table(
    release: ReleaseOption,
    qi: QiOption,
    bound: Annotated[
        float, Option("--bound", metavar="0.05", help="Largest share that any attack may find beyond blind guessing.")
    ],
    out: Annotated[Path, Option("--out", metavar="OUT", help="The hardened release.")],
    original: PeopleOption = None,
    attacks: Annotated[
        list[str] | None, Names("--attacks", help="Which attacks; all that can work if not given.")
    ] = None,
    changes: Annotated[
        list[str] | None, Names("--changes", help="Some of snap, widen, merge, suppress; all if not given.")
    ] = None,
    suppress: Annotated[
        float, Option("--suppress", metavar="P", help="Share of the released rows that may be left out.")
    ] = 0.05,
    interval: Annotated[
        bool,
        Option(
            "--interval/--no-interval",
            help="Compare the bound with the upper end of each 95 % interval, or with the share found.",
        ),
    ] = True,
    minutes: Annotated[
        float | None, Option("--minutes", metavar="M", help="Stop the search after this time, with the best found.")
    ] = None,
    sensitive: SensitiveOption = None,
    known: KnownOption = None,
    hierarchies: HierarchiesOption = None,
    hierarchy: HierarchyOption = None,
    numeric: NumericOption = None,
    rows: RowsOption = None,
    in_order: InOrderOption = False,
    population: PopulationOption = None,
    method: MethodOption = None,
    method_set: MethodSetOption = None,
    k: KOption = None,
    out_rows: Annotated[
        Path | None, Option("--out-rows", metavar="FILE", help="Also write the row of X behind each row left.")
    ] = None,
    force: ForceOption = False,
    seed: SeedOption = 1,
    reading: Reading = AS_IT_IS,
) -> None:
    """Change a released table until no attack finds more than a bound allows, with as little loss as can be found.

    Ranges are put on a public grid, labels widened, classes merged, rows left out. A label only ever gets wider, so
    that none becomes false; k is counted again. Without --original the release is held against what its labels alone
    give away. Prints what each attack finds before and after, and what it cost.

    Example: tokumei harden table --release release.csv --qi sex,age --method mondrian --attacks downcoding --bound 0.05
    --out hard.csv
    """
    from tokumei.data.files.formats import check_can_be_written
    from tokumei.data.files.outputs import guarded

    check_can_be_written(out)
    secret = sensitive or []
    trees = hierarchies_of(hierarchies, hierarchy)
    asked: dict[str, object] = {
        "bound": bound,
        "attacks": attacks,
        "changes": changes,
        "suppress": suppress,
        "by_interval": interval,
        "minutes": minutes,
        "seed": seed,
        "numeric": numeric,
        "method": told_method(method, method_set),
        "k": k,
    }
    beside: dict[str, object] = {"known": known, "rows": rows, "in_order": in_order, "population": population}
    outputs, read = {"--out": out, "--out-rows": out_rows}, [original, release, rows, population, hierarchies]
    with showing_progress(), guarded(outputs, inputs=read, force=force) as drafts:
        if original is None:
            flags = {f"--{name.replace('_', '-')}": value for name, value in beside.items()}
            check_names_nobody({**flags, "--out-rows": out_rows})
        table = read_table(original or release, qi, secret, reading, hierarchies=trees)
        done = _hardened(table, None if original is None else release, asked, beside, reading)
        done.release.write(drafts["--out"], None, drafts.get("--out-rows"))
    show(done.written_to(out))


def _hardened(
    table: Table, release: Path | None, asked: Json, beside: dict[str, Any], reading: Reading
) -> HardenedTable:
    """Harden a release of people who are known, or, where none is given beside it, a table that is the release."""
    from tokumei.tasks.harden_table import harden_release, harden_table

    if release is None:
        return harden_release(table, **asked)
    known = beside["known"] or []
    return harden_table(table, release, **{**asked, **beside, "known": known}, reading=reading)
