"""What a release promises, one measure a file."""
