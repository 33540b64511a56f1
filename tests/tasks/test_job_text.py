"""A job file that is written and read again is the same, whatever its columns are called."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.core.errors import InputError
from tokumei.tasks.job_file import Job
from tokumei.tasks.job_writing import write_job

# All that text can hold: halves of characters cannot be written at all.
CHARACTERS = st.characters(codec="utf-8")
texts = st.text(CHARACTERS, max_size=8)
names = st.text(CHARACTERS, min_size=1, max_size=8)
values = st.recursive(
    st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
sections = st.dictionaries(names, values, max_size=4)


@settings(max_examples=cases(150), deadline=None)
@given(roles=sections, method=st.lists(sections, min_size=1, max_size=3), other=sections)
def test_what_is_written_is_read_the_same(
    roles: dict[str, Any], method: list[dict[str, Any]], other: dict[str, Any]
) -> None:
    found = {"roles": roles, "method": method, "input": other}
    assert tomllib.loads(write_job(found, reasons=dict.fromkeys(roles, "a\nreason"))) == found


def test_job_written_anew_is_the_same_job() -> None:
    roles = '[input]\nfile = "a.csv"\n[roles]\n"年齢" = "quasi-identifier"\n'
    text = f'{roles}[requirements]\nk = 3\n[[bound]]\nof = "k"\nleast = 3\n'
    again = write_job(tomllib.loads(text), reasons={"年齢": "ages"})
    assert Job.of(again).roles == {"年齢": "quasi-identifier"}
    assert Job.of(again).requirements["k"] == 3
    assert '"年齢" = "quasi-identifier"  # ages' in again


def test_value_that_toml_has_no_form_for_is_refused() -> None:
    with pytest.raises(InputError, match="text, a number"):
        write_job({"job": {"seed": None}})
