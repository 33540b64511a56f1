"""Files that people send: taken with care, whole or not at all."""
