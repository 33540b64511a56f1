"""The pages of the exchange: one kind of visit a file."""
