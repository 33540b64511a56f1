"""What the templates of contests may call."""
