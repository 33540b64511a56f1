"""Made-up data shaped like the real: purchases, services' customers and a household survey, all from a seed."""
