"""`tokumei remote` against a real server on this machine, with a real worker; and against servers that misbehave."""

from __future__ import annotations

import io
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.db import connections
from django.utils import timezone
from django_otp.oath import totp
from django_otp.plugins.otp_totp.models import TOTPDevice
from pytest_django.live_server_helper import LiveServer
from tests.platform.conftest import PASSWORD
from tests.platform.programs import token_for
from tests.platform.sites import SOURCE, Site, captain, evaluated, make_contest, release, wait_until

from tokumei.cli import remote, remote_server
from tokumei.cli.main import main
from tokumei.cli.remote_server import NotReached, Server, config_file, printable, remember, server_url
from tokumei.core.errors import InputError, NotAllowed
from tokumei.core.progress import listening
from tokumei.platform.accounts.models import User
from tokumei.platform.api.models import Token
from tokumei.platform.contests.models import Contest, Phase

GOOD = "11\n20\n30\n40\n50\n60\n"


class Terminal:
    """A person at a command line, with files and a home of their own."""

    def __init__(self, home: Path, url: str) -> None:
        self.home, self.url = home, url
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("TOKUMEI_")}
        self.environment |= {"XDG_CONFIG_HOME": str(home / "config"), "LANG": "C.UTF-8", "COLUMNS": "120"}

    def type(self, *words: str, code: int = 0, **variables: str) -> str:
        """Run `tokumei remote …` in this process, which is quicker; what it prints, which never holds the token."""
        out, errors = io.StringIO(), io.StringIO()
        with (
            mock.patch.dict(os.environ, self.environment | variables, clear=True),
            chdir(self.home),
            redirect_stdout(out),
            redirect_stderr(errors),
            pytest.raises(SystemExit) as ended,
        ):
            main(["remote", *words])
        return self._check(out.getvalue(), errors.getvalue(), int(ended.value.code or 0), code)

    def type_for_real(self, *words: str, said: str = "", code: int = 0) -> str:
        """Run it in a process of its own, and answer what it asks."""
        done = subprocess.run(
            [sys.executable, "-m", "tokumei", "remote", *words],
            cwd=self.home,
            env=self.environment,
            input=said,
            capture_output=True,
            text=True,
            timeout=120,
            # Without a terminal, so that the password is read from where we say it.
            start_new_session=True,
        )
        return self._check(done.stdout, done.stderr, done.returncode, code)

    def _check(self, out: str, errors: str, ended: int, code: int) -> str:
        self.errors = errors
        assert ended == code, out + errors
        assert "Traceback" not in errors
        assert "tokumei_" not in out + errors
        return out

    def type_json(self, *words: str, code: int = 0) -> Any:
        return json.loads(self.type(*words, "--json", code=code))

    def write(self, name: str, text: str = GOOD) -> str:
        (self.home / name).write_text(text)
        return name

    def log_in(self, user: User) -> None:
        """Be logged in."""
        with mock.patch.dict(os.environ, self.environment):
            remember(Server(self.url, token_for(user)))


@pytest.fixture
def server(site: Site) -> Iterator[str]:
    """A server on this machine."""
    running = LiveServer("127.0.0.1")
    yield running.url
    running.stop()
    connections.close_all()


@pytest.fixture
def terminal(tmp_path: Path, server: str) -> Terminal:
    return Terminal(tmp_path, server)


@pytest.fixture
def cup(site: Site) -> Contest:
    return make_contest("red", "blue")


@pytest.fixture
def red(cup: Contest, terminal: Terminal) -> Terminal:
    """The captain of the red team, logged in."""
    terminal.log_in(captain("red"))
    return terminal


def test_login_by_password_keeps_a_token_that_only_the_owner_can_read(terminal: Terminal) -> None:
    User.objects.create_user("alice", "alice@example.com", PASSWORD)
    shown = terminal.type_for_real("login", "--server", terminal.url, said=f"alice\n{PASSWORD}\n")
    assert "alice" in shown
    file = terminal.home / "config" / "tokumei" / "remote.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert PASSWORD not in file.read_text()
    assert terminal.type_json("teams") == {"teams": []}
    assert Token.objects.get().scope == "submit"
    terminal.type("logout")
    assert Token.objects.count() == 0
    assert "tokumei_" not in file.read_text()
    terminal.type("teams", code=2)
    assert "You are not logged in" in terminal.errors


def test_login_asks_for_the_code_of_the_second_factor(terminal: Terminal) -> None:
    user = User.objects.create_user("alice", "alice@example.com", PASSWORD)
    device = TOTPDevice.objects.create(user=user, name="app", confirmed=True)
    code = f"{totp(device.bin_key):06d}"
    terminal.type_for_real("login", "--server", terminal.url, "--user", "alice", said=f"{PASSWORD}\n{code}\n")
    assert Token.objects.count() == 1


def test_login_by_a_token_of_the_page_is_kept_if_it_works(terminal: Terminal) -> None:
    token = token_for(User.objects.create_user("alice", "alice@example.com", PASSWORD), "read")
    terminal.type_for_real("login", "--server", terminal.url, "--with-token", said=f"{token}\n")
    assert terminal.type_json("teams") == {"teams": []}
    terminal.type_for_real("login", "--server", terminal.url, "--with-token", said=f"{token}x\n", code=2)
    assert terminal.type_json("teams") == {"teams": []}


def test_login_by_a_wrong_password_says_so_and_keeps_nothing(terminal: Terminal) -> None:
    terminal.type_for_real("login", "--server", terminal.url, "--user", "alice", said="wrong\n", code=2)
    assert "The name or the password is wrong." in terminal.errors
    assert not (terminal.home / "config").exists()


@pytest.mark.slow
def test_whole_contest_from_the_command_line(site: Site, cup: Contest, red: Terminal) -> None:
    site.start_worker()
    assert "anonymize" in red.type("contests")
    shown = red.type("contests", "cup")
    assert "R.csv" in shown
    assert "As many rows as in D." in shown

    bad = red.write("bad.csv", "11\nx\n30\n40\n50\n60\n")
    red.type("submit", "cup", bad, "--wait", code=1)
    assert "line 2: found 'x', expected a whole number (rule number)" in red.errors
    assert "0.01" in red.type_for_real("submit", "cup", red.write("R.csv"), "--wait")
    refused = red.type_json("submit", "cup", bad, "--wait", code=1)
    assert (refused["state"], refused["n_faults"]) == ("refused", 1)
    made = red.type_json("submit", "cup", "R.csv")
    assert made["state"] == "waiting"
    assert red.type_json("status", made["key"], "--wait")["score"]["utility"] == 0.002
    assert red.type_json("status")["n"] == 4
    assert made["key"] in red.type("status")

    evaluated(release(cup, "blue", "10 20 30 40 50 61"))
    Contest.objects.update(attacks_open_at=timezone.now())
    wait_until(lambda: Contest.objects.get().phase == Phase.ATTACK)
    red.type("download", "cup", "--to", "here")
    names = {str(path.relative_to(red.home / "here")) for path in (red.home / "here").rglob("*") if path.is_file()}
    assert names == {
        "data/D.csv",
        "knowledge/K50.csv",
        "knowledge/K100.csv",
        "releases/blue/P.csv",
        "releases/red/P.csv",
    }
    assert (red.home / "here" / "data" / "D.csv").read_bytes() == SOURCE

    seen = (red.home / "here" / "releases" / "blue" / "P.csv").read_text().split()
    guessed = red.write("G.csv", "".join(f"{int(number) // 10 - 1}\n" for number in seen))
    judged = red.type_json("attack", "cup", "--team", "blue", "--knowledge", "all", guessed, "--wait")
    # How right it was is told when the phase ends.
    assert judged["score"] is None
    assert "success" not in red.type("status", judged["key"])
    red.type("attack", "cup", "--team", "blue", "--knowledge", "most", guessed, code=2)
    assert "found 'most', expected a level of knowledge: half, all" in red.errors
    board = red.type("scoreboard", "cup")
    assert "blue" in board
    assert "red" in board


def test_join_enters_a_team(cup: Contest, terminal: Terminal) -> None:
    from tokumei.platform.teams.services import create_team

    user = User.objects.create_user("gina", "gina@example.com", PASSWORD)
    create_team(user, slug="green", display_name="Green")
    terminal.log_in(user)
    assert terminal.type_json("join", "cup", "--team", "green")["team"]["slug"] == "green"
    terminal.type("join", "cup", "--team", "blue", code=2)


def test_errors_of_the_server_keep_their_kind_and_words(cup: Contest, red: Terminal) -> None:
    assert red.type_json("scoreboard", "nothing", code=2)["error"] == "NotFound"
    Contest.objects.update(attacks_open_at=timezone.now())
    refused = red.type_json("submit", "cup", red.write("R.csv"), code=1)
    assert refused == {
        "error": "NotAllowed",
        "message": "Releases are accepted only while the contest is open for them.",
    }
    Token.objects.update(expires=timezone.now() - timedelta(days=1))
    assert red.type_json("contests", code=2)["error"] == "NotLoggedIn"
    red.type("contests", code=2)
    assert "expired. Log in again: tokumei remote login" in red.errors


def test_environment_names_server_and_token_without_any_file(cup: Contest, terminal: Terminal) -> None:
    token = token_for(captain("red"), "read")
    shown = terminal.type("contests", TOKUMEI_SERVER=terminal.url, TOKUMEI_TOKEN=token)
    assert "cup" in shown
    assert not (terminal.home / "config").exists()


def test_settings_that_others_can_read_are_refused(cup: Contest, red: Terminal) -> None:
    file = red.home / "config" / "tokumei" / "remote.json"
    file.chmod(0o644)
    red.type("contests", code=2)
    assert "expected a file that only you can read (chmod 600" in red.errors


def test_japanese_terminal_gets_japanese_rules(cup: Contest, red: Terminal) -> None:
    assert "数を匿名化します。" in red.type("contests", "cup", LANG="ja_JP.UTF-8")


def test_upload_reports_how_far_it_is(cup: Contest, server: str, tmp_path: Path) -> None:
    file = tmp_path / "R.csv"
    file.write_text(GOOD)
    seen: list[float] = []

    class Listener:
        @contextmanager
        def step(self, label: str, total: float | None) -> Iterator[Any]:
            assert (label, total) == ("uploading", len(GOOD))
            yield self

        def advance(self, amount: float = 1) -> None:
            seen.append(amount)

    with listening(Listener()):
        remote_server.send(Server(server, token_for(captain("red"))), "/contests/cup/releases", {"R": file})
    assert sum(seen) == len(GOOD)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["a.zip"], {"zip": "a.zip"}),
        (["B.csv", "A.csv"], {"A": "A.csv", "B": "B.csv"}),
        (["B.csv.gz", "A.csv"], {"A": "A.csv", "B": "B.csv.gz"}),
        (["x.csv", "y.csv"], {"A": "x.csv", "B": "y.csv"}),
    ],
)
def test_files_are_told_apart_by_name_or_by_order(names: list[str], found: dict[str, str], tmp_path: Path) -> None:
    roles = [{"name": name, "file_name": f"{name}.csv", "holds": "rows"} for name in "AB"]
    for name in names:
        (tmp_path / name).touch()
    given = remote_server.by_role(roles, [tmp_path / name for name in names])
    assert {role: path.name for role, path in given.items()} == found


def test_wrong_number_of_files_is_an_error_before_anything_is_sent(tmp_path: Path) -> None:
    (tmp_path / "A.csv").touch()
    roles = [{"name": name, "file_name": f"{name}.csv", "holds": "rows"} for name in "AB"]
    with pytest.raises(InputError, match=r"one zip, or the files A.csv \(rows\), B.csv \(rows\)"):
        remote_server.by_role(roles, [tmp_path / "A.csv"])
    with pytest.raises(InputError, match="a file that exists"):
        remote_server.by_role(roles, [tmp_path / "nothing.csv"])


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("https://a.example/", "https://a.example"),
        ("a.example", "https://a.example"),
        ("https://a.example:8443/sub/", "https://a.example:8443/sub"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://localhost", "http://localhost"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_address_of_a_server_is_read(given: str, found: str) -> None:
    assert server_url(given, allow_plain=False) == found


@pytest.mark.parametrize("given", ["http://a.example", "http://127.0.0.1.a.example", "http://10.0.0.1"])
def test_plain_http_to_another_machine_is_refused_unless_asked_for(given: str) -> None:
    with pytest.raises(NotAllowed, match="not encrypted"):
        server_url(given, allow_plain=False)
    assert server_url(given, allow_plain=True) == given


@pytest.mark.parametrize(
    "given", ["", "ftp://a.example", "https://", "https://u:p@a.example", "https://a:99999", "file:///"]
)
def test_address_that_is_none_is_an_input_error(given: str) -> None:
    with pytest.raises(InputError):
        server_url(given, allow_plain=True)


Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def answering(answer: Answer, certificate: Path | None = None) -> Iterator[str]:
    """A server that gives the answers of a test."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *given: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    scheme = "http"
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "https"
        # A handshake that the other side breaks off is what is tested.
        server.handle_error = lambda *given: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield f"{scheme}://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def says(status: int, body: bytes, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def test_nobody_at_the_address_is_a_clear_error(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    terminal = Terminal(tmp_path, "")
    terminal.type("contests", code=2, TOKUMEI_SERVER=f"http://127.0.0.1:{port}", TOKUMEI_TOKEN="x")
    assert f"http://127.0.0.1:{port} cannot be reached" in terminal.errors


def test_certificate_that_nobody_vouches_for_is_a_clear_error_and_nothing_is_sent(tmp_path: Path) -> None:
    seen: list[str] = []
    with (
        answering(lambda handler: seen.append(handler.path), own_certificate(tmp_path)) as url,
        pytest.raises(NotReached, match=r"could not prove who it is \(TLS\).*Nothing was sent.*SSL_CERT_FILE"),
    ):
        Server(url, "token").get("/me")
    assert seen == []


def test_certificate_of_an_own_authority_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = own_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with answering(says(200, b'{"username": "alice"}'), certificate) as url:
        assert Server(url, "token").get("/me") == {"username": "alice"}


def test_redirect_is_not_followed_with_the_token() -> None:
    seen: list[str] = []
    with answering(lambda handler: seen.append(handler.path)) as other:
        with (
            answering(says(302, b"", Location=f"{other}/api/v1/me")) as url,
            pytest.raises(NotReached, match="sends us on to"),
        ):
            Server(url, "token").get("/me")
        assert seen == []


@pytest.mark.parametrize(
    "answer", [says(200, b"<html>"), says(200, b"3"), says(404, b"nothing"), says(500, b"[]"), says(502, b"\xff")]
)
def test_what_is_no_tokumei_server_is_told(answer: Answer) -> None:
    with answering(answer) as url, pytest.raises(NotReached, match="is no Tokumei server"):
        Server(url, "token").get("/me")


def test_answer_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokumei.cli.remote_server.MOST_ANSWER_BYTES", 1000)
    with answering(says(200, 5000 * b" ")) as url, pytest.raises(NotReached, match="more than any answer"):
        Server(url, "token").get("/me")


def test_texts_of_a_server_cannot_command_the_terminal() -> None:
    assert printable({"a\x1b[2J": ["b\x07\u202e", 1, None, "two\nlines"]}) == {"a[2J": ["b", 1, None, "two\nlines"]}


def listing(name: str = "D.csv", kind: str = "data", team: str = "", n_bytes: int = 4) -> dict[str, Any]:
    return {"kind": kind, "name": name, "team": team, "level": "", "n_bytes": n_bytes}


def offering(files: list[dict[str, Any]], content: bytes = b"data") -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        is_list = handler.path.endswith("/files")
        says(200, json.dumps(files).encode() if is_list else content)(handler)

    return answer


@pytest.mark.parametrize(
    "file",
    [
        listing(name="../evil"),
        listing(name="/etc/passwd"),
        listing(name=".bashrc"),
        listing(name="a/b"),
        listing(name="a\\b"),
        listing(name=""),
        listing(name="é.csv"),
        listing(kind="release", team=".."),
        listing(kind="release", team="a/../.."),
        listing(kind=".."),
    ],
)
def test_name_from_the_server_that_is_not_safe_is_refused(file: dict[str, Any], tmp_path: Path) -> None:
    with answering(offering([listing(), file])) as url, pytest.raises(InputError):
        remote_server.fetch_all(Server(url, "token"), "cup", tmp_path / "here")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("told", [3, 5])
def test_file_of_another_size_than_told_is_not_written(told: int, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "D.csv").write_text("before")
    with (
        answering(offering([listing(n_bytes=told)])) as url,
        pytest.raises(NotReached, match="another number of bytes"),
    ):
        remote_server.fetch_all(Server(url, "token"), "cup", tmp_path)
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["D.csv"]
    assert (tmp_path / "data" / "D.csv").read_text() == "before"


def test_file_of_ones_own_is_replaced_by_a_download_only_where_asked(tmp_path: Path) -> None:
    mine = tmp_path / "data" / "D.csv"
    with answering(offering([listing(n_bytes=4)])) as url:
        for _ in range(2):
            # Once more is no harm: later a contest has more files.
            assert remote_server.fetch_all(Server(url, "token"), "cup", tmp_path) == [mine]
        mine.write_text("mine")
        with pytest.raises(InputError, match="--force to replace it"):
            remote_server.fetch_all(Server(url, "token"), "cup", tmp_path)
        assert mine.read_text() == "mine"
        remote_server.fetch_all(Server(url, "token"), "cup", tmp_path, force=True)
    assert mine.read_text() == "data"


def test_two_files_under_one_name_are_refused(tmp_path: Path) -> None:
    with answering(offering([listing(), listing()])) as url, pytest.raises(NotReached, match="two files"):
        remote_server.fetch_all(Server(url, "token"), "cup", tmp_path)


def test_waiting_forgives_a_server_that_starts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "FIRST_PAUSE", 0.01)
    n_asked = 0

    def answer(handler: BaseHTTPRequestHandler) -> None:
        nonlocal n_asked
        n_asked += 1
        is_final = n_asked > 6
        found = {"is_final": is_final, "progress": {}, "says": "Waiting"}
        says(503, b"starting")(handler) if n_asked in (2, 3) else says(200, json.dumps(found).encode())(handler)

    with answering(answer) as url:
        assert remote.wait_for(Server(url, "token"), "abc")["is_final"]


def test_token_is_not_shown_by_accident() -> None:
    assert "secret" not in repr(Server("https://a.example", "secret"))
    assert config_file().name == "remote.json"


def own_certificate(folder: Path) -> Path:
    """Make a certificate for localhost that vouches for itself."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    encoded = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(encoded + made.public_bytes(serialization.Encoding.PEM))
    return file
