"""Files that share what is dear to make are one group, which begins first."""

from __future__ import annotations

from typing import Any, cast

import pytest
from tests.scheduling import group_of, put_slow_first


class _Item:
    def __init__(self, nodeid: str, *, is_slow: bool = False) -> None:
        self.nodeid, self.is_slow = nodeid, is_slow

    def get_closest_marker(self, name: str) -> Any:
        return name if self.is_slow else None


def test_groups_come_first_then_slow_files_each_whole() -> None:
    short, slow = "tests/core/test_text.py", "tests/platform/security/test_canaries.py"
    world, spark = "tests/platform/security/test_odd_requests.py", "tests/tasks/test_spark_cluster.py"
    assert [group_of(one) for one in (short, slow, world, spark)] == [short, slow, "world", "spark"]
    items = [_Item(f"{short}::a"), _Item(f"{slow}::a"), _Item(f"{slow}::b", is_slow=True), _Item(f"{world}::a")]
    put_slow_first(cast("list[pytest.Item]", items))
    assert [one.nodeid for one in items] == [f"{world}::a", f"{slow}::a", f"{slow}::b", f"{short}::a"]
