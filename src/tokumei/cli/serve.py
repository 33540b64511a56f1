"""What runs a server: `tokumei serve`, `worker`, `user`, `backup` and `restore`."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import click

from tokumei.cli.output import show, showing_progress
from tokumei.cli.parameters import Argument, Option, shows_no_result
from tokumei.core.errors import InputError, MissingExtra
from tokumei.core.result import Answer

WILDCARDS = ("0.0.0.0", "::")  # noqa: S104 - named here to be asked about.


@shows_no_result
def serve(
    port: Annotated[int, Option("--port", min=0, max=65535, help="Where it listens; 0 takes any free one.")] = 8000,
    host: Annotated[str, Option("--host", help="The address it listens at.")] = "127.0.0.1",
    data: Annotated[
        Path | None, Option("--data", metavar="DIR", help="Where everything is kept. [default: ~/.local/share/tokumei]")
    ] = None,
    demo: Annotated[bool, Option("--demo", help="Fill it with made-up contests and print the log-ins.")] = False,
    jobs: Annotated[bool, Option("--jobs/--no-jobs", help="Run jobs too, or leave them to `tokumei worker`.")] = True,
) -> None:
    """Start the web platform: the pages, the API and the jobs.

    Example: tokumei serve --port 8000 --data ./tokumei-data
    """
    try:
        from tokumei.platform.serving import bind
        from tokumei.platform.serving import serve as run
        from tokumei.platform.start import configure, prepare
    except ImportError:
        raise MissingExtra("The platform", "platform") from None

    _name_hosts(host)
    listener = bind(host, port)
    configure(_demo_folder() if demo and data is None else data)
    prepare()
    lines = _set_up_demo() if demo else []

    def say(url: str) -> None:
        click.echo(f"Tokumei is at {url}  (Ctrl-C ends it)")
        for line in lines:
            click.echo(line)

    run(listener, say, has_jobs=jobs, once=_rest_of_demo() if demo else None)


def add_user(
    username: Annotated[str, Argument(metavar="NAME", help="The name to log in by; a new one or an old one.")],
    email: Annotated[str | None, Option("--email", help="The address of a new account.")] = None,
    admin: Annotated[bool, Option("--admin", help="Make the user an admin of the site.")] = False,
    organizer: Annotated[bool, Option("--organizer", help="Let the user make contests.")] = False,
    reset_two_factor: Annotated[
        bool, Option("--reset-two-factor", help="Switch the second factor off for who lost phone and codes.")
    ] = False,
    delete: Annotated[bool, Option("--delete", help="Delete the account for good; asks for its name again.")] = False,
    data: Annotated[Path | None, Option("--data", metavar="DIR", help="The folder of the platform.")] = None,
) -> None:
    """Make an account on this machine's platform, or give rights to one; asks for the password of a new one.

    Example: tokumei user yuki --email yuki@example.com --admin
    """
    if delete and (email or admin or organizer or reset_two_factor):
        raise InputError.of("--delete alone", option="--delete")
    from tokumei.platform.start import configure, prepare

    configure(data)
    prepare()
    from tokumei.platform.accounts import authentication, services
    from tokumei.platform.accounts.services import delete_account

    known = services.find_user(username)
    if known is None and (reset_two_factor or delete):
        raise InputError.of("the name of an account", column="NAME", value=username)
    if known is not None and delete:
        if click.prompt("The name again, to delete it for good") != known.username:
            raise InputError.of(f"the name '{known.username}'; nothing was deleted", column="NAME")
        delete_account(known)
        show(Answer({"user": username, "deleted": True}))
        return
    if known is not None and reset_two_factor:
        authentication.remove_second_factor(known)
        services.end_sessions(known)
    if known is None and email is None:
        raise InputError.of("--email for a new account", column="NAME", value=username)
    password = None if known else click.prompt("Password", hide_input=True, confirmation_prompt=True)
    user = services.make_user(username, email=email, password=password, is_admin=admin, is_organizer=organizer)
    facts = {"user": user.username, "admin": user.is_superuser, "organizer": user.is_organizer}
    show(Answer(facts))


def _name_hosts(host: str) -> None:
    """Allow the host name of the listening address; whoever listens at all addresses must name the hosts."""
    if os.environ.get("TOKUMEI_HOSTS"):
        return
    if host in WILDCARDS:
        raise InputError.of(
            "TOKUMEI_HOSTS in the environment: the names that browsers call this server by", option="--host", value=host
        )
    shown = f"[{host}]" if ":" in host else host
    os.environ["TOKUMEI_HOSTS"] = ",".join(dict.fromkeys([shown, "localhost", "127.0.0.1", "[::1]"]))


def _demo_folder() -> Path:
    """Keep the demo apart from real contests, unless a folder was named."""
    from tokumei.platform.start import data_folder

    return data_folder() if os.environ.get("TOKUMEI_DATA") else data_folder().with_name("tokumei-demo")


def _set_up_demo() -> Sequence[str]:
    from django.conf import settings

    from tokumei.platform.demo.set_up import set_up

    click.echo("Setting up the demo …", err=True)
    with showing_progress():
        return set_up(settings.DATA)


def _rest_of_demo() -> str | None:
    from django.conf import settings

    from tokumei.platform.demo.set_up import has_rest

    return "tokumei.platform.demo.rest" if has_rest(settings.DATA) else None


@shows_no_result
def worker(
    data: Annotated[Path | None, Option("--data", metavar="DIR", help="The folder of the server's files.")] = None,
    processes: Annotated[int | None, Option(min=1, max=64, help="Evaluations to run at the same time.")] = None,
) -> None:
    """Do the server's jobs until stopped: evaluations, the exchange, mail; start as many as wanted, here or elsewhere.

    Workers on other machines need the same DATABASE_URL and the same folder, by a shared file system.

    Example: tokumei worker --data /var/lib/tokumei --processes 4
    """
    from tokumei.platform.start import configure_supervisor

    configure_supervisor(data)
    from django.conf import settings

    from tokumei.platform.processes import Told, job_processes, keep

    told = Told().by(signal.SIGTERM, signal.SIGINT)
    keep(job_processes(processes or settings.JOB_PROCESSES), told)


DataOption = Annotated[Path | None, Option("--data", metavar="DIR", help="The folder of the platform.")]


def backup(
    out: Annotated[
        Path, Option("--out", metavar="FILE.tar.gz|DIR", help="The backup: packed into one file, or a folder.")
    ],
    data: DataOption = None,
) -> None:
    """Copy a server's database and files as of one moment, while it runs.

    The backup holds secrets: the truth behind releases, password hashes, the key of sessions. Keep it as the server.

    Example: tokumei backup --out backup.tar.gz --data ./tokumei-data
    """
    from tokumei.platform.backup import back_up

    if data is not None:
        os.environ["TOKUMEI_DATA"] = str(data.expanduser().resolve())
    with showing_progress():
        if os.environ.get("TOKUMEI_STORE"):
            _fetch_from_store()
        done = back_up(out)
    show(Answer(asdict(done)))


def restore(
    backup: Annotated[Path, Argument(metavar="BACKUP", help="The file or folder that tokumei backup wrote.")],
    data: Annotated[Path, Option("--data", metavar="DIR", help="A new folder for the platform.")],
    trust: Annotated[bool, Option("--trust", help="Take a backup that this machine's key did not sign.")] = False,
) -> None:
    """Put a backup into a new folder, and its database where DATABASE_URL says; replaces nothing.

    Example: tokumei restore backup.tar.gz --data ./restored
    """
    from tokumei.platform.restore import restore as put_back

    with showing_progress():
        done = put_back(backup, data.expanduser().resolve(), is_trusted=trust)
    show(Answer(asdict(done)))


def _fetch_from_store() -> None:
    """Bring here what other machines of the server put into the store."""
    from tokumei.platform.start import configure

    configure()
    from tokumei.platform.backup import LEFT_OUT
    from tokumei.platform.files.shared import fetch_all

    fetch_all(but=[name.removeprefix("files/") for name in LEFT_OUT if name.startswith("files/")])
