"""The editions of contests: one a folder, with its rules, files, built-in teams and attacks."""
