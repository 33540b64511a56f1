"""The types of the public functions: what a type checker, an editor and `help` show is what runs."""

from __future__ import annotations

import inspect
import pydoc
import re
import subprocess
import sys
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

import pytest

import tokumei as tk
from tokumei.attacks.history.attackers import HistoryThreat
from tokumei.attacks.history.generalized import GENERALIZED_ATTACKS
from tokumei.attacks.registry import DISCLOSURE_ATTACKS, HISTORY_ATTACKS
from tokumei.attacks.table_threats import TableThreat
from tokumei.core.registry import Registry, part_options
from tokumei.measures.registry import HISTORY_UTILITIES, TABLE_UTILITIES
from tokumei.methods.registry import HISTORY_ANONYMIZERS, TABLE_ANONYMIZERS
from tokumei.tasks import request
from tokumei.tasks.request import ReleaseRequest, Requirements

ROOT = Path(__file__).resolve().parents[2]
RIGHT = """
import tokumei as tk

table = tk.Table({"age": [31, 31], "ill": ["flu", "flu"]}, qi=["age"], sensitive=["ill"])
history = tk.History("shop.csv")
reveal_type(tk.anonymize(table, k=5))
reveal_type(tk.anonymize({"age": [1, 2]}, ["age"], k=2, method="mondrian", ranges="tight"))
reveal_type(tk.anonymize(history, method="pseudonyms", lifetime=1))
reveal_type(tk.attack(table, tk.anonymize(table, k=2), "downcoding", complete=True))
reveal_type(tk.attack(table, tk.anonymize(table, k=2), threat="employer", numbers_off=0.2))
reveal_type(tk.attack(history, tk.anonymize(history, method="pseudonyms"), "s1"))
reveal_type(tk.attack(history, threat="neighbor", share=0.5))
reveal_type(tk.measure(table, in_order=True))
reveal_type(tk.measure(history, "out.csv", "top-items", k=[1, 2]))
reveal_type(tk.harden(history, bound=0.1))
reveal_type(tk.knowledge(history, unicity=True, points=3))
reveal_type(tk.audit(table, k=2, l_diversity={"ill": "2:entropy"}))
"""
REVEALED = [
    *("TableRelease", "TableRelease", "HistoryRelease", "TableAttack", "TableAttack", "Guesses", "ThreatReport"),
    *("TableUse", "HistoryUse", "Hardened", "Unicity", "TableAudit"),
]
WRONG = [
    "tk.anonymize(table, k=5, supress=0.1)",
    'tk.anonymize(table, k="five")',
    'tk.anonymize(table, k=5, ranges="loose")',
    'tk.anonymize(history, method="pseudonyms", lifetme=1)',
    "tk.audit(table, kk=2)",
    "tk.audit(history)",
    'tk.attack(history, threat="neighbor", shar=0.5)',
    "tk.measure(history, history, nitems=1)",
    "tk.sweep(table)",
    'tk.knowledge(history, unicity="yes")',
]


def mypy(script: str, folder: Path) -> str:
    """Return what mypy says of a script that somebody wrote against the source that is tested."""
    (folder / "stranger.py").write_text(script)
    # As `make check` runs it, so that what it learned of every other file there is not worked out a second time.
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-pretty", folder / "stranger.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr, done.stderr
    return done.stdout


@pytest.mark.slow
def test_script_of_a_stranger_passes_where_it_is_right_and_fails_in_each_line_that_is_wrong(tmp_path: Path) -> None:
    said = mypy(RIGHT + "\n".join(WRONG) + "\n", tmp_path)
    revealed = re.findall(r'Revealed type is "(?:\w+\.)*(\w+)"', said)
    assert revealed == REVEALED, said
    first = RIGHT.count("\n") + 1
    failed = {int(line) for line in re.findall(r"stranger\.py:(\d+): error", said)}
    assert failed == set(range(first, first + len(WRONG))), said


def stated(function: Callable[..., Any], of: int | None = None) -> Mapping[str, inspect.Parameter]:
    """Return the keywords that a function states, of all its overloads or of one."""
    one = function if of is None else typing.get_overloads(inspect.unwrap(function))[of]
    parameters = inspect.signature(one).parameters.values()
    return {part.name: part for part in parameters if part.kind is part.KEYWORD_ONLY}


def default_of(one: Field[Any]) -> Any:
    """Return what a field is if nothing is given; a mapping that is made anew for each is stated as None."""
    return one.default if one.default is not MISSING else None


# What names the roles of a frame's columns, and the method's own options, which come as keywords.
ROLES, OWN = {"sensitive"}, {"options"}


def test_keywords_for_a_table_are_the_fields_of_the_request() -> None:
    told = {name: part.default for name, part in stated(tk.anonymize, of=0).items() if name not in ROLES}
    assert told == {one.name: default_of(one) for one in fields(ReleaseRequest) if one.name not in OWN}


@pytest.mark.parametrize("function", [tk.audit, tk.compare])
def test_keywords_of_further_functions_hold_every_requirement(function: Callable[..., Any]) -> None:
    told = {name: part.default for name, part in stated(function).items()}
    assert {one.name: default_of(one) for one in fields(Requirements)}.items() <= told.items()


def literals(hint: Any) -> set[Any]:
    """Return the words that a type lists."""
    if typing.get_origin(hint) is typing.Literal:
        return set(typing.get_args(hint))
    return {word for one in typing.get_args(hint) for word in literals(one)}


def options_of(*parts: type) -> dict[str, set[Any]]:
    """Return the options of parts by name, with the words that their types list."""
    found: dict[str, set[Any]] = {}
    for part in parts:
        for option in part_options(part):
            found.setdefault(option.name, set()).update(literals(option.type))
    return found


def built_in(registry: Registry[Any]) -> list[type]:
    """Return the parts of a registry that come with the package, without those of others that are installed."""
    return [registry.get(name) for names in registry.parts.values() for name in names]


# By the name of a TypedDict, the parts whose options it names, and those that are keywords of the function itself.
OPTIONS: dict[str, tuple[list[type], tuple[Callable[..., Any], int], set[str]]] = {
    "TableMethodOptions": (built_in(TABLE_ANONYMIZERS), (tk.anonymize, 0), {"k"}),
    "HistoryMethodOptions": (built_in(HISTORY_ANONYMIZERS), (tk.anonymize, 1), {"hierarchy"}),
    "TableAttackOptions": ([*built_in(DISCLOSURE_ATTACKS), TableThreat], (tk.attack, 0), {"sensitive"}),
    "HistoryAttackOptions": ([*built_in(HISTORY_ATTACKS), *GENERALIZED_ATTACKS.values()], (tk.attack, 1), set()),
    "ThreatOptions": ([HistoryThreat], (tk.attack, 2), set()),
    "TableMeasureOptions": (built_in(TABLE_UTILITIES), (tk.measure, 0), {"hierarchies", "numeric"}),
    "HistoryMeasureOptions": (built_in(HISTORY_UTILITIES), (tk.measure, 1), {"master"}),
}


def test_every_class_of_options_is_held_against_its_parts() -> None:
    assert set(OPTIONS) == {name for name, one in vars(request).items() if typing.is_typeddict(one)}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_that_a_function_takes_are_those_of_its_parts(name: str) -> None:
    parts, (function, of), keywords = OPTIONS[name]
    own = options_of(*parts)
    assert keywords == own.keys() & stated(function, of).keys()
    hints = typing.get_type_hints(getattr(request, name))
    assert hints.keys() == own.keys() - keywords
    # Where a keyword takes words of a list, these are the words that the parts take.
    listed = {option: words for option, hint in hints.items() if (words := literals(hint))}
    assert {option: own[option] for option in listed} == listed


def test_help_and_signature_show_the_keywords() -> None:
    assert inspect.signature(tk.anonymize).parameters["k"].default is None
    shown = pydoc.plain(pydoc.render_doc(tk.anonymize))
    assert "l_diversity" in shown.split("\n\n")[1]
    assert isinstance(tk.anonymize, types.FunctionType)
