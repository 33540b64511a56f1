"""Each rule of PWSCUP 2018, broken alone."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest

from tokumei.contest.editions.pwscup2018.files import (
    GUESS_RULES,
    RELEASE_RULES,
    check_guess,
    check_release,
    read_history,
    read_published,
)
from tokumei.core.errors import InputError

HISTORY = [
    "101,2010/12/1,A1,1.5,2",
    "101,2010/12/9,B2,2,3",
    "102,2011/1/5,C3,0.85,12",
    "103,2011/11/30,A1,10,100",
    "103,2011/11/30,B2,10.5,1",
]
RELEASE = [
    "7,2010/12/1,A1,1.50,2",
    "7,[2010/12/1;2010/12/31],{A1;B2},[1;2.5],*",
    "*,*,*,*,*",
    "101,*,{A1},[10;10],[64;127]",
    "101,*,*,*,*",
]
PUBLISHED = sorted(line for line in RELEASE if line[0] != "*")
GUESS = ["7,101", "101,103"]
Found = list[tuple[int | None, str | None, str | None]]
Broken = tuple[str, str | bytes, Found]
# More items than a set may have, and enough long ones for a line of over 8,000 characters.
MANY_ITEMS = [f"ITEM{number:05d}" for number in range(900)]


class World:
    """The files of a small contest in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.history = read_history(self.write("T.csv", text_of(HISTORY)))
        self.published = read_published(self.write("A_published.csv", text_of(PUBLISHED)))

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def check(self, content: str | bytes) -> None:
        check_release(self.history, self.write("A.csv", content))

    def check_guess(self, content: str | bytes) -> None:
        check_guess(self.history, self.published, self.write("Fh.csv", content))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


def text_of(lines: Sequence[str], line_end: str = "\r\n") -> str:
    return "".join(line + line_end for line in lines)


def with_cell(lines: Sequence[str], line: int, cell: int, value: str) -> str:
    """Put a value into one cell; lines are counted from 1, cells from 0."""
    cells = lines[line - 1].split(",")
    cells[cell] = value
    return with_line(lines, line, ",".join(cells))


def broken_cells(rule: str, line: int, cell: int, column: str, texts: Sequence[str]) -> list[Broken]:
    """Break one rule by one cell, in many ways."""
    return [(rule, with_cell(RELEASE, line, cell, text), [(line, column, text)]) for text in texts]


def with_line(lines: Sequence[str], line: int, value: str) -> str:
    return text_of([*lines[: line - 1], value, *lines[line:]])


# What the organizers' own checker refuses, and what it takes.
ZERO_PRICES = ("0", "0.0", "0.00", "01.5", "02.1", "[0;2]", "[00.5;2]", "[1;02]")
ZERO_QUANTITIES = ("0", "02", "08", "[0;3]", "[01;3]")
OTHER_YEARS = ("[2009/12/31;2011/12/31]", "[2010/12/1;2012/1/1]")
TAKEN = [
    with_cell(RELEASE, 1, 1, "2010/12/01"),
    with_cell(RELEASE, 2, 1, "[2010/01/01;2011/12/31]"),
    with_cell(RELEASE, 1, 3, "[0.01;99999.99]"),
    with_cell(RELEASE, 1, 3, "1.5"),
    with_cell(RELEASE, 1, 4, "[1;999999]"),
    with_cell(RELEASE, 1, 2, "{A1}"),
    text_of(RELEASE).replace("\r\n", "\n", 3),
]

BROKEN: list[Broken] = [
    ("file-form", text_of(["customer,date,item,price,quantity", *RELEASE]), [(1, None, "customer,date…")]),
    ("file-form", b"\xef\xbb\xbf" + text_of(RELEASE).encode(), [(1, None, "ef bb bf")]),
    ("file-form", with_cell(RELEASE, 1, 2, '"A1"'), [(1, None, '7,2010/12/1,"A1",1.50,2')]),
    ("file-form", with_line(RELEASE, 2, "7,*,*,*"), [(2, None, "4 cells: 7,*,*,*")]),
    ("file-form", with_line(RELEASE, 2, "7,*,{A1,B2},*,*"), [(2, None, "6 cells: …")]),
    ("file-form", with_cell(RELEASE, 2, 2, "\0"), [(2, None, "\0")]),
    ("same-rows", text_of([*RELEASE, RELEASE[-1]]), [(6, None, "6 rows")]),
    ("same-rows", text_of(RELEASE[:2] + RELEASE[3:]), [(4, None, "4 rows")]),
    ("deleted-whole", with_line(RELEASE, 3, "*,*,*,*,12"), [(3, "customer", "*")]),
    ("deleted-whole", with_cell(RELEASE, 1, 0, "*"), [(1, "customer", "*")]),
    ("pseudonym-form", with_cell(RELEASE, 4, 0, "0101"), [(4, "customer", "0101")]),
    ("pseudonym-form", with_cell(RELEASE, 4, 0, "1234567890"), [(4, "customer", "1234567890")]),
    ("pseudonym-form", with_cell(RELEASE, 4, 0, "P1"), [(4, "customer", "P1")]),
    ("pseudonym-form", with_cell(RELEASE, 4, 0, ""), [(4, "customer", "")]),
    ("one-pseudonym", with_cell(RELEASE, 2, 0, "8"), [(2, "customer", "8")]),
    ("no-shared-pseudonym", with_line(RELEASE, 3, "7,*,*,*,*"), [(3, "customer", "7")]),
    ("date-form", with_cell(RELEASE, 1, 1, "2010/12/32"), [(1, "date", "2010/12/32")]),
    ("date-form", with_cell(RELEASE, 1, 1, "[2010/11/31;2010/12/1]"), [(1, "date", "[2010/11/31;2010/12/1]")]),
    ("date-form", with_cell(RELEASE, 1, 1, "[2010/12/1]"), [(1, "date", "[2010/12/1]")]),
    ("date-form", with_cell(RELEASE, 1, 1, ""), [(1, "date", "")]),
    ("item-form", with_cell(RELEASE, 1, 2, "{}"), [(1, "item", "{}")]),
    ("item-form", with_cell(RELEASE, 1, 2, "{A1;}"), [(1, "item", "{A1;}")]),
    ("item-form", with_cell(RELEASE, 1, 2, "{A1"), [(1, "item", "{A1")]),
    ("item-form", with_cell(RELEASE, 1, 2, "a1"), [(1, "item", "a1")]),
    ("item-form", with_cell(RELEASE, 1, 2, "[A1;B2]"), [(1, "item", "[A1;B2]")]),
    ("price-form", with_cell(RELEASE, 1, 3, "1.500"), [(1, "price", "1.500")]),
    ("price-form", with_cell(RELEASE, 1, 3, "[-1;2]"), [(1, "price", "[-1;2]")]),
    ("quantity-form", with_cell(RELEASE, 1, 4, "2.0"), [(1, "quantity", "2.0")]),
    ("quantity-form", with_cell(RELEASE, 1, 4, "{2;3}"), [(1, "quantity", "{2;3}")]),
    *broken_cells("price-form", 1, 3, "price", ZERO_PRICES),
    *broken_cells("quantity-form", 1, 4, "quantity", ZERO_QUANTITIES),
    *broken_cells("date-years", 1, 1, "date", OTHER_YEARS),
    ("range-order", with_cell(RELEASE, 1, 1, "[2010/12/31;2010/12/1]"), [(1, "date", "[2010/12/31;2010/12/1]")]),
    ("range-order", with_cell(RELEASE, 1, 3, "[10;9]"), [(1, "price", "[10;9]")]),
    ("range-order", with_cell(RELEASE, 1, 4, "[3;1]"), [(1, "quantity", "[3;1]")]),
    ("set-distinct", with_cell(RELEASE, 2, 2, "{B2;A1;B2}"), [(2, "item", "{B2;A1;B2}")]),
    ("item-of-t", with_cell(RELEASE, 2, 2, "{B2;D4}"), [(2, "item", "{B2;D4}")]),
    ("item-of-t", with_cell(RELEASE, 2, 2, "D4"), [(2, "item", "D4")]),
    ("holds-truth", with_cell(RELEASE, 1, 1, "2010/12/2"), [(1, "date", "2010/12/2")]),
    ("holds-truth", with_cell(RELEASE, 1, 1, "[2011/12/1;2011/12/31]"), [(1, "date", "[2011/12/1;2011/12/31]")]),
    ("holds-truth", with_cell(RELEASE, 2, 2, "{A1;C3}"), [(2, "item", "{A1;C3}")]),
    ("holds-truth", with_cell(RELEASE, 2, 2, "A1"), [(2, "item", "A1")]),
    ("holds-truth", with_cell(RELEASE, 1, 3, "[1.51;2]"), [(1, "price", "[1.51;2]")]),
    ("holds-truth", with_cell(RELEASE, 1, 4, "3"), [(1, "quantity", "3")]),
]
BROKEN_GUESSES: list[tuple[str, str, Found]] = [
    ("file-form", with_line(GUESS, 2, "101,103,1"), [(2, None, "3 cells: 101,103,1")]),
    ("file-form", '"7",101', [(1, None, '"7",101')]),
    ("pseudonym-of-release", with_cell(GUESS, 1, 0, "8"), [(1, "pseudonym", "8")]),
    ("pseudonym-of-release", with_cell(GUESS, 1, 0, "*"), [(1, "pseudonym", "*")]),
    ("customer-of-t", with_cell(GUESS, 2, 1, "104"), [(2, "customer", "104")]),
    ("customer-of-t", with_cell(GUESS, 2, 1, ""), [(2, "customer", "")]),
    ("each-pseudonym-once", text_of([*GUESS, "7,102"]), [(3, "pseudonym", "7")]),
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


@pytest.mark.parametrize("content", TAKEN)
def test_release_that_the_organizers_take_is_taken(world: World, content: str) -> None:
    world.check(content)


@pytest.mark.parametrize("content", ["", text_of(GUESS).replace("\r\n", "\n", 1), "7,103\n"])
def test_guess_that_the_organizers_take_is_taken(world: World, content: str) -> None:
    world.check_guess(content)


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
    # Two have tests of their own: a set or a line that is too long needs more items.
    assert {rule for rule, _, _ in BROKEN} | {"set-size", "line-length"} == {rule.name for rule in RELEASE_RULES}
    assert {rule for rule, _, _ in BROKEN_GUESSES} == {rule.name for rule in GUESS_RULES}


def world_of_many_items(folder: Path) -> tuple[World, list[str]]:
    world = World(folder)
    lines = [f"101,2011/5/1,{item},1,1" for item in MANY_ITEMS]
    world.history = read_history(world.write("T.csv", text_of(lines)))
    return world, [line.replace("101,", "5,", 1) for line in lines]


def test_set_of_a_hundred_items_is_valid_and_one_more_is_not(tmp_path: Path) -> None:
    world, lines = world_of_many_items(tmp_path)
    world.check(with_cell(lines, 1, 2, f"{{{';'.join(MANY_ITEMS[:100])}}}"))
    too_large = f"{{{';'.join(MANY_ITEMS[:101])}}}"
    with pytest.raises(InputError) as caught:
        world.check(with_cell(lines, 1, 2, too_large))
    assert_breaks_only(caught.value, "set-size", [(1, "item", too_large)])


def test_line_of_over_8000_characters_is_refused(tmp_path: Path) -> None:
    # No line with well-formed cells is that long, so the rule is never broken alone: here the set is too large as well.
    world, lines = world_of_many_items(tmp_path)
    with pytest.raises(InputError) as caught:
        world.check(with_cell(lines, 2, 2, f"{{{';'.join(MANY_ITEMS)}}}"))
    # 900 items of 9 characters, 899 semicolons, two braces, and `5,2011/5/1,` `,1,1` around them.
    found = [(fault.line, fault.column, fault.value) for fault in caught.value.faults]
    assert found[0] == (2, None, f"{900 * 9 + 899 + 2 + 11 + 4} characters")
    assert str(caught.value.faults[0]).endswith("expected a line of at most 8,000 characters (rule line-length)")
    assert found[1][:2] == (2, "item")
    assert len(found) == 2


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_either_line_end_is_valid_and_the_last_may_be_missing(world: World, line_end: str) -> None:
    whole = text_of(RELEASE, line_end)
    world.check(whole)
    world.check(whole.removesuffix(line_end))
    world.check(gzip.compress(whole.encode()))
    world.check_guess(text_of(GUESS, line_end).removesuffix(line_end))


def test_release_of_nothing_but_deleted_rows_is_valid(world: World) -> None:
    world.check("*,*,*,*,*\n" * len(HISTORY))


def test_faults_of_all_rules_are_told_together(world: World) -> None:
    lines = [*RELEASE]
    lines[0] = "x,2010/12/32,{A1;D4},[9;1],3"
    with pytest.raises(InputError) as caught:
        world.check(text_of(lines))
    rules = [fault.rule for fault in caught.value.faults]
    assert sorted(map(str, rules)) == ["date-form", "holds-truth", "item-of-t", "pseudonym-form", "range-order"]


def test_fault_of_a_group_names_both_lines(world: World) -> None:
    with pytest.raises(InputError, match=r"line 2, .*found '8', expected 7 as in line 1, for the same customer \(rule"):
        world.check(with_cell(RELEASE, 2, 0, "8"))
    with pytest.raises(InputError, match=r"line 3, .*than in line 1, where it stands for 101 \(rule"):
        world.check(with_line(RELEASE, 3, "7,*,*,*,*"))


def test_fault_of_a_cell_names_the_value_of_the_original(world: World) -> None:
    with pytest.raises(InputError, match="may stand for 2010/12/1, as in T"):
        world.check(with_cell(RELEASE, 1, 1, "2010/12/2"))
    with pytest.raises(InputError, match="items of T, which D4 is not"):
        world.check(with_cell(RELEASE, 2, 2, "{B2;D4}"))


def test_rows_in_another_order_are_told_where_cells_no_longer_fit(world: World) -> None:
    lines = [RELEASE[3], *RELEASE[1:3], RELEASE[0], RELEASE[4]]
    with pytest.raises(InputError) as caught:
        world.check(text_of(lines))
    rules = {fault.rule for fault in caught.value.faults}
    assert rules == {"holds-truth", "one-pseudonym", "no-shared-pseudonym"}
