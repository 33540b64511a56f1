"""PWSCUP 2019: location traces, hidden from whoever looks for people or for places."""
