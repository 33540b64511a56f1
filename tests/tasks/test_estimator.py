"""The transformer of scikit-learn: it passes scikit-learn's checks, and what it gives is k-anonymous."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import tokumei as tk


def people(n: int = 200, seed: int = 1) -> pd.DataFrame:
    draw = random.Random(seed)
    rows = [{"age": draw.randint(18, 90), "sex": draw.choice("fm"), "height": draw.gauss(170, 9)} for _ in range(n)]
    return pd.DataFrame(rows, index=pd.Index([f"p{at}" for at in range(n)], name="person"))


def smallest_class(frame: pd.DataFrame) -> int:
    return int(frame.groupby(list(frame.columns), dropna=False).size().min())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks_hold() -> None:
    failed = [one for one in check_estimator(tk.Anonymizer(), on_fail=None) if one["status"] == "failed"]
    assert [(one["check_name"], one["exception"]) for one in failed] == []


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("numbers", [True, False])
@pytest.mark.parametrize("k", [2, 5])
def test_rows_that_were_fitted_on_come_out_in_place_and_k_anonymous(seed: int, numbers: bool, k: int) -> None:
    df = people(120, seed)
    df.loc[df.index[:3], "age"] = None
    made = tk.Anonymizer(k=k, numbers=numbers)
    out = made.fit_transform(df)
    assert out.index.equals(df.index)
    assert list(out.columns) == list(df.columns) == made.get_feature_names_out().tolist()
    assert smallest_class(out) == made.k_ >= k
    assert made.n_hidden_ == 0 or made.n_hidden_ >= k
    if numbers:
        assert not out.isna().any(axis=None)
    else:
        hidden = (out == "*").all(axis=1)
        assert hidden.sum() >= made.n_hidden_


def test_new_rows_get_the_label_that_they_lie_in_or_are_hidden() -> None:
    df = pd.DataFrame({"age": list(range(20, 60))})
    made = tk.Anonymizer(k=5, numbers=False, suppress=0, hierarchies={"age": [40]}).fit(df)
    assert made.transform(pd.DataFrame({"age": [25, 45, 99, 5]}))["age"].tolist() == ["<40", "≥40", "≥40", "<40"]
    flat = {"town": ["Kyoto"] * 5 + ["Osaka"] * 5}
    town = tk.Anonymizer(k=5, numbers=False).fit(pl.DataFrame(flat))
    assert town.transform(pl.DataFrame({"town": ["Nara", "Kyoto"]}))["town"].to_list() == ["*", "Kyoto"]


def test_few_hidden_rows_are_joined_by_the_smallest_class() -> None:
    df = pd.DataFrame({"town": ["a"] * 30 + ["b"] * 10 + ["c"] * 2})
    made = tk.Anonymizer(k=5, suppress=0.1, numbers=False)
    out = made.fit_transform(df)["town"]
    assert out.value_counts().to_dict() == {"a": 30, "*": 12}
    assert (made.n_hidden_, made.k_) == (12, 12)


def test_columns_that_nobody_named_do_not_come_out() -> None:
    df = people().assign(weight=[70.0, 80.0] * 100)
    out = tk.Anonymizer(["age", "sex"], keep=["weight"], k=3).fit_transform(df)
    assert list(out.columns) == ["age", "sex", "weight"]
    assert out["weight"].tolist() == df["weight"].tolist()
    with pytest.raises(tk.errors.InputError, match="singled out"):
        tk.Anonymizer(["age"], keep=["height"], k=3).fit(df)


def test_model_learns_from_generalized_rows_and_predicts_by_them() -> None:
    draw = np.random.default_rng(1)
    rows = draw.normal(size=(300, 2))
    target = rows[:, 0] > 0
    model = make_pipeline(tk.Anonymizer(k=5), LogisticRegression()).fit(rows, target)
    assert model.score(draw.normal(size=(1, 2)), [True]) in (0, 1)
    assert model.score(rows, target) > 0.7


def test_fitted_one_is_pickled_without_rows_and_gives_the_same() -> None:
    df = people()
    made = tk.Anonymizer(k=5).fit(df)
    again = pickle.loads(pickle.dumps(made))
    pd.testing.assert_frame_equal(made.transform(df), again.transform(df))
    assert not any(isinstance(value, (pd.DataFrame, tk.Table)) for value in vars(made).values())


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (tk.Anonymizer(k=0), "expected a whole number from 1 on"),
        (tk.Anonymizer(method="mondrian"), "expected a search of levels"),
        (tk.Anonymizer(["agee"]), "found 'agee', expected a column of the table"),
        (tk.Anonymizer(k=500), "expected 500 rows or more"),
    ],
)
def test_what_cannot_be_fitted_is_refused(made: tk.Anonymizer, said: str) -> None:
    with pytest.raises(tk.errors.InputError, match=said):
        made.fit(people())
