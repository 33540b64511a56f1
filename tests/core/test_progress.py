from collections.abc import Iterator
from contextlib import contextmanager

from tokumei.core.progress import Bar, listening, step


class Recorder:
    """A listener that remembers what it heard."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, float | None, float]] = []

    @contextmanager
    def step(self, label: str, total: float | None) -> Iterator[Bar]:
        recorder = self

        class Recording:
            def advance(self, amount: float = 1) -> None:
                recorder.heard.append((label, total, amount))

        yield Recording()


def test_step_without_a_listener_is_silent() -> None:
    with step("work", 2) as bar:
        assert bar.advance() is None  # type: ignore[func-returns-value]


def test_step_reports_to_the_listener_only_while_it_listens() -> None:
    recorder = Recorder()
    with listening(recorder), step("work", 3) as bar:
        bar.advance()
        bar.advance(2)
    with step("later", 1) as bar:
        bar.advance()
    assert recorder.heard == [("work", 3, 1), ("work", 3, 2)]
