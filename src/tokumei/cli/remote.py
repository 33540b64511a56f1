"""`tokumei remote …`: take part in the contests of a server.

What a server tells is printed as the commands on this machine print theirs.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import click

from tokumei.cli import remote_server
from tokumei.cli.edition import leaves
from tokumei.cli.options import ForceOption
from tokumei.cli.output import EXIT_BAD_INPUT, EXIT_CHECK_FAILED, fail, show, showing_progress, wants_json
from tokumei.cli.parameters import Argument, Option
from tokumei.cli.remote_server import (
    SERVER_VARIABLE,
    CodeNeeded,
    NotReached,
    Server,
    ServerFailed,
    find_server,
    forget,
    input_error,
    part,
    remember,
    server_url,
)
from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.result import Answer, Facts, Rows, Section, Sentence
from tokumei.core.text import Json, JsonView

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 2.0
# How often in a row the server may fail to answer while we only wait: it may be starting again.
FORGIVEN = 5
REFUSED, FAILED = "refused", "failed"


def wait_for(reached: Server, key: str) -> Json:
    """Ask again and again until nothing more will happen to a submission."""
    pause, n_failures, label = FIRST_PAUSE, 0, ""
    with showing_progress(), step("waiting for the evaluation"):
        while True:
            try:
                found: Json = reached.get(f"/submissions/{part(key)}")
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


def show_submission(found: Mapping[str, object]) -> None:
    """Show a submission; one that was refused or failed ends as a check on this machine does."""
    show(Answer(found, _submission_sections(found)))
    if found["state"] == REFUSED and not wants_json():
        fail(input_error(found), wants_json=False)
    if found["reason"] and not wants_json():
        click.echo(found["reason"], err=True)
    if found["state"] in (REFUSED, FAILED):
        raise click.exceptions.Exit(EXIT_CHECK_FAILED if found["state"] == REFUSED else EXIT_BAD_INPUT)


def contest_sections(found: JsonView) -> list[Section]:
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


def _submission_sections(found: JsonView) -> list[Section]:
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


def _say_step(found: JsonView, before: str) -> str:
    """Report the step of the evaluation to a person, once for each."""
    now = str(found["progress"].get("step") or found["says"])
    if now != before and sys.stderr.isatty():
        click.echo(f"  {now}", err=True)
    return now


ServerOption = Annotated[
    str | None,
    Option("--server", metavar="URL", help=f"Where it is; else ${SERVER_VARIABLE}, or where you last logged in."),
]
InsecureOption = Annotated[bool, Option("--insecure", help="Allow plain http to other machines.")]
ContestArgument = Annotated[str, Argument(metavar="CONTEST", help="The short name of the contest.")]
FilesArgument = Annotated[
    list[Path], Argument(metavar="FILE…", help="The files in the order the edition lists them, or one zip.")
]
WaitOption = Annotated[bool, Option("--wait", help="Wait for the result and print it.")]


def login(
    server: ServerOption = None,
    username: Annotated[str | None, Option("--user", help="Name or address; asked for if not given.")] = None,
    with_token: Annotated[bool, Option("--with-token", help="Ask for a token made on the server's page.")] = False,
    scope: Annotated[str, Option("--scope", help="read, submit or organize.")] = "submit",
    days: Annotated[int, Option("--days", min=1, max=3650, help="Days until the token expires.")] = 90,
    insecure: InsecureOption = False,
) -> None:
    """Log in to a server and keep a token for it in a file that only you can read.

    Example: tokumei remote login --server https://contest.example.org
    """
    given = server or os.environ.get(SERVER_VARIABLE) or click.prompt("Server", err=True)
    url = server_url(given, allow_plain=insecure)
    if with_token:
        reached = Server(url, click.prompt("Token", hide_input=True, err=True).strip())
    else:
        reached = Server(url, _new_token(url, username, scope, days))
    me = reached.get("/me")
    file = remember(reached)
    shown = {
        "server": url,
        "user": me["username"],
        "scope": me["scope"],
        "expires": me["expires"],
        "kept in": str(file),
    }
    show(Answer(shown))


def logout(server: ServerOption = None, insecure: InsecureOption = False) -> None:
    """Revoke the token at the server and forget it here.

    Example: tokumei remote logout
    """
    reached = find_server(server, allow_plain=insecure)
    reached.call("DELETE", "/tokens/current")
    forget(reached.url)
    shown = {"server": reached.url, "is_logged_in": False}
    show(Answer(shown))


def contests(
    contest: Annotated[str | None, Argument(metavar="[CONTEST]", help="Show one of them in full.")] = None,
    server: ServerOption = None,
    insecure: InsecureOption = False,
) -> None:
    """List the contests of the server, or show the rules and the schedule of one.

    Example: tokumei remote contests
    """
    reached = find_server(server, allow_plain=insecure)
    if contest is not None:
        found = reached.get(f"/contests/{part(contest)}")
        found["announcements"] = reached.get(f"/contests/{part(contest)}/announcements")
        show(Answer(found, contest_sections(found)))
        return
    page = reached.get("/contests", limit=100)
    rows = [
        [one["slug"], one["title"], one["phase"], one["closes_at"][:16], (one["team"] or {}).get("slug")]
        for one in page["items"]
    ]
    show(Answer(page, [Rows(["contest", "title", "phase", "closes", "your team"], rows)]))


def teams(server: ServerOption = None, insecure: InsecureOption = False) -> None:
    """List your teams.

    Example: tokumei remote teams
    """
    found = find_server(server, allow_plain=insecure).get("/teams")
    rows = [[one["slug"], one["display_name"], one["role"]] for one in found]
    show(Answer({"teams": found}, [Rows(["team", "name", "you are"], rows)]))


def join(
    contest: ContestArgument,
    team: Annotated[str, Option("--team", help="The team to enter; you must be its captain.")],
    invitation: Annotated[str, Option("--invitation", help="What the link to a private contest ends in.")] = "",
    server: ServerOption = None,
    insecure: InsecureOption = False,
) -> None:
    """Enter one of your teams in a contest.

    Example: tokumei remote join spring-cup --team red
    """
    body = {"team": team, "invitation": invitation}
    found = find_server(server, allow_plain=insecure).call("POST", f"/contests/{part(contest)}/join", json=body)
    show(Answer(found, [Facts({"contest": found["slug"], "team": team, "phase": found["phase"]})]))


def submit(
    contest: ContestArgument,
    files: FilesArgument,
    wait: WaitOption = False,
    server: ServerOption = None,
    insecure: InsecureOption = False,
) -> None:
    """Submit a release; with --wait, print its faults or its score.

    Example: tokumei remote submit spring-cup AT.csv --wait
    """
    reached = find_server(server, allow_plain=insecure)
    roles = reached.get(f"/contests/{part(contest)}")["rules"]["release_files"]
    _submit(reached, f"/contests/{part(contest)}/releases", roles, files, is_waiting=wait)


def attack(
    contest: ContestArgument,
    files: FilesArgument,
    team: Annotated[str, Option("--team", help="Whose release the guess is at.")],
    knowledge: Annotated[str, Option("--knowledge", help="The level of knowledge it was made with.")] = "",
    wait: WaitOption = False,
    server: ServerOption = None,
    insecure: InsecureOption = False,
) -> None:
    """Submit a guess at another team's release.

    Example: tokumei remote attack spring-cup --team red --knowledge 25 Fh.csv --wait
    """
    reached = find_server(server, allow_plain=insecure)
    roles = reached.get(f"/contests/{part(contest)}")["rules"]["guess_files"]
    path = f"/contests/{part(contest)}/targets/{part(team)}/guesses?knowledge={part(knowledge)}"
    _submit(reached, path, roles, files, is_waiting=wait)


def status(
    key: Annotated[str | None, Argument(metavar="[KEY]", help="A submission; all of yours if not given.")] = None,
    wait: WaitOption = False,
    server: ServerOption = None,
    insecure: InsecureOption = False,
) -> None:
    """Show what became of a submission, or list your latest ones.

    Example: tokumei remote status
    """
    reached = find_server(server, allow_plain=insecure)
    if key is not None:
        found = wait_for(reached, key) if wait else reached.get(f"/submissions/{part(key)}")
        show_submission(found)
        return
    page = reached.get("/submissions")
    rows = [
        [one["key"], one["contest"], one["team"], one["kind"], one["target"], one["at"][:16], one["says"]]
        for one in page["items"]
    ]
    show(Answer(page, [Rows(["key", "contest", "team", "kind", "target", "at", "state"], rows)]))


def scoreboard(contest: ContestArgument, server: ServerOption = None, insecure: InsecureOption = False) -> None:
    """Show the ranking, as far as you may see it.

    Example: tokumei remote scoreboard spring-cup
    """
    found = find_server(server, allow_plain=insecure).get(f"/contests/{part(contest)}/scoreboard")
    if found["is_hidden"]:
        show(Answer(found, [Sentence("The scoreboard is hidden until the contest ends.")]))
        return
    extra = list(dict.fromkeys(name for line in found["lines"] for name in line["numbers"]))
    rows = [
        [line["place"], line["team"]["slug"], line["value"], line["utility"], line["safety"]]
        + [line["numbers"].get(name) for name in extra]
        for line in found["lines"]
    ]
    show(Answer(found, [Rows(["place", "team", "value", "utility", "safety", *extra], rows)]))


def download(
    contest: ContestArgument,
    to: Annotated[
        Path | None, Option("--to", metavar="DIR", help="Where to put them. [default: a folder named CONTEST]")
    ] = None,
    force: ForceOption = False,
    server: ServerOption = None,
    insecure: InsecureOption = False,
) -> None:
    """Download all files of a contest available now: data, knowledge, and the other teams' releases.

    What was fetched before may stay; a file of yours that differs is replaced only with --force.

    Example: tokumei remote download spring-cup --to cup
    """
    reached = find_server(server, allow_plain=insecure)
    with showing_progress():
        fetched = remote_server.fetch_all(reached, contest, to, force=force)
    rows = [[str(path), path.stat().st_size] for path in fetched]
    show(Answer({"files": [name for name, _ in rows]}, [Rows(["file", "bytes"], rows)]))


def _new_token(url: str, username: str | None, scope: str, days: int) -> str:
    """Ask for name, password and, where it is wanted, the code."""
    if scope not in {"read", "submit", "organize"}:
        raise InputError.of("read, submit or organize", option="--scope", value=scope)
    body: Json = {
        "username": username or click.prompt("User name", err=True),
        "password": click.prompt("Password", hide_input=True, err=True),
        "name": f"tokumei remote on {socket.gethostname()}"[:60],
        "scope": scope,
        "days": days,
    }
    try:
        return str(Server(url).call("POST", "/tokens", json=body)["token"])
    except CodeNeeded:
        code = click.prompt("Code of your app", err=True)
        return str(Server(url).call("POST", "/tokens", json=body | {"code": code})["token"])


def _submit(reached: Server, path: str, roles: list[dict[str, str]], files: list[Path], *, is_waiting: bool) -> None:
    with showing_progress():
        made = remote_server.send(reached, path, remote_server.by_role(roles, files))
    if is_waiting:
        show_submission(wait_for(reached, made["key"]))
        return
    facts = {"key": made["key"], "state": made["says"], "next": f"tokumei remote status {made['key']} --wait"}
    show(Answer(made, [Facts(facts)]))
