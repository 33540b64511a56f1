"""No files import each other in a circle, neither when they are loaded nor inside functions."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[2] / "src"


def imports_of(tree: ast.AST, modules: Mapping[str, Path]) -> set[str]:
    """Modules that are imported anywhere but in what only a type checker reads."""
    found, left = set(), [tree]
    while left:
        node = left.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            named = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in modules else node.module for name in named}
        # No expression imports anything.
        left += [one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.expr)]
    return {name for name in found if name in modules}


def test_no_files_import_each_other_in_a_circle() -> None:
    paths = {path: ".".join(path.relative_to(SRC).with_suffix("").parts) for path in SRC.rglob("*.py")}
    modules = {name.removesuffix(".__init__"): path for path, name in paths.items()}
    graph = {name: imports_of(ast.parse(path.read_text()), modules) - {name} for name, path in modules.items()}
    list(TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("text", ["from b import f", "def f():\n    import b"])
def test_circle_is_found(text: str) -> None:
    known = {"a": Path(), "b": Path()}
    graph = {"a": imports_of(ast.parse(text), known), "b": {"a"}}
    with pytest.raises(CycleError):
        list(TopologicalSorter(graph).static_order())


def test_import_for_the_type_checker_alone_makes_no_circle() -> None:
    assert imports_of(ast.parse("if TYPE_CHECKING:\n    import b"), {"b": Path()}) == set()
