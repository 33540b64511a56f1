from __future__ import annotations

import json

import polars as pl
import pytest

from tokumei.data.release import Recipe, Release

VERSIONS = {"tokumei": "0.1.0"}


def test_recipe_goes_into_json() -> None:
    recipe = Recipe("mondrian", {"k": 5}, seed=1, versions=VERSIONS)
    assert json.loads(json.dumps(recipe.as_dict())) == {
        "method": "mondrian",
        "options": {"k": 5},
        "seed": 1,
        "versions": VERSIONS,
    }


def test_release_keeps_the_rows_it_came_from() -> None:
    release = Release(pl.DataFrame({"a": [1, 2]}), Recipe("none", {}, versions=VERSIONS), rows=pl.Series([1, 0]))
    assert release.rows is not None
    assert release.rows.to_list() == [1, 0]
    assert dict(release.mapping) == {}


def test_release_with_too_few_rows_named_is_refused() -> None:
    with pytest.raises(ValueError, match="one original row for each released row"):
        Release(pl.DataFrame({"a": [1, 2]}), Recipe("none", {}, versions=VERSIONS), rows=pl.Series([0]))
