"""Class counts on an engine: Polars in this process, Ibis elsewhere (DuckDB, PostgreSQL, Spark)."""
