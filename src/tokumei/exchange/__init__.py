"""Exchange: a provider offers data by a formula, a user asks for a level, and every answer is checked and logged."""
