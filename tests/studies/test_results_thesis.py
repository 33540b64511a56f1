"""The formulas of the thesis's studies, on numbers worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tokumei.data.made_services import PREFECTURES, prefecture_counts
from tokumei.data.table import Table
from tokumei.measures.cell_losses import Dis, Ncp, Prec
from tokumei.measures.losses import CellLoss
from tokumei.methods.search.predicted import Pak
from tokumei.predictors.predictor import Quadrants
from tokumei_studies.results import thesis_losses
from tokumei_studies.results._made_services import MadeServices, indices_of
from tokumei_studies.results._thesis import (
    Appendix,
    Regression,
    count_people,
    k_by_class_count,
    markdown_table,
    mean_error_ratio,
    n_kinds,
    read_appendix,
    thesis_lattice,
)
from tokumei_studies.results._thesis_fit_figures import correlations
from tokumei_studies.results.thesis_costs import (
    N_SAMPLED,
    SAMPLED_UP_TO,
    THREE_AGES,
    mean_ratios,
    walk_costs,
    walk_down,
    walk_up,
)
from tokumei_studies.results.thesis_indices import indices, make_releases
from tokumei_studies.results.thesis_normal import fit_power, smallest_classes
from tokumei_studies.results.thesis_quadrants import serve
from tokumei_studies.results.thesis_services import census_correlation, fall_of_k


def appendix_of(ks: dict[int, float]) -> Appendix:
    return Appendix(np.array(list(ks), float), {"S0001": np.array(list(ks.values()), float)})


def people_of(*rows: tuple[str, int, str]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=["sex", "age", "prefecture"], orient="row")


def test_regression_of_four_points_has_the_r_and_standard_error_worked_out_by_hand() -> None:
    # The line is 0.5 + 0.8·x; what is left is -0.3, 0.9, -0.9, 0.3, whose squares add up to 1.8.
    line = Regression.of(np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 2, 4]))
    assert line.r == pytest.approx(0.8)
    assert line.r_squared == pytest.approx(0.64)
    assert line.adjusted == pytest.approx(1 - 0.36 * 3 / 2)
    assert line.standard_error == pytest.approx(math.sqrt(1.8 / 2))


def test_mean_error_ratio_takes_the_larger_of_both_quotients() -> None:
    assert mean_error_ratio(np.array([10.0, 2.0]), np.array([5.0, 8.0])) == pytest.approx((2 + 4) / 2)


def test_law_through_points_on_a_power_finds_it_again() -> None:
    appendix = appendix_of({x: 1000 * x**-1.5 for x in (1, 2, 4, 8)})
    law = appendix.law("S0001", 4)
    assert (law.alpha, law.beta) == pytest.approx((1000, -1.5))
    # The 1 is added to what the law predicts.
    assert appendix.predicted("S0001", 4)[3] == pytest.approx(1000 * 8**-1.5 + 1)


@pytest.mark.parametrize(("class_count", "expected"), [(1, 1), (2, 2), (9, 2), (18, 3), (36, 1), (7, 0)])
def test_kinds_of_classes_are_the_nodes_of_the_thesis_with_that_class_count(class_count: int, expected: int) -> None:
    assert n_kinds(class_count) == expected


def test_unrounded_tables_move_only_means_and_never_past_what_rounds_to_them() -> None:
    # Of 3 classes there is one kind, of 2 there are two and of 18 three.
    appendix = appendix_of({1: 50, 2: 20, 3: 9, 18: 1})
    moved = np.array([table.ks["S0001"] for table in appendix.unrounded])
    assert (moved[:, [0, 2]] == [50, 9]).all()
    assert set(moved[:, 1]) == {20, 19.5}
    # A k below 1 there is not.
    assert set(moved[:, 3].round(6)) == {1, round(4 / 3, 6)}


def test_print_spread_is_the_largest_change_among_unrounded_tables() -> None:
    appendix = appendix_of({1: 50, 2: 20, 3: 9})
    assert appendix.print_spread(lambda table: table.ks["S0001"]).tolist() == [0, 0.5, 0]


def test_correlations_of_a_perfect_law_are_1_at_every_length() -> None:
    appendix = appendix_of({x: 1000 * x**-1.5 for x in (1, 2, 4, 8)})
    assert correlations(appendix, ["S0001"]) == pytest.approx({2: 1, 4: 1, 8: 1})


def test_k_by_class_count_averages_the_kinds_of_one_class_count() -> None:
    # Three men in Hokkaido and a woman in Okinawa: one woman, one in the west, so both kinds of 2 classes have 1.
    rows = [("male", 30, "北海道")] * 3 + [("female", 70, "沖縄県")]
    found = k_by_class_count(thesis_lattice(), count_people(people_of(*rows)))
    assert (found[1], found[2]) == (4, 1)
    # Two women, one of them in the east: the sexes have 2, the halves 1.
    found = k_by_class_count(thesis_lattice(), count_people(people_of(*rows, ("female", 70, "北海道"))))
    assert found[2] == 1.5


def test_walks_add_up_class_counts_until_one_holds() -> None:
    ks = [(2, 60), (4, 50), (10, 3), (20, 7)]
    assert walk_down(ks, 5) == 20
    assert walk_down(ks, 50) == 20 + 10 + 4
    # Nothing holds: all are walked.
    assert walk_down(ks, 100) == 36
    # From the class count nearest to a start.
    assert walk_down(ks, 50, 9.0) == 10 + 4
    assert walk_down(ks, 5, 1000.0) == 20
    assert walk_down(ks, 50, 3.0) == 2


def test_walk_up_leaves_out_what_divides_a_failed_node() -> None:
    # All hold: every node is looked at.
    assert walk_up(lambda _: 9.0, 2) == 3185
    # None holds: only the coarsest of each attribute, sex, two halves, and three and five ages, which cross.
    assert walk_up(lambda _: 1.0, 2) == 2 + 2 + 3 + 5
    # Three ages fail alone: left out are they with sexes and regions, and nine ages only where these divide them.
    three = (1, THREE_AGES, thesis_lattice().top[2])
    with_three = 3 * (2 * (1 + 2 + 9 + 47) + 2 + 9 + 47)
    with_nine = 9 * 3 * (1 + 2 + 9 + 47)
    assert walk_up(lambda node: 1.0 if node == three else 9.0, 2) == 3185 - with_three
    divided = walk_up(lambda node: 1.0 if node == three else 9.0, 2, divides_three=True)
    assert divided == 3185 - with_three - with_nine


def test_walk_down_pays_for_nothing_that_the_law_was_fitted_on() -> None:
    assert walk_down([(2, 60), (4, 50), (10, 3), (20, 7)], 50, free_up_to=4) == 20 + 10


def test_costs_on_the_appendix_are_the_known_ones(shared_data: Path) -> None:
    found = mean_ratios(read_appendix(shared_data), walk_costs)
    assert found == pytest.approx([3.4, 10.3, 24.6, 19.1], abs=0.05)


def test_classes_that_pak_samples_are_taken_from_its_cost() -> None:
    lattice = thesis_lattice()
    smallest = sorted(lattice.class_count(node) for node in lattice if node != lattice.top)[: Pak().z]
    assert sum(smallest) == N_SAMPLED
    assert max(smallest) == SAMPLED_UP_TO


def test_correlations_of_a_group_are_those_of_its_mean_k() -> None:
    ks = {"S0001": np.array([90.0, 40.0, 10.0]), "S0002": np.array([10.0, 10.0, 2.0])}
    appendix = Appendix(np.array([1.0, 2.0, 4.0]), ks)
    assert appendix.mean_of(["S0001", "S0002"]).ks == {"mean": pytest.approx([50, 25, 6])}
    # Through 50 and 25 the law is 50/x + 1: it predicts 51, 26 and 13.5.
    expected = np.corrcoef([51, 26, 13.5], [50, 25, 6])[0, 1]
    assert correlations(appendix, ["S0001", "S0002"])[2] == pytest.approx(expected)


def test_serving_by_a_law_counts_the_four_quadrants() -> None:
    # A law of 100·x^−1 through 1 and 2: it predicts 101, 51, 11 and 6.
    appendix = appendix_of({1: 100, 2: 50, 10: 2, 20: 30})
    assert serve(appendix, "S0001", 10, 2) == Quadrants(alpha=2, beta=1, gamma=1, delta=0)


def test_fall_of_k_is_over_rows_or_over_classes() -> None:
    appendix = appendix_of({1: 1000, 2: 30, 4: 20, 8: 10, 100: 1})
    assert fall_of_k(appendix, ["S0001"], by_row=True) == pytest.approx(-10)
    # Over 2, 4 and 8 the slope is −60 / (56/3).
    assert fall_of_k(appendix, ["S0001"], by_row=False) == pytest.approx(-60 / (56 / 3))


def test_census_correlation_of_the_census_itself_is_1() -> None:
    assert census_correlation(prefecture_counts().sum(axis=1).astype(float)) == pytest.approx(1)


def test_made_services_have_the_k_that_counting_each_gives() -> None:
    people = pl.concat([people_of(("male", 5, "東京都"), ("male", 9, "東京都"), ("female", 35, "大阪府"))] * 2)
    cells = people.with_columns(age=pl.col("age").replace_strict({5: "0s", 9: "0s", 35: "30s"}, return_dtype=pl.String))
    made = MadeServices(cells.group_by("sex", "age", "prefecture").len("n").with_columns(rank=pl.lit(1)))
    assert made.ks((0, 0, 3)).tolist() == [2]
    assert made.ks((1, 3, 3)).tolist() == [6]
    assert made.residents[0][PREFECTURES.index("東京都")] == 4
    assert made.residents.sum() == 6


def test_indices_of_the_largest_services_are_the_first_ten() -> None:
    assert list(range(100))[indices_of("> 100,000")] == list(range(10))


def test_smallest_class_of_a_normal_distribution_is_its_tail() -> None:
    folded, whole = smallest_classes(is_folded=True), smallest_classes(is_folded=False)
    assert (folded[0], whole[0]) == (100_000, 100_000)
    # Beyond 2σ on either side are 4,550 of 100,000; the standard error of the mean of fifty is 9.
    assert folded[1] == pytest.approx(4550, abs=40)
    # Of two halves the smaller has a little less than half.
    assert 49_500 < whole[1] < 50_000


def test_fit_of_an_exact_power_is_that_power() -> None:
    assert fit_power(np.array([100.0, 25.0, 100 / 9])) == pytest.approx((100, -2, 1))


@pytest.mark.parametrize(("loss", "at_ten"), [(Prec(), 2 / 3), (Dis(), 2 / 3), (Ncp(), 1 / 2)])
def test_losses_of_table_2_are_those_worked_out_by_hand(loss: CellLoss, at_ten: float) -> None:
    whole = thesis_losses.ages_hierarchy([thesis_losses.five, thesis_losses.ten, thesis_losses.hidden])
    assert [len(level) for level in whole.levels] == [20, 4, 2, 1]
    assert thesis_losses.loss_at(loss, whole, 2) == pytest.approx(at_ten)


def test_releases_of_a_table_keep_its_rows_and_mislead_only_where_they_say_so() -> None:
    frame = pl.DataFrame({"trait": [1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3], "amount": [10.0 * i for i in range(12)]})
    columns = [f"amount{i}" for i in range(21)]
    wide = frame.with_columns(pl.col("amount").alias(name) for name in columns).drop("amount")
    original = Table.with_quasi_identifiers(wide, ["trait"], sensitive=columns)
    releases = make_releases(original)
    moved, cheating = releases["other order"], releases["numbers shuffled"]
    assert moved.table.frame.equals(original.frame[moved.rows])
    assert sorted(cheating.rows) == list(range(12))
    assert cheating.table.frame.equals(releases["noise"].table.frame)
    found = indices(original, moved)
    assert len(found) == 13
    assert (found["U5 IL"], found["E4 SA21"], found["S1 k-anony"]) == (0, 1, 3)


def test_markdown_table_has_a_rule_below_its_heads() -> None:
    assert markdown_table(["a", "b"], [["x", "1"]]) == "| a | b |\n| --- | --: |\n| x | 1 |"
