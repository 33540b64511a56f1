"""What use of a history is left, one measure a file."""
