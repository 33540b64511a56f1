"""Whose purchases are known of a release in a contest of one's own: beside what is found, and in the formula."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokumei.contest.custom import attribution
from tokumei.contest.custom.attribution import NONE_MOVED, NOT_TOLD
from tokumei.contest.custom.edition import CustomEdition
from tokumei.contest.edition import Files, TeamEntry, files_in
from tokumei.contest.pages import rules_text
from tokumei.contest.setting import parse_setting
from tokumei.core.errors import InputError
from tokumei.reports.needs import REPORT_ROWS

SHOP = """
[contest]
title = "Shop"
kind = "history"
[data]
source = "shop.csv"
[[metrics]]
name = "rows"
[[attacks]]
name = "jaccard"
[knowledge]
shares = [0.5]
[score]
formula = "max(U, S)"
attribution = true
"""
COUNTS = SHOP.replace("max(U, S)", "0.5 * U + 0.5 * attribution")
HEADER = "customer,date,item,price,quantity"
# Each of five customers buys one thing, so that every purchase tells its buyer.
BUYS = {"Ann": "tea", "Bob": "rice", "Cid": "soap", "Dee": "salt", "Eve": "oil"}
DAYS = [f"2011-0{month}-{day:02d}" for month in (1, 2) for day in (3, 9, 15, 21)]
T = [f"{who},{day},{item},1.5,2" for who, item in BUYS.items() for day in DAYS]
# New names alone, every purchase in its place.
NAMED = [f"p{row // 8},{line.partition(',')[2]}" for row, line in enumerate(T)]
# Everybody's purchases stand under the name of the one before: row 1 holds the purchase of row 9.
DEALT = [f"p{row // 8},{T[(row + 8) % 40].partition(',')[2]}" for row in range(40)]
SOURCES = [str((row + 8) % 40 + 1) for row in range(40)]
OWN = [str(row + 1) for row in range(40)]


def _write(path: Path, rows: list[str], more: list[str] | None = None) -> Files:
    header, lines = (HEADER, rows) if more is None else (f"{HEADER},row", map(",".join, zip(rows, more, strict=True)))
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return {"A": path}


def _prepared(text: str, folder: Path) -> tuple[CustomEdition, Files, Files]:
    _write(folder / "shop.csv", T)
    (folder / "data").mkdir()
    edition = parse_setting(text, folder=folder)
    assert isinstance(edition, CustomEdition)
    edition.make_data(folder / "data", seed=1)
    data = files_in(folder / "data", edition.terms.data_files)
    edition.draw_knowledge(data, folder, seed=1)
    return edition, data, files_in(folder, edition.terms.all_knowledge_files)


@pytest.mark.parametrize(
    ("rows", "sources", "share", "flags"),
    [
        (NAMED, None, 1.0, ()),
        # The pseudonym is somebody else's, and the purchase still tells who bought it.
        (DEALT, SOURCES, 1.0, ()),
        # Where a team says that it moved nothing, every right claim would count as wrong: that is noticed.
        (DEALT, OWN, 0.0, (NONE_MOVED,)),
    ],
)
def test_unknown_purchases_of_loyal_customers_are_given_to_their_buyers(
    tmp_path: Path, rows: list[str], sources: list[str] | None, share: float, flags: tuple[str, ...]
) -> None:
    edition, data, knowledge = _prepared(SHOP, tmp_path)
    release = _write(tmp_path / "A.csv", rows, sources)
    edition.check(data, release)
    score = edition.score(data, knowledge, release)
    found = score.details["attribution"]
    # Of five customers one is right by chance; 5 of 5, or 0 of 5, by Wilson.
    assert found["attributed"] == {"50": share}
    assert found["baseline"] == {"50": pytest.approx(1 / 5)}
    low, high = found["interval"]["50"]
    assert (low, high) == pytest.approx((0.5655, 1) if share else (0, 0.4345), abs=1e-4)
    assert score.flags == flags
    # It is stated beside, and the formula does not ask for it.
    assert score.details["total"] == max(score.utility, score.safety or 0)
    (line,) = edition.rank([TeamEntry("x", score)])
    assert line.numbers["attributed"] == share


def test_release_that_leaves_open_whose_purchases_its_rows_are_says_so_and_counts_as_all(tmp_path: Path) -> None:
    edition, data, knowledge = _prepared(COUNTS, tmp_path)
    named, open_, told = (
        edition.score(data, knowledge, _write(tmp_path / f"A{n}.csv", rows, sources))
        for n, (rows, sources) in enumerate([(NAMED, None), (DEALT, None), (DEALT, OWN)])
    )
    assert open_.details["attribution"] == NOT_TOLD
    assert [one.details["total"] for one in (named, open_, told)] == [0.5, 0.5, 0]
    (_, line) = edition.rank([TeamEntry("told", told), TeamEntry("open", open_)])
    assert (line.team, line.value, "attributed" in line.numbers) == ("open", 0.5, False)
    assert "1 where a release leaves these open" in rules_text(edition.terms)
    assert "誰の購買か分からない加工データは 1" in rules_text(edition.terms, "ja")


def test_levels_of_knowledge_are_stated_one_by_one_and_on_average(tmp_path: Path) -> None:
    edition, data, knowledge = _prepared(SHOP.replace("[0.5]", "[0.05, 0.5, 1.0]"), tmp_path)
    found = edition.score(data, knowledge, _write(tmp_path / "A.csv", NAMED)).details["attribution"]
    # Who knows two of the forty purchases cannot know more than two of the buyers; who knows all has nothing to find.
    shares = found["attributed"]
    assert list(shares) == ["5", "50", "mean"]
    assert shares["5"] <= 2 / 5
    assert shares["mean"] == pytest.approx((shares["5"] + 1) / 2)


def test_built_in_release_that_changes_values_says_whose_its_purchases_are(tmp_path: Path) -> None:
    edition, data, knowledge = _prepared(SHOP, tmp_path)
    for name, has_column in (("pseudonyms", False), ("delete", False), ("perturb", True)):
        folder = tmp_path / name
        folder.mkdir()
        edition.anonymize(name, data, folder, seed=1)
        release = files_in(folder, edition.terms.release_files)
        assert release["A"].read_text().startswith(f"{HEADER},row\n") == has_column
        score = edition.check_and_score(data, knowledge, release)
        assert score.details["attribution"]["attributed"]["50"] > 1 / 5
    edition.publish(data, release, tmp_path, tmp_path, seed=1)
    assert (tmp_path / "S.csv").read_text().startswith(f"{HEADER}\n")


@pytest.mark.parametrize(
    ("rule", "row", "said"),
    [
        ("row-of-purchase", "41", "a row of T, from 1 to 40"),
        ("row-of-purchase", "10", "that no row above names"),
        ("row-of-purchase", "17", "with the same item, price and quantity, or 1, if"),
        ("cell-form", "", "a row number"),
        ("cell-form", "x", "a row number"),
    ],
)
def test_row_that_cannot_be_is_refused(tmp_path: Path, rule: str, row: str, said: str) -> None:
    edition, data, _ = _prepared(SHOP, tmp_path)
    with pytest.raises(InputError, match=said) as caught:
        edition.check(data, _write(tmp_path / "A.csv", DEALT, [row, *SOURCES[1:]]))
    assert {fault.rule for fault in caught.value.faults} == {rule}


def test_contest_that_does_not_ask_for_it_takes_no_column_and_states_nothing(tmp_path: Path) -> None:
    edition, data, knowledge = _prepared(SHOP.replace("attribution = true", ""), tmp_path)
    with pytest.raises(InputError, match="file-form"):
        edition.check(data, _write(tmp_path / "A.csv", DEALT, SOURCES))
    score = edition.score(data, knowledge, _write(tmp_path / "A.csv", NAMED))
    assert set(score.details) == {"utility", "safety", "total"}
    assert "attribution" not in rules_text(edition.terms)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("shares = [0.5]", "", "shares below 1"),
        ("shares = [0.5]", "shares = [1.0]", "shares below 1"),
        ('name = "rows"', 'name = "rows"\nlabel = "attribution"', "another label"),
        ("attribution = true", "attribution = 1", "true or false"),
        ('"max(U, S)"\nattribution = true', '"U + attribution"', "a name of the formula"),
    ],
)
def test_slip_in_what_a_contest_asks_for_is_named(old: str, new: str, said: str) -> None:
    assert old in SHOP
    with pytest.raises(InputError, match=said):
        parse_setting(SHOP.replace(old, new))


def test_of_more_rows_than_can_be_attacked_in_minutes_it_is_not_measured_and_counts_in_no_formula(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edition, data, knowledge = _prepared(SHOP, tmp_path)
    monkeypatch.setattr(attribution, "MOST_ROWS", 39)
    score = edition.score(data, knowledge, _write(tmp_path / "A.csv", NAMED))
    assert score.details["attribution"] == attribution.TOO_MANY
    (tmp_path / "other").mkdir()
    with pytest.raises(InputError, match=r"'40 rows', expected at most 39 rows, or no attribution in the formula"):
        _prepared(COUNTS, tmp_path / "other")
    assert f"{REPORT_ROWS:,}" in attribution.TOO_MANY
