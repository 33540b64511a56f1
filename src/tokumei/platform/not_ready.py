"""What is being made and not there yet."""

from __future__ import annotations

from tokumei.core.errors import TokumeiError


class NotReady(TokumeiError):
    """Something is being made: asking again in a moment gives it; shown with the status 503."""
