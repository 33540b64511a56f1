"""Tables, purchase histories, generalised cells and releases; their files; made-up data."""
