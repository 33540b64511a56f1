"""How a search ends."""

from __future__ import annotations

from dataclasses import dataclass

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.text import Text
from tokumei.methods.search.problem import JudgedNode, Problem


@dataclass(frozen=True)
class Found:
    """The node a search settled on, and whether no other that holds loses less."""

    judged: JudgedNode
    is_proven: bool

    @classmethod
    def of(cls, problem: Problem, judged: JudgedNode | None, *, is_proven: bool) -> Found:
        """Return what was found, or raise CannotAnonymize with how far even the coarsest node is from holding."""
        if judged is not None:
            return cls(judged, is_proven)
        top = problem.judge(problem.lattice.top)
        raise CannotAnonymize(
            Text(
                "No node of the lattice holds: even fully generalized, {n:,} of {m:,} records would have to be "
                "suppressed, and at most {p:,} may be.",
                n=top.n_suppressed,
                m=problem.n_rows,
                p=problem.n_may_suppress,
            )
        )


def check_monotone(problem: Problem, method: str) -> None:
    """Refuse a problem in which a node may fail although a finer one holds, for a method that relies on it."""
    if not problem.is_monotone:
        raise InputError.of(
            f"a requirement that coarser nodes keep, for '{method}'; with records to suppress, entropy and recursive "
            "diversity, closeness and likeness do not: use 'optimal'",
            option="method",
            value=method,
        )
