"""Pictures of pages for who wants to look at them: they are kept in the folder that PAGE_PICTURES names.

None is taken otherwise: to paint a whole page takes a browser longer than all that tests ask of it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

FOLDER = os.environ.get("PAGE_PICTURES", "")


def keep_picture(page: Any, name: str) -> None:
    """Keep what a page looks like, from top to bottom."""
    if FOLDER:
        page.screenshot(path=Path(FOLDER) / f"{name}.png", full_page=True)
