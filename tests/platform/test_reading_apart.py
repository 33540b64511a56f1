"""What a provider sends from home is read in a limited process before the server reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.platform.offers import make_desk, publish

from tokumei.core.errors import InputError, NotAllowed
from tokumei.data.files.keys import PrivateKey
from tokumei.platform.accounts.models import User
from tokumei.platform.exchange.models import PublishedOffer
from tokumei.platform.exchange.services import desks, offers
from tokumei.platform.jobs import process
from tokumei.platform.teams.models import Team


def texts_of(desk: Any) -> dict[str, str]:
    return {
        "offer_text": (desk.folder / "offer.json").read_text(),
        "first_release": (desk.folder / "first-release.csv").read_text(),
    }


@pytest.mark.django_db
def test_offer_that_takes_too_much_is_refused_before_the_server_reads_it(
    tmp_path: Path, alice: User, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = make_desk(tmp_path, PrivateKey.fresh())
    monkeypatch.setattr(desks, "SMALL", 0)
    # Too little for Python's own libraries: as an offer that needs more than there is.
    monkeypatch.setattr(desks, "MEMORY_BYTES", 64 * 1024**2)
    read: list[str] = []
    monkeypatch.setattr(offers, "parse_signed", lambda text, *_, **__: read.append(text))
    with pytest.raises(NotAllowed):
        offers.publish(alice, team, slug="people", **texts_of(desk))
    assert (read, PublishedOffer.objects.count()) == ([], 0)


@pytest.mark.django_db
def test_honest_offer_passes_and_a_wrong_one_is_told_in_words(
    tmp_path: Path, alice: User, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = make_desk(tmp_path, PrivateKey.fresh())
    monkeypatch.setattr(desks, "SMALL", 0)
    asked: list[str] = []
    run = process.run

    def noted(function: str, *given: Any, **more: Any) -> Any:
        asked.append(function)
        return run(function, *given, **more)

    monkeypatch.setattr(process, "run", noted)
    with pytest.raises(InputError):
        offers.publish(alice, team, slug="people", **texts_of(desk) | {"offer_text": '{"tokumei": "no offer"}'})
    publish(desk, alice, team)
    assert asked[:2] == ["tokumei.platform.exchange.desk_work:try_offer"] * 2


def test_small_texts_start_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "run", lambda *_, **__: pytest.fail("a process was started"))
    desks.read_offer_apart("{}", "size\n")
