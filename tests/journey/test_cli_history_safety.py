"""`tokumei measure safety` as a program uses it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.journey.commands import tokumei_here

# Each item has two buyers; b and c are bought together by customer 1 alone.
PURCHASES = [(1, "a"), (1, "b"), (1, "c"), (2, "a"), (2, "b"), (3, "a"), (3, "c")]


@pytest.fixture
def release(tmp_path: Path) -> Path:
    path = tmp_path / "A.csv"
    rows = [f"{customer},2011-01-01,{item},1.00,1" for customer, item in PURCHASES]
    path.write_text("\n".join(["customer,date,item,price,quantity", *rows]) + "\n")
    return path


def test_measure_names_the_rarest_combination_and_fails_with_1(
    release: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = tokumei_here(
        capsys, "measure", "safety", "km-anonymity", "--set", "k=2", "--set", "m=2", "--release", release
    )
    assert code == 1
    assert not found["holds"]
    assert found["score"]["value"] == 1
    assert sorted(found["score"]["inputs"]["rarest"]) == ["b", "c"]


def test_measure_of_what_holds_ends_with_0(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = tokumei_here(
        capsys, "measure", "safety", "km-anonymity", "--set", "k=2", "--set", "m=1", "--release", release
    )
    assert code == 0
    assert found["holds"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["km-anonimity"], "Did you mean 'km-anonymity'"),
        (["km-anonymity"], "the option 'k'"),
        (["km-anonymity", "--set", "k=2", "--set", "m=9"], "option m"),
        (["lkc-privacy", "--set", "l=1", "--set", "k=2", "--set", "c=0.5", "--set", "attribute=x"], "attribute"),
    ],
)
def test_bad_options_are_one_clear_error(
    release: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, found = tokumei_here(capsys, "measure", "safety", *arguments, "--release", release)
    assert code == 2
    assert message in found["message"]
