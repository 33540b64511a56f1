"""`tokumei demo`: the whole way on made-up data, ending in a report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from tokumei.cli.options import ForceOption, SeedOption
from tokumei.cli.output import JsonFlag, show, showing_progress
from tokumei.core.result import Answer, Facts

KNOWN_PER_CENT = (25, 50, 75, 100)


def demo(
    out: Annotated[Path, typer.Option("--out", metavar="FILE.html", help="The report.")] = Path("tokumei-demo.html"),
    customers: Annotated[int, typer.Option(min=2, help="Number of made-up customers.")] = 400,
    seed: SeedOption = 1,
    force: ForceOption = False,
    json: JsonFlag = False,
) -> None:
    """Make up a retail history, anonymize it, attack it, measure it, and write a report.

    Example: tokumei demo --out report.html
    """
    from tokumei.data.files.outputs import guarded
    from tokumei.data.history import History
    from tokumei.data.made.retail import make_retail
    from tokumei.methods.registry import HISTORY_ANONYMIZERS
    from tokumei.report.evaluation import evaluate
    from tokumei.report.history_page import history_page

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
    summary: dict[str, Any] = {
        "rows": original.n_rows,
        "customers": customers,
        "found": found,
        "found_by": f"{attack}, {KNOWN_PER_CENT[0]} % of the purchases known",
        "use_lost": done.contest_utility,
        "report": str(out),
        "seconds": round(time.perf_counter() - started, 2),
    }
    show(Answer(summary, [Facts(summary, "Tokumei demo")]), json=json)
