"""Contests: their pages, submissions and scoreboards."""
