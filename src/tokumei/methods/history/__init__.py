"""Methods that anonymize purchase histories, one a file."""
