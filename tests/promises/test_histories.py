"""Every method of histories keeps what it promises, recounted from the files it wrote."""

from __future__ import annotations

import csv
import datetime
import random
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from tests.promises.commands import run
from tests.promises.recount import Rows, read

from tokumei.methods.registry import HISTORY_ANONYMIZERS, TABLE_ANONYMIZERS

HEADER = ["customer", "date", "item", "price", "quantity"]
FIRST = datetime.date(2011, 1, 1)
# Recounted here, or why not.
RECOUNTED = [
    "delete",
    "dummies",
    "exchange-pseudonyms",
    "generalize",
    "km-anonymity",
    "perturb",
    "pseudonyms",
    "roll-up",
]
ELSEWHERE = {"permute-groups": "Its bound is of an expectation: tests/methods/test_permute_groups.py attacks it."}
# Their rows are nobody's: noise in tests/methods/test_dp_baskets.py.
ELSEWHERE |= dict.fromkeys(("basket-chain", "dp-baskets"), "Leaks: tests/tasks/test_audit_drawn_history.py")
# Every method of tables: those that make classes are recounted in test_tables.py, the others in these files.
OF_ROWS = {
    **dict.fromkeys(("noise", "pram", "swap", "block-swap", "sample"), "test_noise.py"),
    **dict.fromkeys(("microaggregate", "top-bottom-code"), "test_noise.py"),
    **dict.fromkeys(("marginals", "marginal-recoding"), "test_noise.py"),
    "dp-counts": "test_differential_privacy.py",
    # Their rows are nobody's: noise and budget in tests/methods/synthetic, leaks in tests/tasks/test_audit_drawn.py.
    **dict.fromkeys(("copula", "sequential-trees", "mst", "aim"), "test_audit_drawn.py"),
}


def test_every_method_is_recounted() -> None:
    assert set(HISTORY_ANONYMIZERS) == {*RECOUNTED, *ELSEWHERE}
    from tests.promises.test_tables import METHODS

    assert set(TABLE_ANONYMIZERS) == {*METHODS, *OF_ROWS}


def drawn(seed: int) -> Rows:
    """Purchases of some customers over four months; few items, so that many share them."""
    draw = random.Random(seed)
    rows = []
    for _ in range(draw.choice([1, 12, 40, 70])):
        day = FIRST + datetime.timedelta(days=draw.randrange(120))
        item, price = draw.choice(["22A", "22B", "22C", "85X", "85Y"]), draw.choice(["0.85", "1.95", "10.0", "500.0"])
        rows.append([str(100 + draw.randrange(6)), str(day), item, price, str(draw.choice([1, 6, 12, 60]))])
    rows.sort(key=lambda row: row[1])
    return [dict(zip(HEADER, row, strict=True)) for row in rows]


def released(tmp_path: Path, rows: Rows, seed: int, method: str, *options: str) -> Rows | None:
    """Write a release, and give its rows, one for each of the original (dummies between), deleted ones empty."""
    source, out = tmp_path / "T.csv", tmp_path / "A.csv"
    with source.open("w", newline="") as file:
        writer = csv.DictWriter(file, HEADER)
        writer.writeheader()
        writer.writerows(rows)
    asked = [part for option in options for part in ("--set", option)]
    done = run(
        *("anonymize", "history", source, "--method", method, *asked, "--seed", seed, "--out", out),
        *("--truth", tmp_path / "F.csv", "--published", tmp_path / "S.csv", "--force"),
    )
    return None if done is None else read(out)


def is_kept(row: dict[str, str]) -> bool:
    return row["customer"] not in ("", "*")


def item_sets(rows: Rows) -> list[frozenset[str]]:
    found: dict[str, set[str]] = {}
    for row in filter(is_kept, rows):
        found.setdefault(row["customer"], set()).add(row["item"])
    return [frozenset(one) for one in found.values()]


def check_published(tmp_path: Path, rows: Rows) -> None:
    """What is published is what was kept."""
    published = Counter(tuple(row.values()) for row in read(tmp_path / "S.csv"))
    assert published == Counter(tuple(row.values()) for row in rows if is_kept(row))


def month(row: dict[str, str]) -> str:
    return row["date"][:7]


@pytest.mark.parametrize("lifetime", [1, 2, 12])
def test_pseudonyms_live_as_long_as_asked_and_are_nobody_elses(times: int, tmp_path: Path, lifetime: int) -> None:
    for seed in range(5 * times):
        rows = drawn(seed)
        after = released(tmp_path, rows, seed, "pseudonyms", f"lifetime={lifetime}")
        assert after is not None
        check_published(tmp_path, after)
        first = min(map(month, rows))
        owners: dict[str, set[tuple[str, int]]] = {}
        for row, new in zip(rows, after, strict=True):
            assert {**row, "customer": new["customer"]} == {**new, "price": str(float(new["price"]))}
            since = int(month(row)[5:]) - int(first[5:])
            owners.setdefault(new["customer"], set()).add((row["customer"], since // lifetime))
        # One customer and one span of months for each, and one pseudonym for each of these.
        assert all(len(one) == 1 for one in owners.values())
        assert len({next(iter(one)) for one in owners.values()}) == len(owners)
        assert not set(owners) & {row["customer"] for row in rows}


def test_exchanged_pseudonyms_are_one_to_one_in_every_month(times: int, tmp_path: Path) -> None:
    for seed in range(5 * times):
        rows = drawn(seed)
        after = released(tmp_path, rows, seed, "exchange-pseudonyms", "share=1")
        assert after is not None
        check_published(tmp_path, after)
        pairs = {(month(row), row["customer"], new["customer"]) for row, new in zip(rows, after, strict=True)}
        assert len(pairs) == len({(when, who) for when, who, _ in pairs}) == len({(when, to) for when, _, to in pairs})
        assert len({to for *_, to in pairs}) <= len({row["customer"] for row in rows})


def test_items_become_their_categories_and_nothing_else_changes(times: int, tmp_path: Path) -> None:
    tree = {"22A": ["22", "*"], "22B": ["22", "*"], "22C": ["22", "*"], "85X": ["85", "*"], "85Y": ["85", "*"]}
    (tmp_path / "items.csv").write_text("".join(f"{item};{';'.join(above)}\n" for item, above in tree.items()))
    for seed in range(5 * times):
        rows, level = drawn(seed), seed % 3
        asked = [f"hierarchy={tmp_path / 'items.csv'}", f"level={level}"] if seed % 2 else [f"level={min(level, 1)}"]
        after = released(tmp_path, rows, seed, "roll-up", *asked)
        assert after is not None
        check_published(tmp_path, after)
        for row, new in zip(rows, after, strict=True):
            reached = level if seed % 2 else min(level, 1)
            assert new["item"] == [row["item"], *tree[row["item"]]][reached]
            assert (row["date"], row["quantity"], float(row["price"])) == (
                new["date"],
                new["quantity"],
                float(new["price"]),
            )


def test_deletion_keeps_to_its_limit_and_leaves_other_rows_alone(times: int, tmp_path: Path) -> None:
    for seed in range(5 * times):
        rows, most = drawn(seed), (0.1, 0.3, 0.5)[seed % 3]
        after = released(tmp_path, rows, seed, "delete", f"most={most}", "random=0.4", "telling=0.2")
        assert after is not None
        check_published(tmp_path, after)
        assert sum(not is_kept(row) for row in after) <= most * len(rows) + 1e-9
        for row, new in zip(rows, after, strict=True):
            if is_kept(new):
                assert (row["date"], row["item"], row["quantity"]) == (new["date"], new["item"], new["quantity"])


def test_perturbation_keeps_to_its_limits(times: int, tmp_path: Path) -> None:
    for seed in range(5 * times):
        rows = drawn(seed)
        options = ["days=5", "quantities=0.2", "prices=0.1", "items=0.5"]
        after = released(tmp_path, rows, seed, "perturb", *options)
        assert after is not None
        check_published(tmp_path, after)
        for row, new in zip(rows, after, strict=True):
            days = (datetime.date.fromisoformat(new["date"]) - datetime.date.fromisoformat(row["date"])).days
            assert abs(days) <= 5
            assert month(row) == month(new)
            assert row["item"][:2] == new["item"][:2]
            # Half a unit of the last digit is rounding.
            assert abs(int(new["quantity"]) - int(row["quantity"])) <= 0.2 * int(row["quantity"]) + 0.5
            assert abs(float(new["price"]) - float(row["price"])) <= 0.1 * float(row["price"]) + 0.005 + 1e-9


def test_dummies_are_added_until_item_sets_are_shared(times: int, tmp_path: Path) -> None:
    n_released = 0
    for seed in range(5 * times):
        rows = drawn(seed)
        after = released(tmp_path, rows, seed, "dummies", "clusters=2", "smallest=2")
        if after is None:
            continue
        n_released += 1
        sets = item_sets(after)
        assert all(sets.count(one) >= 2 for one in sets)

        # No original row is lost or changed.
        def cells(rows: Rows) -> Counter[tuple[str, str, float, str]]:
            return Counter((row["date"], row["item"], float(row["price"]), row["quantity"]) for row in rows)

        assert cells(rows) <= cells(after)
    assert n_released


def test_combinations_of_items_are_shared_by_k_or_nobody(times: int, tmp_path: Path) -> None:
    n_released = 0
    for seed in range(6 * times):
        rows, k, m = drawn(seed), 2 + seed % 2, 1 + seed % 2
        after = released(tmp_path, rows, seed, "km-anonymity", f"k={k}", f"m={m}")
        if after is None:
            continue
        n_released += 1
        check_published(tmp_path, after)
        sets = item_sets(after)
        known = {combo for one in sets for size in range(1, m + 1) for combo in combinations(sorted(one), size)}
        assert all(sum(set(combo) <= one for one in sets) >= k for combo in known)
    assert n_released


def covers(cell: str, value: str, column: str) -> bool:
    """Whether a generalized cell is true of a value."""
    if cell == "*" or cell == value:
        return True
    if cell.startswith("{"):
        return value in cell[1:-1].split(";")
    ends = cell[1:-1].split(";") if cell.startswith("[") else [cell, cell]
    if column == "date":
        low, own, high = (
            datetime.date(*map(int, text.replace("-", "/").split("/"))) for text in (ends[0], value, ends[1])
        )
        return low <= own <= high
    return column != "item" and float(ends[0]) <= float(value) <= float(ends[1])


def test_generalized_pseudonyms_fit_k_customers(times: int, tmp_path: Path) -> None:
    n_released = 0
    for seed in range(4 * times):
        rows, k = drawn(seed), 2 + seed % 2
        after = released(tmp_path, rows, seed, "generalize", f"k={k}")
        if after is None:
            continue
        n_released += 1
        baskets: dict[str, list[tuple[str, ...]]] = {}
        for row, new in zip(rows, after, strict=True):
            if is_kept(new):
                assert all(covers(new[name], row[name], name) for name in HEADER[1:]), (row, new)
                baskets.setdefault(new["customer"], []).append(tuple(new[name] for name in HEADER[1:]))
        written = [tuple(sorted(one)) for one in baskets.values()]
        # As many pseudonyms have the very same rows.
        assert all(written.count(one) >= k for one in written)
    assert n_released


def test_generalized_items_may_have_any_name(tmp_path: Path) -> None:
    rows = [{**row, "item": f"{row['item'].lower()} お茶, 1/2"} for row in drawn(7)]
    after = released(tmp_path, rows, 1, "generalize", "k=2")
    assert after is not None
    kept = [(row, new) for row, new in zip(rows, after, strict=True) if is_kept(new)]
    assert kept
    assert all(covers(new["item"], row["item"], "item") for row, new in kept)
