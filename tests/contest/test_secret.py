"""A contest's key: committed to, never shown, and different for every purpose."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tokumei.contest.setting import Secret, public_digest
from tokumei.core.errors import InputError


def test_seeds_of_different_purposes_differ_and_stay_the_same() -> None:
    key = Secret.of_seed(1)
    seeds = [key.seed("publish", "a", 1), key.seed("publish", "a", 2), key.seed("publish", "a1"), key.seed("data")]
    assert len(set(seeds)) == 4
    assert seeds == [
        Secret.of_seed(1).seed(*p) for p in (("publish", "a", 1), ("publish", "a", 2), ("publish", "a1"), ("data",))
    ]
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_purposes_that_would_read_alike_when_joined_differ() -> None:
    key = Secret.of_seed(1)
    assert key.seed("ab", "c") != key.seed("a", "bc")


def test_fresh_keys_differ_and_no_word_of_them_shows() -> None:
    one, two = Secret.fresh(), Secret.fresh()
    assert one.key != two.key
    assert one.key.hex() not in repr(one)
    assert one.commitment not in (two.commitment, one.key.hex(), hashlib.sha256(one.key).hexdigest())


def test_digest_of_a_secret_file_cannot_be_tried_out_without_the_key(tmp_path: Path) -> None:
    path = tmp_path / "F.csv"
    path.write_text("truth")
    assert Secret.of_seed(1).digest(path) != Secret.of_seed(2).digest(path)
    assert Secret.of_seed(1).digest(path) != public_digest(path) == hashlib.sha256(b"truth").hexdigest()


def test_seal_holds_for_the_same_facts_and_key_alone() -> None:
    facts = {"score": {"utility": 0.5, "details": [1e16, -0.0]}, "target": "red"}
    seal = Secret.of_seed(1).seal(facts)
    # As PostgreSQL gives numbers back.
    assert Secret.of_seed(1).seal({"target": "red", "score": {"utility": 0.5, "details": [10**16, 0.0]}}) == seal
    assert Secret.of_seed(2).seal(facts) != seal
    assert Secret.of_seed(1).seal(facts | {"target": "blue"}) != seal
    assert Secret.of_seed(1).seal(facts | {"score": {"utility": 0.4, "details": [1e16, -0.0]}}) != seal


def test_key_read_back_is_the_key(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(Secret.of_seed(3).written())
    assert Secret.read(tmp_path / "key") == Secret.of_seed(3)


@pytest.mark.parametrize("text", ["", "xyz", "00ff"])
def test_key_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "key").write_text(text)
    with pytest.raises(InputError, match="64 hexadecimal digits"):
        Secret.read(tmp_path / "key")
