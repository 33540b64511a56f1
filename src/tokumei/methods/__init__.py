"""From an original to a release: one method a file, for tables and for histories."""
