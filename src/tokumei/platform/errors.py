"""Errors of the platform beside those of the library, each with a status of its own (`error_pages.py`)."""

from __future__ import annotations

from tokumei.core.errors import NotAllowed, TokumeiError


class DiskFull(TokumeiError):
    """The server has no space left; shown with the status 507."""


class NotReady(TokumeiError):
    """Something is being made: asking again in a moment gives it; shown with the status 503."""


class TooMany(NotAllowed):
    """Something was done too often, or somebody has too many of something; shown with the status 429."""
