"""Attacks on tables, one a file."""
