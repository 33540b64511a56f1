"""What a release gives away and what it keeps: `tokumei attack table`, `measure table` and `measure safety`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from tokumei.cli.options import ForceOption, HierarchiesOption, SeedOption, part_options, reads_histories, reads_tables
from tokumei.cli.output import EXIT_CHECK_FAILED, show, showing_progress
from tokumei.cli.parameters import Argument, Names, Option
from tokumei.cli.request import (
    HierarchyOption,
    HouseholdOption,
    NumericOption,
    PersonOption,
    QiOption,
    hierarchies_of,
    read_table,
)
from tokumei.core.errors import InputError
from tokumei.core.registry import part_options as part_fields
from tokumei.core.result import Answer, Facts
from tokumei.data.files.reading import AS_IT_IS, Reading

if TYPE_CHECKING:
    from tokumei.data.table import Table
    from tokumei.methods.registry import TableAnonymizer


ALL = "all"
OriginalOption = Annotated[Path, Option("--original", metavar="X", help="The original: people who are known.")]
ReleaseOption = Annotated[Path, Option("--release", metavar="Y", help="The released table.")]
RowsOption = Annotated[
    Path | None, Option("--rows", metavar="FILE", help="The row of X behind each row of Y, counted from 1.")
]
InOrderOption = Annotated[
    bool, Option("--in-order", help="Row n of both files is the same person, as after --keep-order.")
]
PeopleOption = Annotated[
    Path | None, Option("--original", metavar="X", help="The original: people who are known. Some attacks need none.")
]
KnownOption = Annotated[list[str] | None, Names("--known", help="Only these columns are known; --qi if not given.")]
SensitiveOption = Annotated[
    list[str] | None, Names("--sensitive", metavar="S", help="The column that others want to learn.")
]
PopulationOption = Annotated[
    Path | None, Option("--population", metavar="P", help="Everybody who might be in the release.")
]
MethodOption = Annotated[
    str | None, Option("--method", metavar="NAME", help="How the release was made, if that is known.")
]
MethodSetOption = Annotated[
    list[str] | None,
    Option(
        "--method-set",
        metavar="NAME=VALUE",
        help="An option that --method was run with, if that is known; repeatable. The others had their defaults.",
    ),
]
KOption = Annotated[int | None, Option("--k", min=1, metavar="K", help="The k that was asked for, if that is known.")]


@reads_tables
def attack_table(
    release: ReleaseOption,
    qi: QiOption,
    attack: Annotated[str, Argument(metavar="[NAME]", help="See 'tokumei parts disclosure-attack'.")] = ALL,
    original: PeopleOption = None,
    threat: Annotated[
        str | None,
        Option(
            "--threat",
            metavar="WHO",
            help="Who attacks: prosecutor, journalist, marketer, employer, insider or data-broker. --set changes what "
            "they know and want.",
        ),
    ] = None,
    known: KnownOption = None,
    known_share: Annotated[
        float, Option("--known-share", metavar="P", help="Each cell is known with this chance, 0 to 1.")
    ] = 1.0,
    sensitive: SensitiveOption = None,
    hierarchies: HierarchiesOption = None,
    hierarchy: HierarchyOption = None,
    numeric: NumericOption = None,
    person: PersonOption = None,
    household: HouseholdOption = None,
    rows: RowsOption = None,
    in_order: InOrderOption = False,
    made_up: Annotated[
        bool, Option("--made-up", help="No row is anybody's, as of synthetic rows: no attack asks whose one is.")
    ] = False,
    earlier: Annotated[
        list[Path] | None, Option("--earlier", metavar="Y0", help="An earlier release; repeatable.")
    ] = None,
    earlier_rows: Annotated[
        list[Path] | None, Option("--earlier-rows", metavar="FILE", help="The rows of each --earlier, in order.")
    ] = None,
    population: PopulationOption = None,
    control: Annotated[Path | None, Option("--control", metavar="C", help="People who are not in the release.")] = None,
    method: MethodOption = None,
    method_set: MethodSetOption = None,
    k: KOption = None,
    claims: Annotated[
        Path | None, Option("--claims", metavar="FILE", help="Write the claims about each cell to this file.")
    ] = None,
    candidates: Annotated[
        Path | None, Option("--candidates", metavar="FILE", help="Write the rows that counts make likely to this file.")
    ] = None,
    options: Annotated[
        list[str] | None,
        Option("--set", metavar="NAME=VALUE", help="An option of the attack, or of the --threat; repeatable."),
    ] = None,
    force: ForceOption = False,
    seed: SeedOption = 1,
    reading: Reading = AS_IT_IS,
) -> None:
    """Attack a released table as somebody who knows people would: by one attack, or by all that the files allow.

    A released label stands for all values that it may have been: 30-34 for five ages, * for any. Who is who is told by
    --rows or --in-order, and used only to judge. Without --original the release is attacked by what its labels alone
    give away.

    With --threat, somebody of a stated kind makes every attack that they can, or the one that is named. --set changes
    what they know (knows, share, people_share, numbers_off, codes_wrong, holds, method_known, knows_who_is_in) and want
    (aim, named, targets, wants). Rows count from 1.

    Example: tokumei attack table --original people.csv --release release.csv --qi sex,age --numeric age --sensitive
    illness --rows rows.csv
    tokumei attack table downcoding --release release.csv --qi sex,age --method mondrian --k 5
    """
    from tokumei.attacks.registry import DISCLOSURE_ATTACKS
    from tokumei.data.files.formats import write_file_or_folder
    from tokumei.data.files.outputs import guarded
    from tokumei.data.table import Unit
    from tokumei.tasks.attack_table import attack_release as attack_alone
    from tokumei.tasks.attack_table import attack_table as attack_release
    from tokumei.tasks.table_release import released_table

    given = part_options(options)
    changes: dict[str, Any] = {one: given.pop(one) for one in threat_options() if one in given}
    if attack == ALL and given:
        raise InputError.of("the name of an attack, whose option it is", option="--set", value=next(iter(given)))
    part = ALL if attack == ALL else DISCLOSURE_ATTACKS.make_from_text(attack, given)
    if "named" in changes:
        changes["named"] = rows_from_one(changes["named"])
    secret = sensitive or []
    trees = hierarchies_of(hierarchies, hierarchy)
    made_by = told_method(method, method_set)
    outputs = {"--claims": claims, "--candidates": candidates}
    with showing_progress(), guarded(outputs, inputs=[original, release, rows], force=force) as drafts:
        if original is None:
            check_names_nobody(
                {
                    "--threat": threat,
                    "--set": next(iter(changes), None),
                    "--known": known,
                    "--person": person,
                    "--household": household,
                    "--rows": rows,
                    "--in-order": in_order,
                    "--made-up": made_up,
                    "--earlier": earlier,
                    "--earlier-rows": earlier_rows,
                    "--population": population,
                    "--control": control,
                }
            )
            table = released_table(release, qi, secret, reading=reading, hierarchies=trees, numeric=numeric)
            result = attack_alone(table, part, method=made_by, k=k, seed=seed)
        else:
            unit = Unit.of(person, household)
            people = read_table(original, qi, secret, reading, hierarchies=trees).of_unit(unit)
            result = attack_release(
                people,
                release,
                part,
                threat=threat,
                known=known or [],
                known_share=known_share,
                numeric=numeric,
                rows=rows,
                in_order=in_order,
                made_up=made_up,
                earlier=earlier or [],
                earlier_rows=earlier_rows or [],
                population=population,
                control=control,
                method=made_by,
                k=k,
                seed=seed,
                reading=reading,
                **changes,
            )
        if claims is not None:
            if result.claims_table is None:
                raise InputError.of("an attack that makes claims, such as downcoding", option="--claims")
            write_file_or_folder(result.claims_table, drafts["--claims"])
        if candidates is not None:
            if result.candidates_table is None:
                raise InputError.of("an attack that guesses rows: reconstruction", option="--candidates")
            write_file_or_folder(result.candidates_table, drafts["--candidates"])
    show(result.written_to(claims or candidates))
    if result.is_refused:
        raise click.exceptions.Exit(EXIT_CHECK_FAILED)


def threat_options() -> list[str]:
    """Return the names of what can be changed of a threat."""
    from tokumei.attacks.table_threats import TableThreat

    return [one.name for one in part_fields(TableThreat)]


def rows_from_one(text: str) -> tuple[int, ...]:
    """Read row numbers as people count them, from 1, and return them from 0."""
    rows = [row.strip() for row in text.split(",")]
    for row in rows:
        if not row.isdecimal() or int(row) < 1:
            raise InputError.of("numbers of rows, counted from 1, with commas", option="--set named", value=row)
    return tuple(int(row) - 1 for row in rows)


def told_method(name: str | None, options: list[str] | None) -> TableAnonymizer | str | None:
    """Return the method that a release was made by: its name, or itself where its options are known, too."""
    from tokumei.methods.registry import TABLE_ANONYMIZERS

    given = part_options(options, option="--method-set")
    if not given:
        return name
    if name is None:
        raise InputError.of("--method, whose option it is", option="--method-set", value=next(iter(given)))
    return TABLE_ANONYMIZERS.make_from_text(name, given)


def check_names_nobody(given: Mapping[str, object]) -> None:
    """Refuse options that speak of people whom nobody knows, since there is no original."""
    for option, value in given.items():
        if value:
            raise InputError.of("--original beside it, the people who are known", option=option)


@reads_tables
def measure_table(
    original: OriginalOption,
    release: ReleaseOption,
    qi: QiOption,
    sensitive: Annotated[list[str] | None, Names("--sensitive", help="The columns others want to learn.")] = None,
    hierarchies: HierarchiesOption = None,
    hierarchy: HierarchyOption = None,
    numeric: NumericOption = None,
    rows: RowsOption = None,
    in_order: InOrderOption = False,
    measures: Annotated[list[str] | None, Names("--measures", help="Only these; all if not given.")] = None,
    options: Annotated[
        list[str] | None, Option("--set", metavar="NAME=VALUE", help="An option of the one measure asked for.")
    ] = None,
    reading: Reading = AS_IT_IS,
) -> None:
    """Measure how much use a released table lost, by every measure that its columns allow.

    Example: tokumei measure table --original people.csv --release release.csv --qi sex,age --numeric age --sensitive
    illness --rows rows.csv
    """
    from tokumei.measures.registry import TABLE_UTILITIES
    from tokumei.tasks.measure_table import measure_table as measure_release

    given = part_options(options)
    if given and (measures is None or len(measures) != 1):
        raise InputError.of("one measure, whose option it is", option="--set", value=next(iter(given)))
    if measures is not None and given:
        for key in ("hierarchies", "numeric"):
            if key in given:
                raise InputError.of(f"--{key} instead", option="--set", value=key)
    parts = None if measures is None else [TABLE_UTILITIES.make_from_text(name, given) for name in measures]
    with showing_progress():
        before = read_table(original, qi, sensitive or [], reading, hierarchies=hierarchies_of(hierarchies, hierarchy))
        result = measure_release(before, release, parts, numeric=numeric, rows=rows, in_order=in_order, reading=reading)
    show(result)


@reads_histories
def measure_safety(
    name: Annotated[
        str,
        Argument(metavar="NAME", help="See 'tokumei parts safety-measure-of-histories' and 'safety-measure-of-rows'."),
    ],
    release: Annotated[Path, Option("--release", metavar="A", help="The released history or table.")],
    original: Annotated[
        Path | None, Option("--original", metavar="T", help="The original table, for measures of rows.")
    ] = None,
    qi: Annotated[list[str] | None, Names("--qi", help="The quasi-identifiers of a table; all if not given.")] = None,
    options: Annotated[
        list[str] | None, Option("--set", metavar="NAME=VALUE", help="An option of the measure; repeatable.")
    ] = None,
    reading: Reading = AS_IT_IS,
) -> None:
    """Measure how well a history hides customers, or a table whose values were drawn; exit 1 if it does not hold.

    Example: tokumei measure safety km-anonymity --set k=2 --set m=2 --release A.parquet
    """
    from tokumei.core.progress import step
    from tokumei.data.history import read_released_history
    from tokumei.measures.registry import HISTORY_SAFETY, ROWS_SAFETY

    given = part_options(options)
    with showing_progress(), step(f"measuring {name}"):
        if name in ROWS_SAFETY:
            tables = _tables(original, release, qi, reading)
            of_rows = ROWS_SAFETY.make_from_text(name, given)
            score, holds = of_rows.measure(*tables), of_rows.holds(*tables)
        else:
            part = HISTORY_SAFETY.make_from_text(name, given)
            if original is not None:
                raise InputError.of(f"no original: {name} looks at the release alone", option="--original")
            history = read_released_history(release, reading)
            score, holds = part.measure(history), part.holds(history)
    facts = {"measure": name, "value": score.value, "holds": holds, **score.inputs}
    show(Answer({"measure": name, "holds": holds, "score": score.as_dict()}, [Facts(facts)]))
    if not holds:
        raise click.exceptions.Exit(EXIT_CHECK_FAILED)


def _tables(original: Path | None, release: Path, qi: list[str] | None, reading: Reading) -> tuple[Table, Table]:
    """Read the original and the release, with all columns as quasi-identifiers unless some are named."""
    from tokumei.data.files.formats import read_frame
    from tokumei.data.table import Table

    if original is None:
        raise InputError.of("--original FILE, which a measure of rows compares with")
    frames = read_frame(original, reading), read_frame(release, reading)
    before, after = (
        Table.with_quasi_identifiers(frame, qi or frame.columns, name=str(path))
        for frame, path in zip(frames, (original, release), strict=True)
    )
    return before, after
