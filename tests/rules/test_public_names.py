"""The public names: what others may rely on."""

from __future__ import annotations

import doctest
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tokumei

PUBLIC = {
    *("Table", "History", "Job", "Hierarchy", "Recipe", "Score"),
    *("inspect", "audit", "anonymize", "attack", "harden", "measure", "compare", "predict"),
    *("sweep", "knowledge", "apply", "report", "run"),
    *("read_frame", "write_frame", "read_hierarchy", "read_hierarchies", "write_hierarchy"),
    *("count_classes", "ClassCounts", "Lattice", "parse_label", "Anonymizer", "errors"),
}
FEW = 30


def test_public_names_are_those_promised() -> None:
    assert set(tokumei.__all__) == PUBLIC
    assert set(dir(tokumei)) == PUBLIC
    assert len(PUBLIC) <= FEW


@pytest.mark.parametrize("name", sorted(PUBLIC - {"errors"}))
def test_every_public_name_is_where_it_says_and_its_example_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = getattr(tokumei, name)
    home = importlib.import_module(found.__module__)
    assert getattr(home, name) is found
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestParser().get_doctest(found.__doc__ or "", {}, name, None, None)
    assert examples.examples, f"{name} has no example"
    said: list[str] = []
    doctest.DocTestRunner().run(examples, out=said.append)
    assert not said, "".join(said)


def test_errors_of_users_are_in_one_place() -> None:
    assert issubclass(tokumei.errors.InputError, tokumei.errors.TokumeiError)


def test_importing_tokumei_and_the_command_line_loads_nothing_heavy() -> None:
    heavy = ["polars", "numpy", "ibis", "altair", "pyspark", "pandas"]
    code = f"import sys, tokumei, tokumei.cli.main; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_attack_by_linkage_needs_no_scipy() -> None:
    # To import it takes a third of an attack on the 2017 set.
    code = (
        "import sys; import tokumei.tasks.attack_history; from tokumei.attacks.linkage.attack import Linkage; "
        "from tokumei.data.history import History; from tokumei.data.made_retail import make_retail; "
        "shop = History.of(make_retail(8, n_rows=200, seed=1)); "
        "print(Linkage().guess(shop.known(0.5, seed=1), shop).height > 0, 'scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True False"


@pytest.mark.parametrize(
    ("start", "then", "heavy"),
    [
        ("configure", "", ["scipy", "sklearn", "altair", "ninja", "pandas", "ibis"]),
        # All pages, as a web process imports them before its first visitor comes.
        (
            "configure",
            "from django.urls import get_resolver; get_resolver().url_patterns; ",
            ["scipy", "sklearn", "altair", "pandas", "ibis"],
        ),
        # It only starts the processes that do the jobs.
        ("configure_supervisor", "", ["polars", "numpy", "tokumei.platform.jobs.models", "httpx", "axes"]),
    ],
)
def test_process_of_the_server_starts_without_what_it_does_not_need(
    tmp_path: Path, start: str, then: str, heavy: list[str]
) -> None:
    code = (
        f"import sys; from pathlib import Path; from tokumei.platform.start import {start}; "
        f"{start}(Path({str(tmp_path)!r})); {then}print([m for m in {heavy} if m in sys.modules])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == "[]"
