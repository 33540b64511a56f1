"""What an assistant is told: metadata, and never a value of a cell, whatever it asks and whatever goes wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tokumei.cli.mcp import answers
from tokumei.core.errors import InputError, NotAllowed
from tokumei.tasks.assistant import HIDDEN, without_values

CANARIES = ("Zebulon", "Quillfort", "Marrowitis", "773311", "Ysolde")


def asked(method: str, number: int = 1, **parameters: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters})


def call(below: Path, tool: str, **given: Any) -> dict[str, Any]:
    (answer,) = answers([asked("tools/call", name=tool, arguments=given)], below)
    for canary in CANARIES:
        assert canary not in json.dumps(answer, ensure_ascii=False), f"{tool} tells {canary}"
    return answer


def told(answer: dict[str, Any], *, is_error: bool = False) -> dict[str, Any]:
    result: dict[str, Any] = answer["result"]
    assert result["isError"] == is_error, result
    (content,) = result["content"]
    assert json.loads(content["text"]) == result["structuredContent"]
    found: dict[str, Any] = result["structuredContent"]
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Sixty people, one of whom has cells that nobody else has, in every column."""
    rows = [
        f"Person {n},{20 + n % 20},{'fm'[n % 2]},{['Chiba', 'Osaka'][n % 2]},{['flu', 'cold'][n // 2 % 2]}"
        for n in range(60)
    ]
    rows.append("Zebulon Ysolde,773311,f,Quillfort,Marrowitis")
    (tmp_path / "people.csv").write_text("name,age,sex,city,illness\n" + "\n".join(rows) + "\n")
    return tmp_path


def test_inspecting_tells_columns_and_no_value(folder: Path) -> None:
    found = told(call(folder, "inspect", file="people.csv"))
    assert found["rows"] == 61
    assert list(found["columns"]) == ["name", "age", "sex", "city", "illness"]
    assert found["columns"]["illness"] == {
        "role": "sensitive", "kind": "illness", "type": "text", "distinct": 3, "unique": 1, "missing": 0
    }  # fmt: skip
    assert "reason" not in found["columns"]["age"]


def test_job_is_planned_run_and_reported_without_a_value(folder: Path) -> None:
    planned = told(
        call(
            folder,
            "plan",
            file="people.csv",
            job="job.toml",
            k=4,
            suppress=0.1,
            roles={"city": "other"},
            l_diversity={"illness": 2},
        )
    )
    assert planned["roles"]["city"] == "other"
    text = (folder / "job.toml").read_text()
    assert "\nk = 4\n" in text
    assert "\nsuppress = 0.1\n" in text
    assert '\nl_diversity = { "illness" = 2 }\n' in text
    ran = told(call(folder, "run", job="job.toml", out="dossier"))
    assert ran["holds"] is True
    assert {one["of"]: one["least"] for one in ran["bounds"]}["k"] == 4
    assert {"record-linkage", "homogeneity"} <= {one["attack"] for one in ran["attacks"]}
    assert ran["decision"].startswith("Release under")
    assert ran["rows"] == 61
    assert told(call(folder, "report", folder="dossier")) == ran
    assert (folder / "dossier" / "release.csv").is_file()


def test_errors_tell_where_and_not_what(folder: Path) -> None:
    text = (folder / "people.csv").read_text()
    (folder / "torn.csv").write_text(text + 'Zebulon,"Quillfort\n')
    (folder / "wide.csv").write_text(text + "Zebulon,773311,f,Quillfort,Marrowitis,Ysolde\n")
    (folder / "cells.csv").write_bytes(b"age,city\n1,Quillfort\xff\xfe\n")
    (folder / "twice.csv").write_text("age,age\n773311,1\n")
    for file in ("torn.csv", "wide.csv", "cells.csv", "twice.csv", "none.csv"):
        for tool, more in (("inspect", {}), ("plan", {"job": f"{file}.toml"})):
            found = told(call(folder, tool, file=file, **more), is_error=True)
            assert found["error"] in {"InputError", "NotFound"}, file
    (folder / "job.toml").write_text('[job]\nname = "Zebulon"\nkind = "Quillfort"\n')
    assert told(call(folder, "run", job="job.toml", out="d"), is_error=True)["message"] == HIDDEN
    (folder / "job.toml").write_text("Quillfort = [\n")
    told(call(folder, "run", job="job.toml", out="d"), is_error=True)
    told(call(folder, "report", folder="nowhere"), is_error=True)


def test_impossible_request_tells_no_value(folder: Path) -> None:
    told(call(folder, "plan", file="people.csv", job="job.toml", k=60, suppress=0.0))
    # One class of all people is all that is left, and it meets what is asked; the release has nothing else.
    found = told(call(folder, "run", job="job.toml", out="dossier"))
    assert found["bounds"][0]["value"] >= 60


def test_sentence_with_a_value_is_not_passed_on() -> None:
    assert "Zebulon" not in json.dumps(without_values(InputError.of("a number", value="Zebulon", column="age", line=3)))
    assert "Zebulon" not in json.dumps(without_values(InputError.of("a number, not Zebulon", column="age")))
    assert without_values(NotAllowed("Zebulon is not allowed.")) == {"error": "NotAllowed", "message": HIDDEN}


def test_faults_of_ours_tell_no_value(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("Zebulon")

    monkeypatch.setattr("tokumei.tasks.inspect_table.inspect", fail)
    assert told(call(folder, "inspect", file="people.csv"), is_error=True)["error"] == "RuntimeError"


@pytest.mark.parametrize("file", ["../people.csv", "/etc/passwd", "a/../../people.csv"])
def test_nothing_outside_the_folder_is_read(folder: Path, file: str) -> None:
    (folder / "inner").mkdir()
    told(call(folder / "inner", "inspect", file=file), is_error=True)


def test_job_that_is_there_is_not_written_over(folder: Path) -> None:
    (folder / "job.toml").write_text("kept")
    told(call(folder, "plan", file="people.csv", job="job.toml"), is_error=True)
    assert (folder / "job.toml").read_text() == "kept"


def test_protocol_answers_requests_and_keeps_silent_on_notices(folder: Path) -> None:
    lines = [
        asked("initialize", 7, protocolVersion="2025-03-26", capabilities={}, clientInfo={"name": "a", "version": "1"}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        asked("tools/list", 8),
        asked("ping", 9),
        asked("resources/list", 10),
        "{",
        "[]",
        asked("tools/call", 11, name="inspect", arguments={"file": 3}),
        asked("tools/call", 12, name="inspect", arguments={"path": "people.csv"}),
        asked("tools/call", 13, name="read", arguments={}),
    ]
    found = list(answers(lines, folder))
    assert found[0]["result"]["protocolVersion"] == "2025-03-26"
    assert [one["name"] for one in found[1]["result"]["tools"]] == ["inspect", "plan", "run", "report"]
    assert found[2]["result"] == {}
    codes = [one["error"]["code"] for one in found[3:]]
    assert codes == [-32601, -32700, -32600, -32602, -32602, -32602]
    assert [one["id"] for one in found] == [7, 8, 9, 10, None, None, 11, 12, 13]


def test_server_as_a_process_prints_messages_alone(folder: Path) -> None:
    lines = [asked("initialize", 1), asked("tools/call", 2, name="inspect", arguments={"file": "people.csv"})]
    done = subprocess.run(
        [sys.executable, "-m", "tokumei", "mcp", "--folder", str(folder)],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2]
    assert done.stderr == ""
    assert not any(canary in done.stdout for canary in CANARIES)
