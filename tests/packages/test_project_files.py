"""What a public project has beside its code is readable, and says what the code says."""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
VERSION = re.findall(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0]


@pytest.fixture(scope="module")
def messages() -> ModuleType:
    spec = importlib.util.spec_from_file_location("commit_message", ROOT / "packages" / "commit_message.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_citation_recipe_and_changelog_name_one_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == VERSION
    recipe = yaml.safe_load((ROOT / "packages" / "conda" / "recipe.yaml").read_text())
    assert recipe["context"]["version"] == VERSION


def test_recipe_needs_what_the_base_install_needs() -> None:
    recipe = yaml.safe_load((ROOT / "packages" / "conda" / "recipe.yaml").read_text())
    needed = {one.replace(" ", "") for one in recipe["requirements"]["run"] if not one.startswith("python ")}
    assert needed == set(PROJECT["dependencies"])


def test_workflow_makes_what_the_makefile_has_on_every_python_that_is_named() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    called = re.findall(r"\bmake ([a-z-]+)", json.dumps(workflow))
    assert {"check", "test", "test-all", "site", "packages"} == set(called) <= targets
    named = {one.rpartition(" ")[2] for one in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", one)}
    assert set(workflow["jobs"]["tests"]["strategy"]["matrix"]["python"]) == named


@pytest.mark.parametrize("file", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda one: one.stem)
def test_templates_can_be_read(file: Path) -> None:
    assert isinstance(yaml.safe_load(file.read_text()), dict)


def test_containers_make_what_is_there() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert container["postCreateCommand"] == "make .venv/ready-to-develop"
    assert "$(VENV)/ready-to-develop:" in (ROOT / "Makefile").read_text()


@pytest.mark.parametrize(
    ("message", "n_faults"),
    [
        ("Say why\n\nSince nobody knew.\n", 0),
        ("Say why\n# A line of git's.\n", 1),
        ("x" * 73 + "\n\nBecause.\n", 1),
        ("x" * 72 + "\nBecause.\n", 1),
        ("Merge branch 'main'\n", 0),
    ],
)
def test_messages_of_commits_are_short_and_say_why(messages: ModuleType, message: str, n_faults: int) -> None:
    assert len(messages.faults(message)) == n_faults
