"""What every anonymizer of tables must keep, whoever wrote it."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tests.releases import release_of

from tokumei.core.registry import part_options
from tokumei.data.release import Release
from tokumei.engines.count import count_classes
from tokumei.hierarchies.builders.from_data import FromData
from tokumei.measures.requirement import SAFETY
from tokumei.methods.recipes import Goal
from tokumei.methods.registry import TABLE_ANONYMIZERS, Perturber

N_ROWS = 120
QUASI_IDENTIFIERS = ["age", "city", "sex"]
PEOPLE = pl.DataFrame(
    {
        "name": [f"person {number}" for number in range(N_ROWS)],
        "age": [20 + number * 7 % 50 for number in range(N_ROWS)],
        "city": [["Kyoto", "Osaka", "Tokyo", "Chiba"][number * number % 4] for number in range(N_ROWS)],
        "sex": ["f" if number % 3 else "m" for number in range(N_ROWS)],
        "illness": [["flu", "cold", "none"][number % 3] for number in range(N_ROWS)],
    }
)
# All but the one that needs a table of the user's for two columns: tests/methods/test_marginal_recoding.py tries it.
RUNNABLE = [name for name in TABLE_ANONYMIZERS if name != "marginal-recoding"]
# What may occur in a column without a hierarchy is declared to those who must not look.
OPTIONS: dict[str, dict[str, Any]] = {name: {"domain": ("illness=flu|cold|none",)} for name in ("aim", "mst")}
# Rows like these are given away by whatever is drawn from them: the audit has tests of its own.
for name in ("aim", "copula", "mst", "sequential-trees"):
    OPTIONS[name] = {**OPTIONS.get(name, {}), "hold_out": 0, "anyway": True}
HIERARCHIES = {column: FromData().build(column, PEOPLE[column]) for column in QUASI_IDENTIFIERS}


def release_by(name: str, seed: int = 1) -> Release:
    method = TABLE_ANONYMIZERS.make(name, **OPTIONS.get(name, {}))
    is_changer = isinstance(method, Perturber)
    asked = [] if is_changer else [SAFETY.make("k-anonymity", k=3)]
    goal = Goal(asked, method=method, numeric=["age"], suppression=0.0 if is_changer else 0.1)
    return release_of(PEOPLE, HIERARCHIES, goal, keep=["illness"], seed=seed, reproducible=True)


@pytest.mark.parametrize("name", RUNNABLE)
def test_anonymizer_same_seed_same_release_and_input_untouched(name: str) -> None:
    before = PEOPLE.clone()
    one, again = release_by(name), release_by(name)
    assert one.frame.equals(again.frame)
    # Two entries of a budget are two, though they be equal in all else.
    alike = [{name: value for name, value in made.recipe.options.items() if name != "chain"} for made in (one, again)]
    assert alike[0] == alike[1]
    assert one.recipe.seed == again.recipe.seed
    assert PEOPLE.equals(before)
    assert one.recipe.method == name


@pytest.mark.parametrize("name", RUNNABLE)
def test_anonymizer_releases_no_column_that_was_not_declared_and_keeps_the_others(name: str) -> None:
    release = release_by(name)
    assert "name" not in release.frame.columns
    if release.rows is not None:
        assert release.frame.columns == [*QUASI_IDENTIFIERS, "illness"]
        assert release.frame["illness"].equals(PEOPLE["illness"].gather(release.rows))
        assert release.rows.n_unique() == release.frame.height


@pytest.mark.parametrize("name", RUNNABLE)
def test_anonymizer_that_was_asked_for_k_keeps_it(name: str) -> None:
    if isinstance(TABLE_ANONYMIZERS.make(name), Perturber):
        pytest.skip("changes values at random and is asked for nothing")
    counts = count_classes(release_by(name).frame, QUASI_IDENTIFIERS)
    assert counts.k >= 3
    assert counts.n_rows >= 0.9 * N_ROWS


@pytest.mark.parametrize("name", list(TABLE_ANONYMIZERS))
def test_text_of_an_anonymizer_has_a_paragraph_and_an_example(name: str) -> None:
    text = TABLE_ANONYMIZERS.get(name).__doc__ or ""
    assert len(text.split("\n\n")) >= 3
    assert "Example: " in text


@pytest.mark.parametrize("name", list(TABLE_ANONYMIZERS))
def test_every_option_has_a_help_text_and_a_default(name: str) -> None:
    for option in part_options(TABLE_ANONYMIZERS.get(name)):
        assert option.help, option.name
        assert not option.is_required, option.name
