"""PWSCUP 2017: its rules, files, scores and built-in players."""
