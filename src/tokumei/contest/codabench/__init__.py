"""Contests on Codabench: bundles, the programs in them, and what comes back."""
