"""PWSCUP 2022: severe cases of an infection, some of whose acquaintances were among them."""
