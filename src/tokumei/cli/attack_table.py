"""`tokumei attack table`: what a released table gives away to somebody who knows people."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tokumei.cli.options import HierarchiesOption, SeedOption, names, part_options
from tokumei.cli.output import JsonFlag, print_facts, print_json, print_table, showing_progress
from tokumei.cli.reading import reads_tables
from tokumei.core.errors import InputError
from tokumei.data.files.reading import AS_IT_IS, Reading

if TYPE_CHECKING:
    import polars as pl

    from tokumei.attack.registry import DisclosureAttack
    from tokumei.attack.threat_model import Published, ThreatModel
    from tokumei.core.score import Score
    from tokumei.data.table import Table
    from tokumei.hierarchy.hierarchy import Hierarchy

ALL = "all"
OriginalOption = Annotated[Path, typer.Option("--original", metavar="X", help="The original: people who are known.")]
ReleaseOption = Annotated[Path, typer.Option("--release", metavar="Y", help="The released table.")]
QiOption = Annotated[str, typer.Option("--qi", metavar="A,B,…", help="The quasi-identifiers: what others may know.")]
NumericOption = Annotated[
    str | None, typer.Option("--numeric", metavar="A,B,…", help="Columns of numbers in files of text.")
]
RowsOption = Annotated[
    Path | None,
    typer.Option(
        "--rows", metavar="FILE", help="The row of X behind each row of Y, counted from 1; in order if not given."
    ),
]

SAYS = {
    ("record-linkage", "certain"): "People whom exactly one record fits, and it is theirs.",
    ("record-linkage", "success"): "People whose record is drawn among those that fit.",
    ("homogeneity", "certain"): "People of whom all fitting records tell the same value, and it is theirs.",
    ("homogeneity", "success"): "People whose value is the most frequent one of the fitting records.",
    (
        "background-knowledge",
        "certain",
    ): "People of whom their own value alone is left when others are ruled out.",
    ("background-knowledge", "success"): "People whose value is the most frequent one that is left.",
    ("presence", "success"): "People of the population of whom it is told rightly whether they are in the release.",
    ("presence", "certain"): "Released people who must be in the release.",
    ("intersection", "certain"): "People with one record left when all releases are held together, and it is theirs.",
    ("intersection", "success"): "People whose record is drawn among those left.",
    ("intersection", "linked-certain"): "The same if records of one person can be linked across releases.",
    ("intersection", "linked-success"): "The same if records of one person can be linked across releases.",
}


@reads_tables
def attack_table(
    original: OriginalOption,
    release: ReleaseOption,
    qi: QiOption,
    attack: Annotated[str, typer.Argument(metavar="NAME", help="See 'tokumei parts disclosure-attack'.")] = ALL,
    known: Annotated[
        str | None, typer.Option("--known", metavar="A,B,…", help="Only these columns are known; --qi if not given.")
    ] = None,
    known_share: Annotated[
        float, typer.Option("--known-share", metavar="P", help="Each cell is known with this chance, 0 to 1.")
    ] = 1.0,
    sensitive: Annotated[
        str | None, typer.Option("--sensitive", metavar="S", help="The column that others want to learn.")
    ] = None,
    hierarchies: HierarchiesOption = None,
    numeric: NumericOption = None,
    rows: RowsOption = None,
    earlier: Annotated[
        list[Path] | None, typer.Option("--earlier", metavar="Y0", help="An earlier release; repeatable.")
    ] = None,
    earlier_rows: Annotated[
        list[Path] | None, typer.Option("--earlier-rows", metavar="FILE", help="The rows of each --earlier, in order.")
    ] = None,
    population: Annotated[
        Path | None, typer.Option("--population", metavar="P", help="Everybody who might be in the release.")
    ] = None,
    control: Annotated[
        Path | None, typer.Option("--control", metavar="C", help="People who are not in the release.")
    ] = None,
    options: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="An option of the attack; repeatable.")
    ] = None,
    seed: SeedOption = 1,
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Attack a released table as somebody who knows people would: by one attack, or by all that the files allow.

    A released label stands for all values that it may have been: 30-34 for five ages, * for any. Who is who is told by
    --rows, and used only to judge.

    Example: tokumei attack table --original people.csv --release release.csv --qi sex,age --numeric age --sensitive
    illness --rows rows.csv
    """
    from tokumei.attack.threat_model import ThreatModel, column_of
    from tokumei.data.files.formats import read_frame

    started = time.perf_counter()
    attributes, columns = names(qi, "--qi"), names(sensitive, "--sensitive") if sensitive else []
    parts = chosen_attacks(attack, options)
    with showing_progress():
        people = read_table(original, attributes, columns, reading)
        wanted = names(known, "--known") if known else attributes
        numbers = names(numeric, "--numeric") if numeric else []
        for name in [*wanted, *numbers]:
            column_of(people.frame, name, people.name)
        threat_model = ThreatModel(
            original=people,
            published=read_published(release, rows, people, attributes, columns),
            hierarchies=hierarchies_of(hierarchies, [*wanted, *columns]),
            known=wanted,
            numeric=numbers,
            known_share=known_share,
            earlier=read_earlier(earlier or [], earlier_rows or [], people, attributes, columns),
            population=None if population is None else read_frame(population, reading),
            control=None if control is None else read_frame(control, reading),
        )
        left_out = {name: lack for name, part in parts.items() if (lack := lacks(threat_model, part))}
        if attack != ALL and left_out:
            raise InputError.of(f"{left_out[attack]}, which {attack} needs")
        found: dict[str, dict[str, Score]] = {}
        for name, part in parts.items():
            if name not in left_out:
                found[name] = dict(part.measure(threat_model, seed=seed))
    result: dict[str, Any] = {
        "rows": people.n_rows,
        "released": threat_model.published.table.n_rows,
        "known": threat_model.known_columns,
        "seed": seed,
        "seconds": round(time.perf_counter() - started, 3),
    }
    if json:
        scores = {name: {key: score.as_dict() for key, score in each.items()} for name, each in found.items()}
        print_json({"attacks": scores, "left_out": left_out, **result})
        return
    print_scores(found)
    print_facts(result | {f"{name} left out": f"needs {lack}" for name, lack in left_out.items()})


def print_scores(found: dict[str, dict[str, Score]]) -> None:
    """Print the scores of all attacks, and what each of them says."""
    for name, scores in found.items():
        rows = [
            [f"{key}: {said}" if (said := SAYS.get((name, key))) else key, *numbers_of(score)]
            for key, score in scores.items()
        ]
        print_table([name, "found", "95 % interval", "blindly", "control"], rows)


def numbers_of(score: Score) -> list[Any]:
    """Give the share found, its interval, and what blind guessing and the control group score."""
    interval = "–" if score.interval is None else f"{score.interval[0]:.3g} – {score.interval[1]:.3g}"
    return [score.value, interval, score.baseline, score.control]


def chosen_attacks(name: str, options: list[str] | None) -> dict[str, DisclosureAttack]:
    """Make the attack that is asked for, or all of them."""
    from tokumei.attack.registry import DISCLOSURE_ATTACKS

    if name != ALL:
        return {name: DISCLOSURE_ATTACKS.make_from_text(name, part_options(options))}
    if options:
        raise InputError.of("the name of an attack, whose option it is", option="--set", value=options[0])
    return {one: DISCLOSURE_ATTACKS.make(one) for one in DISCLOSURE_ATTACKS}


def lacks(threat_model: ThreatModel, part: DisclosureAttack) -> str | None:
    """Say what an attack needs and the files do not give."""
    has = {
        "sensitive": bool(threat_model.sensitive),
        "earlier": bool(threat_model.earlier),
        "population": threat_model.population is not None,
    }
    words = {"sensitive": "a --sensitive column that is not known"} if threat_model.original.sensitive else {}
    missing = [words.get(need, f"--{need}") for need in part.needs if not has[need]]
    return " and ".join(missing) or None


def read_table(path: Path, attributes: list[str], sensitive: list[str], reading: Reading = AS_IT_IS) -> Table:
    """Read a table and give its columns their roles; a release may lack some."""
    from tokumei.data.files.formats import read_frame
    from tokumei.data.table import Table

    return Table.with_quasi_identifiers(read_frame(path, reading), attributes, sensitive=sensitive, name=str(path))


def read_published(
    path: Path,
    rows: Path | None,
    original: Table,
    attributes: list[str],
    sensitive: list[str],
    *,
    option: str = "--rows",
) -> Published:
    """Read a release with the truth about it: the rows of a file, or else those of the original in their order."""
    import polars as pl

    from tokumei.attack.threat_model import Published
    from tokumei.data.files.formats import read_frame
    from tokumei.data.table import Table

    frame = read_frame(path)
    has = [name for name in attributes if name in frame.columns], [name for name in sensitive if name in frame.columns]
    table = Table.with_quasi_identifiers(frame, has[0], sensitive=has[1], name=str(path))
    if rows is not None:
        return Published(table, read_row_numbers(rows, table.n_rows, original.n_rows))
    if table.n_rows != original.n_rows:
        expected = f"the {original.n_rows:,} rows of the original, or {option} with the row of each"
        raise InputError.of(expected, file=path, value=f"{table.n_rows:,} rows")
    return Published(table, pl.Series("row", range(table.n_rows), dtype=pl.Int64))


def read_row_numbers(path: Path, n_released: int, n_original: int) -> pl.Series:
    """Read the row of the original of each released one, counted from 1, as ones that count from 0."""
    from tokumei.data.files.row_numbers import read_rows

    rows = read_rows(path)
    if len(rows) != n_released:
        raise InputError.of(f"a line for each of {n_released:,} released rows", file=path, value=f"{len(rows):,} lines")
    for line in (rows > n_original).arg_true()[:1]:
        expected = f"a row of the original, counted from 1 to {n_original:,}"
        raise InputError.of(expected, file=path, line=line + 1, value=rows[line])
    return rows - 1


def read_earlier(
    paths: list[Path], rows: list[Path], original: Table, attributes: list[str], sensitive: list[str]
) -> list[Published]:
    """Read earlier releases, each with its rows or all in the order of the original."""
    if rows and len(rows) != len(paths):
        raise InputError.of(f"one file for each of {len(paths)} --earlier", option="--earlier-rows", value=len(rows))
    each: Sequence[Path | None] = rows or [None] * len(paths)
    return [
        read_published(path, own, original, attributes, sensitive, option="--earlier-rows")
        for path, own in zip(paths, each, strict=True)
    ]


def hierarchies_of(folder: Path | None, columns: list[str]) -> dict[str, Hierarchy]:
    """Read the hierarchies of those columns that have a file."""
    from tokumei.hierarchy.files import has_hierarchy, read_hierarchies

    if folder is None:
        return {}
    return read_hierarchies(folder, [name for name in dict.fromkeys(columns) if has_hierarchy(folder, name)])
