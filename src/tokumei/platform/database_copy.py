"""A whole copy of the server's database in one file, taken while it is in use, and put back.

SQLite's own copying and PostgreSQL's pg_dump both give the state of one moment, whatever is written meanwhile.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

from tokumei.core.errors import InputError, NotAllowed, PromiseBroken, TokumeiError

SQLITE, POSTGRESQL = "sqlite", "postgresql"
FILE_NAMES = {SQLITE: "database.sqlite3", POSTGRESQL: "database.dump"}
POSTGRESQL_PROGRAMS = Path("/usr/lib/postgresql")

# Django's settings of a database, as `environment.database` gives them.
Database = dict[str, Any]


class ToolFailed(TokumeiError):
    """A program of PostgreSQL is missing or failed."""


def kind_of(database: Database) -> str:
    """Return whether a database is SQLite or PostgreSQL."""
    return SQLITE if database["ENGINE"].endswith("sqlite3") else POSTGRESQL


def copy_database(database: Database, target: Path) -> None:
    """Write a copy of the database to a new file that its owner alone may read."""
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    if kind_of(database) == POSTGRESQL:
        _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={target}", database=database)
        return
    source = Path(database["NAME"])
    if not source.is_file():
        raise InputError.of("the database of a server", file=source)
    with closing(sqlite3.connect(source)) as live, closing(sqlite3.connect(target)) as copy:
        live.backup(copy)
        # One file, with nothing left to be read from a second one.
        copy.execute("PRAGMA journal_mode=DELETE")
        if copy.execute("PRAGMA quick_check").fetchone() != ("ok",):
            raise PromiseBroken("The copy of the database is damaged; so may the database be.")


def check_can_restore(database: Database, kind: str) -> None:
    """Refuse to put a copy where another database is, or into one of the other kind."""
    if kind_of(database) != kind:
        raise InputError.of(f"the address of a {kind} database, as in the backup", column="DATABASE_URL")
    if kind == SQLITE and Path(database["NAME"]).exists():
        raise NotAllowed(f"{database['NAME']} is there already; a backup is put where nothing is.")
    if kind == POSTGRESQL and _n_tables(database):
        raise NotAllowed(f"The database {database['NAME']} has tables already; a backup is put into an empty one.")


def restore_database(database: Database, copy: Path) -> None:
    """Put a copy into an empty database; SQLite's is moved to its place."""
    if kind_of(database) == SQLITE:
        shutil.move(copy, database["NAME"])
        return
    _run("pg_restore", "--no-owner", "--no-privileges", "--single-transaction", str(copy), database=database)


def forget_jobs(database: Database) -> None:
    """Drop every job that is not done from a database that was just put back."""
    orders = (
        "UPDATE contests_submission SET job_id = NULL WHERE job_id IN (SELECT id FROM jobs_job WHERE NOT is_done)",
        "DELETE FROM jobs_job WHERE NOT is_done",
    )
    if kind_of(database) == SQLITE:
        with closing(sqlite3.connect(database["NAME"])) as put_back, put_back:
            for order in orders:
                put_back.execute(order)
        return
    import psycopg

    place = {"host": database["HOST"], "port": database["PORT"], "user": database["USER"], "dbname": database["NAME"]}
    with psycopg.connect(**place, password=database["PASSWORD"]) as connection:
        for order in orders:
            connection.execute(order)


def _n_tables(database: Database) -> int:
    import psycopg

    place = {"host": database["HOST"], "port": database["PORT"], "user": database["USER"], "dbname": database["NAME"]}
    try:
        with psycopg.connect(**place, password=database["PASSWORD"]) as connection:
            found = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    except psycopg.OperationalError:
        raise InputError.of("the address of a database that answers", column="DATABASE_URL") from None
    return 0 if found is None else int(found[0])


def _run(program: str, *arguments: str, database: Database) -> None:
    """Run a program of PostgreSQL; what it needs to connect goes by the environment, which others cannot read."""
    connection = {
        "PGHOST": database["HOST"],
        "PGPORT": database["PORT"],
        "PGUSER": database["USER"],
        "PGPASSWORD": database["PASSWORD"],
        "PGDATABASE": database["NAME"],
    }
    known = {name: value for name, value in connection.items() if value}
    # pg_restore writes to its output unless it is told the name.
    named = [*arguments, f"--dbname={database['NAME']}"]
    done = subprocess.run([_find(program), *named], env=os.environ | known, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise ToolFailed(f"{program} failed: {done.stderr.strip()[-500:] or 'it does not say why'}")


def _find(program: str) -> str:
    """Find a program of PostgreSQL, the newest where Debian has several."""
    versions = sorted(POSTGRESQL_PROGRAMS.glob(f"*/bin/{program}"), key=lambda path: path.parts[-3].zfill(4))
    found = str(versions[-1]) if versions else shutil.which(program)
    if found is None:
        raise ToolFailed(f"{program} is not installed: it comes with PostgreSQL's client, in the server's version.")
    return found
