"""How customers are put into groups and their purchases aligned, so that one generalised history fits them all."""
