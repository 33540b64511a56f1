"""PWSCUP 2016: its rules, files, scores and built-in players."""
