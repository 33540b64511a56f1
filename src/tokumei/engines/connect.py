"""Where counting happens, chosen by name or address.

| engine                  | what a source is                                                     |
|-------------------------|----------------------------------------------------------------------|
| `local`                 | a frame, or a CSV or Parquet file, scanned and not loaded            |
| `duckdb`                | the same, counted by DuckDB; `duckdb://FILE` opens its tables        |
| `spark`, `spark://…`    | the same, counted by Spark, here or on a cluster                     |
| `postgresql://…`        | a table of that database, or a file or frame that is copied there    |
| any other Ibis address  | a table there                                                        |
"""

from __future__ import annotations

from tokumei.core.errors import InputError, MissingExtra, nearest
from tokumei.engines.engine import Engine, without_password

NAMED = ("local", "duckdb", "spark")


def connect(engine: str | Engine = "local") -> Engine:
    """Return the engine of a name or address."""
    if not isinstance(engine, str):
        return engine
    if engine == "local":
        from tokumei.engines.local import LocalEngine

        return LocalEngine()
    check_engine(engine)
    return _connect_remote(engine)


def check_engine(engine: str) -> None:
    """Refuse a name that is no engine's, and one whose packages are not installed."""
    if engine not in NAMED and "://" not in engine:
        near = nearest(engine, NAMED)
        hint = f"'{near}'" if near else f"{', '.join(NAMED)} or an address such as postgresql://host/database"
        raise InputError.of(f"an engine: {hint}", option="engine", value=engine)
    extra = "spark" if engine.startswith(("spark", "sc:")) else "engine"
    try:
        import ibis  # noqa: F401

        if extra == "spark":
            import pyspark  # noqa: F401
    except ModuleNotFoundError:
        raise MissingExtra(f"The engine '{engine}'", extra) from None


def _connect_remote(address: str) -> Engine:
    """Connect to an engine by name or address; what goes wrong is an InputError without the password."""
    from tokumei.engines.remote import DuckDBEngine, PostgresEngine, RemoteEngine

    kinds: dict[str, type[RemoteEngine]] = {
        "duckdb": DuckDBEngine,
        "postgresql": PostgresEngine,
        "postgres": PostgresEngine,
    }
    kind = kinds.get(address.partition(":")[0], RemoteEngine)
    if address == "spark" or address.startswith(("spark://", "sc://")):
        from tokumei.engines.spark import SparkEngine

        kind = SparkEngine
    try:
        return kind.connect(address)
    except (InputError, ImportError):
        raise
    except Exception as error:  # noqa: BLE001 - each driver has its own errors, and none may reach the user raw.
        reason = str(error).strip().splitlines()
        raise InputError.of(
            f"an engine that answers ({reason[0] if reason else type(error).__name__})",
            option="engine",
            value=without_password(address),
        ) from None
