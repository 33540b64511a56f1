"""`python -m tokumei` is the same as `tokumei`."""

from tokumei.cli.main import main

main()
