"""Files that share what is dear to make are one group, which begins first; others that take long are spread."""

from __future__ import annotations

from typing import Any, cast

import pytest
from tests.scheduling import group_of, spread_slow


class _Item:
    def __init__(self, nodeid: str, *, is_slow: bool = False) -> None:
        self.nodeid, self.is_slow = nodeid, is_slow

    def get_closest_marker(self, name: str) -> Any:
        return name if self.is_slow else None


def test_slow_files_stand_among_the_first_of_the_others() -> None:
    files = [f"tests/core/{name}.py" for name in ("test_text", "test_score", "test_seeds", "test_registry")]
    files += [f"tests/platform/{name}.py" for name in ("test_serving", "test_backup")]
    items = [_Item(f"{file}::a", is_slow="platform" in file) for file in files]
    spread_slow(cast("list[pytest.Item]", items))
    found = [one.nodeid.partition("::")[0] for one in items]
    assert found == [files[4], files[0], files[1], files[5], files[2], files[3]]


def test_groups_come_first_then_slow_files_each_whole() -> None:
    short, slow = "tests/core/test_text.py", "tests/platform/security/test_canaries.py"
    world, spark = "tests/platform/security/test_odd_requests.py", "tests/job/test_spark_cluster.py"
    assert [group_of(one) for one in (short, slow, world, spark)] == [short, slow, "world", "spark"]
    items = [_Item(f"{short}::a"), _Item(f"{slow}::a"), _Item(f"{slow}::b", is_slow=True), _Item(f"{world}::a")]
    spread_slow(cast("list[pytest.Item]", items))
    assert [one.nodeid for one in items] == [f"{world}::a", f"{slow}::a", f"{slow}::b", f"{short}::a"]
