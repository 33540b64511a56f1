"""Whole jobs, each one function that takes tables or histories and gives a result: what every door calls."""
