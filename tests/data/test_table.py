from __future__ import annotations

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.table import Role, Table

FRAME = pl.DataFrame({"name": ["a", "b"], "age": [30, 40], "disease": ["x", "y"], "note": ["", ""]})
ROLES = {"name": "identifier", "age": "quasi-identifier", "disease": "sensitive", "note": "insensitive"}


def test_table_knows_the_columns_of_each_role() -> None:
    table = Table.of(FRAME, ROLES)
    assert table.columns_with(Role.IDENTIFIER) == ["name"]
    assert (table.quasi_identifiers, table.sensitive, table.n_rows) == (["age"], ["disease"], 2)


def test_undeclared_absent_and_misspelt_are_named_together() -> None:
    with pytest.raises(InputError) as caught:
        Table.of(FRAME, {"name": "identifier", "age": "qid", "disease": "sensitive", "height": "insensitive"}, name="t")
    assert [(fault.column, fault.value) for fault in caught.value.faults] == [
        ("note", None),
        ("age", "qid"),
        ("height", None),
    ]
    assert {fault.file for fault in caught.value.faults} == {"t"}


def test_with_quasi_identifiers_declares_the_rest_insensitive() -> None:
    table = Table.with_quasi_identifiers(FRAME, ["age", "name"], sensitive=["disease"])
    assert table.quasi_identifiers == ["name", "age"]
    assert table.columns_with(Role.INSENSITIVE) == ["note"]


def test_column_with_two_roles_is_refused() -> None:
    with pytest.raises(InputError, match="one role a column"):
        Table.with_quasi_identifiers(FRAME, ["age"], sensitive=["age"])


def test_quasi_identifier_that_is_no_column_is_refused() -> None:
    with pytest.raises(InputError, match="found 'zip', expected a column of the table as a quasi-identifier"):
        Table.with_quasi_identifiers(FRAME, ["zip"])
