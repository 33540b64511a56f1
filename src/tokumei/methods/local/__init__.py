"""What all methods share that generalize class by class, not column by column."""
