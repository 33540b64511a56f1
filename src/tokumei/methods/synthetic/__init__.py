"""Methods that draw rows of nobody from a model of all: without a promise, and under differential privacy."""
