"""What is left of the use of data, and what a release promises."""
