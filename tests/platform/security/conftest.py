"""The world of the security tests, ready to be attacked."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import override_settings
from tests.platform.security.world import World, build
from tests.platform.sites import add_editions, connected_to, migrated


@pytest.fixture(scope="session")
def built_world(tmp_path_factory: pytest.TempPathFactory, django_db_blocker: Any) -> Iterator[World]:
    """The world in its own database and folder, made once."""
    folder = tmp_path_factory.mktemp("world")
    (folder / "files").mkdir()
    url = _url(folder)
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock(), migrated(url, tmp_path_factory):
        add_editions(folder, patch)
        with override_settings(MEDIA_ROOT=folder / "files"):
            made = build(folder)
    yield made
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def connected_world(built_world: World, django_db_blocker: Any) -> Iterator[World]:
    """The world, connected to for the tests of one file."""
    folder = built_world.folder
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock(), connected_to(_url(folder)):
        shutil.rmtree(folder / "packages", ignore_errors=True)
        add_editions(folder, patch)
        with override_settings(MEDIA_ROOT=folder / "files"):
            yield built_world


@pytest.fixture
def world(connected_world: World, mailoutbox: Any) -> Iterator[World]:
    """The world; what a test changes in its database is taken back."""
    with transaction.atomic():
        yield connected_world
        transaction.set_rollback(True)


def _url(folder: Any) -> str:
    return f"sqlite:///{folder / 'world.sqlite3'}"
