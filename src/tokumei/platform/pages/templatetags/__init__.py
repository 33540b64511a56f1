"""Filters of shared pages."""
