"""Everything that changes a contest, and what may be seen of it."""
