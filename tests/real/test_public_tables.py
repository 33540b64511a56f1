"""Nine public tables of other shapes than ours, from a file to a dossier by every natural job."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from benchmarks.public_tables import NINE, PACKAGE, load, walk

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(importlib.util.find_spec(PACKAGE) is None, reason=f"the package {PACKAGE} is not here"),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.mark.parametrize("name", NINE)
def test_public_table_goes_from_file_to_dossier(name: str, tmp_path: Path) -> None:
    done = {one.job: one for one in walk(load(name), tmp_path)}
    assert {job: one.fault for job, one in done.items() if one.fault} == {}
    assert {job: one.refused for job, one in done.items() if one.refused} == {}
