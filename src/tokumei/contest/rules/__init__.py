"""What the rules of each edition ask of a submission: one edition a file."""
