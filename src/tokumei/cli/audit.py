"""`tokumei audit`: every safety measure of a table, and whether what was stated holds."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from tokumei.cli.options import (
    DelimiterOption,
    EncodingOption,
    EngineOption,
    HierarchiesOption,
    SourceArgument,
    names,
)
from tokumei.cli.output import EXIT_CHECK_FAILED, JsonFlag, print_facts, print_json, print_table, showing_progress
from tokumei.cli.requirements import (
    AlphaOption,
    Asked,
    BetaOption,
    KMapOption,
    KOption,
    LDiversityOption,
    PopulationOption,
    PresenceOption,
    PresetOption,
    TClosenessOption,
)


def audit(
    file: SourceArgument,
    qi: Annotated[str, typer.Option("--qi", metavar="A,B,…", help="The quasi-identifiers: what others may know.")],
    sensitive: Annotated[
        str | None, typer.Option("--sensitive", metavar="A,B,…", help="The columns others want to learn.")
    ] = None,
    hierarchies: HierarchiesOption = None,
    k: KOption = None,
    preset: PresetOption = None,
    l_diversity: LDiversityOption = None,
    t_closeness: TClosenessOption = None,
    alpha_k: AlphaOption = None,
    beta_likeness: BetaOption = None,
    k_map: KMapOption = None,
    delta_presence: PresenceOption = None,
    population: PopulationOption = None,
    threshold: Annotated[float, typer.Option("--threshold", help="Records with a larger risk are counted.")] = 0.2,
    engine: EngineOption = "local",
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = "utf-8",
    json: JsonFlag = False,
) -> None:
    """Measure how safe a table is as it stands; exit 1 if a stated requirement fails.

    Example: tokumei audit release.csv --qi sex,age --sensitive illness --k 5 --l-diversity illness=3
    """
    from tokumei.counting.count import count_classes
    from tokumei.measure.audit import audit as audit_counts

    started = time.perf_counter()
    asked = Asked(k, preset, l_diversity, t_closeness, alpha_k, beta_likeness, k_map, delta_presence)
    attributes = names(qi, "--qi")
    columns = list(dict.fromkeys([*(names(sensitive, "--sensitive") if sensitive else []), *asked.sensitive_columns()]))
    trees = _sensitive_hierarchies(hierarchies, columns)
    reading: dict[str, Any] = {"engine": engine, "delimiter": delimiter, "encoding": encoding}
    with showing_progress():
        counts = count_classes(file, attributes, sensitive=columns, **reading)
        everybody = None if population is None else count_classes(population, attributes)
        measured = audit_counts(counts, population=everybody, hierarchies=trees, threshold=threshold)
        stated = [
            {"requirement": _shown(one), "holds": bool(one.holds_in(counts).all()), "value": one.measure(counts).value}
            for one in asked.requirements(trees, everybody)
        ]
    holds = all(one["holds"] for one in stated)
    result: dict[str, Any] = {
        "rows": counts.n_rows,
        "classes": counts.n_classes,
        "k": counts.k,
        "unique": counts.n_unique,
        "holds": holds,
        "requirements": stated,
        "measures": measured.as_dict(),
        "seconds": round(time.perf_counter() - started, 4),
    }
    if json:
        print_json(result)
    else:
        print_facts({name: result[name] for name in ("rows", "classes", "k", "unique")})
        rows = [["", name, score.value, _direction(score)] for name, score in measured.classes.items()]
        for column, scores in measured.by_sensitive.items():
            rows += [[column, name, score.value, _direction(score)] for name, score in scores.items()]
        print_table(["sensitive", "measure", "value", "better"], rows)
        for one in stated:
            typer.echo(f"{'holds' if one['holds'] else 'FAILS'}  {one['requirement']}")
    if not holds:
        raise typer.Exit(EXIT_CHECK_FAILED)


def _sensitive_hierarchies(folder: Path | None, columns: list[str]) -> dict[str, Any]:
    from tokumei.hierarchy.files import has_hierarchy, read_hierarchies

    return {} if folder is None else read_hierarchies(folder, [one for one in columns if has_hierarchy(folder, one)])


def _direction(score: Any) -> str:
    return "higher" if score.higher_is_better else "lower"


def _shown(requirement: Any) -> str:
    """Write a requirement by its name and its plain options."""
    from tokumei.anonymize.tables import part_as_dict

    described = part_as_dict(requirement)
    plain = {k: v for k, v in described["options"].items() if isinstance(v, (int, float, str)) and v is not True}
    return f"{described['name']} ({', '.join(f'{name} {value}' for name, value in plain.items())})"
