"""What a server tells, printed as the commands on this machine print theirs; and waiting for a submission."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

import typer

from tokumei.cli.edition import leaves
from tokumei.cli.output import EXIT_BAD_INPUT, fail, print_facts, print_json, print_table, showing_progress
from tokumei.cli.remote_server import NotReached, Server, ServerFailed, input_error, part
from tokumei.core.progress import step

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
    """Print a submission; one that was refused or failed ends with an error, as a check on this machine does."""
    if json:
        print_json(found)
    else:
        _print(found)
    if found["state"] in (REFUSED, FAILED):
        raise typer.Exit(EXIT_BAD_INPUT)


def show_contest(found: Mapping[str, Any]) -> None:
    """Print a contest: where it stands, its rules, what is announced."""
    rules, attempts = found["rules"], found["attempts"]
    print_facts(
        {
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
    )
    typer.echo(f"\n{rules['summary']}\n")
    for title, kind in (("a release is", "release_files"), ("a guess is", "guess_files")):
        print_table([title, "holds"], [[one["file_name"], one["holds"]] for one in rules[kind]])
    print_table(["rule", "says"], [[one["name"], one["says"]] for one in rules["release_rules"] + rules["guess_rules"]])
    for one in found["announcements"]:
        typer.echo(f"{one['at'][:16]}  {one['title']}\n{one['text']}\n")


def _print(found: Mapping[str, Any]) -> None:
    facts = {name: found[name] for name in ("key", "contest", "team", "kind", "target", "knowledge") if found[name]}
    print_facts(facts | {"state": found["says"], "at": found["at"]})
    if found["state"] == REFUSED:
        fail(input_error(found), wants_json=False)
        typer.echo(found["reason"], err=True)
    elif found["reason"]:
        typer.echo(found["reason"], err=True)
    if found["is_score_hidden"]:
        typer.echo("The score is shown when the contest ends.")
    score = found["score"]
    if score is None:
        return
    totals = {name: score[name] for name in ("utility", "safety", "success") if score.get(name) is not None}
    rows = leaves(score.get("details") or {}) | totals
    print_table(["score", "value"], list(rows.items()))
    for flag in score.get("flags", []):
        typer.echo(flag)


def _say_step(found: Mapping[str, Any], before: str) -> str:
    """Tell a person who looks which step the evaluation is at, once for each."""
    now = str(found["progress"].get("step") or found["says"])
    if now != before and sys.stderr.isatty():
        typer.echo(f"  {now}", err=True)
    return now
