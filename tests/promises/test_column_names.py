"""Columns may be called as the columns that are counted in, numbered by and compared with are called here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tokumei as tk
from tokumei.hierarchies.builders.from_data import FromData
from tokumei.measures.safety.pk_anonymity import PkAnonymity, PlDiversity
from tokumei.platform.workbench.column_pictures import histogram

TOWN, AGE, ILL, NOTE = "town", "age", "ill", "note"
# Four names at a time, each in each role.
NAMES = [("n", "count", "row", "value"), ("share", "size", "rows", "index"), ("n_rows", "d", "len", "all")]
CASES = [(*names[turn:], *names[:turn]) for names in NAMES for turn in range(4)]


def table_of(town: str, age: str, ill: str, note: str) -> tk.Table:
    rows = range(60)
    frame = pl.DataFrame(
        {
            town: [("nara", "kobe", "otsu")[row % 3] for row in rows],
            age: [20 + row * 7 % 30 for row in rows],
            ill: [("flu", "cold")[row % 5 % 2] for row in rows],
            note: [row % 4 for row in rows],
        }
    )
    return tk.Table(frame, qi=[town, age], sensitive=[ill])


def found_in(table: tk.Table, folder: Path) -> dict[str, Any]:
    """Do everything with a table, and give what does not depend on names."""
    town, age, ill, note = table.frame.columns
    levels = tk.anonymize(table, k=3, keep=[note], seed=1)
    groups = tk.anonymize(table, k=3, keep=[note], method="mondrian", seed=1)
    noisy = tk.anonymize(table, method="noise", seed=1)
    tk.report(levels, folder / f"{len(list(folder.iterdir()))}.html")
    swapped = tk.Table(table.frame.reverse(), qi=[town, age], sensitive=[ill])
    jobs: dict[str, Callable[[], Any]] = {
        "levels": lambda: levels.frame.rows(),
        "groups": lambda: groups.frame.rows(),
        "applied": lambda: tk.apply(levels.recipe, table.frame).frame.rows(),
        "audited": lambda: tk.audit(table).to_dict()["holds"],
        "attacked": lambda: [tk.attack(table, one).to_frame().height for one in (levels, groups, noisy)],
        "measured": lambda: [tk.measure(table, one).to_frame()["value"].to_list() for one in (levels, groups)],
        "compared": lambda: tk.compare(table, k=3, methods=["optimal", "mondrian"]).to_frame()["loss (ncp)"].to_list(),
        "predicted": lambda: tk.predict(table, k=3).to_frame().height,
        "inspected": lambda: tk.inspect(table.frame).to_frame().height,
        "counted": lambda: tk.count_classes(table.frame, [town, age], sensitive=[ill], engine="duckdb").k,
        "hierarchy": lambda: FromData().build(age, table.frame[age]).height,
        "pictures": lambda: [histogram(column) for column in table.frame],
        "pk": lambda: PkAnonymity(2, (town,), (0.5,), replacement="shares").measure(table, swapped).value,
        "pl": lambda: PlDiversity(2, ill, (town,), (0.5,)).measure(table, swapped).value,
    }
    return {name: job() for name, job in jobs.items()}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return found_in(table_of(TOWN, AGE, ILL, NOTE), tmp_path_factory.mktemp("plain"))


@pytest.mark.parametrize("names", CASES)
def test_results_do_not_depend_on_what_columns_are_called(
    names: tuple[str, str, str, str], expected: dict[str, Any], tmp_path: Path
) -> None:
    assert found_in(table_of(*names), tmp_path) == expected
