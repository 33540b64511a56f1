"""Methods that anonymize purchase histories."""
