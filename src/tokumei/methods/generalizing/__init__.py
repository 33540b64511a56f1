"""How customers are put into groups and their purchases aligned, so that one generalized history fits them all."""
