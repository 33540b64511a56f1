"""What attacks and defences are worth in every edition: one season each, of all built-in teams, on made-up data.

Prints the table of docs/howto/editions.md line by line: use lost, what the contest's sample attack finds, what the best
built-in attack finds, and the number that the edition ranks teams by.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Figure
from tokumei.contest.edition import EDITIONS, Edition, TeamEntry
from tokumei.contest.folder import Contest
from tokumei.contest.replay import HOUSE, simulate

# A tenth of a contest or less, so that all seasons take minutes.
SIZES: dict[str, dict[str, str]] = {
    "pwscup2015": {"n_rows": "800"},
    "pwscup2016": {"n_customers": "100"},
    "pwscup2017": {"n_customers": "50", "known": "25"},
    "pwscup2018": {"n_customers": "100"},
    "pwscup2019": {"n_users": "400"},
    "pwscup2020": {"n_rows": "1000", "n_people": "10000"},
    "pwscup2021": {"n_rows": "1000"},
    "pwscup2022": {},
    "pwscup2023": {"n_rows": "10000"},
    "ipws2023": {"n_rows": "1000", "n_published": "100"},
    "pwscup2024": {"n_rows": "1000"},
    "pwscup2025": {"n_rows": "1000", "n_people": "10000"},
    "pwscup2026": {"n_rows": "300", "n_rare": "30", "n_people": "1200", "n_background": "600", "n_challenge": "150"},
}


def run() -> list[Figure]:
    return [
        figure for name, options in SIZES.items() for figure in _season(name, EDITIONS.make_from_text(name, options))
    ]


def _season(name: str, edition: Edition) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        contest = simulate(edition, Path(folder, "season"), n_teams=len(edition.anonymizers()), seed=1)
        yield from _lines(name, contest)


def _lines(name: str, contest: Contest) -> Iterator[Figure]:
    sample = contest.edition.attacks()[0]
    season = contest.season()
    standings = {line.team: line for line in season.standings()}
    for entry in season.entries():
        found = _found(entry)
        best = max(found, key=lambda attack: found[attack])
        baselines = [one.score.details["baseline"] for one in entry.attempts if "baseline" in one.score.details]
        chance = f", chance {max(baselines):.3f}" if baselines else ""
        value = standings[entry.team].value
        note = (
            f"by {best}{chance}; {sample} (sample) finds {found[sample]:.3f}; use lost {entry.release.utility:.3f}; "
            f"{'not ranked' if value is None else f'ranked by {value:.4g}'}, place {standings[entry.team].place}"
        )
        yield Figure(f"{name}, {entry.team}: found", found[best], "", note=note)


def _found(entry: TeamEntry) -> dict[str, float]:
    """Return what each attack found, at its best level of knowledge."""
    found: dict[str, float] = {}
    for one in entry.attempts:
        attack = one.attacker.removeprefix(HOUSE)
        found[attack] = max(found.get(attack, 0.0), one.score.success)
    return found
