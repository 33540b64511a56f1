"""Changes of the tables of shared folders."""
