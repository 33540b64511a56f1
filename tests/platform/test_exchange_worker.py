"""Hosted offers with a real worker process: it makes the offer and answers at its desk."""

from __future__ import annotations

from django.core.files.uploadedfile import SimpleUploadedFile
from tests.platform.offers import HIERARCHIES, TABLE
from tests.platform.sites import Site, make_person, wait_until

from tokumei.platform.exchange.models import OfferState, RequestState
from tokumei.platform.exchange.services import hosting, looking, recipients, requesting
from tokumei.platform.teams import services as teams


def test_worker_makes_a_hosted_offer_and_answers_requests(site: Site) -> None:
    alice, carol = make_person("alice"), make_person("carol")
    team = teams.create_team(alice, slug="red-team", display_name="Red Team")
    site.start_worker()
    wish = hosting.Wish("people", {"provider": "A shop"}, ["own=5"], "power-law", {"sex": 0}, lots=(1e-9, 1e-9))
    made = hosting.host(
        alice,
        team,
        slug="people",
        wish=wish,
        table=SimpleUploadedFile("people.csv", TABLE.encode()),
        hierarchies=[SimpleUploadedFile(f"{name}.csv", text.encode()) for name, text in HIERARCHIES.items()],
    )

    def is_open() -> bool:
        made.refresh_from_db()
        return made.state != OfferState.MAKING

    wait_until(is_open, 60)
    assert (made.state, made.trouble) == (OfferState.OPEN, "")
    recipients.introduce(carol, organization="A university")
    asked = requesting.ask(made, carol, levels={"age": 1, "sex": 0, "town": 2}, criterion=None, purpose="a study")

    def is_answered() -> bool:
        asked.refresh_from_db()
        return not asked.is_open

    wait_until(is_answered, 60)
    assert asked.state == RequestState.SERVED
    made.refresh_from_db()
    assert looking.audit(made).fault == ""
    assert "a job failed" not in site.log()
