"""Measures of several releases, of rows beside the original, of paths and of pairs of columns equal definitions."""

from __future__ import annotations

import datetime
import random

import polars as pl
import pytest
from tests.definitions import isolation, k_anonymity, randomized, several_releases, tracing
from tests.definitions.cases import SENSITIVE, Row, frame_of, random_case
from tests.definitions.generalizing import classes, generalized

import tokumei as tk
from tokumei.data.history import History
from tokumei.data.table import Table
from tokumei.engines.count import count_classes
from tokumei.measures.safety.c_t_isolation import CTIsolation
from tokumei.measures.safety.diversity import XYAnonymity, count_together
from tokumei.measures.safety.k_t_privacy import KTPrivacy
from tokumei.measures.safety.pk_anonymity import PkAnonymity, PlDiversity
from tokumei.measures.safety.releases import MInvariance, MultiRKAnonymity, SequentialK
from tokumei.measures.several_releases import SeveralReleases


def drawn_releases(seed: int) -> tuple[list[str], list[several_releases.Release]]:
    """Up to three releases of the same people at different nodes; people leave and come, some values change."""
    case, draw = random_case(seed), random.Random(seed)
    for number, row in enumerate(case.rows):
        row["id"] = str(number)
    releases = []
    for _ in range(draw.choice([1, 2, 2, 3])):
        levels = {name: draw.randrange(len(tree)) for name, tree in case.trees.items()}
        rows = [dict(row) for row in generalized(case, levels) if draw.random() > 0.2]
        for row in rows:
            if draw.random() < 0.1:
                row["illness"] = "cold"
        releases.append(rows)
    return case.quasi_identifiers, releases


def test_measures_of_several_releases(times: int) -> None:
    n_invariant = 0
    for seed in range(150 * times):
        columns, releases = drawn_releases(seed)
        frames = [frame_of(rows, ["id", *columns, *SENSITIVE]) for rows in releases]
        together = SeveralReleases.of(frames, columns, sensitive=SENSITIVE, person="id")
        m = several_releases.m_invariance(releases, columns, "illness")
        n_invariant += m > 1
        assert MInvariance("illness", 1).measure(together).value == m
        assert MInvariance("illness", 2).holds(together) == (m >= 2 or not any(releases))
        score = SequentialK(1).measure(together)
        assert score.value == several_releases.sequential_k(releases, columns)
        for column in SENSITIVE:
            left = several_releases.fewest_remaining(releases, columns, column)
            assert score.inputs["remaining"][column] == left
    assert n_invariant


def test_people_with_many_rows_in_many_tables(times: int) -> None:
    for seed in range(100 * times):
        columns, releases = drawn_releases(seed)
        draw = random.Random(seed)
        # Several rows a person.
        tables = [[row | {"id": draw.choice("12345")} for row in rows] for rows in releases]
        frames = [frame_of(rows, ["id", *columns, *SENSITIVE]) for rows in tables]
        together = SeveralReleases.of(frames, columns, sensitive=SENSITIVE, person="id")
        assert MultiRKAnonymity(1).measure(together).value == several_releases.multi_r(tables, columns)


def test_audit_of_several_tables_of_the_same_people(times: int) -> None:
    """Hold the audit against the definitions, on tables with columns of their own and several rows a person in some."""
    n_repeated = n_once = 0
    for seed in range(60 * times):
        columns, releases = drawn_releases(seed)
        draw = random.Random(seed)
        releases += [releases[0]] if len(releases) == 1 else []
        tables, own = [], [draw.sample(columns, draw.randint(1, len(columns))) for _ in releases]
        for rows, kept in zip(releases, own, strict=True):
            number = draw.choice(["", "12345"])
            # A column that a table does not have is one that says nothing.
            hidden = dict.fromkeys(set(columns) - set(kept), "")
            tables.append([row | hidden | ({"id": draw.choice(number)} if number else {}) for row in rows])
        first, *others = (
            Table(frame_of(rows, ["id", *kept, *SENSITIVE]), qi=kept, sensitive=SENSITIVE)
            for rows, kept in zip(tables, own, strict=True)
        )
        audited = tk.audit(first, against=others, person="id", k=2)
        found, stated = audited.to_dict()["against"], audited.requirements[-1]
        all_rows = several_releases.multi_r(tables, columns)
        assert (found["multi_r_k"], found["quasi_identifiers"]) == (all_rows, own)
        if any(len({row["id"] for row in rows}) < len(rows) for rows in tables):
            n_repeated += 1
            assert found["k"] is None
            assert (stated["requirement"], stated["value"]) == ("multi-r-k-anonymity (k 2)", all_rows)
            assert {*found["m_invariance"].values(), *found["remaining_sensitive"].values()} == {None}
            assert set(found["left_out"]) == {"sequential-k", "m-invariance"}
        else:
            n_once += 1
            assert found["k"] == stated["value"] == several_releases.sequential_k(tables, columns) >= all_rows
            assert found["m_invariance"]["illness"] == several_releases.m_invariance(tables, columns, "illness")
            assert found["left_out"] == {}
        assert stated["holds"] == (stated["value"] >= 2 or not any(tables))
    assert n_repeated
    assert n_once


def test_values_of_other_columns_in_a_class(times: int) -> None:
    for seed in range(60 * times):
        case = random_case(seed)
        counts = count_classes(case.frame, [*case.quasi_identifiers, *SENSITIVE])
        together = count_together(counts, SENSITIVE)
        pairs = [
            len({tuple(row[name] for name in SENSITIVE) for row in one})
            for one in classes(case.rows, case.quasi_identifiers)
        ]
        assert XYAnonymity("y", 1).measure(together).value == min(pairs, default=0)
        # With every row a person of its own it is k-anonymity.
        numbered: list[Row] = [row | {"id": str(number)} for number, row in enumerate(case.rows)]
        by_row = count_classes(
            frame_of(numbered, [*case.quasi_identifiers, "id"]), case.quasi_identifiers, sensitive=["id"]
        )
        assert XYAnonymity("id", 1).measure(by_row).value == k_anonymity.k(classes(case.rows, case.quasi_identifiers))


def test_isolating_points(times: int) -> None:
    for seed in range(80 * times):
        draw = random.Random(seed)
        # Whole numbers, so that many are as far from a point; one column may never vary.
        values = [range(draw.choice([1, 3, 10])) for _ in range(draw.choice([1, 2]))]

        def points(n: int, values: list[range] = values, draw: random.Random = draw) -> list[isolation.Point]:
            return [tuple(float(draw.choice(one)) for one in values) for _ in range(n)]

        people, released = points(draw.choice([1, 2, 4, 9])), points(draw.choice([1, 3, 6]))
        names = [f"x{n}" for n in range(len(values))]
        original, after = (
            Table.with_quasi_identifiers(pl.DataFrame(rows, schema=names, orient="row"), names)
            for rows in (people, released)
        )
        for c, t in ((1.0, 2), (2.0, 2), (4.0, 3)):
            found = CTIsolation(c=c, t=t).measure(original, after).value
            assert found == pytest.approx(isolation.share_isolating(people, released, c, t)), seed


def test_no_link_or_value_is_likelier_than_randomized_tables_promise(times: int) -> None:
    for seed in range(40 * times):
        draw = random.Random(seed)
        domains = [["a", "b", "c"][: draw.choice([2, 3])] for _ in range(draw.choice([1, 2]))]
        retentions = [draw.choice([0.0, 0.2, 0.5, 0.9]) for _ in domains]
        n = draw.choice([1, 2, 3, 5])

        def records(
            n: int = n, domains: list[list[str]] = domains, draw: random.Random = draw
        ) -> list[randomized.Record]:
            return [tuple(draw.choice(domain) for domain in domains) for _ in range(n)]

        people, released = records(), records()
        secret = [draw.choice(["flu", "cold"]) for _ in range(n)]
        names = tuple(f"q{number}" for number in range(len(domains)))
        original, after = (
            Table(
                pl.DataFrame(rows, schema=list(names), orient="row").with_columns(illness=pl.Series(secret)),
                list(names),
            )
            for rows in (people, released)
        )
        sizes = tuple(map(len, domains))
        k = PkAnonymity(1, names, tuple(retentions), n_values=sizes).measure(original, after).value
        assert randomized.likeliest_link(people, released, retentions, domains) <= 1 / k + 1e-9
        # No larger k is promised: some table is as bad.
        assert randomized.worst_case(n, retentions, domains) == pytest.approx(1 / k)
        promised = PlDiversity(1, "illness", names, tuple(retentions), n_values=sizes).measure(original, after).value
        likeliest = randomized.likeliest_value(people, released, secret, retentions, domains)
        assert likeliest <= 1 / promised + 1e-9


def test_places_where_somebody_may_be(times: int) -> None:
    for seed in range(80 * times):
        draw = random.Random(seed)
        visits = [
            (draw.choice("pqrs"), draw.choice("abc"), draw.randrange(5)) for _ in range(draw.choice([0, 1, 4, 8]))
        ]
        first = datetime.date(2011, 1, 1)
        frame = pl.DataFrame(
            {
                "customer": pl.Series([who for who, _, _ in visits], dtype=pl.String),
                "item": pl.Series([place for _, place, _ in visits], dtype=pl.String),
                "date": pl.Series([first + datetime.timedelta(days=day) for *_, day in visits], dtype=pl.Date),
                "price": pl.Series([1.0] * len(visits), dtype=pl.Float64),
                "quantity": pl.Series([1] * len(visits), dtype=pl.Int64),
            }
        )
        for t in (1, 2, 3):
            assert KTPrivacy(1, t).measure(History.of(frame)).value == tracing.fewest_places(visits, t), (seed, t)
