"""The nodes of one table that were counted, with their k: table C of Oguri's thesis, which later runs extend."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokumei.core.errors import InputError
from tokumei.data.files.atomic import write_text
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.methods.search.problem import Problem

KIND = "tokumei counted nodes"


@dataclass(frozen=True)
class CountedTable:
    """The k of nodes of a lattice over a table of so many rows."""

    lattice: Lattice
    n_rows: int
    ks: Mapping[Node, int]

    @classmethod
    def empty(cls, problem: Problem) -> CountedTable:
        """Make a table without nodes."""
        return cls(problem.lattice, problem.n_rows, {})

    @classmethod
    def read(cls, file: Path, problem: Problem) -> CountedTable:
        """Read the table of earlier runs; one of other rows or levels is an InputError, never overwritten."""
        lattice = problem.lattice
        try:
            read = json.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError.of(f"a file that can be read ({error.strerror})", file=file) from None
        except ValueError as error:
            raise InputError.of(f"a table of counted nodes in JSON ({error})", file=file) from None
        if not isinstance(read, dict) or read.get("kind") != KIND:
            raise InputError.of("a table of counted nodes that 'pak' wrote", file=file)
        made_for = {"rows": read.get("rows"), "labels": read.get("labels")}
        wanted = {"rows": problem.n_rows, "labels": _labels(lattice)}
        for what, value in wanted.items():
            if made_for[what] != value:
                expected = f"a table of counted nodes of the same {what}, {json.dumps(value, ensure_ascii=False)}"
                raise InputError.of(expected, file=file, value=json.dumps(made_for[what], ensure_ascii=False))
        try:
            return cls(lattice, problem.n_rows, {_node(lattice, one["levels"]): _k(one["k"]) for one in read["nodes"]})
        except (KeyError, TypeError, ValueError) as error:
            raise InputError.of(f"nodes with 'levels' and a 'k' of 1 or more ({error})", file=file) from None

    def extended(self, problem: Problem) -> CountedTable:
        """Add the nodes that a search has counted; what it counted itself counts more."""
        counted = {node: problem.judge(node).smallest for node in problem.counted_nodes()}
        return CountedTable(self.lattice, self.n_rows, {**self.ks, **counted})

    def write(self, file: Path) -> None:
        """Write the table, fewest classes first."""
        nodes = sorted(self.ks, key=lambda node: (self.lattice.class_count(node), node))
        rows: list[dict[str, Any]] = [
            {"levels": self.lattice.levels(node), "classes": self.lattice.class_count(node), "k": self.ks[node]}
            for node in nodes
        ]
        table = {"kind": KIND, "rows": self.n_rows, "labels": _labels(self.lattice), "nodes": rows}
        write_text(file, json.dumps(table, ensure_ascii=False, indent=1) + "\n")


def _labels(lattice: Lattice) -> dict[str, list[int]]:
    """Return for each attribute how many labels each level has."""
    return {one.attribute: [len(level) for level in one.levels] for one in lattice.hierarchies}


def _node(lattice: Lattice, levels: Mapping[str, int]) -> Node:
    node = tuple(levels[name] for name in lattice.attributes)
    if node not in lattice:
        raise ValueError(f"no node {levels}")
    return node


def _k(k: object) -> int:
    if not isinstance(k, int) or k < 1:
        raise ValueError(f"not a k: {k}")
    return k
