"""A key to sign with."""

from __future__ import annotations

import pytest

from tokumei.data.files.keys import PrivateKey


@pytest.fixture(scope="session")
def key() -> PrivateKey:
    """A key of nobody, always the same: a desk draws by its key, and one key in some hundred refuses nearly all."""
    return PrivateKey(bytes(range(32)))
