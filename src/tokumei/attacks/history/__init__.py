"""Attacks on purchase histories."""
