"""Adversaries, one a file: knowledge and a release in, guesses out; and the judge."""
