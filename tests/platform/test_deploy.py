"""The files in deploy/ and the page about them say what is true: real commands, real options, real settings."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from configparser import RawConfigParser
from pathlib import Path

import click
import pytest
import yaml

from tokumei.cli.commands import TOKUMEI
from tokumei.platform import settings as platform_settings
from tokumei.platform.jobs import process
from tokumei.platform.serving import N_WEB_PROCESSES
from tokumei.platform.web_worker import N_ANSWERING, N_FETCHING, N_HASHING, N_WAITING

ROOT = Path(__file__).resolve().parents[2]
DEPLOY, PAGE = ROOT / "deploy", ROOT / "docs" / "howto" / "platform.md"
UNITS = sorted(DEPLOY.glob("*.service"))
VARIABLE = re.compile(r"\b(?:TOKUMEI_[A-Z_]+|DATABASE_URL)\b")
KNOWN = set(VARIABLE.findall(f"{platform_settings.__doc__}{process.__doc__}"))


def check_command(words: list[str]) -> None:
    """Parse a command line as `tokumei` would, without running it."""
    assert Path(words[0]).name == "tokumei"
    command = TOKUMEI.get_command(click.Context(TOKUMEI), words[1])
    assert command is not None
    command.make_context(words[1], words[2:])


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


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_unit_is_confined_as_systemd_judges_it(path: Path, tmp_path: Path) -> None:
    assert int(read_unit(path)["Service"]["MemoryMax"].removesuffix("G")) <= 12
    judge = shutil.which("systemd-analyze")
    if judge is None:
        pytest.skip("systemd-analyze is not installed")
    unit = tmp_path / path.name.replace("@", "@1")
    unit.write_text(path.read_text())
    done = subprocess.run([judge, "security", "--offline=yes", str(unit)], capture_output=True, text=True, check=False)
    exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
    if exposure is None:
        pytest.skip("this systemd-analyze judges no files")
    assert float(exposure[1]) < 4


def test_threads_of_the_pages_are_within_what_their_unit_allows() -> None:
    n_threads = N_WEB_PROCESSES * (N_WAITING + N_ANSWERING + N_HASHING + N_FETCHING)
    assert int(read_unit(UNITS[0])["Service"]["TasksMax"]) > 2 * n_threads


def test_image_has_the_client_of_its_databases_version() -> None:
    image = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["database"]["image"]
    server = re.match(r"postgres:(\d+)", image)
    client = re.search(r"postgresql-client-(\d+)", (DEPLOY / "Dockerfile").read_text())
    assert server is not None
    assert client is not None
    assert server[1] == client[1]


def test_proxy_limits_requests_of_one_address_and_slow_ones() -> None:
    text = (DEPLOY / "nginx.conf").read_text()
    zone = re.search(r"limit_req_zone \$binary_remote_addr zone=(\w+):\d+m rate=\d+r/s;", text)
    assert zone is not None
    assert re.search(rf"limit_req zone={zone[1]} burst=\d+", text)
    assert "limit_req_status 429;" in text
    assert all(name in text for name in ("client_header_timeout", "client_body_timeout", "send_timeout"))


def test_proxy_takes_its_file(tmp_path: Path) -> None:
    nginx = shutil.which("nginx")
    if nginx is None:
        pytest.skip("nginx is not installed")
    text = re.sub(r"^\s*(listen 443) ssl;|^\s*ssl_certificate.*$", "", (DEPLOY / "nginx.conf").read_text(), flags=re.M)
    whole = tmp_path / "nginx.conf"
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = " ".join(f"{kind}_temp_path {tmp_path}/{kind};" for kind in kinds)
    http = f"access_log off; {places} {text}"
    whole.write_text(f"pid {tmp_path}/pid; error_log {tmp_path}/log; events {{}} http {{ {http} }}")
    done = subprocess.run([nginx, "-t", "-c", str(whole)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_bill_of_materials_has_every_package_of_the_lock(tmp_path: Path) -> None:
    out = tmp_path / "dist" / "tokumei.cdx.json"
    lock = ROOT / "locks" / "run.txt"
    subprocess.run([sys.executable, str(DEPLOY / "sbom.py"), str(lock), str(out)], check=True)
    bill = json.loads(out.read_text())
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "tokumei")
    pinned = dict(re.findall(r"^([A-Za-z0-9._-]+)==([^\s;]+)", lock.read_text(), re.MULTILINE))
    assert {part["name"]: part["version"] for part in bill["components"]} == pinned
    assert all(part["properties"] for part in bill["components"])
    assert "django" in pinned
