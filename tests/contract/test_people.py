"""Tables in which people have several rows: what is promised is recounted by person, by plain Python, for each method.

RAND's health insurance experiment showed why: 20,190 rows of 5,912 people, released with k = 5 by rows, had classes of
one single person.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tokumei as tk
from tokumei.engines.class_counts import PERSON
from tokumei.engines.count import count_classes
from tokumei.methods.registry import TABLE_ANONYMIZERS, LocalRecoder, Perturber, TableSearch
from tokumei.tasks import measure_table
from tokumei.tasks.dossier import report_table
from tokumei.tasks.request import ReleaseRequest, Requirements
from tokumei.tasks.write_table import anonymize_to_files, write_table_on_engine

KNOWN = ["age", "zip", "sex"]
GROUPING = [
    name
    for name in TABLE_ANONYMIZERS.names()
    if hasattr(TABLE_ANONYMIZERS.get(name), "search") or hasattr(TABLE_ANONYMIZERS.get(name), "recode_locally")
    # Its groups are those of a table that somebody else made.
    if name != "marginal-recoding"
]
# Methods that draw rows of nobody protect people or refuse them with their own reason: tests/methods/synthetic.
OTHERS = [
    name
    for name in TABLE_ANONYMIZERS.names()
    if isinstance(made := TABLE_ANONYMIZERS.make(name), Perturber) and not hasattr(made, "draws_all_columns")
]


def visits(seed: int, n_rows: int = 240, n_people: int = 60) -> pl.DataFrame:
    """Make visits of people who have one row to many; some codes and some cells are missing."""
    rng = np.random.default_rng(seed)
    who = np.minimum(rng.geometric(0.04, n_rows), n_people) - 1
    base, zips = rng.integers(20, 70, n_people), rng.choice(["100", "101", "102", "200"], n_people)
    ills = ["flu", "cold", "ulcer", "gout", "ache", "cough"]
    return pl.DataFrame(
        {
            "pid": [None if n == 7 else f"p{n}" for n in who],
            "age": base[who] + rng.integers(0, 3, n_rows),
            "zip": [None if rng.random() < 0.05 else zips[n] for n in who],
            "sex": np.where(who % 2, "f", "m"),
            "ill": rng.choice(ills, n_rows, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.1]),
        }
    )


def classes_of(made: tk.TableRelease, original: pl.DataFrame, known: list[str]) -> dict[Any, list[tuple[Any, str]]]:
    """Return for each class of a release whose its rows are, and their illnesses."""
    assert made.rows is not None
    found: dict[Any, list[tuple[Any, str]]] = defaultdict(list)
    for key, row in zip(made.table.select(known).iter_rows(), made.rows, strict=True):
        found[key].append((original["pid"][row], original["ill"][row]))
    return found


@pytest.mark.parametrize("suppress", [0.0, 0.1])
@pytest.mark.parametrize("method", GROUPING)
def test_every_class_has_k_people(method: str, suppress: float) -> None:
    for seed in range(2):
        frame = visits(seed)
        made = tk.anonymize(
            frame, KNOWN, k=3, l_diversity={"ill": 2}, person="pid", method=method, suppress=suppress, seed=1
        )
        found = classes_of(made, frame, KNOWN)
        people = [len({who for who, _ in rows}) for rows in found.values()]
        assert made.k == min(people) >= 3
        assert all(len({ill for _, ill in rows}) >= 2 for rows in found.values())
        assert "pid" not in made.table.columns
        gone = set(range(len(frame))) - set(made.rows)  # type: ignore[arg-type]
        losing = {frame["pid"][row] for row in gone}
        assert len(losing) <= suppress * frame["pid"].n_unique()
        assert made.facts["people"] == len({who for rows in found.values() for who, _ in rows})
        largest = max(max(Counter(who for who, _ in rows).values()) / len(rows) for rows in found.values())
        assert made.facts["largest_share_of_one"] == pytest.approx(largest)


@pytest.mark.parametrize("method", ["mondrian", "mu-argus", "optimal", "top-down-specialization", "utility-clustering"])
def test_shares_are_of_people_who_have_a_value(method: str) -> None:
    """No illness is had by more than 85 % of the people of a class: one with two visits for flu counts once."""
    for seed in range(3):
        frame = visits(seed, 200, 120)
        try:
            made = tk.anonymize(frame, KNOWN, k=3, alpha_k={"ill": 0.85}, person="pid", method=method)
        except tk.errors.CannotAnonymize:
            continue
        for rows in classes_of(made, frame, KNOWN).values():
            having = Counter(ill for _, ill in set(rows))
            assert max(having.values()) / len({who for who, _ in rows}) <= 0.85 + 1e-9


def test_distributions_count_each_value_of_a_person_once() -> None:
    """Worked by hand: of class A the pairs are 1-flu, 1-cold, 2-flu, of all 1-flu, 1-cold, 2-flu, 3-cold, 3-gout."""
    frame = pl.DataFrame(
        {
            "zip": ["A", "A", "A", "A", "B", "B"],
            "pid": ["1", "1", "1", "2", "3", "3"],
            "ill": ["flu", "flu", "cold", "flu", "cold", "gout"],
        }
    )
    counts = count_classes(frame, ["zip"], sensitive=["ill"], person="pid")
    assert counts.people.tolist() == [2, 1]
    assert (counts.k, counts.n_people, counts.n_unique) == (1, 3, 1)
    # Two of the two people of A have flu: a share of 1, though three of four rows do.
    scores = tk.audit(tk.Table(frame, ["zip"], ["ill"], person="pid")).measured.by_sensitive["ill"]
    assert scores["alpha-k"].value == 1
    # A: flu 2/3, cold 1/3; all: flu 2/5, cold 2/5, gout 1/5; B: cold 1/2, gout 1/2.
    assert scores["t-closeness-equal"].value == pytest.approx(0.4)
    assert scores["l-diversity-entropy"].value == pytest.approx(3 / 4 ** (1 / 3))


@pytest.mark.parametrize("method", ["mondrian", "optimal"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_people_are_counted_on_engines_alike(method: str, suffix: str, tmp_path: Path) -> None:
    pytest.importorskip("ibis")
    frame, file = visits(5, 400, 90), tmp_path / f"visits.{suffix}"
    (frame.write_csv if suffix == "csv" else frame.write_parquet)(file)
    asked = ReleaseRequest(k=4, l_diversity={"ill": 2}, person="pid", method=method, suppress=0.05)
    here = tk.anonymize(tk.Table(file, KNOWN, ["ill"]), k=4, l_diversity=2, person="pid", method=method, suppress=0.05)
    there = write_table_on_engine(str(file), KNOWN, tmp_path / "out.csv", asked, engine="duckdb")
    for fact in ("k", "unit", "people", "people_left_out", "largest_share_of_one", "suppressed", "classes"):
        assert there.facts[fact] == here.facts[fact], fact
    written = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    assert "pid" not in written.columns
    assert sorted(written.select(KNOWN).rows(), key=repr) == sorted(
        here.table.select(pl.col(KNOWN).cast(pl.String)).rows(), key=repr
    )


def test_counts_over_people_roll_up_as_they_are_counted_anew() -> None:
    frame = visits(9, 500, 70)
    tree = tk.Hierarchy.of_levels("zip", [["100", "101", "102", "200"], ["10*", "10*", "10*", "20*"], ["*"] * 4])
    counts = count_classes(frame, KNOWN, sensitive=["ill"], person="pid")
    rolled = counts.roll_up(counts.maps([tree.recoding(1)]))
    anew = count_classes(frame, KNOWN, sensitive=["ill"], person="pid", recodings=[tree.recoding(1)])
    assert rolled.people.tolist() == anew.people.tolist()
    for name in ("ill", PERSON):
        mine, theirs = rolled.histograms[name].of_values, anew.histograms[name].of_values
        assert mine.class_of.tolist() == theirs.class_of.tolist()
        assert mine.counts.tolist() == theirs.counts.tolist()


def test_rows_by_the_people_of_their_class() -> None:
    """Three rows of one person, and three of two people, are six rows: three in a class of one."""
    frame = pl.DataFrame({"who": ["a", "a", "a", "b", "c", "c"], "zip": ["1"] * 3 + ["2"] * 3})
    counts = count_classes(frame, ["zip"], person="who")
    assert counts.rows_by_size() == [(1, 1, 3), (2, 3, 3)]
    assert count_classes(frame, ["zip"]).rows_by_size() == [(2, 3, 6)]
    told = measure_table.profile(tk.Table(frame, ["zip"], person="who"), frame.drop("who"), pl.Series(range(6)))
    assert told["class_sizes"] == {"before": {"1": 3, "2-3": 3}, "after": {"1": 3, "2-3": 3}}
    assert [one["class"] for one in told["riskiest"]] == [1, 2]


def test_a_report_counts_the_people_of_its_original() -> None:
    frame = visits(3)
    made = tk.anonymize(frame, KNOWN, k=3, person="pid", suppress=0.1)
    told = report_table(tk.Table(frame, KNOWN), made.frame, rows=made.rows, asked=Requirements(k=3, person="pid"))
    assert (told.dossier["results"]["after"]["k"], told.dossier["results"]["after"]["unit"]) == (made.k, "people")


def test_households_hide_the_people_in_them() -> None:
    """Whoever protects households protects the people in them; the column of people is not released either."""
    frame = visits(1, 300, 80).with_columns(home=pl.col("pid").str.slice(1).cast(pl.Int64, strict=False) // 2)
    table = tk.Table(frame, KNOWN, person="pid", household="home")
    made = tk.anonymize(table, k=3)
    assert made.rows is not None
    beside = made.table.with_columns(frame["home"].gather(made.rows), frame["pid"].gather(made.rows))
    counted = beside.group_by(KNOWN).agg(pl.col("home").n_unique(), pl.col("pid").n_unique())
    assert counted["home"].min() == made.k
    assert counted["pid"].min() >= counted["home"].min()  # type: ignore[operator]
    assert made.facts["unit"] == "households"
    assert not {"pid", "home"} & set(made.table.columns)


def test_record_linkage_finds_people_by_any_of_their_rows() -> None:
    """Of four rows that fit three are hers: whoever draws one of them finds her three times of four."""
    frame = pl.DataFrame({"pid": ["a", "a", "a", "b", "c", "c"], "zip": ["1", "1", "1", "1", "2", "2"]})
    table = tk.Table(frame, ["zip"], person="pid")
    scores = tk.attack(table, frame.select("zip"), "record-linkage", in_order=True).scores["record-linkage"]
    # All rows of zip 2 are of c, who is found for certain; by rows nobody would be.
    assert scores["certain"].value == pytest.approx(1 / 3)
    assert scores["success"].inputs["expected"] == pytest.approx((3 / 4 + 1 / 4 + 1) / 3)
    assert scores["certain"].inputs["people"] == 3
    by_rows = tk.attack(tk.Table(frame, ["zip"]), frame.select("zip"), "record-linkage", in_order=True)
    assert by_rows.scores["record-linkage"]["certain"].value == 0


def test_success_is_that_of_plain_python() -> None:
    frame = visits(4, 300, 70)
    made = tk.anonymize(frame, KNOWN, k=3, person="pid", method="mondrian", suppress=0.1)
    assert made.rows is not None
    mine = defaultdict(list)
    for rows in classes_of(made, frame, KNOWN).values():
        for who, _ in rows:
            mine[who].append(sum(other == who for other, _ in rows) / len(rows))
    expected = sum(sum(each) / len(each) for each in mine.values()) / len(mine)
    found = tk.attack(made, attack="record-linkage").scores["record-linkage"]["success"]
    # Labels of other classes may fit as well, so that an attacker has no less to choose from.
    assert 0 < found.inputs["expected"] <= expected + 1e-9


@pytest.mark.parametrize("method", OTHERS)
def test_methods_that_know_rows_alone_refuse_people(method: str) -> None:
    with pytest.raises(tk.errors.InputError, match="puts classes together"):
        tk.anonymize(visits(0), KNOWN, person="pid", method=method, sensitive=["ill"])


def test_a_recipe_keeps_its_promise_to_people() -> None:
    first, second = visits(11, 300, 60), visits(11, 300, 60).filter(pl.col("pid") != "p3")
    made = tk.anonymize(first, KNOWN, k=4, person="pid")
    applied = tk.apply(made.recipe, second)
    assert applied.release.rows is not None
    beside = applied.release.frame.with_columns(second["pid"].gather(applied.release.rows))
    assert beside.group_by(KNOWN).agg(pl.col("pid").n_unique())["pid"].min() >= 4  # type: ignore[operator]
    few = first.filter(pl.col("pid").is_in(["p1", "p2"]))
    with pytest.raises(tk.errors.CannotAnonymize):
        tk.apply(made.recipe, few)


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    frame = visits(0)
    with pytest.raises(tk.errors.CannotAnonymize, match=r"more than the \d+ people"):
        tk.anonymize(frame, KNOWN, k=100, person="pid")
    with pytest.raises(tk.errors.InputError, match="one role a column"):
        tk.anonymize(frame, KNOWN, k=2, person="age")
    with pytest.raises(tk.errors.InputError, match="would link all rows"):
        tk.anonymize(frame, KNOWN, k=2, person="pid", keep=["pid"])
    with pytest.raises(tk.errors.InputError, match="as a person: 'pid'"):
        tk.anonymize(frame, KNOWN, k=2, person="pidd")
    frame.write_csv(tmp_path / "visits.csv")
    with pytest.raises(tk.errors.InputError, match="as a person: 'pid'"):
        anonymize_to_files(
            str(tmp_path / "visits.csv"), KNOWN, {"out": tmp_path / "out.csv"}, ReleaseRequest(k=2, person="pidd")
        )
    with pytest.raises(tk.errors.InputError, match="checked"):
        tk.anonymize(frame, KNOWN, k=2, person="pid", method="mondrian", cuts="safe")
    with pytest.raises(tk.errors.InputError, match="every row is somebody else"):
        tk.harden(tk.anonymize(tk.Table(frame, KNOWN, person="pid"), k=3, method="mondrian"), bound=0.2)


def test_kept_columns_of_one_person_are_refused() -> None:
    """A note that stands in every row of one person singles that person out, though no row is alone with it."""
    frame = visits(2).with_columns(note=pl.format("note of {}", pl.col("pid")))
    with pytest.raises(tk.errors.InputError, match="one person's alone"):
        tk.anonymize(frame, KNOWN, k=3, person="pid", keep=["note"])


def test_a_job_counts_people_and_says_where_it_counts_rows(tmp_path: Path) -> None:
    frame = visits(3, 400, 90)
    frame.write_csv(tmp_path / "visits.csv")
    text = '[input]\nfile = "visits.csv"\n[roles]\nage = "quasi-identifier"\nzip = "quasi-identifier"\n'
    text += 'sex = "quasi-identifier"\nill = "sensitive"\npid = "{role}"\n[requirements]\nk = 3\n'
    text += '[[threat]]\nname = "neighbor"\nattacks = ["record-linkage"]\n'
    people = tk.run(tk.Job.of(text.format(role="person"), folder=tmp_path), tmp_path / "people")
    after = people.results["after"]
    assert (after["unit"], after["k"]) == ("people", people.results["k"])
    assert "of people" in (tmp_path / "people" / "report.md").read_text()
    rows = tk.run(tk.Job.of(text.format(role="identifier"), folder=tmp_path), tmp_path / "rows")
    assert "unit" not in rows.results["after"]
    said = (tmp_path / "rows" / "report.md").read_text()
    assert "People may have several rows" in said
    assert "pid has" in said


def test_registry_of_methods_is_covered() -> None:
    assert {isinstance(TABLE_ANONYMIZERS.make(name), (TableSearch, LocalRecoder)) for name in GROUPING} == {True}
