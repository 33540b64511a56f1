"""Where apps above this one say what they put on the API."""

from __future__ import annotations

# Modules whose import puts operations on the router. Named, and imported with the API alone: it takes longer to build
# than all else, and a worker has no use for it.
OPERATIONS: list[str] = []
