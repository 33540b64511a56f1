"""The version follows the tags, and is told without them; addresses are stated only where they are known."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def metadata() -> ModuleType:
    spec = importlib.util.spec_from_file_location("metadata", ROOT / "packages" / "metadata.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def git(root: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n- New.\n\n## 1.3.0 - 2026-01-02\n")
    return tmp_path


def commit(root: Path) -> None:
    git(root, "commit", "--allow-empty", "-m", "x")


def test_version_of_sources_without_git_is_that_of_the_changelog(metadata: ModuleType, root: Path) -> None:
    assert metadata.version(root) == "1.3.0"


def test_version_of_a_clone_without_tags_is_one_for_development(metadata: ModuleType, root: Path) -> None:
    git(root, "init")
    commit(root)
    assert metadata.version(root).startswith("1.3.0.dev0+g")


def test_version_at_a_tag_is_the_tag_and_counts_commits_after_it(metadata: ModuleType, root: Path) -> None:
    git(root, "init")
    commit(root)
    git(root, "tag", "v1.3.0")
    assert metadata.version(root) == "1.3.0"
    commit(root)
    commit(root)
    assert metadata.version(root).startswith("1.3.1.dev2+g")


def test_version_after_a_tag_is_the_next_one_that_the_changelog_names(metadata: ModuleType, root: Path) -> None:
    git(root, "init")
    commit(root)
    git(root, "tag", "v1.2.9")
    commit(root)
    assert metadata.version(root).startswith("1.3.0.dev1+g")


def test_sources_inside_another_repository_do_not_take_its_tags(metadata: ModuleType, root: Path) -> None:
    git(root, "init")
    commit(root)
    git(root, "tag", "v9.0.0")
    inner = root / "tokumei"
    inner.mkdir()
    (inner / "CHANGELOG.md").write_text("## 1.3.0\n")
    assert metadata.version(inner) == "1.3.0"


def test_source_package_keeps_its_version(metadata: ModuleType, root: Path) -> None:
    (root / "PKG-INFO").write_text("Metadata-Version: 2.4\nName: tokumei\nVersion: 1.2.3.dev4+gabc\n")
    assert metadata.version(root) == "1.2.3.dev4+gabc"


def test_addresses_are_stated_only_where_they_are_known(metadata: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = metadata.Addresses(str(ROOT), {})
    monkeypatch.delenv("TOKUMEI_HOME", raising=False)
    found: dict[str, object] = {}
    hook.update(found)
    assert found == {"urls": {}}
    monkeypatch.setenv("TOKUMEI_HOME", "https://example.org/tokumei/")
    hook.update(found)
    assert isinstance(found["urls"], dict)
    assert found["urls"]["Issues"] == "https://example.org/tokumei/issues"
