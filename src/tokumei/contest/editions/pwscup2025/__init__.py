"""PWSCUP 2025: medical tables released with a model, and attackers who tell whose rows were in them."""
