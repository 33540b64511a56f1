"""Playing the rest of the demo beside the server: `python -m tokumei.platform.demo.rest`, once."""

from __future__ import annotations

import signal

from tokumei.platform.processes import end_with_parent
from tokumei.platform.start import configure


def main() -> None:
    """Play until all is played or a signal says to stop; the next start goes on from there."""
    end_with_parent()
    configure()
    # Only now: models cannot be imported before.
    from tokumei.platform.demo.set_up import play_rest
    from tokumei.platform.jobs.running import stopping

    stopping.by(signal.SIGTERM)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    play_rest()


if __name__ == "__main__":
    main()
