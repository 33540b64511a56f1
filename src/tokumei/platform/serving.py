"""The processes of a server: one that answers requests, those that do the jobs, and one that keeps them together.

The port is bound before anything else happens, so that a port in use is told at once, and handed to the web process.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable

import httpx
from django.conf import settings

from tokumei.core.errors import InputError, TokumeiError
from tokumei.platform.processes import BETWEEN_LOOKS, TIME_TO_END, Kept, Told, end, end_with_parent, job_processes

N_WEB_PROCESSES = 2
# Seconds until the first page must have come, on a machine that has much else to do.
TIME_TO_START = 300.0


class ServerFailed(TokumeiError):
    """The server could not be started, or ended by itself."""


def bind(host: str, port: int) -> socket.socket:
    """Take the port, or say that somebody else has it."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=256)
    except socket.gaierror:
        raise InputError.of("the name or address of this machine", option="--host", value=host) from None
    except OSError as error:
        expected = {
            errno.EADDRINUSE: "a port that is free",
            errno.EACCES: "a port that you may open",
            errno.EADDRNOTAVAIL: "an address of this machine",
        }.get(error.errno or 0, "an address and port that can be opened")
        raise InputError.of(expected, option="--port", value=f"{host}:{port}") from None


def serve(
    listener: socket.socket, when_ready: Callable[[str], None], *, has_jobs: bool = True, once: str | None = None
) -> None:
    """Run the web process and those that do the jobs until a signal comes; end all of them together.

    has_jobs: without, pages only; workers that are started apart do the jobs.
    once: a module of ours that is run beside the others, and may end.
    """
    is_over = Told().by(signal.SIGTERM, signal.SIGINT)
    address = url_of(listener)
    web = Kept("tokumei.platform.serving", str(listener.fileno()), pass_fds=(listener.fileno(),))
    kept, beside = [web], [] if once is None else [Kept(once)]
    try:
        if has_jobs:
            kept += job_processes(0, ("workbench",)) if settings.IS_STUDIO else job_processes(settings.JOB_PROCESSES)
        elif os.environ.get("TOKUMEI_STORE"):
            # The disk of this machine is its own: no worker elsewhere removes what is gone from it.
            kept.append(Kept("tokumei.platform.jobs.start", "sweeper"))
        if _await_first_page(listener, web.process, is_over):
            when_ready(address)
        while not is_over.wait(BETWEEN_LOOKS):
            if web.process.poll() is not None:
                code = web.process.returncode
                raise ServerFailed(f"The web process ended by itself with the code {code}; see the log.")
            for each in kept:
                each.keep_alive()
    finally:
        listener.close()
        end([each.process for each in kept + beside])


def url_of(listener: socket.socket) -> str:
    """Return the address to type into a browser on this machine."""
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

        def load(self) -> object:
            from tokumei.platform.wsgi import application

            return application

    Server().run()


def _gunicorn_settings(descriptor: int) -> dict[str, object]:
    from tokumei.platform.web_worker import N_WAITING

    return {
        "bind": f"fd://{descriptor}",
        "workers": N_WEB_PROCESSES,
        "threads": N_WAITING,
        "worker_class": "tokumei.platform.web_worker.PatientWorker",
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
            "formatters": {"json": {"()": "tokumei.platform.start.JsonLines"}},
            "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
            "root": {"handlers": ["stderr"], "level": "WARNING"},
            "loggers": {
                "gunicorn.error": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
                "gunicorn.access": {"handlers": [], "level": "CRITICAL", "propagate": False},
            },
        },
    }


def _await_first_page(listener: socket.socket, web: subprocess.Popen[bytes], is_over: Told) -> bool:
    """Wait until the server answers; give False if it was told to end before."""
    host, port = listener.getsockname()[:2]
    loopback = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    url = f"http://{f'[{loopback}]' if ':' in loopback else loopback}:{port}/health"
    give_up = time.monotonic() + TIME_TO_START
    while time.monotonic() < give_up and web.poll() is None:
        with contextlib.suppress(httpx.HTTPError):
            # What the environment says of proxies is for other machines than this one.
            if httpx.get(url, headers={"Host": _a_name_of_ours()}, timeout=5, trust_env=False).is_success:
                return True
        if is_over.wait(0.1):
            return False
    raise ServerFailed("The server did not answer; see the log.")


def _a_name_of_ours() -> str:
    named = [host for host in settings.ALLOWED_HOSTS if "*" not in host]
    return named[0].lstrip(".") if named else "localhost"


def main() -> None:
    """Be the web process."""
    end_with_parent()
    run_web(int(sys.argv[1]))


if __name__ == "__main__":
    main()
