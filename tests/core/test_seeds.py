import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.core.seeds import LARGEST_SEED, fresh_seed, generator, key_of, words_of_rows


def test_generator_with_the_same_seed_gives_the_same_numbers() -> None:
    assert generator(7, "a").integers(0, 10**9, 5).tolist() == generator(7, "a").integers(0, 10**9, 5).tolist()


def test_generator_numbers_are_the_same_on_every_machine() -> None:
    assert generator(7, "a").integers(0, 1000, 5).tolist() == [32, 236, 62, 110, 221]


def test_generators_of_different_purposes_differ() -> None:
    assert generator(7, "a").integers(0, 10**9) != generator(7, "b").integers(0, 10**9)


@pytest.mark.parametrize("seed", [-1, LARGEST_SEED + 1, 1.5, True])
def test_generator_refuses_what_is_no_seed(seed: int) -> None:
    with pytest.raises(InputError, match="whole number"):
        generator(seed)


def test_fresh_seeds_are_seeds_and_differ() -> None:
    first, second = fresh_seed(), fresh_seed()
    assert first != second
    assert 0 <= first <= LARGEST_SEED


@given(st.integers(0, LARGEST_SEED), st.sampled_from([0, 7, 95, 99_990, 10**18 - 3]), st.integers(0, 30))
def test_draws_of_rows_are_the_md5_of_key_and_number(seed: int, first: int, n_rows: int) -> None:
    key = key_of(seed, "pram")
    digits = [
        hashlib.md5(f"{key}{row}".encode(), usedforsecurity=False).hexdigest() for row in range(first, first + n_rows)
    ]
    wanted = [[int(one[at : at + 8], 16) for one in digits] for at in range(0, 32, 8)]
    assert words_of_rows(key, n_rows, first).tolist() == wanted
