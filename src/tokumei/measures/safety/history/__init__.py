"""What a released history promises, one measure a file."""
