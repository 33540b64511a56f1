"""A process beside the pages: `python -m tokumei.platform.jobs.start watcher|sweeper|consumer QUEUE… [after=PID]`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tokumei.platform.processes import end_with_parent
from tokumei.platform.start import configure


def main(what: str, *arguments: str) -> None:
    """Make Django ready and begin."""
    end_with_parent()
    configure()
    # Only now: models cannot be imported before.
    if what in ("watcher", "sweeper"):
        from tokumei.platform.jobs.running import watch

        watch(sweeps_alone=what == "sweeper")
    else:
        from tokumei.platform.jobs.running import consume

        dead = [int(each.removeprefix("after=")) for each in arguments if each.startswith("after=")]
        consume(_queues(arguments), dead[0] if dead else None)


def _queues(arguments: Sequence[str]) -> list[str]:
    return [each for each in arguments if "=" not in each]


if __name__ == "__main__":
    main(*sys.argv[1:])
