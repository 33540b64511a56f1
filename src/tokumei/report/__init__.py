"""Figures and pages that show results."""
