"""Hostile files through the pages and the API: each ends in a clear refusal, quickly, and leaves nothing behind."""

from __future__ import annotations

import gzip
import io
import shutil
import struct
import tempfile
import time
import zipfile
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from tests.platform.security.world import (
    Answer,
    World,
    files_of,
    send,
    state_of_database,
    taken_back,
)
from tests.platform.sites import work_here

from tokumei.platform.contests.models import State, Submission
from tokumei.platform.jobs import process
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.running import run

ROWS = b"11\n20\n30\n40\n50\n60\n"
# A bomb must be refused in about the time that a good file takes; the machine may be busy.
SECONDS = 60
PAGE, OPERATION = "/contests/draft/submit", "/api/v1/contests/draft/releases"
Files = dict[str, Any]


def file(content: bytes, name: str = "R.csv") -> SimpleUploadedFile:
    """Make a file as a browser sends it."""
    return SimpleUploadedFile(name, content)


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Pack a zip."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", packing) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return packed.getvalue()


def special(name: str, mode: int) -> zipfile.ZipInfo:
    """Describe a member that is no plain file."""
    member = zipfile.ZipInfo(name)
    member.external_attr = mode << 16
    return member


def zip_of_many(n_members: int) -> bytes:
    """Make a zip whose directory lists a great many files."""
    local = zipped(("R.csv", ROWS))
    start = local.index(b"PK\x01\x02")
    end = local.rindex(b"PK\x05\x06")
    directory = local[start:end] * n_members
    count = min(n_members, 0xFFFF)
    return (
        local[:start] + directory + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(directory), start, 0)
    )


def zip_that_says(n_bytes: int) -> bytes:
    """Make a zip that lies about how large its file is."""
    packed = zipped(("R.csv", b"1" * 5_000))
    return packed.replace((5_000).to_bytes(4, "little"), n_bytes.to_bytes(4, "little"))


def encrypted() -> bytes:
    """Make a zip that says its file needs a password."""
    packed = bytearray(zipped(("R.csv", ROWS)))
    packed[6] |= 1
    packed[packed.index(b"PK\x01\x02") + 8] |= 1
    return bytes(packed)


def gzip_bomb(n_bytes: int) -> bytes:
    """Pack zeros, as many as one likes: gzip takes one after the other."""
    return gzip.compress(b"0" * 10_000_000) * (n_bytes // 10_000_000)


HOSTILE: dict[str, Callable[[], Files]] = {
    "a zip bomb": lambda: {"z": file(zipped(("R.csv", b"0" * 40_000_000)), "z.zip")},
    "a zip bomb that lies": lambda: {"z": file(zip_that_says(10), "z.zip")},
    "a zip that says too much": lambda: {"z": file(zip_that_says(0xFFFFFFF0), "z.zip")},
    "a zip of a gzip bomb": lambda: {"z": file(zipped(("R.csv.gz", gzip_bomb(200_000_000)), packing=0), "z.zip")},
    "a gzip bomb": lambda: {"R": file(gzip_bomb(2_000_000_000), "R.csv.gz")},
    "many gzip members": lambda: {"R": file(gzip.compress(b"1\n" * 1000) * 20_000, "R.csv.gz")},
    "a way up": lambda: {"z": file(zipped(("../R.csv", ROWS)))},
    "a way up and the file": lambda: {"z": file(zipped(("R.csv", ROWS), ("../../evil", ROWS)))},
    "an absolute name": lambda: {"z": file(zipped(("/etc/R.csv", ROWS)))},
    "a drive": lambda: {"z": file(zipped(("C:\\R.csv", ROWS)))},
    "a NUL name": lambda: {"z": file(zipped(("R.csvXevil", ROWS)).replace(b"R.csvXevil", b"R.csv\0evil"))},
    "a link": lambda: {"z": file(zipped((special("R.csv", 0o120777), b"/etc/passwd")))},
    "a pipe": lambda: {"z": file(zipped((special("R.csv", 0o010666), b"")))},
    "a device": lambda: {"z": file(zipped((special("R.csv", 0o020666), b"")))},
    "a folder": lambda: {"z": file(zipped((special("R.csv/", 0o040777), b"")))},
    "a name twice": lambda: {"z": file(zipped(("R.csv", ROWS), ("R.csv.gz", gzip.compress(ROWS))))},
    "a zip in a zip": lambda: {"z": file(zipped(("R.zip", zipped(("R.csv", ROWS)))))},
    "a password": lambda: {"z": file(encrypted())},
    "an odd packing": lambda: {"z": file(zipped(("R.csv", ROWS), packing=zipfile.ZIP_LZMA))},
    "half a zip": lambda: {"z": file(zipped(("R.csv", ROWS))[:-30])},
    "the first letters of a zip": lambda: {"z": file(b"PK\x03\x04")},
    "a zip with a wrong sum": lambda: {"z": file(zipped(("R.csv", ROWS), packing=0).replace(ROWS, b"99" + ROWS[2:]))},
    "a zip of very many": lambda: {"z": file(zip_of_many(300_000), "z.zip")},
    "half a gzip": lambda: {"R": file(gzip.compress(ROWS * 100)[:40])},
    "an empty file": lambda: {"R": file(b"")},
    "nothing": dict,
    "two files of other names": lambda: {"A": file(ROWS), "B": file(ROWS)},
    "a name of another file": lambda: {"G": file(ROWS), "../R": file(ROWS)},
}


@cache
def made(name: str) -> Files:
    """Make a hostile upload once."""
    return HOSTILE[name]()


def submit(world: World, where: str, given: Files, role: str = "captain") -> Answer:
    """Send files as the page does with its script, or as a program; what it changes stays until the test ends."""
    extra: dict[str, Any] = {"HTTP_X_UPLOAD": "1"}
    client = Client(raise_request_exception=False)
    for one in given.values():
        if not isinstance(one, str):
            one.seek(0)
    if where.startswith("/api/"):
        extra = {"headers": {"Authorization": f"Bearer {world.tokens[role]}"}}
    else:
        client.cookies["tokumei_session"] = world.sessions[role]
    return send(client, "POST", where, given, "", **extra)


@pytest.mark.parametrize("where", [PAGE, OPERATION])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_file_is_refused_quickly_and_without_a_trace(world: World, name: str, where: str) -> None:
    given = made(name)
    before, rows = files_of(world.folder), state_of_database()
    started = time.monotonic()
    found = submit(world, where, given)
    assert time.monotonic() - started < SECONDS
    assert found.status == 400, found.text[:300]
    said = found.text
    assert len(said) < 2_000
    assert "Traceback" not in said
    assert str(world.folder) not in said
    assert files_of(world.folder) == before
    assert state_of_database()["Submission"] == rows["Submission"]
    assert state_of_database()["Job"] == rows["Job"]


def test_directory_of_a_zip_is_bounded_before_it_is_read(world: World) -> None:
    """What a body may hold of a directory would become a gigabyte of objects."""
    import resource

    given = {"z": file(zip_of_many(300_000), "z.zip")}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert submit(world, PAGE, given).status == 400
    # Kilobytes. The test's client holds the body of fifteen megabytes a few times over.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 120_000


ODD_TEXTS = {
    "one long line": b"1" * 3_000_000,
    "one long cell": b"x" * 3_000_000 + b"\n",
    "very many lines": b"1\n" * 1_000_000,
    "NULs": b"\0" * 1000,
    "a script": b"<script>alert(1)</script>\n=cmd|' /C calc'!A0\n\xe2\x80\xaeevil\n\x1b[31m\n5\n6\n",
}


@pytest.mark.parametrize("name", ODD_TEXTS)
def test_odd_text_is_taken_and_refused_with_short_faults(
    world: World, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "run", work_here)
    found = submit(world, PAGE, {"R": file(ODD_TEXTS[name])})
    assert found.status == 200, found.text[:300]
    made = Submission.objects.order_by("pk").last()
    assert made is not None
    run(Job.objects.get(submission=made).pk)
    shutil.rmtree(made.folder)
    made.refresh_from_db()
    assert made.state == State.REFUSED
    assert len(str(made.faults)) < 20_000
    for below in ("", "/state", "/report"):
        page = world.call("captain", "GET", f"/contests/submissions/{made.key}{below}")
        assert page.status == 200
        assert len(page.body) < 60_000
        assert "<script>alert" not in page.text
        assert "\u202e" not in page.text
        assert "\x1b" not in page.text


@pytest.mark.parametrize("where", [PAGE, OPERATION])
def test_too_many_files_or_fields_are_refused(world: World, where: str) -> None:
    before = files_of(world.folder)
    for given in ({f"f{n}": file(ROWS) for n in range(25)}, {f"f{n}": "x" for n in range(1000)}):
        found = submit(world, where, given)
        assert found.status in {400, 413}, found.text[:300]
    assert submit(world, where, {"x": "y" * 2_000_000}).status in {400, 413}
    assert files_of(world.folder) == before


BODY = (
    b'--b\r\nContent-Disposition: form-data; name="R"; filename="R.csv"\r\nContent-Type: text/csv\r\n\r\n'
    + ROWS
    + b"\r\n--b--\r\n"
)
BODIES: dict[str, tuple[bytes, str]] = {
    "no end": (BODY[:-8], "multipart/form-data; boundary=b"),
    "another boundary": (BODY, "multipart/form-data; boundary=other"),
    "no boundary": (BODY, "multipart/form-data"),
    "a long boundary": (BODY, "multipart/form-data; boundary=" + "b" * 5000),
    "an odd boundary": (BODY, "multipart/form-data; boundary=\u00e9"),
    "an odd charset": (BODY, "multipart/form-data; boundary=b; charset=no-such"),
    "no form at all": (b"\x00\xff" * 100, "application/octet-stream"),
    "wrong base64": (
        BODY.replace(b"text/csv", b"text/csv\r\nContent-Transfer-Encoding: base64"),
        "multipart/form-data; boundary=b",
    ),
    "a header without an end": (
        b"--b\r\nContent-Disposition: form-data; name=" + b"a" * 70_000,
        "multipart/form-data; boundary=b",
    ),
    "a name up": (BODY.replace(b"R.csv", b"../../../../etc/passwd"), "multipart/form-data; boundary=b"),
    "a NUL in the name": (BODY.replace(b'"R.csv"', b'"R\0.csv"'), "multipart/form-data; boundary=b"),
    "an empty name": (BODY.replace(b'"R.csv"', b'""'), "multipart/form-data; boundary=b"),
}


@pytest.mark.parametrize("where", [PAGE, OPERATION])
@pytest.mark.parametrize("name", BODIES)
def test_broken_body_is_no_fault_of_the_server(world: World, name: str, where: str) -> None:
    body, kind = BODIES[name]
    before = files_of(world.folder)
    client = Client(raise_request_exception=False)
    client.cookies["tokumei_session"] = world.sessions["captain"]
    headers = {"Authorization": f"Bearer {world.tokens['captain']}", "X-Upload": "1"}
    with taken_back():
        found = client.generic("POST", where, body, content_type=kind, headers=headers)
        assert found.status_code < 500, found.content[:300]
        made = Submission.objects.order_by("pk").last() if found.status_code in {200, 201} else None
        if made is not None:
            # A name that the sender chose is not the name on the disk.
            assert [path.name for path in made.folder.iterdir()] == ["R.csv"]
            shutil.rmtree(made.folder)
    assert files_of(world.folder) == before


@pytest.mark.parametrize("length", ["99999999999", str(65 * 1024 * 1024), "-5", "x", "", "\u00b2", "1e3"])
@pytest.mark.parametrize("where", [PAGE, OPERATION, "/login", "/nothing"])
def test_wrong_length_is_no_fault_of_the_server(world: World, where: str, length: str) -> None:
    found = world.call(
        "captain", "POST", where, BODY, content_type="multipart/form-data; boundary=b", CONTENT_LENGTH=length
    )
    assert found.status < 500
    if length.isdecimal() and int(length) > 64 * 1024 * 1024:
        assert found.status == 413


def test_bodies_in_passing_have_no_name(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever lists the folder while a body comes in finds nothing there, so that nothing can stay."""
    seen: list[int] = []
    real = tempfile.TemporaryFile

    def noted(*given: Any, **options: Any) -> Any:
        made = real(*given, **options)
        seen.append(len(files_of(world.folder)))
        return made

    before = len(files_of(world.folder))
    monkeypatch.setattr(tempfile, "TemporaryFile", noted)
    submit(world, PAGE, {"R": file(b"")})
    assert seen == [before]
