"""Value hierarchies, level vectors, the lattice and cuts."""
