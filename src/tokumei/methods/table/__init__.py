"""Ways to find a generalization of a table, one a file."""
