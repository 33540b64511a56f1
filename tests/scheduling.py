"""Which tests share a process, and which come first, where several processes run them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).resolve().parents[1]
# What files are one group by, since what it starts or builds takes seconds: a session of Spark, a whole site to attack.
GROUPS = {"spark_engine": "spark", "(world: World": "world"}
# Fixtures that start something which takes seconds.
SERVERS = {"spark_engine", "postgres_engine", "browser"}


class FileByFile(LoadScopeScheduling):  # type: ignore[misc]
    """Return each file to one process, which makes what its tests share once; files that share more are one group.

    Groups by mark (`xdist_group`) are not used: pytest-xdist 3.8 writes them where pytest 9.2 no longer looks.
    """

    def __init__(self, config: pytest.Config, log: Any) -> None:
        # Files come as they are collected, not by how many tests they have.
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid.partition("::")[0])


@cache
def group_of(file: str) -> str:
    """Return what is run in one process with a file."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return next((group for mark, group in GROUPS.items() if mark in text), file)


def mark_slow(items: list[pytest.Item]) -> None:
    """Mark what needs an engine, a database's server or a browser as slow, whichever folder it is in."""
    for item in items:
        if SERVERS & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


def put_slow_first(items: list[pytest.Item]) -> None:
    """Begin with groups, then files that take long: what begins last must be short, or other processes wait for it."""
    groups = [group_of(item.nodeid.partition("::")[0]) for item in items]
    slow = {group for group, item in zip(groups, items, strict=True) if item.get_closest_marker("slow")}
    large = set(GROUPS.values())
    order = sorted(range(len(items)), key=lambda index: (groups[index] not in large, groups[index] not in slow))
    items[:] = [items[index] for index in order]
