"""Run benchmarks and print one table: `make bench`, `make bench scale ROWS=20000000`, `… load --minutes 15`."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import time

import benchmarks
from benchmarks.measure import Figure

NO_BENCHMARK = ("__main__", "measure", "adult", "raw_files", "history_scale", "spark_scale")
# Run by name alone, since another prints the same figures.
PART_OF_ANOTHER = ("linking",)


def main(wanted: list[str]) -> None:
    names = sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name not in NO_BENCHMARK)
    unknown = set(wanted) - set(names)
    if unknown:
        sys.exit(f"unknown benchmark {', '.join(sorted(unknown))}; known: {', '.join(names)}")
    is_met = True
    for name in wanted or [name for name in names if name not in PART_OF_ANOTHER]:
        started = time.perf_counter()
        print(f"\n{name}", flush=True)
        figures: list[Figure] = importlib.import_module(f"benchmarks.{name}").run()
        for figure in figures:
            print(f"  {figure}")
            is_met &= figure.is_met
        print(f"  ({time.perf_counter() - started:.0f} s)", flush=True)
    sys.exit(0 if is_met else 1)


def without_sizes(given: list[str]) -> list[str]:
    """Take `--minutes N` and `--users N`, for a server under load, and `--rows N`, of large tables, from the words."""
    sizes = {"--minutes": "BENCHMARK_MINUTES", "--users": "BENCHMARK_USERS", "--rows": "BENCHMARK_ROWS"}
    for option, variable in sizes.items():
        if option in given:
            place = given.index(option)
            if not "".join(given[place + 1 : place + 2]).replace(".", "", 1).isdecimal():
                sys.exit(f"{option} needs a number")
            os.environ[variable] = given[place + 1]
            given = given[:place] + given[place + 2 :]
    return given


main(without_sizes(sys.argv[1:]))
