"""Measures of histories where the rows are: counted there by group-bys and joins, to the digits of those in memory."""
