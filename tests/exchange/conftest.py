"""A key to sign with."""

from __future__ import annotations

import pytest

from tokumei.data.files.keys import PrivateKey


@pytest.fixture(scope="session")
def key() -> PrivateKey:
    """A key of nobody."""
    return PrivateKey.fresh()
