"""What a server tells, printed as the commands on this machine print theirs; and waiting for a submission."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

import typer

from tokumei.cli.edition import leaves
from tokumei.cli.output import EXIT_BAD_INPUT, EXIT_CHECK_FAILED, fail, show, showing_progress
from tokumei.cli.remote_server import NotReached, Server, ServerFailed, input_error, part
from tokumei.core.progress import step
from tokumei.core.result import Answer, Facts, Rows, Section, Sentence

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 2.0
# How often in a row the server may fail to answer while we only wait: it may be starting again.
FORGIVEN = 5
REFUSED, FAILED = "refused", "failed"


def wait_for(reached: Server, key: str) -> dict[str, Any]:
    """Ask again and again until nothing more will happen to a submission."""
    pause, n_failures, label = FIRST_PAUSE, 0, ""
    with showing_progress(), step("waiting for the evaluation"):
        while True:
            try:
                found: dict[str, Any] = reached.get(f"/submissions/{part(key)}")
                n_failures = 0
            except (NotReached, ServerFailed):
                n_failures += 1
                if n_failures > FORGIVEN:
                    raise
            else:
                if found["is_final"]:
                    return found
                label = _say_step(found, label)
            time.sleep(pause)
            pause = min(LONGEST_PAUSE, 1.3 * pause)


def show_submission(found: Mapping[str, Any], *, json: bool) -> None:
    """Show a submission; one that was refused or failed ends as a check on this machine does."""
    show(Answer(found, _submission_sections(found)), json=json)
    if found["state"] == REFUSED and not json:
        fail(input_error(found), wants_json=False)
    if found["reason"] and not json:
        typer.echo(found["reason"], err=True)
    if found["state"] in (REFUSED, FAILED):
        raise typer.Exit(EXIT_CHECK_FAILED if found["state"] == REFUSED else EXIT_BAD_INPUT)


def contest_sections(found: Mapping[str, Any]) -> list[Section]:
    """Lay out a contest: where it stands, its rules, what is announced."""
    rules, attempts = found["rules"], found["attempts"]
    facts = {
        "contest": found["slug"],
        "title": found["title"],
        "edition": rules["title"],
        "phase": found["phase"],
        "opens": found["opens_at"],
        "attacks begin": found["attacks_open_at"],
        "closes": found["closes_at"],
        "your team": (found["team"] or {}).get("slug"),
        "releases left": None if attempts is None else attempts["n_left"],
        "teams": [team["slug"] for team in found["teams"]],
        "knowledge": [level for level in rules["knowledge_files"] if level],
    }
    stated = rules["release_rules"] + rules["guess_rules"]
    announced = [Facts({one["title"]: one["text"]}, title=one["at"][:16]) for one in found["announcements"]]
    return [
        Facts(facts),
        Sentence(rules["summary"]),
        Rows(["a release is", "holds"], [[one["file_name"], one["holds"]] for one in rules["release_files"]]),
        Rows(["a guess is", "holds"], [[one["file_name"], one["holds"]] for one in rules["guess_files"]]),
        Rows(["rule", "says"], [[one["name"], one["says"]] for one in stated]),
        *announced,
    ]


def _submission_sections(found: Mapping[str, Any]) -> list[Section]:
    named = {name: found[name] for name in ("key", "contest", "team", "kind", "target", "knowledge") if found[name]}
    sections: list[Section] = [Facts(named | {"state": found["says"], "at": found["at"]})]
    if found["is_score_hidden"]:
        sections.append(Sentence("The score is shown when the contest ends."))
    score = found["score"]
    if score is None:
        return sections
    totals = {name: score[name] for name in ("utility", "safety", "success") if score.get(name) is not None}
    rows = leaves(score.get("details") or {}) | totals
    return [*sections, Rows(["score", "value"], list(rows.items())), *map(Sentence, score.get("flags", []))]


def _say_step(found: Mapping[str, Any], before: str) -> str:
    """Report the step of the evaluation to a person, once for each."""
    now = str(found["progress"].get("step") or found["says"])
    if now != before and sys.stderr.isatty():
        typer.echo(f"  {now}", err=True)
    return now
