"""Every field of a request is asked for by the shell, a job file and the workbench, or is listed here with a reason."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from tests.cli.test_every_command import COMMANDS
from tests.tasks.test_job_file import JOB, PEOPLE

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.platform.workbench.goal_form import ELSEWHERE, GoalForm
from tokumei.reports.japanese import in_japanese
from tokumei.tasks.job_file import IN_OUTPUT
from tokumei.tasks.request import Kind, ReleaseRequest, Requirements, request_fields

FIELDS = {one.name: one.metadata for one in fields(ReleaseRequest)}
# Objects of Python have a form of their own at each door; requirements that are parts are for Python alone.
BY_OTHER_OPTIONS = {
    "hierarchies": {"hierarchies", "hierarchy"},
    "method": {"method"},
    "options": {"options"},
    "seed": {"seed"},
    "requirements_given": set[str](),
}
BY_OTHER_KEYS = {
    "hierarchies": "[hierarchies]",
    "method": "[[method]]",
    "options": "the other keys of [[method]]",
    "seed": "[job] seed",
    "requirements_given": "a part of Python",
    "person": "a role in [roles]",
    "household": "a role in [roles]",
}
ON_OTHER_PAGES = {
    **ELSEWHERE,
    "hierarchies": "the page of hierarchies",
    "method": "the list of methods beside the form",
    "options": "methods have their usual options; others that stand in the job file are kept",
    "seed": "a secret one is drawn, and taken home with the job file",
    "requirements_given": "a part of Python",
    "person": "a role on the page of columns",
    "household": "a role on the page of columns",
}
# What is written of each kind in a job file.
WRITTEN: dict[Kind, Any] = {
    Kind.WHOLE: "3",
    Kind.SHARE: "0.5",
    Kind.FLAG: "true",
    Kind.NAMES: '["sex"]',
    Kind.FLAG_OR_NAMES: '["sex"]',
    Kind.LEVELS: "{ illness = 2 }",
    Kind.WEIGHTS: "{ sex = 2 }",
    Kind.TEXT: '"0.5"',
    Kind.FILE: '"a.csv"',
}


@pytest.mark.parametrize("name", FIELDS)
def test_shell_asks_for_each_field(name: str) -> None:
    options = {param.name for param in COMMANDS["anonymize table"].params}
    assert BY_OTHER_OPTIONS.get(name, {name}) <= options


@pytest.mark.parametrize("command", ["audit", "compare", "report"])
def test_commands_that_hold_a_release_against_requirements_ask_for_all(command: str) -> None:
    options = {param.name for param in COMMANDS[command].params}
    assert {one.name for one in request_fields(Requirements)} <= options


@pytest.mark.parametrize("name", sorted(FIELDS.keys() - BY_OTHER_KEYS))
def test_job_file_asks_for_each_field(name: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    line = f"{name} = {WRITTEN[FIELDS[name]['kind']]}\n"
    text = JOB.replace("k = 3\n", "" if name == "k" else "k = 3\n")
    asked = text.replace("[requirements]\n", f"[requirements]\n{line}")
    text = f"{text}[output]\n{line}" if name in IN_OUTPUT else asked
    job = tk.Job.of(text, folder=tmp_path)
    usual = tk.Job.of(JOB.replace("k = 3\n", ""), folder=tmp_path)
    given, nothing = (getattr(one.request("optimal", {}, 1), name) for one in (job, usual))
    assert given != nothing
    with pytest.raises(InputError):
        tk.Job.of(text.replace(f"{name} =", f"{name}s ="), folder=tmp_path)


def test_form_of_the_workbench_asks_for_each_field() -> None:
    form = GoalForm({"roles": {"sex": "quasi-identifier", "illness": "sensitive"}})
    assert {name for name, parts in form.parts.items() if parts} == FIELDS.keys() - ON_OTHER_PAGES
    shown = {block["name"] for part in form.folded for block in part["blocks"]} | {field.name for field in form.first}
    assert shown == form.parts.keys()


def test_each_field_is_named_and_explained_in_both_languages() -> None:
    for name in FIELDS.keys() - ON_OTHER_PAGES:
        for text in (FIELDS[name]["label"], FIELDS[name]["help"]):
            assert text, name
            assert in_japanese(text), text


def test_lists_of_exceptions_name_fields() -> None:
    for listed in (BY_OTHER_OPTIONS, BY_OTHER_KEYS, ON_OTHER_PAGES):
        assert listed.keys() <= FIELDS.keys()
