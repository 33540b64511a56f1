"""Adversaries: knowledge and a release in, guesses out; and the judge."""
