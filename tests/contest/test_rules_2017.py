"""Each rule of PWSCUP 2017, broken alone."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest

from tokumei.contest.editions.pwscup2017.files import (
    GUESS_RULES,
    RELEASE_RULES,
    Originals,
    check_guess,
    check_release,
    read_published,
)
from tokumei.core.errors import InputError

MASTER = "101,f,1950/1/1,France\n102,m,1980/1/1,Others\n103,f,1930/1/1,United Kingdom\n"
HISTORY = [
    "101,0,2010/12/1,8:30,A1,1.5,2",
    "101,0,2010/12/9,9:00,B2,2,3",
    "102,0,2010/12/1,10:15,A1,1.5,12",
    "102,0,2011/1/5,10:15,C3,0.85,1",
    "103,0,2011/1/7,11:00,B2,2.55,6",
    "103,0,2011/11/30,23:59,C3,10,100",
    "101,0,2011/11/3,8:00,A1,1.45,24",
    "102,0,2011/11/3,8:00,B2,2,4",
]
# A date and a price moved, a row deleted; P1 and R2 live longer than a month.
RELEASE = [
    "P1,0,2010/12/1,8:30,A1,1.5,2",
    "P1,0,2010/12/31,9:00,C3,2,3",
    "Q1,0,2010/12/1,10:15,A1,1.45,12",
    "DEL,,,,,,",
    "R2,0,2011/1/7,11:00,B2,2.55,6",
    "R2,0,2011/11/30,23:59,C3,10,100",
    "P1,0,2011/11/3,8:00,A1,1.45,24",
    "q_-9,0,2011/11/3,0:00,B2,2,4",
]
PUBLISHED = [RELEASE[number] for number in (4, 6, 0, 7, 5, 2, 1)]
GUESS = [
    "101,P1,DEL,DEL,DEL,DEL,DEL,DEL,DEL,DEL,DEL,DEL,P1",
    "103,DEL,R2,DEL,DEL,DEL,DEL,DEL,DEL,DEL,DEL,DEL,R2",
    "102,Q1,DEL,DEL,DEL,DEL,DEL,DEL,DEL,DEL,DEL,DEL,q_-9",
]
Found = list[tuple[int | None, str | None, str | None]]
Broken = tuple[str, str | bytes, Found]


class World:
    """The files of a small contest in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = {"M": self.write("M.csv", MASTER), "T": self.write("T.csv", text_of(HISTORY))}
        self.originals = Originals.read(self.data)
        self.published = read_published(self.write("S.csv", text_of(PUBLISHED)))

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def check(self, content: str | bytes) -> None:
        check_release(self.originals, self.write("AT.csv", content))

    def check_guess(self, content: str | bytes) -> None:
        check_guess(self.originals, self.published, self.write("Fh.csv", content))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


def text_of(lines: Sequence[str], line_end: str = "\r\n") -> str:
    return "".join(line + line_end for line in lines)


def with_cell(lines: Sequence[str], line: int, cell: int, value: str) -> str:
    """Put a value into one cell; lines are counted from 1, cells from 0."""
    cells = lines[line - 1].split(",")
    cells[cell] = value
    return text_of([*lines[: line - 1], ",".join(cells), *lines[line:]])


def broken_cells(rule: str, line: int, cell: int, column: str, texts: Sequence[str]) -> list[Broken]:
    """Break one rule by one cell, in many ways."""
    return [(rule, with_cell(RELEASE, line, cell, text), [(line, column, text)]) for text in texts]


def with_line(lines: Sequence[str], line: int, value: str) -> str:
    return text_of([*lines[: line - 1], value, *lines[line:]])


BROKEN: list[Broken] = [
    ("file-form", text_of(["customer,invoice,date,time,item,price,quantity", *RELEASE]), [(1, None, "customer,…")]),
    ("file-form", b"\xef\xbb\xbf" + text_of(RELEASE).encode(), [(1, None, "ef bb bf")]),
    ("file-form", text_of(RELEASE).replace("\r\n", "\n", 3), [(4, None, "\r\n")]),
    ("file-form", text_of(RELEASE).replace("\r\n", "\r"), [(1, None, "\r")]),
    ("file-form", with_line(RELEASE, 3, "Q1,0,2010/12/1\r,10:15,A1,1.45,12"), [(3, None, "\r")]),
    ("file-form", with_line(RELEASE, 3, "Q1,0,2010/12/1,10:15,A1,1.45"), [(3, None, None)]),
    ("file-form", with_line(RELEASE, 3, "Q1,0,2010/12/1,10:15,A1,1.45,12,"), [(3, None, None)]),
    ("file-form", with_line(RELEASE, 3, ""), [(3, None, "an empty line")]),
    ("file-form", with_cell(RELEASE, 3, 0, 'Q"1'), [(3, None, '"1,0,2010/12/1…')]),
    ("file-form", with_cell(RELEASE, 3, 0, "Q\0"), [(3, None, "\0")]),
    ("file-form", with_cell(RELEASE, 3, 0, "顧客").encode("cp932"), [(3, None, "8c da 8b 71")]),
    ("file-form", b"", [(1, None, "")]),
    ("same-rows", text_of([*RELEASE, RELEASE[-1]]), [(9, None, "9 rows")]),
    ("same-rows", text_of(RELEASE[:7]), [(7, None, "7 rows")]),
    ("same-rows", text_of(RELEASE[1:]), [(7, None, "7 rows")]),
    ("half-kept", text_of(["DEL,,,,,,"] * 5 + RELEASE[5:]), [(5, "customer", "5 rows deleted")]),
    ("deleted-whole", with_line(RELEASE, 4, "DEL,0,,,,,"), [(4, "invoice", "0")]),
    ("deleted-whole", with_line(RELEASE, 4, "DEL,,,,,2,1"), [(4, "price", "2"), (4, "quantity", "1")]),
    ("pseudonym-form", with_cell(RELEASE, 5, 0, "R 2"), [(5, "customer", "R 2")]),
    ("pseudonym-form", with_cell(RELEASE, 5, 0, "仮名"), [(5, "customer", "仮名")]),
    ("pseudonym-form", with_cell(RELEASE, 5, 0, ""), [(5, "customer", "")]),
    ("file-form", with_cell(RELEASE, 5, 0, '"R2\n"'), [(5, None, '"R2'), (6, None, '",0,2011…')]),
    ("file-form", with_cell(RELEASE, 5, 4, '"B2"'), [(5, None, 'R2,0,2011/1/7,11:00,"B2"…')]),
    ("no-customer-id", with_cell(RELEASE, 5, 0, "101"), [(5, "customer", "101")]),
    ("invoice-zero", with_cell(RELEASE, 5, 1, "00"), [(5, "invoice", "00")]),
    ("date-form", with_cell(RELEASE, 5, 2, "2011/1/32"), [(5, "date", "2011/1/32")]),
    ("date-form", with_cell(RELEASE, 5, 2, "2011/01/7"), [(5, "date", "2011/01/7")]),
    ("same-month", with_cell(RELEASE, 3, 2, "2011/12/1"), [(3, "date", "2011/12/1")]),
    ("same-month", with_cell(RELEASE, 6, 2, "2011/12/1"), [(6, "date", "2011/12/1")]),
    ("time-form", with_cell(RELEASE, 5, 3, "24:00"), [(5, "time", "24:00")]),
    ("time-form", with_cell(RELEASE, 5, 3, "8:00:00"), [(5, "time", "8:00:00")]),
    ("item-of-t", with_cell(RELEASE, 5, 4, "D4"), [(5, "item", "D4")]),
    ("item-of-t", with_cell(RELEASE, 5, 4, ""), [(5, "item", "")]),
    ("price-form", with_cell(RELEASE, 5, 5, "2.555"), [(5, "price", "2.555")]),
    ("price-form", with_cell(RELEASE, 5, 5, "-2"), [(5, "price", "-2")]),
    *broken_cells("price-form", 5, 5, "price", ("0", "0.00", "01.5", "2.")),
    *broken_cells("quantity-form", 5, 6, "quantity", ("0", "02")),
    ("quantity-form", with_cell(RELEASE, 5, 6, "1234567"), [(5, "quantity", "1234567")]),
    ("quantity-form", with_cell(RELEASE, 5, 6, "1.5"), [(5, "quantity", "1.5")]),
    ("one-pseudonym-a-month", with_cell(RELEASE, 2, 0, "P2"), [(2, "customer", "P2")]),
    (
        "one-pseudonym-a-month",
        text_of([f"X{number}{line[line.index(',') :]}" for number, line in enumerate(HISTORY)]),
        [(2, "customer", "X1")],
    ),
    ("no-shared-pseudonym", with_cell(RELEASE, 3, 0, "P1"), [(3, "customer", "P1")]),
]
BROKEN_GUESSES: list[tuple[str, str, Found]] = [
    ("file-form", with_line(GUESS, 2, "103,DEL,R2"), [(2, None, "3 cells: 103,DEL,R2")]),
    ("customers-of-m", text_of([*GUESS, GUESS[0].replace("101", "999")]), [(4, "customer", "999")]),
    ("each-customer-once", text_of([*GUESS, GUESS[0]]), [(4, "customer", "101")]),
    ("each-customer-once", text_of(GUESS[:2]), [(None, "customer", "102")]),
    ("pseudonym-of-s", with_cell(GUESS, 2, 12, "P7"), [(2, "2011-11", "P7")]),
    ("pseudonym-of-s", with_cell(GUESS, 2, 1, ""), [(2, "2010-12", "")]),
    ("pseudonym-of-s", with_cell(GUESS, 2, 1, "r2"), [(2, "2010-12", "r2")]),
]


def assert_breaks_only(error: InputError, rule: str, found: Found) -> None:
    assert all(fault.rule == rule for fault in error.faults), str(error)
    places = [(fault.line, fault.column, fault.value) for fault in error.faults]
    assert len(places) == len(found), str(error)
    for (line, column, value), (true_line, true_column, true_value) in zip(places, found, strict=True):
        assert (line, column) == (true_line, true_column), str(error)
        # An ellipsis stands for a long line.
        if true_value is not None:
            assert str(value).startswith(true_value.removesuffix("…")), str(error)


def test_submissions_of_the_small_contest_are_valid(world: World) -> None:
    world.check(text_of(RELEASE))
    world.check_guess(text_of(GUESS))


@pytest.mark.parametrize(("rule", "content", "found"), BROKEN, ids=[rule for rule, _, _ in BROKEN])
def test_release_that_breaks_one_rule_is_refused_for_it_alone(
    world: World, rule: str, content: str | bytes, found: Found
) -> None:
    with pytest.raises(InputError) as caught:
        world.check(content)
    assert_breaks_only(caught.value, rule, found)


@pytest.mark.parametrize(("rule", "content", "found"), BROKEN_GUESSES, ids=[rule for rule, _, _ in BROKEN_GUESSES])
def test_guess_that_breaks_one_rule_is_refused_for_it_alone(
    world: World, rule: str, content: str, found: Found
) -> None:
    with pytest.raises(InputError) as caught:
        world.check_guess(content)
    assert_breaks_only(caught.value, rule, found)


def test_every_rule_is_broken_by_some_test() -> None:
    assert {rule for rule, _, _ in BROKEN} == {rule.name for rule in RELEASE_RULES}
    assert {rule for rule, _, _ in BROKEN_GUESSES} == {rule.name for rule in GUESS_RULES}


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_either_line_end_is_valid_and_the_last_may_be_missing(world: World, line_end: str) -> None:
    whole = text_of(RELEASE, line_end)
    world.check(whole)
    world.check(whole.removesuffix(line_end))
    world.check(gzip.compress(whole.encode()))
    world.check_guess(text_of(GUESS, line_end).removesuffix(line_end))


def test_faults_of_all_rules_are_told_together(world: World) -> None:
    lines = [*RELEASE]
    lines[1] = "P2,1,2010/12/32,9:99,D4,x,y"
    with pytest.raises(InputError) as caught:
        world.check(text_of(lines))
    rules = [fault.rule for fault in caught.value.faults]
    assert rules == [
        *("invoice-zero", "date-form", "time-form", "price-form", "quantity-form", "item-of-t"),
        "one-pseudonym-a-month",
    ]
    assert {fault.line for fault in caught.value.faults} == {2}


def test_fault_of_a_group_names_both_lines(world: World) -> None:
    with pytest.raises(InputError, match=r"line 2, .*found 'P2', expected P1 as in line 1"):
        world.check(with_cell(RELEASE, 2, 0, "P2"))
    with pytest.raises(InputError, match=r"line 3, .*than in line 1, where it stands for 101 in the month"):
        world.check(with_cell(RELEASE, 3, 0, "P1"))


def test_fault_of_a_month_names_the_month(world: World) -> None:
    with pytest.raises(InputError, match="a day of 2010-12, the month in T"):
        world.check(with_cell(RELEASE, 3, 2, "2011/12/1"))


def test_rows_in_another_order_are_told_where_months_or_customers_no_longer_fit(world: World) -> None:
    def swapped(one: int, two: int) -> str:
        lines = [*RELEASE]
        lines[one - 1], lines[two - 1] = lines[two - 1], lines[one - 1]
        return text_of(lines)

    with pytest.raises(InputError) as caught:
        world.check(swapped(3, 5))
    assert {fault.rule for fault in caught.value.faults} == {"same-month"}
    with pytest.raises(InputError) as caught:
        world.check(swapped(2, 3))
    assert {fault.rule for fault in caught.value.faults} == {
        "one-pseudonym-a-month",
        "no-shared-pseudonym",
    }
    # Two rows of one customer and month may change places: nothing tells it from changed cells.
    world.check(swapped(1, 2))


def test_exactly_half_may_be_deleted_and_no_more(tmp_path: Path) -> None:
    world = World(tmp_path)
    history = [f"101,0,2011/5/{1 + number % 31},8:30,A1,1.5,{number + 1}" for number in range(100)]
    world.originals = Originals.read({**world.data, "T": world.write("T.csv", text_of(history))})
    kept = [line.replace("101,", "P,", 1) for line in history]
    world.check(text_of(["DEL,,,,,,"] * 50 + kept[50:]))
    with pytest.raises(InputError) as caught:
        world.check(text_of(["DEL,,,,,,"] * 51 + kept[51:]))
    assert_breaks_only(caught.value, "half-kept", [(51, "customer", "51 rows deleted")])
    # Of an odd number half is rounded down, as in the organizers' own sample.
    odd = Originals.read({**world.data, "T": world.write("T.csv", text_of(history[:99]))})
    world.originals = odd
    world.check(text_of(["DEL,,,,,,"] * 50 + kept[50:99]))


def test_many_faults_are_listed_to_twenty_and_counted(world: World, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        world.check(text_of([line.replace(",", ",9", 1) for line in HISTORY] * 10))
    # Each of 80 rows has a customer's id and an invoice, and there are too many rows.
    assert (len(caught.value.faults), caught.value.n_faults) == (20, 161)


def test_data_that_does_not_fit_together_is_refused(world: World, tmp_path: Path) -> None:
    late = tmp_path / "T.csv"
    late.write_text("101,0,2011/12/1,8:30,A1,1.5,2\n999,0,2011/11/1,8:30,A1,1.5,2\n")
    with pytest.raises(InputError) as caught:
        Originals.read({**world.data, "T": late})
    assert [(fault.line, fault.column) for fault in caught.value.faults] == [(1, "date"), (2, "customer")]
