"""What permuted groups would cost, held against releases."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.journey.commands import tokumei_here

import tokumei as tk
from tokumei.core.errors import CannotAnonymize, InputError, TokumeiError
from tokumei.data.made_retail import make_retail
from tokumei.methods.history.permute_groups import PermuteGroups
from tokumei.reports.evaluation import CONTEST_UTILITIES

SHOP = tk.History(make_retail(80, n_rows=3_000, seed=5))


@pytest.mark.parametrize("options", [{}, {"attributed": 0.6}, {"smallest": 3, "deals": "baskets"}])
def test_groups_are_those_of_the_release_and_the_use_that_it_loses_is_in_the_interval(
    options: dict[str, object],
) -> None:
    predictions = tk.predict(SHOP, bound=[0.4, 0.3], **options)  # type: ignore[call-overload]
    for bound, one in zip((0.4, 0.3), predictions.predicted, strict=True):
        release = tk.anonymize(SHOP, method="permute-groups", bound=bound, seed=1, **options)  # type: ignore[call-overload]
        told = release.to_dict()
        names = ["bound", "open", "groups", "rows_cut", *(["attribution_bound"] if "deals" not in options else [])]
        assert {name: one.facts[name] for name in names} == {name: told[name] for name in names}
        assert ("attribution_bound" in one.facts) == ("deals" not in options)
        use = tk.measure(SHOP, release, measures=list(CONTEST_UTILITIES)).scores
        low, high = one.facts["lost_interval"]
        assert low <= max(score.value for score in use.values()) <= high


def test_every_combination_of_values_has_a_line_in_the_order_asked_for() -> None:
    predictions = tk.predict(SHOP, bound=[0.3, 0.5], attributed=[0.6, 1.0])
    asked = [(one.method.bound, one.method.attributed) for one in predictions.predicted]
    assert asked == [(0.3, 0.6), (0.3, 1.0), (0.5, 0.6), (0.5, 1.0)]
    assert list(predictions.to_frame().columns[:2]) == ["bound", "attributed"]
    # A line is what it would be alone.
    assert tk.predict(SHOP, bound=0.5).predicted[0].facts == predictions.predicted[3].facts


def test_a_bound_that_no_grouping_keeps_is_told_beside_others_and_an_error_alone() -> None:
    predictions = tk.predict(SHOP, bound=[0.5, 0.0])
    assert "under the bound" in predictions.to_dict()["predicted"][1]["why_not"]
    assert "why_not" not in predictions.to_dict()["predicted"][0]
    with pytest.raises(CannotAnonymize):
        tk.predict(SHOP, bound=0.0)


def test_what_a_history_lacks_is_left_out_with_its_reason() -> None:
    visits = tk.History(SHOP.frame.select("customer", "date"))
    told = tk.predict(visits, bound=0.4).to_dict()
    assert set(told["predicted"][0]["losses"]) == {"date", "rows"}
    assert "item" in told["left_out"]["top-items"]


@pytest.mark.parametrize("options", [{"method": "delete"}, {"method": "permute"}, {"bound": [0.3, 7]}, {"bond": 0.3}])
def test_what_cannot_be_predicted_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(TokumeiError):
        tk.predict(SHOP, **options)  # type: ignore[call-overload]


def test_options_of_the_other_kind_of_data_are_refused() -> None:
    with pytest.raises(InputError, match="an option of predict"):
        tk.predict(tk.Table({"age": [31, 31]}, qi=["age"]), bound=0.3)  # type: ignore[call-overload]
    for wrong in ({"k": 3}, {"qi": ["item"]}):
        with pytest.raises(InputError, match="an option of the history anonymizer"):
            tk.predict(SHOP, **wrong)


def test_a_dry_run_predicts_each_bound_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    SHOP.frame.write_parquet(tmp_path / "T.parquet")
    words = ["anonymize", "history", tmp_path / "T.parquet", "--out", tmp_path / "A.csv", "--dry-run"]
    code, told = tokumei_here(capsys, *words, "--method", "permute-groups", "--set", "bound=0.4,0.3")
    assert (code, [one["options"]["bound"] for one in told["predicted"]]) == (0, [0.4, 0.3])
    assert told["predicted"][0]["lost"] == tk.predict(SHOP, bound=0.4).predicted[0].facts["lost"]
    assert [one.name for one in tmp_path.iterdir()] == ["T.parquet"]
    code, told = tokumei_here(capsys, *words, "--method", "delete")
    assert code == 2
    assert "permute-groups" in told["message"]


def test_the_deal_is_none_that_the_release_of_the_same_seed_gets() -> None:
    release = tk.anonymize(SHOP, method="permute-groups", bound=0.3, seed=3)
    [one] = tk.predict(SHOP, method=PermuteGroups(bound=0.3), seed=3).predicted
    assert one.scores["price"].value != tk.measure(SHOP, release, measures="price").scores["price"].value
