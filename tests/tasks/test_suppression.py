"""How many rows may be left out where nobody says: a few by methods that recode whole columns, none by others."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest
from tests.journey.commands import tokumei_here

import tokumei as tk
from tokumei.methods.registry import TABLE_ANONYMIZERS, LocalRecoder, TableSearch
from tokumei.platform.workbench.goal_form import GoalForm
from tokumei.tasks.goal import usual_suppression
from tokumei.tasks.request import DEFAULT_SUPPRESS, ReleaseRequest, request_fields

DRAW = random.Random(1)
# Two people are far older than all others, and one is of another town.
AGES = [DRAW.randint(20, 29) for _ in range(98)] + [81, 95]
FRAME = pl.DataFrame({"age": AGES, "town": ["Kyoto", "Osaka"] * 49 + ["Kyoto", "Nara"], "ill": ["flu", "cold"] * 50})
PEOPLE = tk.Table(FRAME, qi=["age", "town"], sensitive=["ill"])
WHOLE = sorted(
    name
    for name in TABLE_ANONYMIZERS
    if issubclass(TABLE_ANONYMIZERS.get(name), TableSearch) or name == "top-down-specialization"
)
OTHERS = ["mondrian", "min-dis", "mu-argus", "partition", "utility-clustering"]


@pytest.mark.parametrize("method", WHOLE)
def test_methods_of_whole_columns_leave_a_few_rows_out(method: str) -> None:
    made = tk.anonymize(PEOPLE, k=5, method=method, seed=1)
    stated = tk.anonymize(PEOPLE, k=5, method=method, suppress=DEFAULT_SUPPRESS, seed=1)
    assert made.table.equals(stated.table)
    assert made.to_dict()["may_suppress"] == DEFAULT_SUPPRESS
    assert made.recipe.options["suppression"] == DEFAULT_SUPPRESS
    assert 0 < made.n_suppressed <= made.n_may_suppress == 5
    assert tk.anonymize(PEOPLE, k=5, method=method, suppress=0, seed=1).n_suppressed == 0


@pytest.mark.parametrize("method", OTHERS)
def test_methods_that_recode_groups_leave_nobody_out(method: str) -> None:
    made = tk.anonymize(PEOPLE, k=5, method=method, seed=1)
    assert (made.n_suppressed, made.n_may_suppress, made.to_dict()["may_suppress"]) == (0, 0, 0)
    assert usual_suppression(TABLE_ANONYMIZERS.get(method)) == 0
    assert issubclass(TABLE_ANONYMIZERS.get(method), LocalRecoder)


def test_release_without_a_limit_is_of_use_and_says_what_was_left_out() -> None:
    made = tk.anonymize(FRAME, ["age", "town"], k=5)
    every = tk.anonymize(FRAME, ["age", "town"], k=5, suppress=0)
    assert made.loss is not None and every.loss is not None
    assert made.loss < 0.2 < every.loss
    assert repr(made).startswith(
        f"TableRelease({100 - made.n_suppressed} rows, {made.n_suppressed} left out (at most 5)"
    )
    assert (
        "As many rows as 5 % of the rows could be left out (5), the limit of the option suppress" in made._repr_html_()
    )
    assert "could be left out" not in every._repr_html_()


@pytest.mark.parametrize("method", ["incognito", "ola"])
def test_search_that_relies_on_coarser_nodes_leaves_nobody_out_where_that_would_break_it(method: str) -> None:
    assert tk.anonymize(PEOPLE, method=method, t_closeness={"ill": 0.5}).n_may_suppress == 0
    assert tk.anonymize(PEOPLE, method=method, k=5).n_may_suppress == 5
    assert tk.anonymize(PEOPLE, t_closeness={"ill": 0.5}).n_may_suppress == 5


def test_compare_gives_each_method_the_limit_that_it_has_alone() -> None:
    found = {one["method"]: one for one in tk.compare(PEOPLE, k=5).found}
    for method in ("optimal", "datafly", "top-down-specialization", "mondrian"):
        alone = tk.anonymize(PEOPLE, k=5, method=method)
        assert found[method]["may_suppress"] == alone.facts["may_suppress"]
        assert found[method]["suppressed"] == alone.n_suppressed


def test_every_door_has_the_same_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "people.csv", tmp_path / "out.csv"
    FRAME.write_csv(file)
    alone = tk.anonymize(tk.Table(file, qi=["age", "town"]), k=5)
    words = ["anonymize", "table", str(file), "--qi", "age,town", "--k", "5", "--force", "--out", str(out)]
    said = tokumei_here(capsys, *words)[1]
    assert (said["suppressed"], said["may_suppress"]) == (alone.n_suppressed, DEFAULT_SUPPRESS)
    nobody = tokumei_here(capsys, *words, "--suppress", "0")[1]
    assert (nobody["suppressed"], nobody["may_suppress"]) == (0, 0)
    roles = '[roles]\nage = "quasi-identifier"\ntown = "quasi-identifier"\n'
    job = tk.Job.of(f'[input]\nfile = "{file}"\n{roles}[requirements]\nk = 5\n')
    assert job.request("optimal", {}, 1).suppress is None
    done = tk.run(job, tmp_path / "dossier").to_dict()
    assert (done["suppressed"], done["may_suppress"]) == (alone.n_suppressed / 100, DEFAULT_SUPPRESS)
    page = (tmp_path / "dossier" / "report.html").read_text(encoding="utf-8")
    assert f"Left out are {alone.n_suppressed} rows" in page
    assert "At most 5 rows could be." in page
    assert GoalForm({"roles": dict(job.roles)})["suppress"].initial == 100 * DEFAULT_SUPPRESS
    assert GoalForm({"roles": dict(job.roles), "method": [{"name": "mondrian"}]})["suppress"].initial == 0


def test_limit_that_counts_where_nobody_says_stands_in_the_help() -> None:
    help_text = next(one.metadata["help"] for one in request_fields(ReleaseRequest) if one.name == "suppress")
    assert f"{DEFAULT_SUPPRESS:g} for methods that recode whole columns" in help_text


def test_attacker_who_knows_the_method_by_its_name_reckons_with_rows_left_out() -> None:
    for suppress in (None, 0):
        released = tk.Table(tk.anonymize(PEOPLE, k=5, suppress=suppress).table, qi=["age", "town"])
        found = tk.attack(released, attack="downcoding", method="optimal")
        assert found.to_dict()["deduced"]["downcoding"]["assumed"]["share_left_out"] == DEFAULT_SUPPRESS
        # That levels could not be finer follows only where nobody could be left out.
        assert found.claims.height == 0
    # Of four rows nobody can be.
    few = tk.Table({"age": ["20-29"] * 4}, qi=["age"], hierarchies={"age": tk.Hierarchy.intervals("age", [21, 28], 10)})
    assert tk.attack(few, attack="downcoding", method="optimal").claims["kind"].to_list() == ["not finer"]
