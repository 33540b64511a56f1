"""What use of a table is left, one measure a file."""
