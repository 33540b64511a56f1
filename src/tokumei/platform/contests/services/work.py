"""What a kind of evaluation asks its process for, and what it writes at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tokumei.platform.jobs.models import Evaluation
from tokumei.platform.jobs.process import Answer


@dataclass(frozen=True)
class Work:
    """One kind of work; the three that write are called once, inside the transaction that ends the evaluation."""

    ask: Callable[[Evaluation], dict[str, Any]]
    write_result: Callable[[Evaluation, dict[str, Any]], None]
    write_faults: Callable[[Evaluation, Answer], None]
    write_failure: Callable[[Evaluation, str], None]
