from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import tokumei as tk
from tokumei.cli.commands import TOKUMEI
from tokumei.core.errors import InputError
from tokumei.core.registry import part_options
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.hierarchies.files import item_hierarchy, level_of, roll_together, roll_up
from tokumei.methods.history.steps import RollUp
from tokumei.tasks.report_history import report_history, sweep_history

DRINKS = tk.Hierarchy.of_levels(
    "item", [["green tea", "black tea", "juice"], ["tea", "tea", "juices"], ["drinks", "drinks", "drinks"]]
)


def bought(*items: str) -> History:
    rows = {"customer": [f"c{n}" for n in range(len(items))], "date": ["2011-05-02"] * len(items), "item": list(items)}
    return History.of({**rows, "price": [1.0] * len(items), "quantity": [1] * len(items)})


def test_level_is_the_finest_that_has_all_items() -> None:
    assert level_of(bought("green tea", "juice"), DRINKS) == 0
    assert level_of(bought("tea"), DRINKS) == 1
    assert level_of(bought("drinks"), DRINKS) == 2
    with pytest.raises(InputError, match="coffee"):
        level_of(bought("green tea", "coffee"), DRINKS)


def test_both_sides_are_compared_at_the_coarser_level() -> None:
    known, seen = roll_together(bought("green tea", "juice"), bought("tea"), DRINKS)
    assert known.frame["item"].to_list() == ["tea", "juices"]
    assert seen.frame["item"].to_list() == ["tea"]
    known, seen = roll_together(bought("tea"), bought("black tea"), DRINKS)
    assert (known.frame["item"][0], seen.frame["item"][0]) == ("tea", "tea")
    assert roll_up(bought("drinks"), DRINKS, 1).frame["item"][0] == "drinks"


@pytest.fixture(scope="module")
def shop() -> History:
    return History.of(make_retail(25, n_rows=700, seed=4))


@pytest.fixture(scope="module")
def categories(shop: History, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that puts the items of the shop into departments by another letter than those that attackers look at."""
    items = shop.kept["item"].unique().sort().to_list()
    file = tmp_path_factory.mktemp("items") / "items.csv"
    lines = [f"{item};department {item[-1]};goods" for item in items]
    file.write_text("\n".join(lines) + "\n")
    return file


def test_roll_up_puts_categories_in_the_place_of_items(shop: History, categories: Path) -> None:
    release = tk.anonymize(shop, method="roll-up", hierarchy=categories, level=1, seed=1)
    assert set(release.frame["item"]) == {f"department {item[-1]}" for item in shop.kept["item"]}
    assert release.frame["price"].equals(shop.frame["price"])
    # Without a hierarchy the first characters are the category.
    assert RollUp().change(shop, seed=1).history.frame["item"].str.len_chars().max() == 2
    with pytest.raises(InputError, match="roll-up among the methods"):
        tk.anonymize(shop, method="pseudonyms", hierarchy=categories, seed=1)
    with pytest.raises(InputError, match="a level from 0 to 2"):
        tk.anonymize(shop, method="roll-up", hierarchy=categories, level=7, seed=1)


def test_attack_that_has_the_hierarchy_finds_who_one_without_it_misses(shop: History, categories: Path) -> None:
    release = tk.anonymize(shop, method="roll-up", hierarchy=categories, level=1, seed=1)
    known = shop.known(0.5, seed=1, item_characters=None)

    def found(attack: str, hierarchy: Path | None) -> float:
        success = tk.attack(known, release, attack, hierarchy=hierarchy).success
        assert success is not None
        return float(success["row"]["value"])

    assert found("tfidf", None) <= 0.1 < found("tfidf", categories)
    assert found("s4", None) == 0 < found("s4", categories)


def test_threats_know_categories_and_baskets_are_compared_at_the_level_of_the_release(
    shop: History, categories: Path
) -> None:
    release = tk.anonymize(shop, method="roll-up", hierarchy=categories, level=1, seed=1)
    told = tk.attack(shop, release, threat="rivals", attacks=["s6"], draws=1, hierarchy=categories)
    assert told.scores["s6"].value > 0
    assert told.inference is not None
    assert told.inference.value > 0


def test_sweep_and_report_roll_up_and_compare_at_the_level_of_the_release(
    shop: History, categories: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokumei.tasks.report_history.default_grid", lambda _: {})
    done = sweep_history(shop, hierarchy=categories, attacks=["s4"])
    # The top says nothing, so that one level is left.
    assert set(done.ways["name"]) == {f"items at level 1, pseudonyms of {n}" for n in ("1 month", "12 months")}
    assert (done.ways["found"] > 0).any()
    release = tk.anonymize(shop, method="roll-up", hierarchy=categories, seed=1)
    told = report_history(shop, release, knowledge=[50], attacks=["s4"], hierarchy={"item": categories}).to_dict()
    assert told["attacks"][0]["row"] > 0


def test_command_takes_the_hierarchy_as_tables_do(shop: History, categories: Path, tmp_path: Path) -> None:
    shop.frame.write_parquet(tmp_path / "T.parquet")
    files = [
        "--out",
        str(tmp_path / "A.csv"),
        "--published",
        str(tmp_path / "S.csv"),
        "--truth",
        str(tmp_path / "F.csv"),
    ]
    words = ["anonymize", "history", str(tmp_path / "T.parquet"), "--method", "roll-up", "--seed", "1", *files]
    done = CliRunner().invoke(TOKUMEI, [*words, "--hierarchy", f"item={categories}"])
    assert done.exit_code == 0, done.output
    assert pl.read_csv(tmp_path / "A.csv")["item"].str.starts_with("department").all()
    words = ["attack", "history", "tfidf", "--knowledge", str(tmp_path / "T.parquet"), "--release", files[3]]
    words += ["--truth", files[5], "--out", str(tmp_path / "G.csv"), "--hierarchy", f"item={categories}", "--json"]
    done = CliRunner().invoke(TOKUMEI, words)
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["success"]["row"]["value"] > 0.5
    assert "item=FILE" in str(CliRunner().invoke(TOKUMEI, [*words, "--hierarchy", "price=x.csv", "--force"]).exception)


def test_hierarchy_of_another_column_or_kind_is_refused() -> None:
    with pytest.raises(InputError, match="item=FILE"):
        item_hierarchy({"price": "x.csv"})
    with pytest.raises(InputError, match="a hierarchy or its file"):
        item_hierarchy(3)


def test_nobody_names_a_file_of_the_server_from_afar() -> None:
    [named] = [option for option in part_options(RollUp) if option.is_file]
    assert named.name == "hierarchy"


def test_option_of_the_command_is_no_option_of_the_method(tmp_path: Path) -> None:
    words = [
        "anonymize",
        "history",
        str(tmp_path / "T.csv"),
        "--method",
        "pseudonyms",
        "--out",
        str(tmp_path / "A.csv"),
    ]
    done = CliRunner().invoke(TOKUMEI, [*words, "--set", "seed=3"])
    assert isinstance(done.exception, InputError)
    assert "of the part, not of the command" in str(done.exception)
