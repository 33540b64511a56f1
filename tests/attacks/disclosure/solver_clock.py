"""A clock that only programs move, so that what a time limit allows does not depend on the machine."""

from __future__ import annotations

from typing import Any

import pytest
from scipy.optimize import linprog, milp


def clock_of_programs(monkeypatch: pytest.MonkeyPatch, seconds: float) -> list[tuple[float, float]]:
    """Let each program take so many seconds; the list gets when each started and how long it was allowed to take."""
    clock, given = [0.0], []

    def timed(solve: Any) -> Any:
        def solved(*args: Any, options: dict[str, float], **more: Any) -> Any:
            given.append((clock[0], options["time_limit"]))
            clock[0] += seconds
            return solve(*args, options=options, **more)

        return solved

    monkeypatch.setattr("time.perf_counter", lambda: clock[0])
    monkeypatch.setattr("tokumei.attacks.disclosure.count_programs.linprog", timed(linprog))
    monkeypatch.setattr("tokumei.attacks.disclosure.count_programs.milp", timed(milp))
    return given
