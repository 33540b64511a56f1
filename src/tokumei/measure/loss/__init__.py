"""What a generalised table lost, one measure a file."""
