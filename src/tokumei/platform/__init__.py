"""The server: accounts, teams, contests, the exchange, jobs, pages and the API."""
