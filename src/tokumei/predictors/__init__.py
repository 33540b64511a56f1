"""The k of a node without counting it."""
