"""Jobs: evaluations that run beside the server."""
