"""What is another's and what is not there: the same answer to the byte, for every operation that names something."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from tests.platform.programs import Program, program_of
from tests.platform.sites import Site, evaluated, make_contest, make_person, release
from tests.platform.test_api import begin_attacks

from tokumei.platform.api.server import METHODS, api
from tokumei.platform.contests.models import Contest
from tokumei.platform.teams import services as teams

PATHS: dict[str, Any] = api.get_openapi_schema()["paths"]
OPERATIONS = [(method.upper(), path.removeprefix("/api/v1")) for path, found in PATHS.items() for method in found]
# Offers and requests are held apart by the tests of the exchange, which knows what they hold.
NAMING = [(method, path) for method, path in OPERATIONS if "{" in path and not path.startswith("/exchange")]
# What only the organizer of a contest does: for anybody else a public contest is no contest of theirs.
OF_ORGANIZERS = [
    ("PUT", "/contests/{slug}/schedule"),
    ("PUT", "/contests/{slug}/board"),
    ("POST", "/contests/{slug}/announcements"),
]
NOTHING = {
    "slug": "nothing",
    "key": 24 * "0",
    "team": "nobody",
    "name": "nothing.csv",
    "kind": "data",
    "user": "nobody",
}


def bodies() -> dict[str, Any]:
    """What each operation takes, so that it is refused for what it names alone."""
    now = timezone.now()
    days = {"opens_at": now, "attacks_open_at": now + timedelta(days=1), "closes_at": now + timedelta(days=2)}
    return {
        "/contests/{slug}/join": {"team": "outsiders"},
        "/contests/{slug}/schedule": {name: moment.isoformat() for name, moment in days.items()},
        "/contests/{slug}/board": {"board": "live", "digits_shown": 3, "shows_guess_scores": True},
        "/contests/{slug}/announcements": {"title": "t", "text": "t"},
    }


def ask(program: Program, method: str, path: str, names: dict[str, str]) -> tuple[int, bytes]:
    filled = path.format(**names)
    if path.endswith(("/releases", "/guesses")):
        answer = program.send(f"{filled}?knowledge=all", {})
    elif method == "GET":
        answer = program.get(filled, **({"team": names["team"]} if path.endswith("{kind}/{name}") else {}))
    else:
        answer = program.call(method, filled, bodies().get(path))
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return answer.status_code, content


@pytest.fixture
def outsider(site: Site) -> Program:
    """A program of somebody with every right but to this contest: captain of another team, organizer elsewhere."""
    user = make_person("mallory", is_organizer=True)
    teams.create_team(user, slug="outsiders", display_name="Outsiders")
    return program_of(user)


def private_contest() -> dict[str, str]:
    """Make a private contest in its attack phase; give the names of all that is in it."""
    contest = make_contest("red", "blue", is_public=True)
    submission = evaluated(release(contest, "red"))
    begin_attacks(contest)
    Contest.objects.update(is_public=False)
    return {"slug": "cup", "key": submission.key, "team": "red", "name": "P.csv", "kind": "release"}


def test_every_operation_on_what_is_anothers_answers_as_for_nothing(outsider: Program) -> None:
    names = private_contest()
    for method, path in NAMING:
        nothing = ask(outsider, method, path, NOTHING)
        anothers = ask(outsider, method, path, names)
        assert anothers == nothing, (method, path)
        assert nothing[0] == 404, (method, path)


def test_every_operation_on_what_is_ones_own_is_something_else(site: Site) -> None:
    names = private_contest()
    own = program_of(Contest.objects.get().organizer)
    for method, path in NAMING:
        # The file of the submission is R.csv, and an organizer attacks nobody.
        filled = names | ({"name": "R.csv"} if path.startswith("/submissions") else {})
        # Nor does an organizer join, or choose what counts for a team.
        if path in ("/contests/{slug}/join", "/submissions/{key}/choose"):
            continue
        assert ask(own, method, path, filled)[0] != 404, (method, path)


def test_public_contest_of_another_is_no_contest_to_organize(outsider: Program) -> None:
    make_contest("red")
    for method, path in OF_ORGANIZERS:
        assert ask(outsider, method, path, NOTHING | {"slug": "cup"}) == ask(outsider, method, path, NOTHING)


@pytest.mark.parametrize("names", [{"slug": "a b"}, {"slug": "é"}, {"slug": 61 * "a"}, {"slug": "%00"}, {"key": "A"}])
def test_name_that_nothing_can_have_is_nothing(outsider: Program, names: dict[str, str]) -> None:
    for method, path in NAMING:
        if names.keys() <= {part.strip("{}") for part in path.split("/")}:
            assert ask(outsider, method, path, NOTHING | names) == ask(outsider, method, path, NOTHING)


@pytest.mark.django_db
def test_every_operation_without_a_token_is_401_before_anything_is_looked_at() -> None:
    for method, path in OPERATIONS:
        if path != "/tokens":
            assert ask(Program(), method, path, NOTHING)[0] == 401, (method, path)


def test_every_operation_is_declared_with_its_methods() -> None:
    described: dict[str, set[str]] = {}
    for method, path in OPERATIONS:
        described.setdefault(path.strip("/").replace("{", "<").replace("}", ">"), set()).add(method)
    assert described == METHODS
