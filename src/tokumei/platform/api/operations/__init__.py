"""What programs can do: one kind of work a file."""
