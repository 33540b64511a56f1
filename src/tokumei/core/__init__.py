"""What every room needs: errors, the registry, scores, seeded randomness and progress."""
