"""Starting a worker, or one of its processes: `python -m tokumei.platform.jobs.start worker|consumer`."""

from __future__ import annotations

import sys

from tokumei.platform.start import configure


def main(what: str) -> None:
    """Make Django ready and begin."""
    configure()
    # Only now: models cannot be imported before.
    if what == "worker":
        from tokumei.platform.jobs.worker import run

        run()
    else:
        from tokumei.platform.jobs.consumer import consume

        consume()


if __name__ == "__main__":
    main(sys.argv[1])
