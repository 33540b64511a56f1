"""The `tokumei` command: its groups, and what happens when something goes wrong.

Rooms are imported inside the commands that need them, so that `tokumei --help` answers at once.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Sequence

import typer

from tokumei.cli import (
    anonymize,
    attack_table,
    audit,
    backup,
    compare,
    contest,
    count,
    data,
    demo,
    edition,
    exchange,
    harden,
    hierarchy,
    history,
    history_safety,
    inspect,
    job,
    measure_table,
    parts,
    predict,
    remote,
    report,
    season,
    serve,
    study,
    worker,
)
from tokumei.cli.help_texts import unwrap_help
from tokumei.cli.output import fail, showing_notes
from tokumei.core.errors import TokumeiError

app = typer.Typer(
    name="tokumei",
    help="Anonymize tables and purchase histories, attack the result, and measure what use is left.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
anonymize.app.command("history")(history.anonymize_history)
history.attack_app.command("table")(attack_table.attack_table)
history.measure_app.command("table")(measure_table.measure_table)
history.measure_app.command("safety")(history_safety.measure_safety)
contest.app.command("kit")(season.kit)
contest.app.command("replay")(season.replay)
contest.app.command("simulate")(season.simulate)

DATA, PROTECT, ATTACK, MORE = "Data and hierarchies", "Anonymize and measure", "Attack and compare", "More"
PLATFORM = "Platform"
CONTESTS = "Contests"
app.add_typer(data.app, name="data", rich_help_panel=DATA)
app.add_typer(hierarchy.app, name="hierarchy", rich_help_panel=DATA)
app.command("inspect", rich_help_panel=DATA)(inspect.inspect)
app.command("count", rich_help_panel=DATA)(count.count)
app.add_typer(job.app, name="job", rich_help_panel=PROTECT)
app.command("run", rich_help_panel=PROTECT)(job.run)
app.command("verify", rich_help_panel=PROTECT)(job.verify)
app.add_typer(anonymize.app, name="anonymize", rich_help_panel=PROTECT)
app.add_typer(history.measure_app, name="measure", rich_help_panel=PROTECT)
app.command("audit", rich_help_panel=PROTECT)(audit.audit)
app.command("predict", rich_help_panel=PROTECT)(predict.predict)
app.command("compare", rich_help_panel=PROTECT)(compare.compare)
app.add_typer(history.attack_app, name="attack", rich_help_panel=ATTACK)
app.command("harden", rich_help_panel=PROTECT)(harden.harden)
app.command("judge", rich_help_panel=ATTACK)(history.judge)
app.command("knowledge", rich_help_panel=ATTACK)(history.knowledge)
app.command("report", rich_help_panel=ATTACK)(report.report)
app.command("sweep", rich_help_panel=ATTACK)(report.sweep)
app.add_typer(study.app, name="study", rich_help_panel=ATTACK)
app.add_typer(contest.app, name="contest", rich_help_panel=CONTESTS)
app.command("check", rich_help_panel=CONTESTS)(edition.check)
app.command("score", rich_help_panel=CONTESTS)(edition.score)
app.add_typer(exchange.app, name="exchange", rich_help_panel="Exchange")
app.command("serve", rich_help_panel=PLATFORM)(serve.serve)
app.command("worker", rich_help_panel=PLATFORM)(worker.worker)
app.command("user", rich_help_panel=PLATFORM)(serve.add_user)
app.add_typer(remote.app, name="remote", rich_help_panel=PLATFORM)
app.command("backup", rich_help_panel=PLATFORM)(backup.backup)
app.command("restore", rich_help_panel=PLATFORM)(backup.restore)
app.command("parts", rich_help_panel=MORE)(parts.parts)
app.command("demo", rich_help_panel=MORE)(demo.demo)
unwrap_help(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("tokumei"))
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    """Anonymize tables and purchase histories, attack the result, and measure what use is left."""


def _drop_output() -> None:
    """Let what is still to be printed go nowhere: there is no place left for it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; an error ends in one clear message and the exit code of its kind."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    wants_json = "--json" in given
    for stream in (sys.stdout, sys.stderr):
        # A terminal that knows few characters shows the others by their numbers, and ends in no error.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        with showing_notes():
            code = app(given, standalone_mode=False)
        # Here, where a disk that is full can still be told of; a program may be started without any output at all.
        if sys.stdout is not None:
            sys.stdout.flush()
    except SystemExit:
        # The command line library ends with 1, as if a check had failed, where the reader of our output went away.
        if type(sys.stdout).__name__ == "PacifyFlushWrapper":
            sys.exit(0)
        raise
    except typer.Abort:
        sys.exit(130)
    except KeyboardInterrupt:
        sys.exit(130)
    except TokumeiError as error:
        sys.exit(fail(error, wants_json=wants_json))
    except BrokenPipeError:
        # The reader of our output went away: that is no error of ours, and no place is left to say more.
        _drop_output()
        sys.exit(0)
    except OSError as error:
        if error.filename is None and error.errno == errno.ENOSPC:
            error.filename = "standard output"
            _drop_output()
            # Where a program looks for the error there is no room for it.
            wants_json = False
        sys.exit(fail(error, wants_json=wants_json))
    except Exception as error:
        if os.environ.get("TOKUMEI_DEBUG"):
            raise
        sys.exit(fail(error, wants_json=wants_json))
    sys.exit(code if isinstance(code, int) else 0)
