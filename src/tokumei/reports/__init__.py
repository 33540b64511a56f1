"""Figures and pages that show results."""

from __future__ import annotations
