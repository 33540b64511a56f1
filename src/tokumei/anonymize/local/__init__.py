"""What all methods share that generalise class by class, not column by column."""
