"""What a generalized table lost, one measure a file."""
