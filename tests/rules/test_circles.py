"""No files import each other in a circle when they are loaded."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[2] / "src"


def imports_when_loaded(tree: ast.AST, modules: Mapping[str, Path]) -> set[str]:
    """Modules that are imported outside of functions and of what only a type checker reads."""
    found = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            named = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in modules else node.module for name in named}
        found |= imports_when_loaded(node, modules)
    return found & set(modules)


def test_no_files_import_each_other_in_a_circle() -> None:
    paths = {path: ".".join(path.relative_to(SRC).with_suffix("").parts) for path in SRC.rglob("*.py")}
    modules = {name.removesuffix(".__init__"): path for path, name in paths.items()}
    graph = {name: imports_when_loaded(ast.parse(path.read_text()), modules) - {name} for name, path in modules.items()}
    list(TopologicalSorter(graph).static_order())


def test_circle_is_found() -> None:
    known = {"a": Path(), "b": Path()}
    graph = {"a": imports_when_loaded(ast.parse("from b import f"), known), "b": {"a"}}
    with pytest.raises(CycleError):
        list(TopologicalSorter(graph).static_order())
    assert imports_when_loaded(ast.parse("def f():\n    import b"), known) == set()
