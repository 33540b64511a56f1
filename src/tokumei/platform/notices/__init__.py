"""Notices: what happened that somebody should know of, in an inbox, by mail where they want it, and in a calendar."""
