"""Whatever a file of an edition may be refused for is said in Japanese too."""

from __future__ import annotations

import importlib
import pkgutil

from tokumei.contest import editions
from tokumei.contest.fault_words import in_japanese
from tokumei.core.errors import Fault
from tokumei.data.files.strict import StrictFile


def test_every_column_of_every_editions_files_has_words_in_japanese() -> None:
    files = [
        one
        for module in pkgutil.walk_packages(editions.__path__, f"{editions.__name__}.")
        for one in vars(importlib.import_module(module.name)).values()
        if isinstance(one, StrictFile)
    ]
    expected = {kind.expected for file in files for kind in file.types.values()}
    assert len(expected) > 10
    assert [one for one in expected if in_japanese(Fault(one)) is None] == []


def test_braces_of_a_set_are_no_place_for_a_parameter() -> None:
    said = in_japanese(
        Fault("an item of 1 to 9 upper-case letters or digits, a set {a;b;…} of 1 to 100 different ones, or *")
    )
    assert said is not None
    assert "{a;b;…}" in said
