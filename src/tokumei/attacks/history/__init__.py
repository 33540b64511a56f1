"""Attacks on purchase histories, one a file."""
