"""PWSCUP 2021: a health survey, rows of which are left out and changed."""
