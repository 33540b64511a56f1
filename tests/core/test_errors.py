import pytest

from tokumei.core.errors import GROUP_LISTED, LISTED_FAULTS, Fault, FaultList, InputError, UnknownPart, shown


def test_fault_with_index_and_value_reads_as_one_line() -> None:
    fault = Fault("a real date", "T.csv", 7, "date", "2011/2/30")
    assert str(fault) == "T.csv, line 7, column date: found '2011/2/30', expected a real date"


def test_input_error_of_one_fault_names_everything() -> None:
    error = InputError.of("a whole number", file="a.csv", line=2, column="age", value="x")
    assert error.as_dict()["faults"] == [
        {"expected": "a whole number", "file": "a.csv", "line": 2, "column": "age", "value": "x"}
    ]
    assert error.n_faults == 1


def test_fault_list_with_many_faults_lists_the_first_twenty_and_counts_the_rest() -> None:
    faults = FaultList("a.csv")
    for line in range(30, 0, -1):
        faults.add("x", line=line)
    with pytest.raises(InputError) as caught:
        faults.raise_if_any()
    assert [fault.line for fault in caught.value.faults] == list(range(1, 21))
    assert caught.value.n_faults == 30
    assert str(caught.value).endswith("… and 10 more")


def test_many_faults_of_a_kind_say_once_what_was_expected() -> None:
    faults = FaultList("a.csv")
    for line in range(30, 0, -1):
        faults.add("a number", line=line, column="age", value=f"x{line}")
    faults.add("a town", line=4, column="town", value="")
    with pytest.raises(InputError) as caught:
        faults.raise_if_any()
    assert caught.value.by_kind.splitlines() == [
        "a.csv, column age: expected a number (30 times)",
        *(f"  line {line}: found 'x{line}'" for line in range(1, 6)),
        "  … and 25 more",
        "a.csv, line 4, column town: found '', expected a town",
    ]


def test_fault_list_without_faults_raises_nothing() -> None:
    faults = FaultList("a.csv")
    faults.raise_if_any()
    assert faults.n_faults == 0


def test_unknown_part_with_a_typo_suggests_the_nearest_name() -> None:
    error = UnknownPart("attack", "same-dya", ["same-day", "jaccard"])
    assert error.nearest == "same-day"
    assert "Did you mean 'same-day'?" in str(error)


def test_unknown_part_far_from_all_lists_the_known_names() -> None:
    assert "Known: a, b." in str(UnknownPart("attack", "zzzzzz", ["b", "a"]))


def test_shown_value_escapes_control_characters_and_cuts_long_text() -> None:
    assert shown("a\x00\x1b[31m") == "'a\\x00\\x1b[31m'"
    assert len(shown("x" * 1000)) < 70


def test_fault_of_a_rule_keeps_its_parameters_apart_from_its_words() -> None:
    fault = Fault("at most {n_most:,} rows", "A.csv", 3, None, "1,235 rows", "half-kept", {"n_most": 1234})
    assert str(fault) == "A.csv, line 3: found '1,235 rows', expected at most 1,234 rows (rule half-kept)"
    assert InputError(fault).as_dict()["faults"][0]["parameters"] == {"n_most": 1234}
    assert InputError(fault).as_dict()["faults"][0]["expected"] == "at most 1,234 rows"
    # What looks like a name is left alone where nothing was given for it.
    assert Fault("a set {a;b;…}").wanted == "a set {a;b;…}"


def test_fault_list_counts_every_kind_whole_and_gives_its_first_places() -> None:
    faults = FaultList("f.csv")
    for line in range(1, LISTED_FAULTS + 1):
        faults.add("a number", line=line, column="age", value="x", rule="form")
    faults.count_more(5)
    faults.add("a date", line=3, column="day", value="y")
    with pytest.raises(InputError) as raised:
        faults.raise_if_any()
    groups = raised.value.groups
    assert [(group.n_faults, len(group.first)) for group in groups] == [(LISTED_FAULTS + 5, GROUP_LISTED), (1, 1)]
    assert sum(group.n_faults for group in groups) == raised.value.n_faults
    assert {fault.rule for group in raised.value.under("other").groups for fault in group.first} == {"other"}
