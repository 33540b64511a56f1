"""Contests: editions, their rules, phases and ranking; pure functions and files, no server."""
