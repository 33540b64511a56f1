"""Several steps of a history in one method of a job file."""

from __future__ import annotations

from pathlib import Path

import pytest

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.data.files.formats import write_frame
from tokumei.data.made_retail import make_retail
from tokumei.tasks.anonymize_history import anonymize_history
from tokumei.tasks.job_file import Job

TEXT = """[job]
kind = "history"
seed = 3
[input]
file = "shop.csv"
[[method]]
name = "pipeline"
step = [{ method = "delete", random = 0.2 }, { method = "pseudonyms", lifetime = 6 }]
"""


def test_pipeline_of_a_job_file_gives_the_release_of_its_steps(tmp_path: Path) -> None:
    write_frame(make_retail(8, n_rows=120, seed=1), tmp_path / "shop.csv")
    done = tk.run(Job.of(TEXT, folder=tmp_path), tmp_path / "out")
    assert done.results["chosen"] == "pipeline"
    steps = [{"method": "delete", "random": 0.2}, {"method": "pseudonyms", "lifetime": 6}]
    from tokumei.data.history import read_history

    again = anonymize_history(read_history(tmp_path / "shop.csv"), pipeline={"step": steps}, seed=3)
    again.write(tmp_path / "again.csv", tmp_path / "published.csv", tmp_path / "truth.csv")
    assert (tmp_path / "out" / "secret" / "release.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()


@pytest.mark.parametrize(
    ("before", "after"),
    [('"delete", random', '"delte", random'), ("lifetime = 6", "lifetime = true"), ("step =", "steps =")],
)
def test_slip_in_a_pipeline_is_told(before: str, after: str) -> None:
    with pytest.raises(InputError) as error:
        Job.of(TEXT.replace(before, after))
    assert error.value.faults[0].line in (6, 7, 8)
