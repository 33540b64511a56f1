from __future__ import annotations

import contextlib
import datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError, PromiseBroken
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.methods.history.delete import Delete, KmAnonymity
from tokumei.methods.history.dummies import Dummies
from tokumei.methods.history.generalize import Generalize
from tokumei.methods.history.perturb import Perturb
from tokumei.methods.history.steps import Pseudonyms
from tokumei.methods.pipeline import Pipeline, pipeline_of, read_pipeline


@pytest.fixture(scope="module")
def original() -> History:
    return History.of(make_retail(20, n_rows=400, seed=1))


def test_pipeline_leads_rows_and_pseudonyms_back_to_the_original(original: History) -> None:
    steps = (Delete(random=0.2), Dummies(clusters=4, smallest=1), Perturb(days=5), Pseudonyms(1))
    release = Pipeline(steps).anonymize(original, seed=1)
    assert release.rows is not None
    assert release.pseudonyms is not None
    assert release.rows.null_count() > 0
    assert sorted(release.rows.drop_nulls()) == list(range(400))
    told = release.frame.with_columns(
        who=original.frame["customer"].gather(release.rows), period=History(release.frame).period
    )
    real = told.filter(pl.col("customer").is_not_null() & pl.col("who").is_not_null())
    truth = set(release.pseudonyms.select("customer", "period", "pseudonym").rows())
    assert set(real.select("who", "period", "customer").rows()) <= truth
    assert {customer for customer, _, _ in truth} <= set(original.customers)


def test_pipeline_recipe_lists_all_steps_with_their_options_and_seeds(original: History) -> None:
    recipe = Pipeline((Delete(random=0.2), Pseudonyms(3))).anonymize(original, seed=7).recipe
    assert (recipe.method, recipe.seed) == ("pipeline", 7)
    delete, pseudonyms = recipe.options["steps"]
    assert (delete["method"], delete["options"]["random"]) == ("delete", 0.2)
    assert (pseudonyms["method"], pseudonyms["options"]["lifetime"]) == ("pseudonyms", 3)
    assert len({7, delete["seed"], pseudonyms["seed"]}) == 3


def test_pipeline_of_the_recipe_s_steps_by_hand_gives_the_same_release(original: History) -> None:
    release = Pipeline((Delete(random=0.2), Pseudonyms(3))).anonymize(original, seed=7)
    first, second = (step["seed"] for step in release.recipe.options["steps"])
    changed = Delete(random=0.2).change(original, seed=first)
    assert Pseudonyms(3).anonymize(changed.history, seed=second).frame.equals(release.frame)


def test_pipeline_that_names_nobody_ends_with_one_pseudonym_a_customer(original: History) -> None:
    release = Pipeline((Perturb(),)).anonymize(original, seed=1)
    assert release.frame["customer"].n_unique() == 20
    assert not set(release.frame["customer"]) & set(original.customers)


def test_pipeline_with_another_step_leaves_the_draws_of_the_others_as_they_were(original: History) -> None:
    short, long = (Pipeline(steps).anonymize(original, seed=1) for steps in ((Delete(),), (Delete(), Perturb())))
    assert short.frame["customer"].is_null().any()
    assert short.frame["customer"].is_null().equals(long.frame["customer"].is_null())


def test_pipeline_recounts_promises_that_later_steps_broke() -> None:
    # Everybody bought a in January and b in February: together the pair is shared by three, in one month by none.
    rows = [(name, item, month) for name in "123" for item, month in (("a", 1), ("b", 2))]
    rows.append(("1", "b", 1))
    shared = History.of(
        pl.DataFrame(
            {
                "customer": [name for name, _, _ in rows],
                "date": [datetime.date(2011, month, 1) for _, _, month in rows],
                "item": [item for _, item, _ in rows],
            }
        ).with_columns(price=pl.lit(1.0), quantity=pl.lit(1))
    )
    Pipeline((KmAnonymity(k=3, m=2), Pseudonyms(12))).anonymize(shared, seed=1)
    with pytest.raises(PromiseBroken, match="belongs to 1 pseudonyms"):
        Pipeline((KmAnonymity(k=3, m=2), Pseudonyms(1))).anonymize(shared, seed=1)


def test_pipeline_can_end_with_ranges_and_sets() -> None:
    few = History.of(make_retail(6, n_rows=40, seed=1))
    release = Pipeline((Delete(once=False, random=0.1), KmAnonymity(k=1), Generalize(k=2))).anonymize(few, seed=1)
    assert release.rows is not None
    assert release.rows.to_list() == list(range(40))
    assert release.recipe.options["steps"][2]["method"] == "generalize"


def test_pipeline_needs_a_seed_and_prefers_the_one_given(original: History) -> None:
    with pytest.raises(InputError, match="a seed"):
        Pipeline((Delete(),)).anonymize(original)
    assert Pipeline((Delete(),), seed=3).anonymize(original).recipe.seed == 3
    assert Pipeline((Delete(),), seed=3).anonymize(original, seed=4).recipe.seed == 4


def test_pipeline_takes_methods_that_name_customers_only_as_the_last() -> None:
    with pytest.raises(InputError, match="come last"):
        Pipeline((Pseudonyms(1), Delete()))


GOOD = """
seed = 5

[[step]]
method = "delete"
random = 0.25
price_deviations = 3   # a whole number where a fraction is wanted

[[step]]
method = "exchange-pseudonyms"
every = 2
"""


def test_pipeline_file_is_read_with_its_options(tmp_path: Path, original: History) -> None:
    path = tmp_path / "p.toml"
    path.write_text(GOOD)
    pipeline = read_pipeline(path)
    assert pipeline.seed == 5
    assert pipeline.methods[0] == Delete(random=0.25, price_deviations=3.0)
    release = pipeline.anonymize(original)
    assert [step["method"] for step in release.recipe.options["steps"]] == ["delete", "exchange-pseudonyms"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[step]", r"p\.toml, line 1: expected TOML"),
        ("", r"p\.toml, column step: expected at least one \[\[step\]\]"),
        ("step = 3", r"p\.toml, line 1, column step: expected at least one"),
        ("sead = 3\n[[step]]\nmethod = 'delete'", r"line 1, column sead: found '3', expected only the keys seed and"),
        ("\nseed = -3\n[[step]]\nmethod = 'delete'", r"line 2, column seed: found '-3', expected a whole number"),
        ("seed = true\n[[step]]\nmethod = 'delete'", r"line 1, column seed: found 'True'"),
        ("[[step]]\n\n[[step]]\nmethod = 'delete'", r"line 1, column method: expected a method: basket-chain, delete"),
        ("[[step]]\nmethod = 'deleet'", r"line 2, column method: found 'deleet', expected a method: 'delete'"),
        ("[[step]]\nmethod = 'zzz'", r"found 'zzz', expected a method: one of basket-chain, delete"),
        (
            "[[step]]\nmethod = 'delete'\n[[step]]\nmethod = 'perturb'\nday = 3",
            r"line 5, column day: found '3', expected an option of 'perturb': 'days'",
        ),
        ("[[step]]\nmethod = 'perturb'\ndays = 'x'", r"line 3, column days: found 'x', expected whole number"),
        ("[[step]]\nmethod = 'perturb'\ndays = true", r"column days: found 'True', expected whole number"),
        ("[[step]]\nmethod = 'perturb'\nprices = true", r"column prices: found 'True', expected number"),
        ("[[step]]\nmethod = 'pseudonyms'\n[[step]]\nmethod = 'delete'", r"line 2, column method: found 'pseudonyms'"),
    ],
)
def test_pipeline_file_with_a_fault_is_refused_by_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "p.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_pipeline(path)


def test_pipeline_file_that_is_missing_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a file that exists"):
        read_pipeline(tmp_path / "none.toml")
    path = tmp_path / "p.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="UTF-8"):
        read_pipeline(path)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=8,
    )
)
def test_pipeline_of_any_settings_is_made_or_refused_with_an_input_error(value: object) -> None:
    for settings in ({"step": value}, {"step": [{"method": value}]}, {"step": [{"method": "perturb", "days": value}]}):
        with contextlib.suppress(InputError):
            assert pipeline_of(settings).methods
