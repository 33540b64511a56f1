"""Run benchmarks and print one table: `make bench`, `make bench scale ROWS=20000000`, `… load --minutes 15`."""

from __future__ import annotations

import argparse
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


def named(given: list[str]) -> list[str]:
    """Read which benchmarks are asked for; sizes are told by the environment, as to processes that benchmarks start."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help="benchmarks; all if none is named")
    parser.add_argument("--rows", type=int, help="of large tables and histories")
    parser.add_argument("--minutes", type=float, help="for which a server is under load")
    parser.add_argument("--users", type=int, help="of a server under load")
    asked = vars(parser.parse_args(given))
    names: list[str] = asked.pop("names")
    os.environ.update({f"BENCHMARK_{size.upper()}": str(n) for size, n in asked.items() if n is not None})
    return names


main(named(sys.argv[1:]))
