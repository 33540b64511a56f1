"""Hierarchy builders: each makes the hierarchy of a column from its values."""
