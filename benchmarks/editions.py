"""Checking and scoring a release of the editions from 2019 on at their full size, each as a whole process."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.measure import Figure, run_command
from tokumei.contest.edition import Edition, files_in
from tokumei.contest.editions.pwscup2019.edition import Pwscup2019
from tokumei.contest.editions.pwscup2023.edition import Pwscup2023
from tokumei.contest.editions.pwscup2025.edition import Pwscup2025
from tokumei.contest.editions.pwscup2026.edition import Pwscup2026

LIMITS = {"pwscup2019": 5.0, "pwscup2023": 1.0, "pwscup2025": 5.0, "pwscup2026": 20.0}


def run() -> list[Figure]:
    editions: dict[str, Edition] = {
        "pwscup2019": Pwscup2019(),
        "pwscup2023": Pwscup2023(),
        "pwscup2025": Pwscup2025(),
        "pwscup2026": Pwscup2026(),
    }
    figures = []
    for name, edition in editions.items():
        with tempfile.TemporaryDirectory() as folder:
            figures.append(_figure(name, edition, Path(folder)))
    return figures


def _figure(name: str, edition: Edition, folder: Path) -> Figure:
    terms = edition.terms
    edition.make_data(folder, seed=1)
    data = files_in(folder, (*terms.data_files, *terms.hidden_files))
    edition.draw_own(data, folder, seed=2)
    edition.draw_knowledge(data, folder, seed=3)
    data |= files_in(folder, terms.own_files)
    edition.anonymize(edition.anonymizers()[-1], data, folder, seed=1)
    command = [sys.executable, "-m", "tokumei", "score", "--edition", name, "--json"]
    for role in (*terms.data_files, *terms.own_files):
        command += ["--data", f"{role.name}={data[role.name]}"]
    for role in terms.all_knowledge_files:
        command += ["--knowledge", f"{role.name}={folder / role.file_name}"]
    command += [str(path) for path in files_in(folder, terms.release_files).values()]
    return Figure(f"{name}: check and score, whole process", run_command(command), "s", LIMITS[name])
