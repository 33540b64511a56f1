from __future__ import annotations

import functools
import os
from pathlib import Path

import pytest

from tokumei.core import progress
from tokumei.core.errors import InputError, UnknownPart
from tokumei_studies import running
from tokumei_studies.running import StudyOutcome, chosen_studies, missing_files, run_studies, run_study
from tokumei_studies.study import STUDIES, Findings, StudyLine, Verdict

TOY, SUCCESS = "knowledge-toy", "pwscup2017-success"
ATTACKERS = "knowledge-attackers"


@pytest.fixture
def bad_data(tmp_path: Path) -> Path:
    """A folder in which the history of 2016 is no history."""
    (tmp_path / "pwscup2016").mkdir()
    (tmp_path / "pwscup2016" / "T.csv.gz").write_bytes(b"not packed\n")
    return tmp_path


def test_chosen_studies_are_in_the_order_of_the_registry() -> None:
    assert chosen_studies([SUCCESS, TOY, TOY], is_all=False, is_quick=False) == [TOY, SUCCESS]
    assert chosen_studies([], is_all=True, is_quick=False) == list(STUDIES)


def test_quick_studies_are_those_that_say_so() -> None:
    quick = chosen_studies([], is_all=True, is_quick=True)
    assert quick == [name for name in STUDIES if STUDIES.get(name).is_quick]
    assert 0 < len(quick) < len(list(STUDIES))


@pytest.mark.parametrize(
    ("names", "is_all", "is_quick", "message"),
    [
        ([], False, False, "either the names of studies or --all"),
        ([TOY], True, False, "either the names of studies or --all"),
        ([TOY], False, True, "--quick together with --all"),
    ],
)
def test_choice_that_says_too_little_or_too_much_is_refused(
    names: list[str], is_all: bool, is_quick: bool, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        chosen_studies(names, is_all=is_all, is_quick=is_quick)


def test_unknown_study_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownPart, match=f"Did you mean '{TOY}'"):
        chosen_studies(["knowledge-toi"], is_all=False, is_quick=False)


def test_study_without_its_files_needs_data(tmp_path: Path) -> None:
    assert missing_files(ATTACKERS, None) == ("pwscup2016/T.csv.gz",)
    outcome = run_study(ATTACKERS, tmp_path)
    assert (outcome.missing, outcome.findings, outcome.verdict) == (
        ("pwscup2016/T.csv.gz",),
        None,
        Verdict.NEEDS_DATA,
    )


def test_study_without_needs_runs_without_data() -> None:
    outcome = run_study(SUCCESS, None)
    assert outcome.verdict is Verdict.HOLDS
    assert outcome.missing == ()


def test_error_of_a_study_is_its_outcome(bad_data: Path) -> None:
    outcome = run_study(ATTACKERS, bad_data)
    assert outcome.verdict is None
    assert outcome.error is not None
    assert outcome.error["error"] == "InputError"
    assert "T.csv.gz" in outcome.error["message"]


def test_folder_of_data_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder that exists"):
        run_studies([SUCCESS], tmp_path / "nowhere")


def test_studies_in_processes_find_what_they_find_here(bad_data: Path) -> None:
    names = [ATTACKERS, TOY, SUCCESS]
    finished: list[str] = []
    apart = run_studies(names, bad_data, jobs=2, finished=lambda outcome: finished.append(outcome.name))
    here = run_studies(names, bad_data, jobs=1)
    # In the order asked for, whichever was first, and the study that failed kept none from finishing.
    assert [outcome.name for outcome in apart] == names
    assert sorted(finished) == sorted(names)
    assert [(one.findings, one.error) for one in apart] == [(one.findings, one.error) for one in here]
    assert [one.verdict for one in apart] == [None, Verdict.DIFFERS, Verdict.HOLDS]


def test_processes_share_the_cores_and_leave_the_settings_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POLARS_MAX_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    with running._threads_for(2):
        assert os.environ["POLARS_MAX_THREADS"] == str(max(1, (os.cpu_count() or 1) // 2))
        assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "POLARS_MAX_THREADS" not in os.environ
    assert os.environ["OMP_NUM_THREADS"] == "7"


def test_study_whose_process_ends_is_an_error_of_that_study(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_die_silently", functools.partial(os._exit, 1))
    outcomes = run_studies([TOY, SUCCESS], None, jobs=2)
    for outcome in outcomes:
        assert outcome.error is not None
        assert "its process ended" in outcome.error["message"]


def test_progress_advances_once_for_each_study() -> None:
    class Counter:
        def __init__(self) -> None:
            self.done = 0.0

        def step(self, label: str, total: float | None) -> Counter:
            assert (label, total) == ("studies", 2)
            return self

        def __enter__(self) -> Counter:
            return self

        def __exit__(self, *_: object) -> None:
            return None

        def advance(self, amount: float = 1) -> None:
            self.done += amount

    counter = Counter()
    with progress.listening(counter):
        run_studies([TOY, SUCCESS], None)
    assert counter.done == 2


def test_what_stops_the_caller_stops_the_studies(bad_data: Path) -> None:
    def refuse(outcome: StudyOutcome) -> None:
        raise InputError.of("a disk that is not full", value=outcome.name)

    with pytest.raises(InputError, match="a disk that is not full"):
        run_studies([TOY, SUCCESS], None, jobs=2, finished=refuse)


def test_verdict_of_an_outcome_is_that_of_its_findings() -> None:
    assert StudyOutcome("a", Findings([StudyLine.near("k", 1, 2, within=0)])).verdict is Verdict.DIFFERS
    assert StudyOutcome("a", error={"error": "InputError", "message": "no"}).verdict is None
