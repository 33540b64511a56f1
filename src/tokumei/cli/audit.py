"""`tokumei audit`: every safety measure of a table, and whether what was stated holds."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tokumei.cli.options import (
    EngineOption,
    HierarchiesOption,
    SourceArgument,
    names,
)
from tokumei.cli.output import EXIT_CHECK_FAILED, JsonFlag, print_facts, print_json, print_table, showing_progress
from tokumei.cli.reading import reads_tables
from tokumei.cli.requirements import (
    AlphaOption,
    Asked,
    BetaOption,
    DisclosureOption,
    KMapOption,
    KOption,
    LDiversityOption,
    PopulationOption,
    PresenceOption,
    PresetOption,
    TClosenessOption,
)
from tokumei.data.files.reading import AS_IT_IS, Reading

if TYPE_CHECKING:
    from tokumei.core.score import Score
    from tokumei.counting.class_counts import ClassCounts
    from tokumei.measure.audit import Audit
    from tokumei.measure.requirement import Requirement


@reads_tables
def audit(
    file: SourceArgument,
    qi: Annotated[str, typer.Option("--qi", metavar="A,B,…", help="The quasi-identifiers: what others may know.")],
    sensitive: Annotated[
        str | None, typer.Option("--sensitive", metavar="A,B,…", help="The columns others want to learn.")
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            metavar="FILE",
            help="An earlier release of the same people, to see what comparing gives away; repeatable. Its classes are "
            "by those of --qi that it has. Without --id, row n of all files must be the same person.",
        ),
    ] = None,
    person: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="Says whose each row is, in all files: your own secret copy of the releases. Used for --against only.",
        ),
    ] = None,
    hierarchies: HierarchiesOption = None,
    k: KOption = None,
    preset: PresetOption = None,
    l_diversity: LDiversityOption = None,
    t_closeness: TClosenessOption = None,
    alpha_k: AlphaOption = None,
    beta_likeness: BetaOption = None,
    delta_disclosure: DisclosureOption = None,
    k_map: KMapOption = None,
    delta_presence: PresenceOption = None,
    population: PopulationOption = None,
    original: Annotated[
        str | None,
        typer.Option(
            "--original",
            metavar="FILE",
            help="What the release was made of: what compares a class with all rows is held against both.",
        ),
    ] = None,
    recipe: Annotated[
        Path | None,
        typer.Option("--recipe", metavar="FILE", help="How the release was made: a promise that is void fails."),
    ] = None,
    threshold: Annotated[float, typer.Option("--threshold", help="Records with a larger risk are counted.")] = 0.2,
    engine: EngineOption = "local",
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Measure how safe a table is as it stands; exit 1 if a stated requirement fails.

    With --against, the k of --k must also hold for all releases together.

    Example: tokumei audit release.csv --qi sex,age --sensitive illness --k 5 --l-diversity illness=3
    """
    from tokumei.counting.count import count_classes
    from tokumei.job.audit_releases import compare_releases
    from tokumei.measure.audit import audit as audit_counts

    started = time.perf_counter()
    asked = Asked(k, preset, l_diversity, t_closeness, alpha_k, beta_likeness, k_map, delta_presence, delta_disclosure)
    attributes = names(qi, "--qi")
    columns = list(dict.fromkeys([*(names(sensitive, "--sensitive") if sensitive else []), *asked.sensitive_columns()]))
    trees = _sensitive_hierarchies(hierarchies, columns)
    with showing_progress():
        counts = count_classes(file, attributes, sensitive=columns, engine=engine, reading=reading)
        everybody = None if population is None else count_classes(population, attributes, reading=reading)
        measured = audit_counts(counts, population=everybody, hierarchies=trees, threshold=threshold)
        whole = None if original is None else count_classes(original, attributes, sensitive=columns, reading=reading)
        stated = _stated(asked.requirements(trees, everybody), counts, whole) + _promised(recipe)
        together = compare_releases(
            [file, *(against or [])], attributes, columns, person, engine=engine, reading=reading
        )
    if together is not None and k is not None:
        holds = together["k"] >= k or not together["persons"]
        stated.append({"requirement": f"sequential-k (k {k})", "holds": holds, "value": together["k"]})
    result: dict[str, Any] = {
        "rows": counts.n_rows,
        "classes": counts.n_classes,
        "k": counts.k,
        "unique": counts.n_unique,
        "holds": all(one["holds"] for one in stated),
        "requirements": stated,
        "measures": measured.as_dict(),
        **({} if together is None else {"against": together}),
        "seconds": round(time.perf_counter() - started, 4),
    }
    if json:
        print_json(result)
    else:
        _print_for_people(result, measured)
    if not result["holds"]:
        raise typer.Exit(EXIT_CHECK_FAILED)


def _stated(requirements: list[Requirement], counts: ClassCounts, whole: ClassCounts | None) -> list[dict[str, Any]]:
    """Check requirements; those that compare with all rows against the release and, if there is one, the original."""
    from tokumei.anonymize.goal import against_original

    out = []
    for one in requirements:
        told = [one] if whole is None else against_original([one], whole, moves=True)
        if getattr(one, "reference", 0) is not None:
            out += [_checked(each, counts) for each in told]
            continue
        for each in told:
            whose = "the release" if getattr(each, "reference", None) is None else "the original"
            checked = _checked(each, counts)
            out.append(checked | {"requirement": f"{checked['requirement']} against {whose}", "against": whose})
    return out


def _promised(recipe: Path | None) -> list[dict[str, Any]]:
    """Say whether what a recipe promises by its method can still be relied on."""
    from tokumei.anonymize.recipes import read_recipe

    if recipe is None:
        return []
    options = read_recipe(recipe).options
    if "spent" not in options:
        return []
    return [
        {
            "requirement": f"ε-differential privacy ({options.get('promise', 'spent')})",
            "holds": "promise" not in options,
            "value": options["spent"],
        }
    ]


def _checked(requirement: Requirement, counts: ClassCounts) -> dict[str, Any]:
    """Say whether a requirement holds in all classes, and what was achieved."""
    return {
        "requirement": _shown(requirement),
        "holds": bool(requirement.holds_in(counts).all()),
        "value": requirement.measure(counts).value,
    }


def _print_for_people(result: dict[str, Any], measured: Audit) -> None:
    from tokumei.job.audit_releases import describe_comparison

    print_facts({name: result[name] for name in ("rows", "classes", "k", "unique")})
    rows = [["", name, score.value, _direction(score)] for name, score in measured.classes.items()]
    for column, scores in measured.by_sensitive.items():
        rows += [[column, name, score.value, _direction(score)] for name, score in scores.items()]
    print_table(["sensitive", "measure", "value", "better"], rows)
    if "against" in result:
        typer.echo(describe_comparison(result["against"]))
    for one in result["requirements"]:
        typer.echo(f"{'holds' if one['holds'] else 'FAILS'}  {one['requirement']}")


def _sensitive_hierarchies(folder: Path | None, columns: list[str]) -> dict[str, Any]:
    from tokumei.hierarchy.files import has_hierarchy, read_hierarchies

    return {} if folder is None else read_hierarchies(folder, [one for one in columns if has_hierarchy(folder, one)])


def _direction(score: Score) -> str:
    return "higher" if score.higher_is_better else "lower"


def _shown(requirement: Requirement) -> str:
    """Write a requirement by its name and its plain options."""
    from tokumei.anonymize.recipes import part_as_dict

    described = part_as_dict(requirement)
    plain = {k: v for k, v in described["options"].items() if isinstance(v, (int, float, str)) and v is not True}
    return f"{described['name']} ({', '.join(f'{name} {value}' for name, value in plain.items())})"
