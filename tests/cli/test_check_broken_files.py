"""`tokumei check` on broken files: 1 for a release, 2 for originals and names that lead nowhere, never a traceback."""

from __future__ import annotations

import contextlib
import gzip
import io
from pathlib import Path

import pytest

from tokumei.cli import main as command
from tokumei.contest.edition import EDITIONS, files_in

BROKEN = {
    "empty": b"",
    "NUL": bytes(50),
    "Latin-1": "é,ü\n".encode("latin-1") * 5,
    "UTF-16": "a,b\n1,2\n".encode("utf-16"),
    "a mark alone": b"\xef\xbb\xbf",
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "an open quote": b'"a,b\n1,2\n',
    "one long line": b"x" * 300_000,
    "line ends alone": b"\n" * 1000,
    "commas alone": b"," * 1000 + b"\n",
    "gzip of something else": gzip.compress(b"hello"),
    "gzip broken off": gzip.compress(bytes(5000))[:20],
    "a zip": b"PK\x03\x04" + bytes(30),
    "Parquet's ends": b"PAR1" + bytes(20) + b"PAR1",
    "a page": b"<html></html>",
}
OPTIONS = {"pwscup2015": {"n_rows": 40}}


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> tuple[int, str]:
    said = io.StringIO()
    monkeypatch.setattr("sys.argv", ["tokumei", *map(str, words)])
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), pytest.raises(SystemExit) as ended:
        command.main()
        raise SystemExit(0)
    return int(ended.value.code or 0), said.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("edition", ["pwscup2015", "pwscup2016", "pwscup2017", "pwscup2018"])
def test_broken_files_of_an_edition(edition: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = OPTIONS.get(edition, {"n_customers": 10})
    made = EDITIONS.get(edition)(**options)
    for name in ("data", "release"):
        (tmp_path / name).mkdir()
    made.make_data(tmp_path / "data", seed=1, source=None)
    data = files_in(tmp_path / "data", made.terms.data_files)
    made.anonymize(next(iter(made.anonymizers())), data, tmp_path / "release", seed=1)
    release = files_in(tmp_path / "release", made.terms.release_files)
    chosen = [word for name, value in options.items() for word in ("--set", f"{name}={value}")]

    def check(originals: dict[str, Path], given: dict[str, Path]) -> tuple[int, str]:
        named = [word for name, path in originals.items() for word in ("--data", f"{name}={path}")]
        return run(monkeypatch, "check", "--edition", edition, *named, *chosen, *given.values())

    assert check(data, release)[0] == 0
    bad = tmp_path / "bad.csv"
    for what, content in BROKEN.items():
        bad.write_bytes(content)
        for files, expected in ((release, 1), (data, 2)):
            name = next(iter(files))
            changed = files | {name: bad}
            code, said = check(data, changed) if files is release else check(changed, release)
            assert code == expected, (what, name, said)
            assert "Traceback" not in said
            assert "bad.csv" in said, (what, said)
    for nowhere in (tmp_path / "nowhere.csv", tmp_path):
        assert check(data, release | {next(iter(release)): nowhere})[0] == 2
