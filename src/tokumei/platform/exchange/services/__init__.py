"""Everything that changes the exchange, and finding what one may see: one kind of work a file."""
