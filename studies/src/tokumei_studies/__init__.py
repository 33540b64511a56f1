"""The published tables and figures, computed again."""
