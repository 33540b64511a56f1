"""A release compared with the one before: how far the data moved, what is new, and what both give away."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.tasks.compare_earlier import total_variation
from tokumei.tasks.verification import verify_dossier

JOB = """[job]
name = "people"
seed = 1
{earlier}
[input]
file = "{file}"
[roles]
id = "identifier"
sex = "quasi-identifier"
town = "quasi-identifier"
illness = "sensitive"
[requirements]
k = 2
[context]
review_on = "2026-12-01"
"""


def people(first: int, n: int, town: str) -> str:
    rows = (
        f"p{at},{'fm'[at % 2]},{('Kobe', town)[at % 4 // 2]},{('flu', 'cold')[at // 4 % 2]}"
        for at in range(first, first + n)
    )
    return "id,sex,town,illness\n" + "\n".join(rows) + "\n"


def run(folder: Path, name: str, text: str, earlier: str = "") -> Path:
    (folder / f"{name}.csv").write_text(text)
    named = f'earlier = "{earlier}"' if earlier else ""
    tk.run(tk.Job.of(JOB.format(file=f"{name}.csv", earlier=named), folder=folder), folder / name)
    return folder / name / "dossier.json"


def test_total_variation_is_half_the_sum_of_differences() -> None:
    assert total_variation(pl.Series(["a", "a", "b", "b"]), pl.Series(["a", "b", "b", "c"])) == 0.25
    assert total_variation(pl.Series([1, None]), pl.Series(["1", None])) == 0
    assert total_variation(pl.Series(["a"]), pl.Series(["b"])) == 1


def test_release_is_compared_with_the_one_before_and_both_are_attacked_together(tmp_path: Path) -> None:
    run(tmp_path, "october", people(0, 16, "Sendai"))
    # Half of the people are in both months; of the other town all moved.
    after = run(tmp_path, "november", people(8, 16, "Naha"), "october/dossier.json")
    dossier = json.loads(after.read_text(encoding="utf-8"))
    found = dossier["results"]["earlier"]
    assert (found["compared"], found["moved_most"], found["largest_drift"]) == ("files", "town", 0.5)
    assert (found["new_labels"], found["review_on"]) == ({"sex": 0, "town": 1, "illness": 0}, "2026-12-01")
    attack = next(one for one in dossier["results"]["attacks"] if one["attack"] == "intersection")
    assert attack["scores"]["success"]["inputs"]["people"] == 8
    clause = next(
        one for page in dossier["frameworks"] for one in page["clauses"] if one["asks"].startswith("how far the data")
    )
    assert (clause["verdict"], clause["figure"]["value"]) == ("measured", 0.5)
    # It is all checked again, the dossier before as well.
    assert verify_dossier(after).holds
    before = tmp_path / "october" / "dossier.json"
    before.write_text(before.read_text(encoding="utf-8").replace('"people"', '"others"'), encoding="utf-8")
    assert dict(verify_dossier(after).files)["../october/dossier.json"] == "differs"


def test_releases_are_compared_where_the_file_before_is_gone_and_nobody_is_matched(tmp_path: Path) -> None:
    run(tmp_path, "october", people(0, 16, "Sendai"))
    (tmp_path / "october.csv").unlink()
    after = run(tmp_path, "november", people(8, 16, "Naha"), "october/dossier.json")
    results = json.loads(after.read_text(encoding="utf-8"))["results"]
    assert results["earlier"]["compared"] == "releases"
    assert not [one for one in results["attacks"] if one["attack"] == "intersection"]


@pytest.mark.parametrize(
    ("earlier", "expected"), [("none.json", "a dossier that exists"), ("job.txt", "the dossier of a table")]
)
def test_dossier_that_is_none_is_refused(tmp_path: Path, earlier: str, expected: str) -> None:
    (tmp_path / "job.txt").write_text("[1]")
    with pytest.raises(InputError) as caught:
        run(tmp_path, "november", people(0, 8, "Naha"), earlier)
    assert expected in str(caught.value)
