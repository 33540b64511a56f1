"""The pages of contests: one kind of visit a file."""
