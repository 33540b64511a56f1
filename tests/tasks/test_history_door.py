"""What one types in a notebook about a history."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from tests.journey.commands import tokumei_json

import tokumei as tk
from tokumei.contest.editions.pwscup2017.files import read_history
from tokumei.data.made_retail import make_retail
from tokumei.tasks.attack_history import judge_files
from tokumei.tasks.report_history import ABOVE_ONE

# Takes any call, of which some here are wrong on purpose.
door: Any = tk
COLUMNS = {"customer": "household", "date": "when", "item": "product", "price": "paid", "quantity": "n"}


@pytest.fixture(scope="module")
def shop() -> pd.DataFrame:
    """A made shop of 12 households with columns of its own names."""
    days = pd.date_range("2011-01-01", periods=120, freq="D")
    rows = [
        {
            "household": n % 12,
            "when": days[(n * 7) % 120],
            "product": f"P{n * n % 17}",
            "paid": 1 + n % 9,
            "n": 1 + n % 3,
        }
        for n in range(360)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(("form", "n_months"), [("table", 3), ("pwscup2017", 12)])
def test_attack_in_python_and_judge_of_its_files_print_the_same_digits(
    tmp_path: Path, form: str, n_months: int
) -> None:
    # The one purchase of March, of an item that nobody else buys, is deleted: nobody has a pseudonym there.
    lines = [f"{n % 4},0,2011/{1 + n % 2}/{1 + n % 9},9:00,A{n % 3},1.5,{1 + n % 3}" for n in range(24)]
    (tmp_path / "T.csv").write_text("\n".join([*lines, "1,0,2011/3/5,9:00,Z9,1.5,1"]) + "\n")
    h = read_history(tmp_path / "T.csv")
    steps = {"step": [{"method": "delete", "price_deviations": 0.0}, {"method": "pseudonyms", "lifetime": 1}]}
    a = tk.anonymize(h, pipeline=steps, seed=1, form=form)
    assert a.facts["released"] == 24
    files = {name: tmp_path / f"{name}.csv" for name in ("out", "published", "truth", "guess")}
    a.save(files["out"], published=files["published"], truth=files["truth"])
    found = tk.attack(h.known(0.5, seed=1), a, "s1")
    found.write(files["guess"], a.form)
    judged = judge_files(files["guess"], files["truth"], files["published"]).to_dict()
    assert found.success is not None
    assert {name: judged[name] for name in found.success} == found.success
    assert found.success["cell"]["inputs"]["cells"] == n_months * 4
    assert found.success["month"]["inputs"]["months"] <= 2 * 4


def test_example_of_the_readme_runs_as_written(
    shop: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    h = tk.History(shop, customer="household", date="when", item="product", price="paid", quantity="n")
    a = tk.anonymize(h, method="pseudonyms", lifetime=1, seed=1)
    assert isinstance(a.frame, pd.DataFrame)
    assert repr(a) == "HistoryRelease(360 rows, 360 released, by pseudonyms, 12 customers, 48 pseudonyms)"
    found = tk.attack(h.known(0.25, seed=1), a, "linkage")
    assert found.success is not None
    assert 0 <= found.success["row"]["value"] <= 1
    assert set(found.success) == {"found", "row", "cell", "month", "pseudonym", "transaction"}
    lost = tk.measure(h, a)
    assert lost.scores["rows"].value == 0
    assert "crosstab" in lost.left_out
    swept = tk.sweep(h, attacks=["s1"], grid={"one": {"step": [{"method": "pseudonyms", "lifetime": 12}]}})
    assert swept.to_frame().columns[0] == "way"
    attackers = tk.knowledge(h).to_dict()["attackers"]
    assert not all(one["theory_is_a_chance"] for one in attackers)
    assert all(one["theory_is_a_chance"] == (one["theory"] <= 1) for one in attackers)
    a.save("out.parquet")
    tk.report(a, "out.html", attacks=["s1"])
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "of the purchases not known, " in page.lower()
    with pytest.raises(door.errors.InputError, match="en, in which pages of histories are"):
        tk.report(a, "ja.html", language="ja")  # type: ignore[call-overload]
    for result in (a, found, lost, swept):
        assert "<table" in result._repr_html_()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda shop: door.History(shop, customer="houshold", date="when"), "such as household"),
        (lambda shop: door.History(shop, customer="household"), "column date: .*date=NAME .*when"),
        (lambda shop: door.History(shop, **COLUMNS, foo=1), "found 'foo', expected an option of History"),
        (lambda shop: door.History(shop, **COLUMNS, encoding="utf-8"), "a file, which is read so"),
        (lambda shop: door.History("no such file.csv"), "no such file.csv: expected a file that exists"),
        (
            lambda shop: door.History(shop.assign(when="31/12/2011"), **COLUMNS),
            "line 1, column when: found '31/12/2011'",
        ),
        (lambda shop: door.History(shop.assign(when=shop.when.where(shop.n > 1)), **COLUMNS), "a date in every row"),
        (
            lambda shop: door.History(shop.assign(paid="dear"), **COLUMNS),
            "column paid: found 'dear', expected a pr",
        ),
        (lambda shop: door.History(shop, **COLUMNS).known(25, seed=1), "found '25', expected a share from 0 to 1"),
        (lambda shop: door.attack(visits(shop), visits(shop), "jaccard"), "the column item, which jaccard needs"),
        (lambda shop: door.attack(visits(shop), visits(shop), ["s1", "s2"]), "one attack on histories by its name"),
        (lambda shop: door.attack(visits(shop), visits(shop), "linkag"), "Did you mean 'linkage'"),
        (lambda shop: door.attack(shop, visits(shop)), "pandas.* expected a tk.Table or a tk.History"),
        (lambda shop: door.anonymize(visits(shop)), "either a method, as method='pseudonyms', or a pipeline"),
        (lambda shop: door.anonymize(visits(shop), method="pseudonym"), "pseudonyms"),
        (lambda shop: door.anonymize(visits(shop), method=["perturb", "pseudonyms"]), "one method for histories"),
        (lambda shop: door.anonymize(visits(shop), method="pseudonyms", lifetme=1), "'lifetime'"),
        (lambda shop: door.anonymize(visits(shop), method="pseudonyms", lifetime="x"), "lifetime: found 'x'"),
        (
            lambda shop: door.sweep(visits(shop), attack=["s1"]),
            "found 'attack', expected an option of sweep: 'attacks'",
        ),
        (lambda shop: door.knowledge(visits(shop), weight="nope"), "expected one of usual, baskets, rows"),
        (lambda shop: door.audit(visits(shop)), "found 'a tk.History', expected a tk.Table"),
        (lambda shop: door.measure(visits(shop)), "expected an original and its release, as tk.measure"),
    ],
)
def test_natural_wrong_call_gets_one_clear_error(shop: pd.DataFrame, call: Any, message: str) -> None:
    with pytest.raises(tk.errors.TokumeiError, match=message):
        call(shop)


def visits(shop: pd.DataFrame) -> tk.History:
    return tk.History(shop, customer="household", date="when")


def test_history_is_the_same_from_a_frame_a_file_and_columns_without_names(shop: pd.DataFrame, tmp_path: Path) -> None:
    whole = tk.History(shop, **COLUMNS)
    shop.to_csv(tmp_path / "shop.csv", index=False, sep=";", encoding="utf-16")
    from_file = tk.History(tmp_path / "shop.csv", **COLUMNS, delimiter=";", encoding="utf-16")
    numbered: dict[str, Any] = dict(zip(COLUMNS, range(5), strict=True))
    for other in (from_file, tk.History(shop.set_axis(range(5), axis=1), **numbered)):
        assert other.frame.equals(whole.frame)
    assert repr(whole) == "History(360 rows, 12 customers, no invoice, time)"
    assert "<table" in whole._repr_html_()
    assert len(whole) == 360


def test_release_of_a_history_may_stand_alone(shop: pd.DataFrame) -> None:
    h = tk.History(shop, **COLUMNS)
    a = tk.anonymize(h, method="pseudonyms", lifetime=1, seed=1)
    assert tk.measure(a, measures=["rows"]).scores == tk.measure(h, a, ["rows"]).scores
    assert tk.attack(a, attack="s1").success == tk.attack(h, a, "s1").success


def test_theory_above_one_is_shown_as_no_chance_with_a_word_why() -> None:
    rows = [("a", 1, "x", 1.0, 1), ("a", 2, "y", 2.0, 1), ("b", 3, "x", 3.0, 2), ("c", 4, "z", 4.0, 1)]
    frame = pl.DataFrame(rows, schema=["customer", "day", "item", "price", "quantity"], orient="row")
    found = tk.knowledge(
        tk.History(frame.select("customer", "item", "price", "quantity", date=pl.date(2020, 1, "day")))
    )
    above = [one for one in found.to_dict()["attackers"] if one["theory"] > 1]
    # By the formula three, which no chance is; measured, everybody is found.
    assert above
    assert {one["theory"] for one in above} == {3.0}
    assert not any(one["theory_is_a_chance"] for one in above)
    assert all(one["measured"] <= 1 for one in above)
    shown = " ".join(str(vars(section)) for section in found.sections())
    assert shown.count("above 1: no chance") == len(above)
    assert ABOVE_ONE in shown


def test_generalized_release_says_which_ranges_it_has_and_what_tight_ones_give_away(tmp_path: Path) -> None:
    shop = tk.History(make_retail(12, seed=1))
    grid = tk.anonymize(shop, method="generalize", k=2, seed=1)
    tight = tk.anonymize(shop, method="generalize", k=2, seed=1, ranges="tight")
    assert (grid.facts["ranges"], tight.facts["ranges"]) == ("grid", "tight")
    assert grid.recipe.options["steps"][-1]["options"]["ranges"] == "grid"
    assert len(grid.sections()) == 1
    assert "both ends of each range" in str(tight.sections()[-1])
    # A pipeline that says nothing of ranges runs as before and says which it made.
    pipeline = {"seed": 1, "step": [{"method": "generalize", "k": 2}]}
    assert tk.anonymize(shop, pipeline=pipeline).facts["ranges"] == "grid"
    alone = {}
    for name, release in {"grid": grid, "tight": tight}.items():
        found = tk.attack(shop, release, "generalized")
        alone[name] = found.to_dict()["singled_out"]
        assert "fits exactly one purchase" in str(found.sections()[1])
        release.save(tmp_path / f"{name}.csv")
        words = ["attack", "history", "generalized", "--knowledge", tmp_path / "T.parquet", "--release"]
        shop.frame.write_parquet(tmp_path / "T.parquet")
        seen = tokumei_json(*words, tmp_path / f"{name}.csv", "--out", tmp_path / f"{name}-guesses.csv")
        assert seen["singled_out"] == pytest.approx(alone[name])
    assert alone["tight"]["occurs"] == 1
    assert alone["grid"]["occurs"] < 0.6
    assert alone["tight"]["end"] > 2 * alone["grid"]["end"]
    assert alone["grid"]["end"] < alone["grid"]["anywhere"] + 0.1
