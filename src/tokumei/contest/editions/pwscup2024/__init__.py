"""PWSCUP 2024: ratings of films, in ten subsets of the columns."""
