"""Talking to a Tokumei server: where it is, the token for it, and what goes wrong on the way.

What a server sends is not trusted: its texts may not move the cursor of a terminal, its names choose no paths, and the
token goes nowhere but to the server it was made for.

Files go to it and come from it: which file is which, how far an upload is, and names that are safe to write.
"""

from __future__ import annotations

import filecmp
import ipaddress
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from tokumei.core.errors import Fault, InputError, MissingExtra, NotAllowed, NotFound, TokumeiError
from tokumei.core.progress import Bar, step
from tokumei.core.text import Json, JsonView
from tokumei.data.files.disk import atomic_path

if TYPE_CHECKING:
    import httpx


CONFIG = "remote.json"
SERVER_VARIABLE, TOKEN_VARIABLE = "TOKUMEI_SERVER", "TOKUMEI_TOKEN"
CONNECT_SECONDS, READ_SECONDS = 10.0, 120.0
# More than any answer that is not a file.
MOST_ANSWER_BYTES = 32 * 1024 * 1024


class NotReached(TokumeiError):
    """The server cannot be reached, or what answers is no Tokumei server."""


class NotLoggedIn(TokumeiError):
    """The server does not take the token, or there is none."""


class CodeNeeded(NotLoggedIn):
    """The server wants a code of the second factor too."""


class ServerFailed(TokumeiError):
    """The server failed, is full or is too busy; trying later may help."""


@dataclass(frozen=True)
class Server:
    """A server and the token for it; the token is not shown, not even by accident."""

    url: str
    token: str = ""

    def __repr__(self) -> str:
        return f"Server({self.url!r})"

    def get(self, path: str, **query: object) -> Any:
        """Read something."""
        return self.call("GET", path, params={name: value for name, value in query.items() if value is not None})

    def call(self, method: str, path: str, **given: object) -> Any:
        """Send a request below /api/v1 and read the JSON that comes back."""
        with self._answering(method, path, **given) as answer:
            received = bytearray()
            for chunk in answer.iter_bytes():
                received += chunk
                if len(received) > MOST_ANSWER_BYTES:
                    raise NotReached(f"{self.url} sent more than any answer should hold.")
        return _read(self.url, answer.status_code, bytes(received), answer.headers)

    @contextmanager
    def stream(self, path: str, **query: object) -> Iterator[Iterator[bytes]]:
        """Read a file piece by piece."""
        with self._answering("GET", path, params=query) as answer:
            if answer.status_code != 200:
                _read(self.url, answer.status_code, answer.read(), answer.headers)
                raise NotReached(f"{self.url} sent no file.")
            yield answer.iter_bytes()

    @contextmanager
    def _answering(self, method: str, path: str, **given: Any) -> Iterator[httpx.Response]:
        httpx = _httpx()
        headers = {"Accept": "application/json", "User-Agent": "tokumei", "Accept-Language": _language()}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
        try:
            # Redirects are not followed: the token must not go where it was not made for.
            with (
                httpx.Client(timeout=timeout, headers=headers, follow_redirects=False) as client,
                client.stream(method, f"{self.url}/api/v1{path}", **given) as answer,
            ):
                yield answer
        except httpx.HTTPError as error:
            raise NotReached(_why_not_reached(self.url, error)) from None


def server_url(given: str, *, allow_plain: bool) -> str:
    """Read the address of a server; plain HTTP only to this machine, or where it is asked for."""
    url = given.strip()
    parts = urlsplit(url if "://" in url else f"https://{url}")
    try:
        is_odd = parts.port == 0
    except ValueError:
        is_odd = True
    if is_odd or parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise InputError.of("an address such as https://contest.example.org", option="--server", value=given)
    if parts.username is not None:
        raise InputError.of("an address without a name and a password", option="--server")
    if parts.scheme == "http" and not allow_plain and not _is_loopback(parts.hostname):
        raise NotAllowed(
            f"{parts.scheme}://{parts.netloc} is not encrypted: whoever listens reads your password, token and data. "
            "Use https, or --insecure if you know the network."
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def find_server(given: str | None, *, allow_plain: bool) -> Server:
    """Find the server and its token: by the option, the environment, or the last log-in."""
    known = _read_config()
    url = given or os.environ.get(SERVER_VARIABLE) or known.get("server", "")
    if not url:
        raise NotLoggedIn("No server is known. Log in first: tokumei remote login --server https://…")
    url = server_url(url, allow_plain=allow_plain)
    token = os.environ.get(TOKEN_VARIABLE) or known.get("tokens", {}).get(url, "")
    if not token:
        raise NotLoggedIn(f"You are not logged in at {url}. Log in first: tokumei remote login --server {url}")
    return Server(url, token)


def remember(server: Server) -> Path:
    """Keep the server and its token in a file for its owner's eyes only."""
    known = _read_config()
    _write_config({"server": server.url, "tokens": known.get("tokens", {}) | {server.url: server.token}})
    return config_file()


def forget(url: str) -> None:
    """Keep the token no more."""
    known = _read_config()
    kept = {one: token for one, token in known.get("tokens", {}).items() if one != url}
    _write_config({"server": known.get("server", ""), "tokens": kept})


def config_file() -> Path:
    """Where servers and tokens are kept."""
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "tokumei" / CONFIG


def part(name: str) -> str:
    """Write a name as one part of an address."""
    return quote(name, safe="")


def _read_config() -> Json:
    file = config_file()
    try:
        with file.open("rb") as handle:
            if stat.S_IMODE(os.fstat(handle.fileno()).st_mode) & 0o077:
                raise InputError.of(f"a file that only you can read (chmod 600 {file})", file=file)
            found = json.loads(handle.read())
    except FileNotFoundError:
        return {}
    except ValueError:
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("tokens", {}), dict):
        raise InputError.of("what 'tokumei remote login' writes; remove the file and log in again", file=file)
    return found


def _write_config(known: Mapping[str, object]) -> None:
    from tokumei.data.files.disk import atomic_path

    file = config_file()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with atomic_path(file) as draft:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
            json.dump(known, handle, indent=1)
            handle.write("\n")


def _read(url: str, status: int, body: bytes, headers: Mapping[str, str]) -> Any:
    """Return the content of an answer, or raise the error that it stands for."""
    if status == 204:
        return None
    if 300 <= status < 400:
        elsewhere = printable(headers.get("location", "another address"))
        raise NotReached(f"{url} sends us on to {elsewhere}. If you trust that, give it as --server.")
    try:
        found = printable(json.loads(body))
    except ValueError:
        found = None
    if status < 300 and isinstance(found, (dict, list)):
        return found
    if not isinstance(found, dict) or not isinstance(found.get("message"), str):
        raise NotReached(f"What answers at {url} is no Tokumei server (status {status}).")
    raise _error(status, found)


def _error(status: int, found: JsonView) -> TokumeiError:
    message = found["message"]
    if status == 400 and found.get("faults"):
        return input_error(found)
    if status == 401:
        hint = "" if found.get("error") == "CodeNeeded" else " Log in again: tokumei remote login"
        return (CodeNeeded if found.get("error") == "CodeNeeded" else NotLoggedIn)(message + hint)
    if status >= 500 or status == 429:
        return ServerFailed(message)
    return {403: NotAllowed, 404: NotFound}.get(status, TokumeiError)(message)


def input_error(found: JsonView) -> InputError:
    """Make the error of faults that a server found, as the same check on this machine would raise it."""
    # What was expected is in words already, so its parameters are not needed.
    known = ("expected", "file", "line", "column", "value", "rule")
    faults = [Fault(**{name: fault.get(name) for name in known}) for fault in found["faults"]]
    return InputError(faults, int(found.get("n_faults") or len(faults)))


def printable(value: object) -> object:
    """Take out of all texts what moves the cursor of a terminal or changes its colors."""
    if isinstance(value, str):
        return "".join(one for one in value if one.isprintable() or one == "\n")
    if isinstance(value, dict):
        return {printable(name): printable(inner) for name, inner in value.items()}
    return [printable(inner) for inner in value] if isinstance(value, list) else value


def _why_not_reached(url: str, error: Exception) -> str:
    httpx = _httpx()
    if "CERTIFICATE" in str(error).upper() or "SSL" in str(error).upper():
        return (
            f"{url} could not prove who it is (TLS): {printable(str(error))}. Nothing was sent. "
            "If it has a certificate of its own authority, name that in SSL_CERT_FILE."
        )
    if isinstance(error, httpx.TimeoutException):
        return f"{url} did not answer in time."
    return f"{url} cannot be reached: {printable(str(error)) or type(error).__name__}."


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _language() -> str:
    given = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return "ja" if given.startswith("ja") else "en"


def _httpx() -> Any:
    try:
        import httpx
    except ImportError:
        raise MissingExtra("tokumei remote", "platform") from None
    return httpx


# No path, no hidden file, nothing that a shell or another system reads in its own way.
SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")
FOLDERS = {"data": "data", "knowledge": "knowledge", "release": "releases"}
ZIP = ".zip"


def by_role(roles: Sequence[dict[str, str]], files: Sequence[Path]) -> dict[str, Path]:
    """Match files to roles: a zip holds them all, else by their names, else by their order."""
    for file in files:
        if not file.is_file():
            raise InputError.of("a file that exists", file=file)
    if len(files) == 1 and files[0].suffix.lower() == ZIP:
        return {"zip": files[0]}
    if len(files) != len(roles):
        wanted = ", ".join(f"{role['file_name']} ({role['holds']})" for role in roles)
        raise InputError.of(f"one zip, or the files {wanted}", value=" ".join(map(str, files)))
    names = {file.name.removesuffix(".gz"): file for file in files}
    if names.keys() == {role["file_name"] for role in roles}:
        return {role["name"]: names[role["file_name"]] for role in roles}
    return {role["name"]: file for role, file in zip(roles, files, strict=True)}


def send(reached: Server, path: str, files: dict[str, Path]) -> Json:
    """Send files as a form does, and say how far it is."""
    n_bytes = sum(file.stat().st_size for file in files.values())
    with ExitStack() as stack:
        bar = stack.enter_context(step("uploading", n_bytes))
        parts = {
            name: (_sent_name(file), _Counted(stack.enter_context(file.open("rb")), bar))
            for name, file in files.items()
        }
        try:
            made: dict[str, Any] = reached.call("POST", path, files=parts)
        except NotReached as error:
            raise NotReached(f"{error} Whether it arrived is not known: see 'tokumei remote status'.") from None
    return made


def fetch_all(reached: Server, contest: str, to: Path | None, *, force: bool = False) -> list[Path]:
    """Fetch every file of a contest into a folder; each is there whole or not at all.

    A file that is there already stays if it is the same, and is replaced by another only with `force`.
    """
    folder = Path(_safe(contest)) if to is None else to
    listed = reached.get(f"/contests/{part(contest)}/files")
    wanted = {folder / _index(file): file for file in listed}
    if len(wanted) != len(listed):
        raise NotReached(f"{reached.url} lists two files under one name.")
    with step("downloading", sum(int(file["n_bytes"]) for file in listed)) as bar:
        for target, file in wanted.items():
            _fetch(reached, contest, file, target, bar, force=force)
    return list(wanted)


def _fetch(reached: Server, contest: str, file: Json, target: Path, bar: Bar, *, force: bool) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    query = {"team": file["team"]} if file["team"] else {}
    path = f"/contests/{part(contest)}/files/{part(file['kind'])}/{part(file['name'])}"
    n_bytes = 0
    with atomic_path(target) as draft:
        with reached.stream(path, **query) as chunks, draft.open("wb") as handle:
            for chunk in chunks:
                n_bytes += len(chunk)
                # Never more than was told, or a server could fill the disk.
                if n_bytes > int(file["n_bytes"]):
                    break
                handle.write(chunk)
                bar.advance(len(chunk))
        if n_bytes != int(file["n_bytes"]):
            raise NotReached(f"{reached.url} sent another number of bytes of {file['name']} than it told; try again.")
        if target.exists() and not force and not filecmp.cmp(draft, target, shallow=False):
            expected = "no other file than the server's, or --force to replace it"
            raise InputError.of(expected, file=target, value="another file of this name")


def _index(file: Json) -> Path:
    """Return the path for a file; names come from the server, so that none is used unchecked."""
    if file.get("kind") not in FOLDERS:
        raise InputError.of(f"a kind of file: {', '.join(FOLDERS)}", value=file.get("kind"))
    folder = Path(FOLDERS[file["kind"]])
    return (folder / _safe(file["team"]) if file["team"] else folder) / _safe(file["name"])


def _safe(name: object) -> str:
    if not isinstance(name, str) or not SAFE_NAME.match(name):
        raise InputError.of("a name of letters, digits, dots, hyphens and underscores from the server", value=name)
    return name


def _sent_name(file: Path) -> str:
    # What a file is called on this machine is nobody's business; only how it is packed matters.
    return "file.zip" if file.suffix.lower() == ZIP else "file.csv"


class _Counted:
    """A file that tells a bar how much of it was read."""

    def __init__(self, handle: IO[bytes], bar: Bar) -> None:
        self._handle, self._bar = handle, bar

    def read(self, size: int = -1) -> bytes:
        chunk = self._handle.read(size)
        self._bar.advance(len(chunk))
        return chunk

    def fileno(self) -> int:
        return self._handle.fileno()
