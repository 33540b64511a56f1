"""What a released table promises beside its original, one measure a file."""
