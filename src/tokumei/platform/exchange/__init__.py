"""The exchange: offers, requests and answers."""
