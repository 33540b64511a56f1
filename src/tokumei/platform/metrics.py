"""The server's figures in the text format of Prometheus.

Request figures are kept in memory that the web processes share: it is made when this module is first imported, before
the server forks. Other figures are asked for when somebody reads them; an app adds its own by `GAUGES.append`.
"""

from __future__ import annotations

import bisect
import multiprocessing
from collections.abc import Callable, Iterable
from dataclasses import dataclass

BUCKETS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
STATUS_CLASSES = (1, 2, 3, 4, 5)

_durations = multiprocessing.Array("d", len(BUCKETS) + 2)
_statuses = multiprocessing.Array("d", len(STATUS_CLASSES))


@dataclass(frozen=True)
class Gauge:
    """One figure: its name without the `tokumei_` before it, what it tells, and its value."""

    name: str
    help: str
    value: float


GAUGES: list[Callable[[], Iterable[Gauge]]] = []


def count_request(status: int, seconds: float) -> None:
    """Count one answered request."""
    with _durations.get_lock():
        _durations[bisect.bisect_left(BUCKETS, seconds)] += 1
        _durations[len(BUCKETS) + 1] += seconds
        _statuses[min(max(status // 100, 1), 5) - 1] += 1


def exposition() -> str:
    """Write all figures."""
    with _durations.get_lock():
        durations, statuses = _durations[:], _statuses[:]
    lines = [
        "# HELP tokumei_requests_total Requests answered.",
        "# TYPE tokumei_requests_total counter",
        *(
            f'tokumei_requests_total{{status="{kind}xx"}} {_number(n)}'
            for kind, n in zip(STATUS_CLASSES, statuses, strict=True)
        ),
        "# HELP tokumei_request_seconds Time to answer a request.",
        "# TYPE tokumei_request_seconds histogram",
    ]
    so_far = 0.0
    for bound, n in zip((*map(str, BUCKETS), "+Inf"), durations, strict=False):
        so_far += n
        lines.append(f'tokumei_request_seconds_bucket{{le="{bound}"}} {_number(so_far)}')
    lines += [f"tokumei_request_seconds_sum {durations[-1]:.6f}", f"tokumei_request_seconds_count {_number(so_far)}"]
    for ask in GAUGES:
        for gauge in ask():
            lines += [
                f"# HELP tokumei_{gauge.name} {gauge.help}",
                f"# TYPE tokumei_{gauge.name} gauge",
                f"tokumei_{gauge.name} {_number(gauge.value)}",
            ]
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    return f"{value:.10g}"
