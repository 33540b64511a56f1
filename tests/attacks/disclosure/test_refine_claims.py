"""Every claim of refine is true, whatever the table holds, and it proves what an integer program proves."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest
from scipy.optimize import LinearConstraint, milp
from tests.attacks.disclosure.arx_local_recoding import Recoded, Row, random_case
from tests.attacks.disclosure.refine_oracle import Column, Oracle
from tests.attacks.disclosure.test_downcoding_claims import CITIES, REGIONS, random_table
from tests.cases import cases

import tokumei as tk
from tokumei.attacks.claims import MISSING, Claim, Leaf
from tokumei.attacks.disclosure.round_programs import solve
from tokumei.attacks.disclosure.rounds import Rounds, count
from tokumei.attacks.disclosure.value_counts import Key, ValueCounts
from tokumei.attacks.label_reading import LabelReading
from tokumei.attacks.public_knowledge import PublicKnowledge
from tokumei.attacks.threat_model import KnownMethod
from tokumei.core.errors import CannotAnonymize
from tokumei.hierarchies.hierarchy import Hierarchy


@pytest.mark.parametrize("rounds", ["any", "finest"])
@pytest.mark.parametrize("seed", range(cases(400)))
def test_refine_of_rounds_claims_nothing_that_is_false(seed: int, rounds: str) -> None:
    case = random_case(seed, is_finest=rounds == "finest")
    is_complete = not any(case.original[name].null_count() for name in case.original.columns)
    k = case.k if seed % 3 else None
    found = case.attacked(rounds=rounds, complete=is_complete and bool(seed % 2), k=k)
    assert found.claims["is_true"].null_count() == 0
    assert found.claims.filter(~pl.col("is_true")).to_dicts() == []
    assert found.to_dict()["deduced"]["refine"]["nothing_claimed_since"] in (None, "all rows say nothing")


@pytest.mark.parametrize("rounds", ["any", "finest"])
def test_refine_proves_what_an_integer_program_over_all_combinations_proves(rounds: str) -> None:
    """Nine of ten bounds at least follow from the claims, and no claim says more than the integer program allows."""
    n_facts, n_proven, n_tables, seed = 0, 0, 0, 0
    while n_tables < cases(200):
        seed += 1
        case = random_case(seed, is_finest=rounds == "finest", most_leaves=4)
        is_complete = not any(case.original[name].null_count() for name in case.original.columns)
        held = bounds_of_refine(case, rounds, is_complete=is_complete)
        if held is None:
            continue
        n_tables += 1
        made, counts = held
        oracle = oracle_of(case, rounds, is_complete=is_complete)
        claims = list(counts.claims())
        for key, level, place, values, leaves in pieces_of(made, case):
            number = oracle.rows.index(row_of(made, key[0]))
            size = oracle.sizes[number]
            at = case.original.columns.index(key[1])
            least, most = oracle.bounds(number, at, values)
            for own in (counts.known(key, level, place), told_by(claims, key, leaves, label_of(made, key), size)):
                assert own[0] <= least
                assert own[1] >= most
            n_facts += (least > 0) + (most < size)
            n_proven += (least > 0 and own[0] == least) + (most < size and own[1] == most)
    assert n_facts > n_tables
    assert n_proven >= 0.9 * n_facts


def told_by(
    claims: Sequence[Claim], key: Key, leaves: frozenset[Leaf], label: frozenset[Leaf], size: int
) -> tuple[int, int]:
    """Return what the claims about one class and column tell a reader of the rows that have one of some values.

    The reader knows the size of the class and the values of its label, so that a node with few rows holds no value
    with many, whether or not a claim names the value.
    """
    order = sorted(label, key=str)
    rows, low, high = [np.ones(len(order))], [size], [size]
    for claim in claims:
        if (claim.class_number, claim.column) == key:
            parts = [*claim.parts, *([claim.leaves] if isinstance(claim.leaves, frozenset) else [])]
            rows += [np.array([leaf in part for leaf in order], float) for part in parts]
            low += [claim.least] * (len(rows) - len(low))
            high += [claim.most] * (len(rows) - len(high))
    counted = np.array([leaf in leaves for leaf in order], float)
    within = [LinearConstraint(np.array(rows), low, high)]
    fewest, most = milp(counted, constraints=within).fun, milp(-counted, constraints=within).fun
    assert fewest is not None
    assert most is not None
    # A bound that is not whole holds for the next whole number within it.
    return math.ceil(fewest - 1e-6), math.floor(-most + 1e-6)


def test_bounds_of_values_follow_from_a_claim_about_their_node() -> None:
    """Of five rows two at most are below the node of 0 and 1: each is in two at most, and 2 is in three at least."""
    key, label, node = (0, "city"), frozenset([0, 1, 2]), frozenset([0, 1])
    claims = [Claim(0, "city", "counting", "count", 0, 2, "", "west", node)]
    assert told_by(claims, key, frozenset([0]), label, 5) == (0, 2)
    assert told_by(claims, key, frozenset([2]), label, 5) == (3, 5)
    assert told_by(claims, (1, "city"), frozenset([2]), label, 5) == (0, 5)
    each = [Claim(0, "city", "counting", "each", 0, 1, "", parts=[frozenset([0]), frozenset([1])])]
    assert told_by(each, key, node, label, 5) == (0, 2)


TREE = Hierarchy.of_levels("city", [CITIES, REGIONS, ["*"] * 6])


@pytest.mark.parametrize("method", ["mondrian", "partition", "min-dis", "utility-clustering"])
@pytest.mark.parametrize("seed", range(cases(100)))
def test_refine_of_closest_labels_claims_nothing_that_is_false(method: str, seed: int) -> None:
    frame, columns = random_table(seed)
    is_complete = not any(frame[name].null_count() for name in columns)
    table = tk.Table(frame, qi=columns, hierarchies={"city": TREE} if "city" in columns else None)
    ranges: Literal["grid", "tight"] = "tight" if seed % 2 else "grid"
    try:
        release = tk.anonymize(table, k=2 + seed % 3, method=method, suppress=0.2 * (seed % 4 == 3), ranges=ranges)
    except CannotAnonymize:
        pytest.skip("nothing of this table can be released")
    alone = pl.DataFrame(release.table)
    assert release.rows is not None
    told: dict[str, Any] = {
        "rows": release.rows.to_list(),
        "hierarchies": dict(release.hierarchies),
        "method": method,
    }
    told |= {"complete": is_complete}
    # As somebody sees it who was told the whole recipe, and somebody who knows the method's name.
    for found in (
        tk.attack(release, attack="refine", complete=is_complete),
        tk.attack(table, alone, "refine", numeric=list(release.number_columns), **told),
    ):
        assert found.claims["is_true"].null_count() == 0
        assert found.claims.filter(~pl.col("is_true")).to_dicts() == []


@pytest.mark.parametrize("method", ["optimal", "ola", "incognito", "exhaustive", "datafly", "pak", "best-effort"])
@pytest.mark.parametrize("seed", range(0, cases(100), 3))
def test_refine_of_levels_and_suppressed_rows_claims_nothing_that_is_false(method: str, seed: int) -> None:
    frame, columns = random_table(seed)
    table = tk.Table(frame, qi=columns, hierarchies={"city": TREE} if "city" in columns else None)
    try:
        release = tk.anonymize(table, k=2 + seed % 3, method=method, suppress=0.3 * (seed % 4 > 0))
    except CannotAnonymize:
        pytest.skip("nothing of this table can be released")
    assert release.rows is not None
    # As others write it: who is suppressed stays, and says nothing.
    left_out = sorted(set(range(frame.height)) - set(release.rows))
    blank = pl.DataFrame({name: ["*"] * len(left_out) for name in columns}, dict.fromkeys(columns, pl.String))
    whole = pl.concat([release.table.select(pl.col(columns).cast(pl.String)), blank])
    rows = [*release.rows, *left_out]
    found = tk.attack(
        table, whole, "refine", rows=rows, hierarchies=dict(release.hierarchies), method=method, numeric=[]
    )
    assert found.claims.filter(~pl.col("is_true")).to_dicts() == []
    reason = found.to_dict()["deduced"]["refine"]["nothing_claimed_since"]
    assert reason in (None, "all rows say nothing")


def public_of(case: Recoded) -> PublicKnowledge:
    table = tk.Table(case.release, qi=case.release.columns)
    return PublicKnowledge(table, dict(case.hierarchies), numeric=[], method=KnownMethod(k=case.k))


def bounds_of_refine(case: Recoded, rounds: str, *, is_complete: bool) -> tuple[Rounds, ValueCounts] | None:
    """Bound counts as the attack does; None where all rows say nothing."""
    public = public_of(case)
    readings = [LabelReading.of(public, column) for column in public.columns]
    made = Rounds.of(public, readings, case.k, is_finest=rounds == "finest", is_complete=is_complete)
    if isinstance(made, str):
        return None
    counts = ValueCounts(public)
    count(made, counts)
    assert solve(made, counts, seconds=600).out_of_time == 0
    counts.spread()
    return made, counts


def oracle_of(case: Recoded, rounds: str, *, is_complete: bool) -> Oracle:
    names = case.release.columns
    rows: list[Row] = case.release.rows()
    columns = [
        Column.of(case.hierarchies.get(name), {row[at] for row in rows}, is_complete=is_complete)
        for at, name in enumerate(names)
    ]
    return Oracle(columns, Counter(rows), case.k, is_finest=rounds == "finest")


def row_of(made: Rounds, number: int) -> Row:
    return made.public.release.frame.row(int(made.public.first_rows[number]))


def label_of(made: Rounds, key: Key) -> frozenset[Leaf]:
    """Return the values that the label of a class may stand for."""
    at = [column.column for column in made.columns].index(key[1])
    return made.columns[at].leaves_of(int(made.high[key[0], at]), int(made.high_codes[key[0], at]))


Piece = tuple[Key, int, int, frozenset[str | None], frozenset[Leaf]]


def pieces_of(made: Rounds, case: Recoded) -> Iterator[Piece]:
    """List the listed pieces of each label with their values; a piece that is all of its label tells nothing new."""
    for number in range(len(made.public.sizes)):
        for at, column in enumerate(made.columns):
            tree = case.hierarchies.get(column.column)
            high, code = int(made.high[number, at]), int(made.high_codes[number, at])
            for level in range(high):
                pieces = made.pieces(at, level, high, code)
                for place, (name, leaves) in enumerate(zip(pieces.names, pieces.leaves, strict=True)):
                    if name is None or not isinstance(leaves, frozenset) or len(pieces.names) == 1:
                        continue
                    values = (
                        None if one == MISSING else tree.leaves[one] if tree and isinstance(one, int) else str(one)
                        for one in leaves
                    )
                    yield (number, column.column), level, place, frozenset(values), leaves
