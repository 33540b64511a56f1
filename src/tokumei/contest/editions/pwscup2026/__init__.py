"""PWSCUP 2026: a health-check cohort, released as a table that keeps its survival analyses and hides its members."""
