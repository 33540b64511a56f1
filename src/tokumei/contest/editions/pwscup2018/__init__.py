"""PWSCUP 2018: its rules, files, scores and built-in players."""
