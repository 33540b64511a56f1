"""PWSCUP 2015: its rules, files, scores and built-in players."""
