"""Changes of the tables of this app."""
