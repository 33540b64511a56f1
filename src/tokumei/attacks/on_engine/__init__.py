"""Attacks on histories where the rows are, and the judge: joins and counts, to the digits of those in memory."""
