"""The editions by name."""

from __future__ import annotations

from tokumei.contest.edition import Edition
from tokumei.core.registry import Registry

EDITIONS: Registry[Edition] = Registry("edition", "tokumei.contest.editions", module="edition")
"""The editions: one a folder, the edition itself in its file `edition.py`."""
