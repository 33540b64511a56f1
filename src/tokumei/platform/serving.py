"""The processes of a server: one that answers requests, one that runs jobs, and one that keeps the two together.

The port is bound before anything else happens, so that a port in use is told at once, and handed to the web process.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

from tokumei.core.errors import InputError, TokumeiError

log = logging.getLogger("tokumei.serving")

N_WEB_PROCESSES = 2
THREADS_EACH = 8
# Seconds: until the first page must have come, between looks at the processes, and until a process that was asked to
# end is made to.
TIME_TO_START = 60.0
BETWEEN_LOOKS = 0.5
TIME_TO_END = 20.0
# A job process that keeps failing is started again ever more slowly.
LONGEST_PAUSE = 30.0
# Linux's number for "signal me when my parent dies".
PR_SET_PDEATHSIG = 1


class ServerFailed(TokumeiError):
    """The server could not be started, or ended by itself."""


def bind(host: str, port: int) -> socket.socket:
    """Take the port, or say that somebody else has it."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=256)
    except socket.gaierror:
        raise InputError.of("the name or address of this machine", column="--host", value=host) from None
    except OSError as error:
        expected = {
            errno.EADDRINUSE: "a port that is free",
            errno.EACCES: "a port that you may open",
            errno.EADDRNOTAVAIL: "an address of this machine",
        }.get(error.errno or 0, "an address and port that can be opened")
        raise InputError.of(expected, column="--port", value=f"{host}:{port}") from None


def serve(listener: socket.socket, when_ready: Callable[[str], None], *, has_jobs: bool = True) -> None:
    """Run the web process and the job process until a signal comes; end both together.

    has_jobs: without, pages only; workers that are started apart do the jobs.
    """
    is_over = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: is_over.set())
    address = url_of(listener)
    web = _start("web", str(listener.fileno()), pass_fds=(listener.fileno(),))
    jobs = _start("jobs") if has_jobs else None
    try:
        if _await_first_page(listener, web, is_over):
            when_ready(address)
        pause, started = 1.0, time.monotonic()
        while not is_over.wait(BETWEEN_LOOKS):
            if web.poll() is not None:
                raise ServerFailed(f"The web process ended by itself with the code {web.returncode}; see the log.")
            if jobs is not None and jobs.poll() is not None:
                log.error("the job process ended by itself", extra={"facts": {"code": jobs.returncode}})
                pause = 1.0 if time.monotonic() - started > LONGEST_PAUSE else min(2 * pause, LONGEST_PAUSE)
                if not is_over.wait(pause):
                    jobs, started = _start("jobs"), time.monotonic()
    finally:
        listener.close()
        _end([web] if jobs is None else [web, jobs])


def url_of(listener: socket.socket) -> str:
    """Give the address to type into a browser on this machine."""
    host, port = listener.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "127.0.0.1": "localhost"}.get(host, host)  # noqa: S104
    return f"http://{f'[{shown}]' if ':' in shown and '[' not in shown else shown}:{port}/"


def run_web(descriptor: int) -> None:
    """Answer requests at a port that is bound already."""
    from gunicorn.app.base import BaseApplication

    class Server(BaseApplication):  # type: ignore[misc]
        """Gunicorn with its settings given here; no file or argument of its own is read."""

        def load_config(self) -> None:
            for name, value in _gunicorn_settings(descriptor).items():
                self.cfg.set(name, value)

        def load(self) -> Any:
            from tokumei.platform.wsgi import application

            return application

    Server().run()


def run_jobs() -> None:
    """Run jobs from the queue until a signal comes; `tokumei worker` does the same on another machine."""
    from tokumei.platform.jobs.start import main as start_jobs

    start_jobs("worker")


def _gunicorn_settings(descriptor: int) -> dict[str, Any]:
    return {
        "bind": f"fd://{descriptor}",
        "workers": N_WEB_PROCESSES,
        "threads": THREADS_EACH,
        "worker_class": "gthread",
        # Loaded before forking: the processes share the memory of the figures.
        "preload_app": True,
        "timeout": 120,
        # Seconds: longer than a person looks at a page, so that the next one needs no new connection.
        "keepalive": 15,
        "graceful_timeout": int(TIME_TO_END) - 5,
        "control_socket_disable": True,
        "accesslog": None,
        "logconfig_dict": {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"json": {"()": "tokumei.platform.logs.JsonLines"}},
            "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
            "root": {"handlers": ["stderr"], "level": "WARNING"},
            "loggers": {
                "gunicorn.error": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
                "gunicorn.access": {"handlers": [], "level": "CRITICAL", "propagate": False},
            },
        },
    }


def _start(what: str, *arguments: str, pass_fds: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tokumei.platform.serving", what, *arguments]
    # A session of its own: Ctrl-C reaches this process only, which then ends the others in order.
    return subprocess.Popen(command, pass_fds=pass_fds, start_new_session=True)  # noqa: S603


def _await_first_page(listener: socket.socket, web: subprocess.Popen[bytes], is_over: threading.Event) -> bool:
    """Wait until the server answers; give False if it was told to end before."""
    host, port = listener.getsockname()[:2]
    loopback = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    url = f"http://{f'[{loopback}]' if ':' in loopback else loopback}:{port}/health"
    request = urllib.request.Request(url, headers={"Host": _a_name_of_ours()})
    give_up = time.monotonic() + TIME_TO_START
    while time.monotonic() < give_up and web.poll() is None:
        with contextlib.suppress(OSError, urllib.error.URLError), urllib.request.urlopen(request, timeout=5):  # noqa: S310
            return True
        if is_over.wait(0.1):
            return False
    raise ServerFailed("The server did not answer; see the log.")


def _a_name_of_ours() -> str:
    from django.conf import settings

    named = [host for host in settings.ALLOWED_HOSTS if "*" not in host]
    return named[0].lstrip(".") if named else "localhost"


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        if process.poll() is None:
            process.terminate()
    give_up = time.monotonic() + TIME_TO_END
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(give_up - time.monotonic(), 0.1))
        # The whole session, so that nothing it started stays behind.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _end_with_parent() -> None:
    """Ask Linux to end this process when the one that started it is gone, even if it was killed."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def main() -> None:
    """Be one of the two processes."""
    _end_with_parent()
    what, *rest = sys.argv[1:]
    if what == "web":
        run_web(int(rest[0]))
    else:
        run_jobs()


if __name__ == "__main__":
    main()
