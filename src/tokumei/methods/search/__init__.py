"""What all searches over the lattice share: counting nodes, judging them, remembering what follows."""
