"""Texts keep what they are made of."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import Fault, InputError
from tokumei.core.text import Text, from_json, to_json

NESTED = Text("{kind}: {n:,} of {m:.0%}", kind=Text("ages"), n=1_200, m=0.5)


def test_text_is_said_by_its_form_with_numbers_as_written() -> None:
    assert NESTED == "ages: 1,200 of 50%"
    assert NESTED.in_words({"{kind}: {n} of {m}": "{m} のうち {n}：{kind}", "ages": "年齢"}) == "50% のうち 1,200：年齢"
    # A form or a text in it without words leaves the whole in English.
    assert NESTED.in_words({"{kind}: {n} of {m}": "{m} のうち {n}：{kind}"}) is None
    assert NESTED.in_words({}) is None


def test_text_without_values_is_itself_braces_and_all() -> None:
    assert Text("plain {as} it is") == "plain {as} it is"
    assert Text("plain {as} it is").in_words({"plain {as} it is": "そのまま"}) == "そのまま"


def test_copies_pickles_and_json_keep_the_form() -> None:
    found = {"a": [NESTED, "x", 1], "b": {"said": "s", "values": {}, "n": 1}}
    again = json.loads(json.dumps(to_json(found)), object_hook=from_json)
    assert again == found
    assert again["a"][0].values["kind"].form == "ages"
    assert from_json(to_json(NESTED)).values["kind"].form == "ages"
    assert json.loads(json.dumps(found))["a"][0] == "ages: 1,200 of 50%"
    for one in (copy.deepcopy(NESTED), copy.copy(NESTED), pickle.loads(pickle.dumps(NESTED))):
        assert (one, one.form, one.values) == (NESTED, NESTED.form, NESTED.values)


NAMES = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@given(NAMES, NAMES, NAMES, NAMES, st.none() | st.integers(1, 9), st.sampled_from(["", "r1"]))
def test_fault_as_a_text_is_the_sentence_that_it_always_was(
    file: str | None, option: str | None, column: str | None, value: str | None, line: int | None, rule: str
) -> None:
    fault = Fault(Text("at most {n:,} rows", n=2_000), file, line, column, value, rule or None, option=option)
    index = [] if file is None else [file]
    places = {"option": option, "line": line, "column": column}
    index += [f"{what} {one}" for what, one in places.items() if one is not None]
    shown = "" if value is None else f"found {Fault('x', value=value).text.values['value']}, "
    wanted = f"{shown}expected at most 2,000 rows" + (f" (rule {rule})" if rule else "")
    assert str(fault) == (f"{', '.join(index)}: {wanted}" if index else wanted) == fault.text


def test_fault_of_a_text_is_the_fault_of_its_form_and_parameters() -> None:
    one = Fault(Text("at most {n:,} rows", n=2_000), "a.csv")
    other = Fault("at most {n:,} rows", "a.csv", parameters={"n": 2_000})
    assert str(one) == str(other)
    assert (one.form, dict(one.values)) == (other.form, dict(other.values))
    assert asdict(one)["expected"] == one.wanted == other.wanted
    assert isinstance(InputError(one).text, Text)
    assert InputError([one, other]).text == str(InputError([one, other]))
