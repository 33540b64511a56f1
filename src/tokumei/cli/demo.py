"""`tokumei demo`: the whole way on made-up data, ending in a report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from tokumei.cli.options import SeedOption
from tokumei.cli.output import JsonFlag, print_facts, print_json, showing_progress

KNOWN_SHARES = (0.25, 0.5, 0.75, 1.0)
# What the six sample attackers of PWSCUP 2017 match on.
ATTACKERS = {
    "S1": ("date", "quantity"),
    "S2": ("item", "price"),
    "S3": ("item", "quantity"),
    "S4": ("date", "item"),
    "S5": ("item", "price", "quantity"),
    "S6": ("date", "item", "quantity"),
}


def demo(
    out: Annotated[Path, typer.Option("--out", metavar="FILE.html", help="The report.")] = Path("tokumei-demo.html"),
    customers: Annotated[int, typer.Option(min=2, help="Number of made-up customers.")] = 400,
    seed: SeedOption = 1,
    json: JsonFlag = False,
) -> None:
    """Make up a retail history, anonymize it, attack it, measure it, and write a report.

    Example: tokumei demo --out report.html
    """
    started = time.perf_counter()
    with showing_progress():
        results = play(customers, seed)
        report(results, customers, seed, out)
    best = max(results["attacks"], key=lambda row: row["row"] if row["known"] == KNOWN_SHARES[0] else 0)
    summary: dict[str, Any] = {
        "rows": results["rows"],
        "customers": customers,
        "found": best["row"],
        "found_by": f"{' and '.join(best['fields'])}, {KNOWN_SHARES[0]:.0%} of the purchases known",
        "report": str(out),
        "seconds": round(time.perf_counter() - started, 2),
    }
    print_json(summary) if json else print_facts(summary, title="Tokumei demo")


def play(customers: int, seed: int) -> dict[str, Any]:
    """Release a made-up history under monthly pseudonyms, and attack and measure it."""
    from tokumei.anonymize.registry import HISTORY_ANONYMIZERS
    from tokumei.attack.judge import judge
    from tokumei.attack.knowledge import draw_knowledge
    from tokumei.attack.registry import HISTORY_ATTACKS
    from tokumei.core.progress import step
    from tokumei.data.history import History
    from tokumei.data.made.retail import make_retail
    from tokumei.measure.registry import HISTORY_UTILITIES

    original = History.of(make_retail(customers, seed=seed), name="made-up retail")
    release = HISTORY_ANONYMIZERS.make("pseudonyms", lifetime=1).anonymize(original, seed=seed)
    released = History(release.frame)
    truth = release.pseudonyms
    assert truth is not None  # noqa: S101 - pseudonyms always come with their map.
    attacks: list[dict[str, Any]] = []
    with step("attacking", len(KNOWN_SHARES) * len(ATTACKERS)) as bar:
        for share in KNOWN_SHARES:
            knowledge = draw_knowledge(original, share, seed=seed)
            for name, fields in ATTACKERS.items():
                guesses = HISTORY_ATTACKS.make("exact-match", fields=fields).guess(knowledge, released)
                verdict = judge(guesses, truth, original.customers, original.periods)
                scores = {"row": verdict.row.value, "cell": verdict.cell.value}
                attacks.append({"attacker": name, "fields": fields, "known": share, **scores})
                bar.advance()
    utility = {name: HISTORY_UTILITIES.make(name).measure(original, released).value for name in HISTORY_UTILITIES}
    return {"rows": original.n_rows, "attacks": attacks, "utility": utility}


def report(results: dict[str, Any], customers: int, seed: int, out: Path) -> None:
    """Write the report of the demo."""
    import polars as pl

    from tokumei.report.figures import line_figure
    from tokumei.report.page import Page

    page = Page("A new name each month does not hide a customer")
    page.paragraph(
        f"{customers:,} made-up customers bought {results['rows']:,} times in a year (seed {seed}). Their history is "
        "released with a new pseudonym for each customer in each month and nothing else changed. Six attackers, those "
        "of the PWSCUP 2017 contest, saw some of the purchases and look for rows that agree with them."
    )
    points = pl.DataFrame(results["attacks"]).with_columns(
        matches=pl.col("attacker") + ": " + pl.col("fields").list.join(", ")
    )
    page.heading("How many customers are found")
    page.figure(
        line_figure(
            points,
            x="known",
            y="row",
            series="matches",
            x_title="share of purchases the attacker knows",
            y_title="customers found",
            series_title="attacker matches on",
        ),
        "Share of customers whose pseudonym is named rightly in every month of the year. Lower is safer.",
    )
    by_attacker = points.pivot("known", index="matches", values="row")
    page.table(
        ["attacker matches on", *(f"{share:.0%} known" for share in KNOWN_SHARES)],
        [list(row) for row in by_attacker.iter_rows()],
        "The attacks in figures: 0 is nobody, 1 is everybody.",
    )
    page.heading("What use is left")
    page.table(
        ["measure", "loss"],
        [[name, value] for name, value in results["utility"].items()],
        "Losses from 0 (as useful as the original) to 1 (useless). In a release a buyer is a pseudonym, so that "
        "someone who buys an item in two months counts as two buyers.",
    )
    page.write(out)
