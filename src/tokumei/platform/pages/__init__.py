"""Pages that belong to no domain: home, language, errors, health."""
