"""Next month's offer, whatever became of its columns: the same people are known again, and others are not."""

from __future__ import annotations

import os
import shutil
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.exchange.people import AGE, CELLS, LATTICE, SEX, TOWN, people
from tests.exchange.test_attacks import opened

from tokumei.core.errors import CannotAnonymize, NotAllowed
from tokumei.data.files.keys import PrivateKey
from tokumei.exchange.counted_table import CountedTable
from tokumei.exchange.same_people import HashedTable, chance_of, hashed, likeness
from tokumei.exchange.sources import MOST_EPSILON, SourceRegistry, place_of
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice

KEY = b"k" * 32
RENAMED = Lattice.of(
    [
        Hierarchy.of_levels(new, [list(old.leaves), ["*"] * len(old.leaves)])
        for new, old in (("alter", AGE), ("geschlecht", SEX), ("ort", TOWN))
    ]
)
RECODED = Lattice.of(
    [
        Hierarchy.of_levels(
            old.attribute, [[f"code {n}" + old.attribute for n in range(len(old.leaves))], ["*"] * len(old.leaves)]
        )
        for old in (AGE, SEX, TOWN)
    ]
)
COARSE = Lattice.of([Hierarchy.of_levels("age", [["x", "y"], ["*"] * 2]), SEX, TOWN])


def town_of(seed: int, n_rows: int, draw: int) -> pl.DataFrame:
    """Draw people of one town; other draws are other people of the same town."""
    shares = np.random.default_rng(seed).dirichlet([0.7] * len(CELLS))
    drawn = np.random.default_rng([seed, draw]).choice(len(CELLS), n_rows, p=shares)
    return pl.DataFrame([CELLS[each] for each in drawn], schema=["age", "sex", "town"], orient="row")


def print_of(frame: pl.DataFrame, lattice: Lattice = LATTICE) -> HashedTable:
    return hashed(CountedTable(lattice, frame), KEY)


def changed(frame: pl.DataFrame, how: str) -> HashedTable:
    """Return next month's table: a newcomer more, and whatever else became of it."""
    grown = pl.concat([frame, frame.head(1)])
    if how == "renamed and in another order":
        columns = {"age": "alter", "sex": "geschlecht", "town": "ort"}
        return print_of(grown.rename(columns).select("ort", "alter", "geschlecht"), RENAMED)
    if how == "recoded":
        codes = [
            pl.col(old.attribute).replace(dict(zip(old.leaves, new.leaves, strict=True)))
            for old, new in zip(LATTICE.hierarchies, RECODED.hierarchies, strict=True)
        ]
        return print_of(grown.with_columns(codes), RECODED)
    if how == "in bands":
        return print_of(
            grown.with_columns(age=pl.col("age").replace(dict(zip("123456", "xxxyyy", strict=True)))), COARSE
        )
    if how == "one value in another band":
        moved = Hierarchy.of_levels("age", [list("123456"), list("aaabcc"), ["*"] * 6])
        return print_of(grown, Lattice.of([moved, SEX, TOWN]))
    if how == "two columns":
        return print_of(grown.select("age", "town"), Lattice.of([AGE, TOWN]))
    if how == "a fifth more":
        return print_of(pl.concat([frame, town_of(1, frame.height // 5, 9)]))
    return print_of(
        {"women": frame.filter(sex="f"), "half": frame.sample(fraction=0.5, seed=1), "as it is": grown}[how]
    )


HOW = [
    "one value in another band",
    "as it is",
    "renamed and in another order",
    "recoded",
    "in bands",
    "two columns",
    "a fifth more",
    "women",
    "half",
]


@pytest.mark.parametrize("how", HOW)
def test_the_same_people_are_known_again_however_their_table_was_changed(how: str) -> None:
    frame = town_of(1, 2_000, 0)
    assert likeness(print_of(frame), changed(frame, how)).is_same
    assert likeness(changed(frame, how), print_of(frame)).is_same


@pytest.mark.parametrize("how", ["as it is", "renamed and in another order", "in bands", "two columns"])
def test_other_people_of_the_same_town_are_not_taken_for_them(how: str) -> None:
    n_wrong = sum(
        likeness(print_of(town_of(seed, 400, 0)), changed(town_of(seed, 400, 1), how)).is_same for seed in range(30)
    )
    assert n_wrong == 0


def test_the_chance_of_close_counts_is_worked_out_by_hand() -> None:
    # Of 100 and 100: (52 − 48)² / 100 + (48 − 52)² / 100 = 0.32, which χ² with one degree stays below 43 times of 100.
    found = chance_of(np.array([52, 48]), np.array([48, 52]))
    assert found == pytest.approx(0.4284, abs=1e-4)
    assert chance_of(np.array([500] * 30), np.array([500] * 29 + [501])) < 1e-20
    assert chance_of(np.array([7]), np.array([7])) == 1


def test_values_are_the_same_however_their_letters_are_written() -> None:
    place = Lattice.of([Hierarchy.of_levels("ort", [["Köln", "Ｔｏｋｙｏ", "Bonn"], ["*"] * 3])])
    frame = pl.DataFrame({"ort": ["Köln"] * 30 + ["Ｔｏｋｙｏ"] * 20 + ["Bonn"] * 10})
    apart = unicodedata.normalize("NFD", "Köln")
    other = Lattice.of([Hierarchy.of_levels("ort", [[apart, "tokyo", "BONN "], ["*"] * 3])])
    written = frame.with_columns(pl.col("ort").replace({"Köln": apart, "Ｔｏｋｙｏ": "tokyo", "Bonn": "BONN "}))
    assert likeness(print_of(frame, place), print_of(written, other)).share == 1


def test_what_is_kept_of_a_table_can_be_read_again_and_names_nobody() -> None:
    kept = hashed(CountedTable(LATTICE, people(200, 3)), KEY, ["Alice", "Bob"])
    again = HashedTable.of_dict(kept.as_dict())
    assert likeness(kept, again).share == 1
    assert "Alice" not in str(kept.as_dict())
    other = hashed(CountedTable(LATTICE, people(200, 3)), b"z" * 32)
    assert not set(kept.levels[0][0]) & set(other.levels[0][0])


def offered(folder: Path, frame: pl.DataFrame, key: PrivateKey, name: str, **more: Any) -> Any:
    return opened(folder, frame, key, name, registry=SourceRegistry(folder / "sources", key), **more)


def test_an_offer_whose_desk_was_removed_is_not_forgotten(tmp_path: Path, key: PrivateKey) -> None:
    frame = people(500, 3)
    offered(tmp_path, frame, key, "desk")
    shutil.rmtree(tmp_path / "desk")
    with pytest.raises(NotAllowed, match="offered as 'people' already"):
        offered(tmp_path, pl.concat([frame, frame.head(1)]), key, "desk")


def test_an_attempt_that_was_cut_short_is_made_again(
    tmp_path: Path, key: PrivateKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = people(500, 3)
    with monkeypatch.context() as cut, pytest.raises(OSError, match="full"):
        cut.setattr("tokumei.exchange.opening.open_desk", _no_room)
        offered(tmp_path, frame, key, "desk")
    assert offered(tmp_path, frame, key, "desk").offer.name == "people"


def _no_room(*_given: object, **_more: object) -> None:
    raise OSError("full")


def test_another_name_for_a_file_is_the_same_place_and_what_is_written_over_it_is_not(tmp_path: Path) -> None:
    path, link = tmp_path / "people.csv", tmp_path / "link.csv"
    path.write_text("a\n1\n")
    link.hardlink_to(path)
    before = place_of(str(path))
    assert place_of(str(link)) == before
    # A file that is written over keeps its number.
    path.write_text("a\n2\n")
    os.utime(path, ns=(1, 1))
    assert place_of(str(path)) != before


def test_formulas_of_one_table_add_up_until_their_noise_hides_nobody(tmp_path: Path, key: PrivateKey) -> None:
    frame = people(2_000, 3)
    law = {"predictor": "power-law", "epsilon": 4.0}
    offered(tmp_path, frame, key, "one", **law)
    grown = pl.concat([frame, frame.head(1)])
    two = offered(tmp_path, grown, key, "two", **law)
    assert (two.before.epsilon, two.as_dict()["closed"]) == (4.0, [str(tmp_path / "one")])
    assert two.before.epsilon + 2 * 4.0 > MOST_EPSILON
    with pytest.raises(NotAllowed, match="published with ε = 8 in all"):
        offered(tmp_path, pl.concat([grown, frame.head(1)]), key, "three", **law)


def test_one_person_of_many_rows_is_not_taken_for_many(tmp_path: Path, key: PrivateKey) -> None:
    frame = people(300, 3).with_row_index("id").with_columns(id=pl.col("id") // 10)
    with pytest.raises(CannotAnonymize, match="30 people of id have several rows, up to 10"):
        opened(tmp_path, frame, key, person="id")
    assert not (tmp_path / "desk").exists()
