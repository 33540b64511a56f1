"""The files in deploy/ and the page about them say what is true: real commands, real options, real settings."""

from __future__ import annotations

import json
import re
import shlex
from configparser import RawConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from tokumei.cli.main import app
from tokumei.platform import settings as platform_settings
from tokumei.platform.jobs import limits

ROOT = Path(__file__).resolve().parents[2]
DEPLOY, PAGE = ROOT / "deploy", ROOT / "docs" / "howto" / "platform.md"
UNITS = sorted(DEPLOY.glob("*.service"))
VARIABLE = re.compile(r"\b(?:TOKUMEI_[A-Z_]+|DATABASE_URL)\b")
KNOWN = set(VARIABLE.findall(f"{platform_settings.__doc__}{limits.__doc__}"))


def check_command(words: list[str]) -> None:
    """Parse a command line as `tokumei` would, without running it."""
    assert Path(words[0]).name == "tokumei"
    group: Any = get_command(app)
    group.commands[words[1]].make_context(words[1], words[2:])


def read_unit(path: Path) -> RawConfigParser:
    unit = RawConfigParser(strict=True)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(path.read_text())
    return unit


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_unit_starts_a_real_command_as_a_user_of_its_own(path: Path) -> None:
    service = read_unit(path)["Service"]
    check_command(shlex.split(service["ExecStart"]))
    assert service["User"] == "tokumei"
    # Nothing but its own folder can be written to, and that is where the data is.
    assert service["ProtectSystem"] == "strict"
    assert service["Environment"] == f"TOKUMEI_DATA=/var/lib/{service['StateDirectory']}"


def test_units_are_pages_and_workers() -> None:
    assert [path.name for path in UNITS] == ["tokumei-web.service", "tokumei-worker@.service"]
    assert "--no-jobs" in read_unit(UNITS[0])["Service"]["ExecStart"]


def test_image_starts_a_real_command_not_as_root() -> None:
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    check_command(json.loads(lines[-1].removeprefix("CMD ")))
    assert lines.index("USER tokumei") > max(n for n, line in enumerate(lines) if line.startswith("RUN"))
    copied = [line.split()[1:-1] for line in lines if line.startswith("COPY")]
    assert all((ROOT / name).exists() for names in copied for name in names)


def test_compose_file_starts_pages_workers_and_a_database() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    assert set(services) == {"web", "worker", "database"}
    check_command(services["worker"]["command"])
    # Only a proxy on the same machine reaches the pages, and nobody else the database.
    assert services["web"]["ports"] == ["127.0.0.1:8000:8000"]
    assert "ports" not in services["database"]
    assert set(services["web"]["environment"]) == set(services["worker"]["environment"]) <= KNOWN
    compile(services["web"]["healthcheck"]["test"][-1], "healthcheck", "exec")


@pytest.mark.parametrize("path", [*sorted(DEPLOY.iterdir()), PAGE], ids=lambda path: path.name)
def test_variables_that_are_named_are_settings(path: Path) -> None:
    assert set(VARIABLE.findall(path.read_text())) <= KNOWN


def test_page_tells_what_every_setting_does() -> None:
    rows = set(re.findall(r"^\| `([A-Z_]+)` \|", PAGE.read_text(), re.MULTILINE))
    assert rows == KNOWN


def test_commands_of_the_page_are_real() -> None:
    commands = re.findall(r"^\$ (tokumei [^#\n]*)", PAGE.read_text(), re.MULTILINE)
    assert len(commands) >= 6
    for command in commands:
        check_command(shlex.split(command))


def test_proxy_replaces_what_visitors_claim_and_hides_the_metrics() -> None:
    text = (DEPLOY / "nginx.conf").read_text()
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in text
    assert "proxy_set_header X-Forwarded-Proto https;" in text
    assert "location = /metrics { return 404; }" in text
    assert text.count("{") == text.count("}")
