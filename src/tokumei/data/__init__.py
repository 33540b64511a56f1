"""Tables, purchase histories, generalized cells and releases; their files; made-up data."""
