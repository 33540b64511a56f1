"""What tests have the limited process of a job do."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any


def tell_priority(asked: Mapping[str, Any]) -> dict[str, Any]:
    """How far the process stands back."""
    return {"nice": os.nice(0)}


def doze(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Do nothing for a while."""
    time.sleep(asked["seconds"])
    return {}
