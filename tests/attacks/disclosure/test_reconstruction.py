"""What follows from published counts, worked out by hand on few people, and by trying all tables that there are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases
from tests.journey.commands import tokumei_here

import tokumei as tk
from tokumei.attacks.disclosure.count_fits import without_noise
from tokumei.core.errors import InputError, NotAllowed

Ints = npt.NDArray[np.int64]
COLUMNS = ["sex", "age", "smokes"]
# Three tables of eight people; nobody in their twenties does not smoke, nobody in their thirties does.
BY_PAIRS = [
    *[("f", "20s", None, 3), ("f", "30s", None, 1), ("m", "20s", None, 1), ("m", "30s", None, 3)],
    *[("f", None, "yes", 3), ("f", None, "no", 1), ("m", None, "yes", 1), ("m", None, "no", 3)],
    *[(None, "20s", "yes", 4), (None, "20s", "no", 0), (None, "30s", "yes", 0), (None, "30s", "no", 4)],
]


def counts(*lines: tuple[Any, ...], columns: Sequence[str] = COLUMNS) -> pl.DataFrame:
    found = [[None if cell is None else str(cell) for cell in line] for line in lines]
    return pl.DataFrame(found, schema=dict.fromkeys([*columns, "rows"], pl.String), orient="row")


def attacked(frame: Any, columns: Sequence[str] = COLUMNS, sensitive: Sequence[str] = (), **options: Any) -> Any:
    known = [name for name in columns if name not in sensitive]
    return tk.attack(tk.Table(frame, qi=known, sensitive=sensitive), attack="reconstruction", fits=4, **options)


def claimed(result: Any, kind: str | None = None) -> list[str]:
    claims: pl.DataFrame = result.claims
    return claims.filter(True if kind is None else pl.col("kind") == kind)["claim"].to_list()


def test_three_tables_of_pairs_tell_all_rows() -> None:
    found = attacked(counts(*BY_PAIRS))
    assert set(claimed(found, "unique")) == {"sex f, age 30s, smokes no: 1 row", "sex m, age 20s, smokes yes: 1 row"}
    assert set(claimed(found, "row")) == {"sex f, age 20s, smokes yes: 3 rows", "sex m, age 30s, smokes no: 3 rows"}
    # Two of eight people are alone.
    assert found.scores["reconstruction"]["certain"].value == 2 / 8
    assert found.candidates["confidence"].to_list() == [1.0] * 4
    under_4 = attacked(counts(*BY_PAIRS), k=4)
    assert under_4.scores["reconstruction"]["certain"].value == 1
    assert under_4.is_refused
    assert not found.is_refused


def test_original_judges_claims_and_candidates() -> None:
    people = [("f", "20s", "yes")] * 3 + [("f", "30s", "no"), ("m", "20s", "yes")] + [("m", "30s", "no")] * 3
    table = tk.Table(pl.DataFrame(people, schema=COLUMNS, orient="row"), qi=COLUMNS)
    found = tk.attack(table, counts(*BY_PAIRS), "reconstruction", fits=4)
    scores = found.scores["reconstruction"]
    assert scores["success"].value == 1
    assert scores["claimed"].value == 1
    assert found.claims["is_true"].all()
    assert [(one["row"], one["class"]) for one in scores["certain"].inputs["riskiest_people"]] == [(4, 1), (5, 1)]
    # By single columns each of eight combinations has one row expected: with chance 1 − 1/e it is drawn once or more.
    # Of the rows with three people E min(X, 3) = 3 − 3/e − 2/e − 1/(2e), of the others 1 − 1/e.
    blind = (2 * (3 - 5.5 / np.e) + 2 * (1 - 1 / np.e)) / 8
    assert scores["success"].baseline == pytest.approx(blind)
    other = pl.DataFrame([("f", "20s", "no"), ("f", "20s", "yes")], schema=COLUMNS, orient="row")
    # The fit has 3/8 of the one, and half of the others are so: min(3/8, 1/2).
    controlled = tk.attack(table, counts(*BY_PAIRS), "reconstruction", fits=4, control=other)
    assert controlled.scores["reconstruction"]["success"].control == 3 / 8


def test_group_all_of_whom_have_one_value_is_told_by_the_fewest_columns() -> None:
    found = attacked(counts(*BY_PAIRS), sensitive=["smokes"])
    assert claimed(found, "sensitive value") == [
        "age 20s: smokes yes in all 4 rows",
        "age 30s: smokes no in all 4 rows",
    ]
    assert found.scores["reconstruction"]["values-certain"].value == 1


def test_one_suppressed_cell_of_a_table_with_totals_is_no_secret() -> None:
    """f with flu: 10 − 8 = 2. Where four cells are hidden none follows."""
    columns = ["sex", "ill"]
    totals = [("f", None, 10), ("m", None, 12), (None, "flu", 9), (None, "cold", 13)]
    one = counts(("f", "flu", "*"), ("f", "cold", 8), ("m", "flu", 7), ("m", "cold", 5), *totals, columns=columns)
    assert claimed(attacked(one, columns, k=3), "under k") == ["sex f, ill flu: 2 rows"]
    row = counts(("f", "flu", "<5"), ("f", "cold", "<9"), ("m", "flu", 7), ("m", "cold", 5), *totals, columns=columns)
    assert "sex f, ill flu: 2 rows" in claimed(attacked(row, columns, k=3))
    four = counts(
        ("f", "flu", "*"), ("f", "cold", "*"), ("m", "flu", "*"), ("m", "cold", "*"), *totals, columns=columns
    )
    assert claimed(attacked(four, columns, k=3), "under k") == []
    # Fewer than 5 of both sexes have each: 10 women are not eight of two kinds.
    with pytest.raises(InputError, match="counts that one table can have"):
        attacked(four, columns, k=3, suppressed=5)


def test_rounded_counts_are_bounds_that_add_up() -> None:
    """Nearest multiples of 3: f is 2 to 4, m is 0 or 1; of two people in all both are women."""
    rounded = counts(("f", 3), ("m", 0), columns=["sex"])
    assert claimed(attacked(rounded, ["sex"], rounded=3, total=2, k=3), "under k") == ["sex f: 2 rows"]
    assert claimed(attacked(rounded, ["sex"], rounded=3, k=5), "under k") == ["sex f: 2 to 4 rows"]
    # Up or down at random: f is 1 to 5, m is 0 to 2.
    assert claimed(attacked(rounded, ["sex"], rounded=3, rounding="random", total=2, k=3), "under k") == [
        "sex f: 1 to 2 rows"
    ]
    with pytest.raises(InputError, match="line 1, column rows: found '4', expected a multiple of 3"):
        attacked(counts(("f", 4), columns=["sex"]), ["sex"], rounded=3)


def test_hidden_zero_is_no_row() -> None:
    shown = counts(("f", "<3"), ("m", 5), columns=["sex"])
    assert claimed(attacked(shown, ["sex"], k=3), "under k") == ["sex f: 1 to 2 rows"]
    assert claimed(attacked(shown, ["sex"], k=3, least=0), "under k") == []


def test_what_a_table_does_not_list_is_none_or_unknown() -> None:
    """Two women are listed of three people; where the list may lack some, the third is a man or did not say."""
    sex = {"sex": tk.Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])}
    table = tk.Table(counts(("f", 2), columns=["sex"]), qi=["sex"], hierarchies=sex)
    found = tk.attack(table, attack="reconstruction", unlisted="unknown", total=3)
    assert claimed(found, "unique") == ["sex {m;(missing)}: 1 row"]
    with pytest.raises(InputError, match="counts that one table can have"):
        tk.attack(table, attack="reconstruction", total=3)


def test_labels_of_several_levels_are_counts_of_the_same_people() -> None:
    """Kansai 5, of whom Kyoto 2 and Osaka 2: one is of Nara."""
    city = tk.Hierarchy.of_levels("city", [["Kyoto", "Osaka", "Nara", "Tokyo"], ["Kansai"] * 3 + ["Kanto"], ["*"] * 4])
    lines = counts(("Kansai", 5), ("Kanto", 9), ("Kyoto", 2), ("Osaka", 2), columns=["city"])
    found = tk.attack(tk.Table(lines, qi=["city"], hierarchies={"city": city}), attack="reconstruction")
    assert claimed(found, "unique") == ["city Nara: 1 row"]


def test_label_of_several_values_is_a_group_of_its_own() -> None:
    """Of five people three are men of Tokyo and four are men: the other man is of Kansai, whichever city that is."""
    city = tk.Hierarchy.of_levels("city", [["Kyoto", "Osaka", "Tokyo"], ["Kansai"] * 2 + ["Kanto"], ["*"] * 3])
    lines = counts(
        ("Kansai", None, 2),
        ("Kyoto", None, "*"),
        ("Tokyo", "m", 3),
        (None, "m", 4),
        (None, "f", 1),
        (None, None, 5),
        ("Osaka", None, "*"),
        ("Tokyo", None, 3),
        ("Kanto", "m", 3),
        ("Kansai", "m", "*"),
        ("Kansai", "f", "*"),
        columns=["city", "sex"],
    )
    found = tk.attack(tk.Table(lines, qi=["city", "sex"], hierarchies={"city": city}), attack="reconstruction")
    assert claimed(found, "unique") == ["city Kansai, sex f: 1 row", "city Kansai, sex m: 1 row"]


def test_missing_value_is_a_value_of_its_own() -> None:
    people = pl.DataFrame({"sex": ["f", "f", "m", None], "age": ["20", "20", "20", "20"]})
    table = tk.Table(people, qi=["sex", "age"])
    made = tk.anonymize(table, method="marginals", k=1)
    found = tk.attack(table, made, "reconstruction", fits=4)
    assert set(claimed(found, "unique")) == {"sex m, age 20: 1 row", "sex (missing), age 20: 1 row"}
    assert found.claims["is_true"].all()


def test_further_tables_of_the_same_people_are_taken_together(tmp_path: Any) -> None:
    """f 4 of 8 and f in their 20s 3; a second table says that 3 of the 4 in their 30s are men."""
    first, second = counts(*BY_PAIRS[:4]), counts(*BY_PAIRS[4:])
    second.write_csv(tmp_path / "second.csv")
    assert claimed(attacked(first), "unique") == ["sex f, age 30s: 1 row", "sex m, age 20s: 1 row"]
    both = attacked(first, beside=(str(tmp_path / "second.csv"),))
    assert claimed(both, "unique") == ["sex f, age 30s, smokes no: 1 row", "sex m, age 20s, smokes yes: 1 row"]


@pytest.mark.parametrize(
    ("lines", "options", "why"),
    [
        ([("f", "few"), ("m", 3)], {}, "line 1, column rows: found 'few', expected a number of rows"),
        ([("f", 2.5)], {}, "expected a whole number of rows; of noisy counts say by which ε"),
        ([("f", -1)], {}, "a whole number of rows"),
        ([("f", 2), ("f", 3)], {}, "line 2: found 'f', expected other labels than line 1 has"),
        ([("f", "*"), ("m", 3)], {}, "option total: expected how many rows there are in all"),
        ([("f", 2)], {"counts": "n"}, "a table of counts .the column rows, or another"),
        ([("f", 2)], {"rounding": "up"}, "option rounding: found 'up', expected nearest or random"),
        ([("f", 2)], {"fits": 0}, "option fits"),
        ([("f", 2)], {"epsilon": -1}, "option epsilon"),
        ([("*", 2)], {}, "labels in a column of counts"),
        (
            [("f", 2), ("Total", 2)],
            {},
            "line 2, column sex: found 'Total', expected . or nothing",
        ),
    ],
)
def test_what_cannot_be_read_is_named(lines: list[Any], options: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        tk.attack(tk.Table(counts(*lines, columns=["sex"]), qi=["sex"]), attack="reconstruction", **options)


def test_release_of_rows_has_no_counts() -> None:
    table = tk.Table({"sex": ["f", "m"]}, qi=["sex"])
    with pytest.raises(InputError, match=r"a table of counts .*, which reconstruction needs"):
        tk.attack(table, attack="reconstruction")
    assert "reconstruction" in tk.attack(table, table, in_order=True).left_out


def test_noise_is_taken_away_as_often_as_it_was_added() -> None:
    """A count of 1, noise of decay 1/2 and 1 expected (b = 1/2): weights 1/2, 1/2, 1/8, 1/32, …, in all 7/6."""
    n = 40_000
    drawn = without_noise(np.ones(n, np.int64), np.full(n, 0.5), np.ones(n), np.random.default_rng(1))
    shares = np.bincount(drawn, minlength=4)[:4] / n
    assert shares == pytest.approx([3 / 7, 3 / 7, 3 / 28, 3 / 112], abs=0.01)
    # Where much is expected the weights of what lies below grow: 3 counted, decay 1/2, b = 3/4, ratio 2/3.
    many = without_noise(np.full(n, 3), np.full(n, 0.5), np.full(n, 3.0), np.random.default_rng(2))
    weights = np.array([0.75**m * 0.5 ** abs(3 - m) for m in range(60)])
    assert np.bincount(many, minlength=60)[:6] / n == pytest.approx((weights / weights.sum())[:6], abs=0.01)
    few = without_noise(np.full(n, 3), np.full(n, 0.5), np.full(n, 0.25), np.random.default_rng(3))
    weights = np.array([0.2**m * 0.5 ** abs(3 - m) for m in range(60)])
    assert np.bincount(few, minlength=60)[:6] / n == pytest.approx((weights / weights.sum())[:6], abs=0.01)


def made(n: int, seed: int) -> pl.DataFrame:
    """People whose columns depend on each other in pairs."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 4, n)
    work = (age + rng.choice([0, 0, 0, 1, 2], n)) % 4
    sex = (rng.random(n) < 0.2 + 0.2 * (work == 1) + 0.5 * (work == 2)).astype(int)
    town = (work + rng.choice([0, 0, 1, 3], n)) % 5
    return pl.DataFrame({"age": age, "work": work, "sex": sex, "town": town}).select(pl.all().cast(pl.String))


def test_likely_rows_are_those_of_people_more_often_than_the_likeliest_by_single_columns() -> None:
    people, names = made(200, 1), ["age", "work", "sex", "town"]
    pairs = [people.group_by(one).len("rows") for one in combinations(names, 3)]
    counts_of = pl.concat(pairs, how="diagonal").select(*names, "rows")
    found = tk.attack(
        tk.Table(people, qi=names), counts_of, "reconstruction", fits=6, control=made(500, 2), k=3, seconds=20
    )
    scores = found.scores["reconstruction"]
    success, claimed_rows = scores["success"], scores["claimed"]
    assert success.interval is not None
    assert success.baseline is not None
    assert success.control is not None
    assert success.interval[0] > max(success.baseline, success.control)
    assert claimed_rows.baseline is not None
    assert claimed_rows.value > claimed_rows.baseline
    assert found.claims["is_true"].all()
    assert scores["certain"].value > 0
    # Who is in a group that was proven to be small is there in truth.
    true = people.group_by(names).len("n")
    listed = found.candidates.filter(pl.col("is_true")).height
    assert listed <= true.height


@pytest.mark.parametrize(("epsilon", "least", "most"), [(0.1, 0.0, 0.75), (1.0, 0.2, 1.0), (10.0, 0.97, 1.0)])
def test_noisy_counts_give_rows_away_by_as_much_as_their_epsilon_allows(
    epsilon: float, least: float, most: float
) -> None:
    people, names = made(200, 1), ["age", "work", "sex"]
    trees = {
        name: tk.Hierarchy.of_levels(name, [sorted(set(people[name])), ["*"] * people[name].n_unique()])
        for name in names
    }
    table = tk.Table(people, qi=names, hierarchies=trees)
    noised = tk.anonymize(table, method="dp-counts", epsilon=epsilon, seed=1, reproducible=True)
    found = tk.attack(table, noised, "reconstruction", fits=6)
    assert least <= found.scores["reconstruction"]["success"].value <= most
    assert set(found.scores["reconstruction"]) == {"success", "claimed"}
    deduced = found.to_dict()["deduced"]["reconstruction"]
    assert (deduced["nothing_claimed_since"], deduced["assumed"]["epsilon"]) == ("noisy counts prove nothing", epsilon)
    assert found.claims.height == 0


def test_noisy_file_needs_its_epsilon(tmp_path: Any) -> None:
    counts(("f", 2), ("m", 3), columns=["sex"]).write_csv(tmp_path / "noisy.csv")
    table = tk.Table(tmp_path / "noisy.csv", qi=["sex"])
    with pytest.raises(InputError, match="option epsilon: expected the ε"):
        tk.attack(table, attack="reconstruction", method="dp-counts")
    assert tk.attack(table, attack="reconstruction", method="dp-counts", epsilon=1.0).claims.height == 0


def test_time_that_is_up_leaves_groups_open_and_proves_none() -> None:
    found = attacked(counts(*BY_PAIRS[:8]), seconds=0)
    deduced = found.to_dict()["deduced"]["reconstruction"]
    assert deduced["fits"] == 0
    assert "no table was found in time" in deduced["nothing_claimed_since"]
    # All groups are open, and nothing that was not measured is scored.
    assert deduced["programs"]["open"] == deduced["groups"] > 0
    assert found.scores["reconstruction"] == {}
    assert found.claims.height == 0


def test_marginals_are_refused_beside_a_table_with_which_they_prove_a_small_group(tmp_path: Any) -> None:
    """Sex by age was published; now age by smoking is asked for: everybody's smoking follows from the age."""
    people = [("f", "20s", "yes")] * 3 + [("f", "30s", "no"), ("m", "20s", "yes")] + [("m", "30s", "no")] * 3
    table = tk.Table(pl.DataFrame(people, schema=COLUMNS, orient="row"), qi=COLUMNS)
    first = str(tmp_path / "first.csv")
    counts(*BY_PAIRS[:4]).with_columns(pl.col("rows").replace("1", "<2")).write_csv(first)
    with pytest.raises(NotAllowed, match=r"prove a group of fewer than 2: sex f, age 30s, smokes no: 1 row\. .anyway"):
        tk.anonymize(table, method="marginals", k=2, beside=[first])
    released = tk.anonymize(table, method="marginals", k=2, beside=[first], anyway=True)
    told = released.recipe.options["beside_others"]
    assert told["proven_under_k"] == ["sex f, age 30s, smokes no: 1 row", "sex m, age 20s, smokes yes: 1 row"]
    assert released.to_dict()["beside_others"] == told
    alone = str(tmp_path / "alone.csv")
    counts(("f", None, None, 4), ("m", None, None, 4)).write_csv(alone)
    fine = tk.anonymize(table, method="marginals", k=2, beside=[alone])
    assert fine.recipe.options["beside_others"]["proven_under_k"] == []
    with pytest.raises(InputError, match="option publish"):
        tk.anonymize(table, method="marginals", k=2, beside=[alone], publish="rows")


def test_shell_refuses_counts_that_prove_a_group_under_k(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    counts(*BY_PAIRS).write_csv("counts.csv")
    command = ["attack", "table", "reconstruction", "--release", "counts.csv", "--qi", "sex,age,smokes"]
    code, told = tokumei_here(capsys, *command, "--k", "2", "--claims", "claims.csv", "--candidates", "rows.csv")
    assert (code, told["deduced"]["reconstruction"]["proven_under_k"]) == (1, 2)
    assert pl.read_csv("claims.csv").filter(kind="unique").height == 2
    assert pl.read_csv("rows.csv").columns == [*COLUMNS, "mean_rows", "confidence", "is_true"]
    # Nobody said which k it is to be, so that nothing is refused.
    assert tokumei_here(capsys, *command)[0] == 0


# Cells of three columns of two values, or of one of three and two of two.
SHAPES = ((2, 2, 2), (3, 2, 2))


def all_tables(n_cells: int, n_rows: int) -> Ints:
    bars = np.array(list(combinations(range(n_rows + n_cells - 1), n_cells - 1)))
    ends = np.hstack([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), n_rows + n_cells - 1)])
    return np.diff(ends, axis=1) - 1


@st.composite
def published(draw: Any) -> tuple[Any, Any, list[Any], dict[str, Any]]:
    """A small table, and some counts of it: each with the cells it is of, its bounds, and how it is written."""
    shape = draw(st.sampled_from(SHAPES))
    n_cells = int(np.prod(shape))
    rows = draw(st.lists(st.integers(0, n_cells - 1), min_size=2, max_size=8 if n_cells == 8 else 6))
    table = np.bincount(rows, minlength=n_cells)
    margins = draw(st.lists(st.sampled_from([(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]), min_size=2, unique=True))
    how = draw(st.sampled_from(["exact", "suppressed", "rounded"]))
    cells, lines = np.array(list(product(*(range(n) for n in shape)))), []
    for margin in margins:
        for values in product(*(range(shape[at]) for at in margin)):
            inside = (cells[:, margin] == values).all(axis=1)
            n = int(table[inside].sum())
            low, high, text = n, n, str(n)
            if how == "suppressed" and 1 <= n <= 2:
                low, high, text = 1, 2, "<3"
            if how == "rounded":
                multiple = 3 * round(n / 3)
                low, high, text = max(0, multiple - 1), multiple + 1, str(multiple)
            label = [str(values[margin.index(at)]) if at in margin else None for at in range(3)]
            lines.append((inside, low, high, (*label, text)))
    return shape, table, lines, {"rounded": 3} if how == "rounded" else {}


@settings(max_examples=cases(60), deadline=None)
@given(published(), st.integers(2, 4))
def test_claims_are_those_that_all_possible_tables_have_in_common(drawn: Any, k: int) -> None:
    shape, table, lines, options = drawn
    n_rows = int(table.sum())
    tables = all_tables(len(table), n_rows)
    for inside, low, high, _ in lines:
        n = tables[:, inside].sum(axis=1)
        tables = tables[(n >= low) & (n <= high)]
    assert len(tables)
    frame = counts(*(line for *_, line in lines), columns=["a", "b", "c"])
    used = [name for name in "abc" if frame[name].is_not_null().any()]
    found = attacked(frame, used, k=k, total=n_rows, **options)
    claims = found.claims.filter(pl.col("kind").is_in(["unique", "under k"]))
    told = {(one["column"], one["value"]): (one["least"], one["most"]) for one in claims.iter_rows(named=True)}
    cells = np.array(list(product(*(range(n) for n in shape))))
    # The combinations that may have rows: groups of the same ones are the same people, and told once.
    may = (tables > 0).any(axis=0)
    expected, there = {}, {}
    for size in range(1, len(used) + 1):
        for names in combinations(used, size):
            at = ["abc".index(name) for name in names]
            for values in product(*(range(shape[one]) for one in at)):
                inside = (cells[:, at] == values).all(axis=1)
                n = tables[:, inside].sum(axis=1)
                if bounds := told.pop((", ".join(names), ", ".join(map(str, values))), None):
                    assert bounds == (n.min(), n.max())
                    there[(inside & may).tobytes()] = bounds
                if n.min() >= 1 and n.max() < k:
                    expected[(inside & may).tobytes()] = int(n.min()), int(n.max())
    assert not told
    assert there == expected
    assert found.to_dict()["deduced"]["reconstruction"]["programs"]["open"] == 0
