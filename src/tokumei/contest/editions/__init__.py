"""The editions: one a file."""
