"""One published result a file."""
