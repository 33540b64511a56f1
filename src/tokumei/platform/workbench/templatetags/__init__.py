"""Filters for the pages of the workbench."""
