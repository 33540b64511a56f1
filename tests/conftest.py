"""What many tests need: the shared data, and engines that may be missing."""

from __future__ import annotations

import gc
import gzip
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from tests.cases import IN_EVERY_RUN, OF_MANY, VARIABLE
from tests.postgres_server import postgres_programs, postgres_server

Write = Callable[..., Path]
# What `make test-all` runs: tests that need a server of somebody else's or a browser, and those on real data.
SERVERS = {"spark_engine", "postgres_engine", "browser"}
REAL_DATA = {"known", "real", "studies"}
TESTS = Path(__file__).resolve().parent
SHARED = TESTS.parents[1] / "shared" / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let properties, definitions and promises be tried on many more cases than in every run."""
    parser.addoption("--many", action="store_true", help="Try properties and definitions on thousands of cases.")


def pytest_configure(config: pytest.Config) -> None:
    """Set how many cases to try before any test is read."""
    has_many = config.getoption("--many")
    if has_many:
        os.environ[VARIABLE] = "1"
    settings.register_profile(
        "tokumei",
        max_examples=OF_MANY if has_many else IN_EVERY_RUN,
        deadline=None,
        derandomize=bool(os.environ.get("CI")),
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("tokumei")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Read no tests on real data where none of them would run."""
    is_left_out = collection_path.parent == TESTS and collection_path.name in REAL_DATA
    return True if is_left_out and config.option.markexpr == "not thorough" else None


# First, so that `-m` knows the marks, and last, since Django's plugin puts all tests of its database at the front.
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Mark what needs much, and begin with slow files: other processes wait for what begins last."""
    for item in items:
        if SERVERS & set(getattr(item, "fixturenames", ())) or item.path.relative_to(TESTS).parts[0] in REAL_DATA:
            item.add_marker(pytest.mark.thorough)
    yield
    slow = {item.path for item in items for mark in ("slow", "thorough") if item.get_closest_marker(mark)}
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish() -> None:
    """Keep what was read until here out of the garbage collector's sight: none of it goes before the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def times(request: pytest.FixtureRequest) -> int:
    """How many times as many random cases to try as usual."""
    return 20 if request.config.getoption("--many") else 1


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real data beside the checkout; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"the shared data is not at {SHARED}")
    return SHARED


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes bytes or text to a file of the test's own folder."""

    def write_file(content: bytes | str, name: str = "file.csv") -> Path:
        data = content.encode("utf-8") if isinstance(content, str) else content
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write_file


@pytest.fixture(scope="session")
def spark_engine() -> str:
    """The name of the Spark engine; skips without Java or PySpark."""
    pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    # To compile a second time what runs for seconds costs more than it saves, and so do threads that collect.
    os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    return "spark"


@pytest.fixture(scope="session")
def postgres_engine() -> Iterator[str]:
    """The address of a PostgreSQL server started for these tests; skips where none is installed."""
    pytest.importorskip("psycopg", reason="the extra 'engine' is not installed")
    programs = postgres_programs()
    if programs is None:
        pytest.skip("PostgreSQL's initdb is not installed")
    with postgres_server(programs) as address:
        yield address


# A page comes in a moment; a machine that has much else to do may take a hundred times as long.
BROWSER_MILLISECONDS = 180_000


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's chromium without a window, one for each process of tests; skips where it is not installed."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    from playwright.sync_api import sync_playwright

    # Playwright keeps an event loop in this thread, in which Django would refuse to touch the database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        new_context = running.new_context

        def patient_context(**options: Any) -> Any:
            context = new_context(**options)
            context.set_default_timeout(BROWSER_MILLISECONDS)
            return context

        running.new_context = patient_context  # type: ignore[method-assign]
        yield running
        running.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]
