"""History methods where the rows are: the same idea as in memory, drawn so that every engine draws alike."""
