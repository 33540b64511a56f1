"""What several releases of the same people promise together, one measure a file."""
