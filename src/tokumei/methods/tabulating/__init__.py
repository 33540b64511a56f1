"""What methods share that publish counts, not rows."""
