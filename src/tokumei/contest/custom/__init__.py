"""Contests of one's own, told in a TOML file."""
