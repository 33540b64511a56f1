"""Hierarchy builders, one a file: each makes the hierarchy of a column from its values."""
