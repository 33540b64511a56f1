"""Fixtures for tests of the data room."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Give a function that writes bytes or text to a file of the test's own folder."""

    def write_file(content: bytes | str, name: str = "file.csv") -> Path:
        data = content.encode("utf-8") if isinstance(content, str) else content
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write_file
