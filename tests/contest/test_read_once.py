"""Checking and scoring read the data of a contest once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tokumei.contest.edition import EDITIONS, OpenFiles, files_in, read_once
from tokumei.data.files.strict import StrictFile

SMALL: dict[str, dict[str, Any]] = {
    "pwscup2015": {"n_rows": 40},
    "pwscup2016": {"n_customers": 4},
    "pwscup2017": {"n_customers": 4, "known": (50,)},
    "pwscup2018": {"n_customers": 4},
}


def test_files_kept_open_are_read_once_by_each_reader() -> None:
    files = OpenFiles({"T": Path("T.csv")})
    found = [read_once(files, list) for _ in range(2)]
    assert found[0] is found[1] == ["T"]
    assert read_once(dict(files), list) is not found[0]


@pytest.mark.parametrize("name", SMALL)
def test_check_and_score_read_each_data_file_once(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edition = EDITIONS.make(name, **SMALL[name])
    terms = edition.terms
    (tmp_path / "data").mkdir()
    edition.make_data(tmp_path / "data", seed=1)
    data = files_in(tmp_path / "data", terms.data_files)
    (tmp_path / "knowledge").mkdir()
    edition.draw_knowledge(data, tmp_path / "knowledge", seed=2)
    knowledge = files_in(tmp_path / "knowledge", terms.all_knowledge_files)
    (tmp_path / "release").mkdir()
    edition.anonymize(edition.anonymizers()[0], data, tmp_path / "release", seed=3)
    release = files_in(tmp_path / "release", terms.release_files)
    apart = edition.score(data, knowledge, release)

    counted: Counter[str] = Counter()
    read_text = StrictFile.read_text

    def counting(self: StrictFile, path: Path | str) -> object:
        counted[Path(path).name] += 1
        return read_text(self, path)

    monkeypatch.setattr(StrictFile, "read_text", counting)
    assert edition.check_and_score(data, knowledge, release) == apart
    assert {file.name: counted[file.name] for file in data.values()} == {file.name: 1 for file in data.values()}
