from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import tokumei as tk
from tokumei.cli.commands import TOKUMEI
from tokumei.core.errors import InputError
from tokumei.data.made_retail import make_retail

# Takes any call, of which some here are wrong on purpose.
door: Any = tk


def test_command_prints_the_curves_and_draws_them(tmp_path: Path) -> None:
    make_retail(30, n_rows=600, seed=1).write_parquet(tmp_path / "T.parquet")
    page = tmp_path / "page.html"
    words = ["knowledge", str(tmp_path / "T.parquet"), "--unicity", "--points", "4", "--draws", "2"]
    done = CliRunner().invoke(TOKUMEI, [*words, "--out", str(page), "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.output)
    by_day = next(one for one in told["curves"] if one["knows"] == "day and item")
    assert len(by_day["singled_out"]) == len(by_day["interval"]) == 4
    assert "<svg" in page.read_text()
    assert "by so many purchases" in CliRunner().invoke(TOKUMEI, words).output


def test_visits_are_singled_out_by_days_and_the_rest_is_said() -> None:
    visits = tk.History(make_retail(20, n_rows=200, seed=1).select("customer", "date"))
    found = tk.knowledge(visits, unicity=True, points=3)
    assert [one.knows for one in found.curves] == ["day", "month"]
    assert found.left_out["day and item"] == "the history has no item"
    assert found.to_frame().height == 6
    assert "singled out by 3 purchases" in repr(found)


@pytest.mark.parametrize(
    "options", [{"points": 0}, {"draws": 0}, {"exactness": ["hour"]}, {"exactness": ["item"]}, {"release": 1}]
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    visits = tk.History({"customer": ["a", "b"], "date": ["2011-01-01", "2011-01-02"]})
    with pytest.raises(InputError):
        tk.knowledge(visits, unicity=True, **options)
    with pytest.raises(InputError, match="an option of knowledge"):
        door.knowledge(visits, points=3)
