"""Generated requests to every operation, of what fits its description and of what does not: none breaks the server."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.cases import has_many
from tests.platform.programs import token_for
from tests.platform.sites import Site, captain, evaluated, make_contest, release
from tests.platform.test_api import begin_attacks

from tokumei.platform.accounts import services as accounts
from tokumei.platform.accounts.models import User
from tokumei.platform.api import bearer
from tokumei.platform.api.server import api

pytestmark = pytest.mark.slow

EXAMPLES = 25 if has_many() else 8
# Without a token every answer is the same.
EXAMPLES_WITHOUT = 8 if has_many() else 4
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
# A random address leads nowhere: half of the requests name what is there.
REAL = {"slug": "cup", "team": "blue", "kind": "data", "name": "D.csv"}


def send_all(token_of: Callable[[str], str], names: dict[str, str], n_examples: int = EXAMPLES) -> dict[str, set[int]]:
    """Send generated requests to every operation; give the statuses that each answered."""
    schema = schemathesis.openapi.from_dict(dict(api.get_openapi_schema()))
    schema.app = WSGIHandler()
    statuses: dict[str, set[int]] = {}
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()
        cases = st.one_of([operation.as_strategy(generation_mode=mode) for mode in GenerationMode])

        @seed(1)
        @settings(
            max_examples=n_examples,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=cases, is_real=st.booleans())
        def send(case: Case[Any], is_real: bool) -> None:
            if is_real:
                case.path_parameters.update({name: names[name] for name in case.path_parameters if name in names})
            token = token_of(operation.label)  # noqa: B023 - called before the next operation is bound.
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            answer = case.call(headers=headers)
            case.validate_response(answer, checks=CHECKS)
            statuses.setdefault(operation.label, set()).add(answer.status_code)  # noqa: B023 - as above.

        send()
    return statuses


@pytest.fixture
def names(site: Site, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What there is: a contest in its attack phase, with releases."""
    # Limits would answer in the place of what is tested.
    monkeypatch.setattr(bearer, "CHANGES_AN_HOUR", 100_000)
    monkeypatch.setattr(accounts, "FAILED_LOGINS_AN_HOUR", 100_000)
    random.seed(1)
    contest = make_contest("red", "blue")
    submission = evaluated(release(contest, "red"))
    evaluated(release(contest, "blue"))
    begin_attacks(contest)
    return REAL | {"key": submission.key}


# The transport of the generated requests does not close the files that it is sent, as servers do.
@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_generated_requests_with_a_token_break_nothing(names: dict[str, str]) -> None:
    user = captain("red")
    User.objects.filter(pk=user.pk).update(is_organizer=True)
    user.refresh_from_db()
    token = token_for(user)

    def fresh(label: str) -> str:
        # Logging out voids the token it is done with.
        return token_for(user) if label.startswith("DELETE") else token

    statuses = send_all(fresh, names)
    reached = {label for label, found in statuses.items() if found & {200, 201, 204}}
    assert {
        "GET /api/v1/me",
        "GET /api/v1/teams",
        "GET /api/v1/contests",
        "GET /api/v1/contests/{slug}",
        "GET /api/v1/contests/{slug}/files",
        "GET /api/v1/contests/{slug}/files/{kind}/{name}",
        "GET /api/v1/contests/{slug}/scoreboard",
        "GET /api/v1/contests/{slug}/submissions",
        "GET /api/v1/submissions",
        "GET /api/v1/submissions/{key}",
        "DELETE /api/v1/tokens/current",
    } <= reached


@pytest.mark.thorough
def test_generated_requests_without_a_token_learn_nothing(names: dict[str, str]) -> None:
    statuses = send_all(lambda label: "", names, EXAMPLES_WITHOUT)
    open_to_all = statuses.pop("POST /api/v1/tokens")
    assert open_to_all <= {400, 401}
    assert {status for found in statuses.values() for status in found} == {401}
