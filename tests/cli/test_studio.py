"""`tokumei studio` where the platform is not installed."""

from __future__ import annotations

import sys

import pytest

from tokumei.cli.job import studio
from tokumei.core.errors import MissingExtra


def test_studio_without_the_platform_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "django", None)
    for name in [name for name in sys.modules if name.startswith(("tokumei.platform", "django."))]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingExtra, match=r"The workbench needs the extra .*tokumei\[platform\]"):
        studio()
