"""Ways to find a generalisation of a table, one a file."""
