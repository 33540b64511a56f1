"""Queries that every page asks, with their SQL written once: Django takes longer to write it than a database to answer.

    OTHERS = CompiledQuery(lambda contest: Team.objects.filter(contest=contest).values_list("pk"), int)
    rows = OTHERS(contest.pk)

The queryset stays what is asked; a test holds each against its plain self.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.models.sql.compiler import SQLCompiler

Row = TypeVar("Row", bound=models.Model)

Value = int | str


@dataclass(frozen=True)
class _Statement:
    """SQL for one kind of database; `places` says which value stands where, or what stands there always."""

    sql: str
    places: tuple[tuple[int | None, Any], ...]
    compiler: SQLCompiler
    converters: dict[int, Any]


class CompiledQuery:
    """A queryset of rows of values, made by a function of numbers and texts."""

    def __init__(self, make: Callable[..., models.QuerySet[Any, Any]], *kinds: type[int] | type[str]) -> None:
        self.make, self.kinds = make, kinds
        self._statements: dict[str, _Statement] = {}

    def __call__(self, *values: Value) -> list[Sequence[Any]]:
        """Return the rows for these values."""
        connection = connections[DEFAULT_DB_ALIAS]
        statement = self._statements.get(connection.vendor)
        if statement is None:
            statement = self._statements[connection.vendor] = self._compile(connection)
        with connection.cursor() as cursor:
            cursor.execute(statement.sql, [fixed if n is None else values[n] for n, fixed in statement.places])
            rows: list[Sequence[Any]] = cursor.fetchall()
        if not statement.converters:
            return rows
        return list(statement.compiler.apply_converters(rows, statement.converters))

    def _compile(self, connection: Any) -> _Statement:
        # Values that no query of ours holds otherwise, to be found again among its parameters.
        marks: list[Value] = [
            2_000_000_011 + number if kind is int else f"the-value-{number}" for number, kind in enumerate(self.kinds)
        ]
        compiler = self.make(*marks).query.get_compiler(connection=connection)
        sql, parameters = compiler.as_sql()
        places = tuple((marks.index(one), None) if one in marks else (None, one) for one in parameters)
        if {place for place, _ in places} - {None} != set(range(len(marks))):
            raise TypeError("a query does not hold each of its values")
        columns = [column for column, _, _ in compiler.select[: compiler.col_count]]
        return _Statement(sql, places, compiler, compiler.get_converters(columns))


def columns_of(model: type[models.Model], prefix: str = "") -> list[str]:
    """Name all columns of a model, for a queryset of values that rows are made from."""
    return [f"{prefix}{field.attname}" for field in model._meta.concrete_fields]


def made(model: type[Row], values: Sequence[Any]) -> Row:
    """Make a row of a model from the values of its columns, as Django does."""
    return model.from_db(DEFAULT_DB_ALIAS, columns_of(model), values)
