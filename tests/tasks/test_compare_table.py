"""Methods on one table: what would take too long is left out and says so."""

from __future__ import annotations

import pytest

import tokumei as tk
from tokumei.core.progress import Cost

PEOPLE = tk.Table({"age": [30, 31, 52, 53], "sex": list("ffmm")}, qi=["age", "sex"])


def test_a_method_that_would_take_too_long_is_skipped_unless_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not any("expected_seconds" in one for one in tk.compare(PEOPLE, k=2).methods)
    # Four classes of two columns are expected to take 8 · 0.03 ms by the slowest methods.
    monkeypatch.setattr("tokumei.tasks.compare_table.UNASKED", Cost(2e-4, 0))
    compared = tk.compare(PEOPLE, k=2)
    skipped = {one["method"]: one for one in compared.methods if "expected_seconds" in one}
    assert {"min-dis", "mu-argus", "utility-clustering"} <= set(skipped)
    assert "--methods min-dis (methods='min-dis') runs it anyway" in skipped["min-dis"]["error"]
    assert not {"optimal", "mondrian", "datafly"} & set(skipped)
    assert skipped["min-dis"]["error"] in str(compared.sections())
    named = tk.compare(PEOPLE, k=2, methods=["min-dis"]).methods
    assert "error" not in named[0]
