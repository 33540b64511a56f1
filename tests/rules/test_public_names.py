"""The public names: what others may rely on."""

from __future__ import annotations

import importlib
import subprocess
import sys

import tokumei

PUBLIC = {
    *("CannotAnonymize", "DuplicatePart", "InputError", "MissingExtra", "NotAllowed", "NotFound", "PromiseBroken"),
    *("TokumeiError", "UnknownPart", "Score", "ClassCounts", "count_classes", "write_recoded", "read_frame"),
    *("write_frame", "History", "Recipe", "Release", "Role", "Table", "Hierarchy", "Lattice", "read_hierarchies"),
    *("read_hierarchy", "write_hierarchy", "Goal", "anonymize_table", "apply_recipe", "audit"),
}


def test_public_names_are_those_promised() -> None:
    assert set(tokumei.__all__) == PUBLIC
    assert set(dir(tokumei)) == PUBLIC


def test_every_public_name_is_where_it_says() -> None:
    for name in tokumei.__all__:
        found = getattr(tokumei, name)
        assert getattr(importlib.import_module(found.__module__), name) is found


def test_importing_tokumei_and_the_command_line_loads_nothing_heavy() -> None:
    heavy = ["polars", "numpy", "ibis", "altair", "pyspark", "pandas"]
    code = f"import sys, tokumei, tokumei.cli.main; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
