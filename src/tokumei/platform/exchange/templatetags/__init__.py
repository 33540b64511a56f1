"""Filters for the pages of the exchange."""
