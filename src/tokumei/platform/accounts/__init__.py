"""People: signing up and in, passwords, second factors, settings."""
