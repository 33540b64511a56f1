"""Attackers who match rows, item sets or amounts find what plain comparison finds."""

from __future__ import annotations

import datetime
import random
from dataclasses import replace

import polars as pl
import pytest
from tests.definitions import fitting, matching
from tests.definitions.cases import frame_of
from tests.definitions.history_utility import Purchase
from tests.definitions.test_attacks import drawn as drawn_tables
from tests.definitions.test_attacks import meanings, threat_model
from tests.definitions.test_history_utility import history
from tests.definitions.test_table_utility import drawn as drawn_pair

from tokumei.attacks.disclosure.population import Presence
from tokumei.attacks.nearest_rows import IdRand
from tokumei.attacks.registry import HISTORY_ATTACKS, TABLE_ATTACKS

# S1 to S6 as the contest's page lists them, and three of ours.
FIELDS = {
    "exact-match": ("date", "quantity"),
    "s1": ("date", "quantity"),
    "s2": ("item", "price"),
    "s3": ("item", "quantity"),
    "s4": ("date", "item"),
    "s5": ("item", "price", "quantity"),
    "s6": ("item", "date", "quantity"),
    "same-day": ("date",),
    "same-item": ("item",),
    "same-month-and-item": ("month", "item"),
}
DAYS = [datetime.date(2011, month, day) for month, day in ((1, 1), (1, 2), (2, 1), (3, 1))]


def drawn(seed: int) -> tuple[list[Purchase], list[Purchase]]:
    """Known purchases, items by their first character, and published ones with other names, in another order."""
    draw = random.Random(seed)
    rows = [
        Purchase(
            draw.choice("ABCD"), draw.choice(DAYS), draw.choice(["v1", "v2", "w1", "x1"]), draw.choice([1.0, 2.0]), n
        )
        for n in (draw.choice([1, 2]) for _ in range(draw.choice([1, 3, 8, 15])))
    ]
    published = [replace(row, customer="p" + row.customer) for row in rows if draw.random() > 0.1] or [rows[0]]
    draw.shuffle(published)
    known = [replace(row, item=row.item[:1]) for row in rows if draw.random() > 0.3] or [replace(rows[0], item="v")]
    return known, published


@pytest.mark.thorough
def test_exact_matches(times: int) -> None:
    for seed in range(60 * times):
        known, published = drawn(seed)
        for name, fields in FIELDS.items():
            found = HISTORY_ATTACKS.make(name).guess(history([*known]), history([*published]))
            guess = {(customer, period): pseudonym for customer, period, pseudonym in found.rows()}
            assert guess == matching.matched(known, published, fields), (seed, name)


@pytest.mark.parametrize("name", ["jaccard", "tfidf"])
def test_most_similar_item_sets(times: int, name: str) -> None:
    for seed in range(60 * times):
        known, published = drawn(seed)
        similar = matching.most_similar(known, published, name)
        found = HISTORY_ATTACKS.make(name).guess(history([*known]), history([*published]))
        lives = {(row.customer, matching.month(row)) for row in published}
        guessed = {(pseudonym, period): customer for customer, period, pseudonym in found.rows()}
        assert set(guessed) == {(who, period) for who, period in lives if who in similar}
        for (pseudonym, _), customer in guessed.items():
            best = max(similar[pseudonym].values())
            assert similar[pseudonym][customer] == pytest.approx(best, abs=1e-6), (seed, pseudonym)


def test_attackers_of_tables(times: int) -> None:
    for seed in range(60 * times):
        pair = drawn_pair(seed)
        if pair is None:
            continue
        before, after = pair.table(pair.before, pair.ours), pair.table(pair.after, pair.theirs)

        def guess(name: str, **options: str) -> list[int | None]:
            return TABLE_ATTACKS.make(name, **options).guess(before, after, seed=1).to_list()  # noqa: B023

        for column in ("u", "v"):
            ours, theirs = pair.ours[column], pair.theirs[column]
            rows = (pair.before, pair.after, pair.columns)
            assert guess("id-sa", column=column) == matching.id_sa(*rows, ours, theirs), (seed, column)
            assert guess("sa21", column=column) == matching.sa21(ours, theirs), (seed, column)
        ours, theirs = ([u + v for u, v in zip(one["u"], one["v"], strict=True)] for one in (pair.ours, pair.theirs))
        assert guess("sort") == matching.by_rank(ours, theirs), seed
        plain = matching.id_rand_expected(pair.before, pair.after, pair.columns, pair.came_from)
        assert IdRand().expect(before, after, pl.Series(pair.came_from)).value == pytest.approx(plain), seed
        for row, one in zip(guess("id-rand"), pair.after, strict=True):
            alike = [n for n, other in enumerate(pair.before) if all(other[q] == one[q] for q in pair.columns)]
            assert row in alike if alike else row is None


def test_presence(times: int) -> None:
    for seed in range(60 * times):
        case, last, earlier = drawn_tables(seed)
        if not case.rows:
            continue
        draw, columns = random.Random(seed), case.quasi_identifiers
        everybody = case.rows + [draw.choice(case.rows) for _ in range(draw.randrange(5))]
        model = replace(threat_model(case, last, earlier), population=frame_of(everybody, columns))
        score = Presence().measure(model, seed=1)["success"]
        chances = fitting.chances_to_be_in(everybody, last, columns, meanings(case))
        assert score.inputs["least"] == pytest.approx(min(chances))
        assert score.inputs["largest"] == pytest.approx(max(chances))
