"""What every disclosure attack must keep, whoever wrote it."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import tokumei as tk
from tokumei.attacks.registry import DISCLOSURE_ATTACKS
from tokumei.attacks.threat_model import Published, ThreatModel
from tokumei.core.registry import part_options
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.data.made_survey import make_survey
from tokumei.data.table import Table
from tokumei.tasks.attack_outcome import FIGURES, UNKNOWN, Outcome
from tokumei.tasks.table_threat_model import threat_model_of

N_ROWS, N_RELEASED = 120, 90
KNOWN = ["household_size", "sex", "age_band", "region"]
ROWS = pl.Series(generator(1, "rows").permutation(N_ROWS)[:N_RELEASED])


def table(frame: pl.DataFrame) -> Table:
    return Table.with_quasi_identifiers(frame, KNOWN, sensitive=["dwelling"])


def counted(frame: pl.DataFrame) -> Table:
    return Table.with_quasi_identifiers(frame, KNOWN[:3], sensitive=["dwelling"])


def released(original: Table, rows: pl.Series, hidden: str) -> Published:
    """Some of the rows in another order, one column hidden and one in ranges."""
    frame = original.frame[rows]
    ranges = pl.when(pl.col("region") <= 4).then(pl.lit("1-4")).otherwise(pl.lit("5-8"))
    return Published(table(frame.with_columns(ranges.alias("region"), pl.lit("*").alias(hidden))), rows)


@pytest.fixture
def threat_model(name: str, somebody: ThreatModel, retraced: ThreatModel) -> ThreatModel:
    """The release of one attack: any, or for one that retraces a method what that made of the same people.

    One that needs counts is given those of three columns.
    """
    if name == "reconstruction":
        published = [*KNOWN[:3], "dwelling"]
        counts = table(somebody.original.frame).frame.group_by(published).len("rows").sort(published)
        return replace(somebody, published=Published.made_up(counted(counts)), known_share=1.0, earlier=[])
    return retraced if name == "minimality" else somebody


@pytest.fixture(scope="module")
def retraced(somebody: ThreatModel) -> ThreatModel:
    release = tk.anonymize(somebody.original, method="mondrian", k=3, l_diversity=2, seed=1)
    return replace(threat_model_of(somebody.original, release), control=somebody.control)


@pytest.fixture(scope="module")
def somebody() -> ThreatModel:
    people = make_survey(2 * N_ROWS, seed=1).select(*KNOWN, "dwelling")
    original = table(people[:N_ROWS])
    return ThreatModel(
        original,
        released(original, ROWS, "sex"),
        earlier=[released(original, ROWS.shuffle(seed=2), "age_band")],
        population=people.select(KNOWN),
        control=people[N_ROWS:],
        known_share=0.8,
    )


def expected(score: Score) -> object:
    """What no luck of a draw can change, where there is such."""
    return score.inputs.get("expected", score.value)


@pytest.mark.parametrize("name", list(DISCLOSURE_ATTACKS))
def test_attack_with_the_same_seed_scores_the_same_and_leaves_tables_alone(
    threat_model: ThreatModel, name: str
) -> None:
    published = threat_model.published
    before = threat_model.original.frame.clone(), published.table.frame.clone(), published.rows.clone()
    attack = DISCLOSURE_ATTACKS.make(name)
    scores = attack.measure(threat_model, seed=1)
    assert scores == attack.measure(threat_model, seed=1)
    assert threat_model.original.frame.equals(before[0])
    assert threat_model.published.table.frame.equals(before[1])
    assert published.rows.equals(before[2])


@pytest.mark.parametrize("name", list(DISCLOSURE_ATTACKS))
def test_attack_scores_are_shares_with_intervals_and_names(threat_model: ThreatModel, name: str) -> None:
    for key, score in DISCLOSURE_ATTACKS.make(name).measure(threat_model, seed=1).items():
        assert (score.name, score.best, score.worst) == (key, 0, 1)
        assert score.interval is not None
        assert score.interval[0] <= score.value <= score.interval[1]


@pytest.mark.parametrize("name", list(DISCLOSURE_ATTACKS))
def test_attack_gives_every_figure_or_says_why_not(threat_model: ThreatModel, name: str) -> None:
    found = Outcome.of(name, DISCLOSURE_ATTACKS.make(name).measure(threat_model, seed=1), has_control=True)
    told = {one: getattr(found, one) for one in FIGURES}
    assert {one for one, value in told.items() if value is None} == found.why.keys()
    # What is not there is explained by the attack's own words.
    assert UNKNOWN not in found.why.values()
    assert found.riskiest is None or set(found.riskiest) <= set(range(threat_model.original.n_rows))
    rows = found.as_dict()["riskiest"]
    assert rows == (None if found.riskiest is None else [row + 1 for row in found.riskiest])


@pytest.mark.parametrize("name", list(DISCLOSURE_ATTACKS))
def test_attack_takes_a_threat_who_knows_less_of_fewer_people(threat_model: ThreatModel, name: str) -> None:
    if name == "minimality":
        pytest.skip("needs all that is known of everybody")
    some = replace(threat_model, numbers_off=0.2, codes_wrong=0.1, aimed_at=threat_model.targets[::2])
    scores = DISCLOSURE_ATTACKS.make(name).measure(some, seed=1)
    found = Outcome.of(name, scores, has_control=True)
    # Descriptions and what labels tell by themselves are of no person who is looked for.
    if name not in ("downcoding", "presence", "reconstruction", "refine", "singling-out"):
        assert set(found.riskiest or ()) <= set(some.targets.tolist())


@pytest.mark.parametrize("name", list(DISCLOSURE_ATTACKS))
def test_attack_does_not_depend_on_the_order_of_records(threat_model: ThreatModel, name: str) -> None:
    published = threat_model.published
    order = generator(7).permutation(published.table.n_rows)
    make = counted if name == "reconstruction" else table
    moved = replace(published, table=make(published.table.frame[order]), rows=published.rows[order])
    attack = DISCLOSURE_ATTACKS.make(name)
    ours, theirs = attack.measure(threat_model, seed=1), attack.measure(replace(threat_model, published=moved), seed=1)
    assert [expected(score) for score in ours.values()] == pytest.approx([expected(score) for score in theirs.values()])


# No method that can be retraced writes all rows alike of people who need not be, and no counts are rows.
@pytest.mark.parametrize("name", [name for name in DISCLOSURE_ATTACKS if name not in ("minimality", "reconstruction")])
def test_attack_on_a_release_that_says_nothing_is_certain_of_nobody(threat_model: ThreatModel, name: str) -> None:
    blank = threat_model.original.frame.select(
        pl.lit("*").alias(column) for column in threat_model.original.frame.columns
    )[:1]
    rows = pl.Series(range(N_ROWS))
    says_nothing = Published(table(pl.concat([blank] * N_ROWS)), rows)
    nothing = replace(threat_model, published=says_nothing, earlier=[says_nothing])
    scores = DISCLOSURE_ATTACKS.make(name).measure(nothing, seed=1)
    assert {score.value for key, score in scores.items() if key.endswith("certain")} <= {0}


@pytest.mark.parametrize("name", list(DISCLOSURE_ATTACKS))
def test_attack_explains_itself(name: str) -> None:
    part = DISCLOSURE_ATTACKS.get(name)
    said = part.__doc__ or ""
    assert all(word in said for word in ("Knowledge:", "Aim:", "Success:", "Baseline", "Example:"))
    assert all(option.help for option in part_options(part))
    assert set(part.needs) <= {"sensitive", "earlier", "population", "control", "counts"}
