"""What every attack and measure of tables must keep, whoever wrote it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tokumei.attacks.registry import TABLE_ATTACKS
from tokumei.core.registry import part_options
from tokumei.core.seeds import generator
from tokumei.data.made_survey import QUASI_IDENTIFIERS, make_survey
from tokumei.data.table import Table
from tokumei.measures.registry import TABLE_UTILITIES, Sees

N_ROWS = 80
ROWS = pl.Series(generator(1, "rows").permutation(N_ROWS)[:60])


def table(frame: pl.DataFrame) -> Table:
    sensitive = [name for name in frame.columns if name not in QUASI_IDENTIFIERS]
    return Table.with_quasi_identifiers(frame, QUASI_IDENTIFIERS, sensitive=sensitive)


@pytest.fixture(scope="module")
def original() -> Table:
    return table(make_survey(N_ROWS, seed=1))


@pytest.fixture(scope="module")
def released(original: Table) -> Table:
    """Sixty of the rows: amounts with noise, one code exchanged among all."""
    rng = generator(2, "noise")
    frame = original.frame[ROWS]
    noisy = [(frame[name] * pl.Series(rng.uniform(0.8, 1.2, 60))).alias(name) for name in original.sensitive]
    return table(frame.with_columns(*noisy, region=frame["region"].gather(rng.permutation(60))))


@pytest.mark.parametrize("name", list(TABLE_UTILITIES))
def test_utility_of_an_untouched_table_is_best(original: Table, name: str) -> None:
    score = TABLE_UTILITIES.make(name).measure(original, original, pl.Series(range(N_ROWS)))
    assert score.value == score.best
    assert score.name == name


@pytest.mark.parametrize("name", list(TABLE_UTILITIES))
def test_utility_does_not_depend_on_the_order_of_rows_and_leaves_tables_alone(
    original: Table, released: Table, name: str
) -> None:
    before = original.frame.clone(), released.frame.clone(), ROWS.clone()
    measure = TABLE_UTILITIES.make(name)
    score = measure.measure(original, released, ROWS)
    order, own_order = generator(3).permutation(60), generator(4).permutation(N_ROWS)
    moved = pl.Series(np.argsort(own_order)[ROWS.to_numpy()[order]])
    assert measure.measure(table(original.frame[own_order]), table(released.frame[order]), moved) == score
    assert original.frame.equals(before[0])
    assert released.frame.equals(before[1])
    assert ROWS.equals(before[2])


@pytest.mark.parametrize("name", list(TABLE_UTILITIES))
def test_utility_looks_at_no_more_than_it_says(original: Table, released: Table, name: str) -> None:
    measure = TABLE_UTILITIES.make(name)
    score = measure.measure(original, released, ROWS).value
    # Several, as a score that stops at its best end may stop there for one of them on some machine.
    by_rows = [measure.measure(original, released, ROWS.shuffle(seed=seed)).value for seed in range(4)]
    is_same = [value == score for value in by_rows]
    assert not all(is_same) if measure.sees is Sees.ROWS else all(is_same)
    by_original = [
        measure.measure(table(make_survey(N_ROWS, seed=seed)), released, ROWS).value for seed in range(7, 11)
    ]
    is_same = [value == score for value in by_original]
    assert all(is_same) if measure.sees is Sees.RELEASE else not all(is_same)


@pytest.mark.parametrize("name", list(TABLE_ATTACKS))
def test_attack_guesses_a_row_or_none_for_each_and_leaves_tables_alone(
    original: Table, released: Table, name: str
) -> None:
    before = original.frame.clone(), released.frame.clone()
    guess, again = (TABLE_ATTACKS.make(name).guess(original, released, seed=1) for _ in range(2))
    assert len(guess) == 60
    assert guess.equals(again)
    assert guess.drop_nulls().is_between(0, N_ROWS - 1).all()
    assert original.frame.equals(before[0])
    assert released.frame.equals(before[1])


@pytest.mark.parametrize("name", list(TABLE_ATTACKS))
def test_attack_finds_people_in_an_untouched_table_of_people_who_differ(name: str) -> None:
    frame = make_survey(N_ROWS, seed=1)
    # Everybody has traits and amounts of their own.
    apart = frame.with_columns(region=pl.Series(range(N_ROWS)), medical=pl.Series(range(N_ROWS)) * 100_000)
    rows = generator(5).permutation(N_ROWS)
    guess = TABLE_ATTACKS.make(name).guess(table(apart), table(apart[rows]), seed=1)
    assert guess.to_list() == rows.tolist()


@pytest.mark.parametrize("registry", [TABLE_ATTACKS, TABLE_UTILITIES], ids=lambda registry: str(registry.kind))
def test_every_option_has_a_help_text(registry: object) -> None:
    assert registry in (TABLE_ATTACKS, TABLE_UTILITIES)
    for name in TABLE_ATTACKS if registry is TABLE_ATTACKS else TABLE_UTILITIES:
        part = TABLE_ATTACKS.get(name) if registry is TABLE_ATTACKS else TABLE_UTILITIES.get(name)
        assert all(option.help for option in part_options(part)), name
