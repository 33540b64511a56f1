"""PWSCUP 2023: a table of digits, half of them secret."""
