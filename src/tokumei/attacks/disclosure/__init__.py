"""What a released table gives away, one attack a file."""
