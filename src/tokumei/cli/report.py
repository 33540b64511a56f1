"""`tokumei report` and `tokumei sweep`: one release in full, and many in comparison."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from tokumei.cli.options import ForceOption, SeedOption, names
from tokumei.cli.output import JsonFlag, print_facts, print_json, print_table, showing_progress
from tokumei.cli.reading import reads_histories
from tokumei.core.errors import InputError
from tokumei.data.files.reading import AS_IT_IS, Reading

KnowledgeOption = Annotated[
    list[str] | None,
    typer.Option("--knowledge", metavar="25=T25", help="Per cent known and its file; drawn anew without a file."),
]
AttacksOption = Annotated[
    str | None, typer.Option("--attacks", metavar="A,B,…", help="Which attacks; s1 to s6 and linkage if not given.")
]


@reads_histories
def report(
    original: Annotated[Path, typer.Option("--original", metavar="T", help="The original history.")],
    release: Annotated[Path, typer.Option("--release", metavar="A", help="The release, row for row.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE.html", help="The report.")],
    knowledge: KnowledgeOption = None,
    attacks: AttacksOption = None,
    sweep: Annotated[
        Path | None, typer.Option("--sweep", metavar="DIR", help="Show the frontier of a finished sweep.")
    ] = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Measure and attack a release in every way, and write one self-contained page.

    Example: tokumei report --original T.csv --release AT.csv --knowledge 25=T25.csv --knowledge 100 --out report.html
    """
    from tokumei.data.files.histories import read_history, read_released_history
    from tokumei.data.files.outputs import guarded
    from tokumei.measure.registry import HISTORY_UTILITIES
    from tokumei.report.evaluation import STRONG_ATTACKS, evaluate
    from tokumei.report.history_page import history_page

    started = time.perf_counter()
    read = [original, release, *_files_of(knowledge), None if sweep is None else sweep / "sweep.json"]
    with showing_progress(), guarded({"--out": out}, inputs=read, force=force) as drafts:
        before, after = read_history(original, reading), read_released_history(release, reading)
        known = _knowledge(knowledge or ["25", "50", "75", "100"], before, seed, reading)
        wanted = names(attacks, "--attacks") if attacks else STRONG_ATTACKS
        done = evaluate(before, after, known, seed=seed, utilities=list(HISTORY_UTILITIES), attacks=wanted)
        swept = None if sweep is None else _read_sweep(sweep)
        history_page(f"Report on {release.name}", done, swept).write(drafts["--out"])
    result: dict[str, Any] = {
        **done.as_dict(),
        "contest_utility": done.contest_utility,
        "seconds": round(time.perf_counter() - started, 2),
        "out": str(out),
    }
    if json:
        print_json(result)
        return
    attack, share = done.best_attack(min(known, key=int))
    print_facts({"use lost": done.contest_utility, "customers found": share, "by": attack, "page": str(out)})


@reads_histories
def sweep(
    file: Annotated[Path, typer.Argument(metavar="T", help="The original history.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the results; a sweep goes on there.")],
    grid: Annotated[
        Path | None, typer.Option("--grid", metavar="FILE.toml", help="A [[pipeline]] for each way to anonymize.")
    ] = None,
    knowledge: KnowledgeOption = None,
    attacks: AttacksOption = None,
    seed: SeedOption = 0,
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Anonymize a history in many ways and draw what safety costs; what was done before is not done again.

    Example: tokumei sweep T.csv --knowledge 25=T25.csv --out sweep
    """
    from tokumei.data.files.histories import read_history
    from tokumei.report.evaluation import STRONG_ATTACKS
    from tokumei.report.history_page import add_frontier
    from tokumei.report.page import Page
    from tokumei.report.sweep import default_grid, read_grid
    from tokumei.report.sweep import sweep as run

    started = time.perf_counter()
    wanted = names(attacks, "--attacks") if attacks else STRONG_ATTACKS
    with showing_progress():
        original = read_history(file, reading)
        ways = default_grid() if grid is None else read_grid(grid)
        known = _knowledge(knowledge or ["25"], original, seed, reading)
        out.mkdir(parents=True, exist_ok=True)
        swept = run(original, known, ways, out, seed=seed, attacks=wanted)
        swept.write_json(out / "sweep.json")
        page = Page("What safety costs")
        add_frontier(page, swept)
        page.write(out / "sweep.html")
    ordered = swept.sort("found", "utility")
    if json:
        print_json({"ways": ordered.to_dicts(), "seconds": round(time.perf_counter() - started, 2), "out": str(out)})
        return
    print_table(
        ["way", "use lost", "found", "by", ""],
        [[n, u, f, a, "frontier" if b else ""] for n, u, f, a, b in ordered.iter_rows()],
    )
    print_facts({"page": str(out / "sweep.html")})


def _knowledge(texts: list[str], original: Any, seed: int, reading: Reading) -> dict[str, Any]:
    """Read knowledge by how much is known, or draw it where no file is named."""
    from tokumei.data.files.histories import read_known_history

    known = {}
    for text in texts:
        share, _, file = text.partition("=")
        if not share.isdecimal() or not 0 < int(share) <= 100:
            raise InputError.of("a share in per cent, as in 25=T25.csv", column="--knowledge", value=text)
        known[share] = read_known_history(file, reading) if file else original.known(int(share) / 100, seed=seed)
    # Numbers as text: in the order of the shares, so that the smallest is the first.
    return dict(sorted(known.items(), key=lambda pair: int(pair[0])))


def _files_of(texts: list[str] | None) -> list[str]:
    return [file for text in texts or [] for file in [text.partition("=")[2]] if file]


def _read_sweep(folder: Path) -> Any:
    import polars as pl

    file = folder / "sweep.json"
    if not file.exists():
        raise InputError.of("the folder of a finished sweep", file=folder)
    return pl.read_json(file)
