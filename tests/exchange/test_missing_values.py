"""Missing values where a level has one label: told apart in predictions, offers and proofs as in releases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.exchange.own_program import Out, Published, truth_of
from tests.exchange.people import SECRET, WORDS

from tokumei.core.seeds import generator
from tokumei.exchange.answer import Desk, answer
from tokumei.exchange.attack import attack
from tokumei.exchange.audit_log import disclosed
from tokumei.exchange.counted_table import CountedTable
from tokumei.exchange.documents import Criterion
from tokumei.exchange.offer import Offer, told_classes
from tokumei.exchange.offering import OfferTerms, make_offer, read_release
from tokumei.exchange.public_knowledge import CellSpace, PublishedCounts, cell_counts, merged_lattice
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.predictors.compare import compare, predictors_for
from tokumei.predictors.one_way import leaves_and_codes

TOWN = Hierarchy.of_levels("town", [["Kyoto", "Osaka", "Nara"], ["Japan"] * 3, ["*"] * 3])
SEX = Hierarchy.of_levels("sex", [["f", "m"], ["*"] * 2])
LATTICE = Lattice.of([TOWN, SEX])
JAPAN: Node = (1, 1)


def towns(kyoto: int = 128, osaka: int = 139, nara: int = 1, missing: int = 26) -> pl.DataFrame:
    """Make people of three towns and none, half of them women as far as that goes."""
    counted = {"Kyoto": kyoto, "Osaka": osaka, "Nara": nara, None: missing}
    named = [name for name, n_rows in counted.items() for _ in range(n_rows)]
    sexes = ["fm"[number % 2] for number in range(len(named))]
    return pl.DataFrame({"town": named, "sex": sexes}, schema={"town": pl.String, "sex": pl.String})


def offered(frame: pl.DataFrame, k: int = 6, predictor: str = "margins") -> tuple[Offer, CountedTable, str]:
    table = CountedTable(LATTICE, frame)
    offer, text = make_offer("p", WORDS, table, OfferTerms([Criterion("own", k)], predictor=predictor), SECRET)
    return offer, table, text


def test_leaves_and_codes_fold_missing_values_only_where_nothing_is_said() -> None:
    _, codes = leaves_and_codes(TOWN)
    assert codes.tolist() == [[0, 1, 2, 3], [0, 0, 0, 1], [0, 0, 0, 0]]


def test_one_person_beside_missing_values_is_not_served_away() -> None:
    frame = towns()
    offer, table, text = offered(frame)
    # Nara and the missing values are told as one, 27 rows: the 268 of Japan would tell the one of Nara.
    assert [["Nara", None], 27] in offer.knowledge["attributes"]["town"]
    assert not offer.can_join(JAPAN)
    found = answer(offer, JAPAN, 6, desk=Desk(), table=table, secret=SECRET)
    assert found.outcome == "refused"
    told = table.classes(JAPAN).to_frame().select("town", "sex", "n_rows").write_csv()
    releases = [Out(LATTICE.levels(offer.first_node), text, None), Out(LATTICE.levels(JAPAN), told, 6)]
    published = Published([offer], releases, 6)
    proven = list(published.proven(truth_of(published, frame.rows()), list(LATTICE)))
    assert ((0, 1), ("Nara", "*"), 1, 1) in proven
    # The product's own attack, which found no table at all, proves the same.
    counts = [
        PublishedCounts.of_frame(LATTICE, LATTICE.node(each.levels), read_release(each.text, LATTICE.attributes))
        for each in releases
    ]
    smallest = attack(offer, counts).proven[0]
    assert (smallest.labels, smallest.least, smallest.most) == (("Nara", "*"), 1, 1)


def test_k_is_not_known_to_be_that_of_all_rows_where_missing_values_are_told_apart() -> None:
    offer, table, _ = offered(towns())
    assert table.k(JAPAN) == 26
    assert offer.fitted.predict(JAPAN).low < 6
    # With enough in Nara the margins tell how many are missing, exactly.
    more, _, _ = offered(towns(nara=40))
    prediction = more.fitted.predict(JAPAN)
    assert (prediction.low, prediction.k, prediction.high) == (26, 26, 26)
    compared = compare(LATTICE, table.classes((0, 0)), predictors_for(6))
    assert {each.node: each.k for each in compared.nodes}[JAPAN] == 26


@pytest.mark.parametrize("predictor", ["margins", "power-law"])
@pytest.mark.parametrize("times", [1, 40])
def test_a_table_with_two_rows_without_a_value_can_be_offered(predictor: str, times: int) -> None:
    offer, table, _ = offered(towns(128 * times, 139 * times, 25 * times, 2), 10, predictor)
    assert offer.is_vetted
    assert offer.zone(JAPAN, 10).zone == "refused"
    assert table.k(JAPAN) == 2


def test_one_replaced_row_changes_what_the_law_is_fitted_on_by_one_row() -> None:
    rng = generator(3, "replaced")
    for _ in range(60):
        shape = [int(each) for each in rng.integers(0, 4, 4) * rng.integers(0, 9, 4)]
        frame = towns(shape[0], shape[1], shape[2], shape[3] + 1)
        other = frame.with_row_index("i").with_columns(
            town=pl.when(pl.col("i") == int(rng.integers(frame.height)))
            .then(pl.lit((None, "Kyoto", "Nara")[int(rng.integers(3))], pl.String))
            .otherwise(pl.col("town"))
        )
        one, two = (CountedTable(LATTICE, each.select("town", "sex")) for each in (frame, other))
        for node in LATTICE:
            assert abs(one.smallest_of_all(node) - two.smallest_of_all(node)) <= 1, (shape, node)
    # Before, the first row without a value took all others with it.
    whole, first = (CountedTable(LATTICE, towns(100, 100, 100, n)) for n in (0, 1))
    assert (whole.smallest_of_all(JAPAN), first.smallest_of_all(JAPAN)) == (300, 300)


def test_a_formula_is_turned_where_a_level_of_one_label_tells_missing_values() -> None:
    assert {node: told_classes(LATTICE, node) for node in LATTICE} == {
        (0, 0): 6,
        (0, 1): 3,
        (1, 0): 4,
        (1, 1): 2,
        (2, 0): 2,
        (2, 1): 1,
    }


def test_levels_of_two_offers_stay_apart_where_one_of_them_tells_missing_values() -> None:
    plain = Hierarchy.of_levels("town", [["Nara", "Osaka", "Kyoto"], ["*"] * 3])
    merged = merged_lattice(Lattice.of([plain]), Lattice.of([TOWN])).hierarchies[0]
    assert [level.labels for level in merged.levels] == [("Nara", "Osaka", "Kyoto"), ("Japan",), ("*",)]
    assert [merged.says_nothing(level) for level in range(3)] == [False, False, True]


def test_the_public_is_told_of_a_level_of_one_label() -> None:
    offer, _, _ = offered(towns(nara=40))
    given = {
        "what": "answer",
        "outcome": "served",
        "node": [1, 1],
        "criterion": "own",
        "time": "2026-01-01T00:00:00",
        "user": "u",
        "user_key": "00" * 32,
        "purpose": "p",
        "release": "r",
    }

    class Line:
        payload = given

    told = disclosed(offer, [Line()])[0]  # type: ignore[list-item]
    assert told.groups == {"town": 2, "sex": 1}


@pytest.mark.parametrize("seed", range(12))
def test_cells_fall_into_the_classes_that_releases_have(seed: int) -> None:
    rng = generator(seed, "cells")
    frame = towns(1, *(int(each) for each in rng.integers(0, 12, 3)))
    table, cells = CountedTable(LATTICE, frame), CellSpace(LATTICE)
    truth = cell_counts(cells, table.classes(LATTICE.bottom).to_frame())
    for node in LATTICE:
        by_cell = np.bincount(cells.classes(node), truth)
        released = table.classes(node).to_frame()
        numbers = [cells.numbered(node, row[:-1]) for row in released.select("town", "sex", "n_rows").rows()]
        assert by_cell[numbers].tolist() == released["n_rows"].to_list()
        assert by_cell.sum() == frame.height


def test_exchange_attack_reads_a_desk_whose_levels_have_one_label(tmp_path: Path) -> None:
    from tokumei.data.files.keys import PrivateKey
    from tokumei.exchange.desk import answer_request
    from tokumei.exchange.opening import open_offer, releases_at
    from tokumei.exchange.request import make_request

    key = PrivateKey(bytes(range(32)))
    path = tmp_path / "t.csv"
    towns(nara=40).write_csv(path)
    table = CountedTable(LATTICE, str(path))
    terms = OfferTerms([Criterion("own", 6)], predictor="margins")
    opened = open_offer(
        *(tmp_path / "desk", "p", WORDS, table, terms), key=key, source=str(path), reading={}, registry=None
    )
    offer, signed = opened.desk.offer()
    made = make_request(offer, signed.digest, {"town": 1, "sex": 1}, signer=key.public, user="u", purpose="p")
    answered, release = answer_request(opened.desk, made, made.signed(key), key=key, table=table)
    assert answered.body["outcome"] == "served"
    assert release is not None
    assert ",*,26" in release
    assert attack(offer, releases_at(opened.desk)).is_safe
