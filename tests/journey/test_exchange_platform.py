"""Provider, two users and the public on a real server, with a provider process of its own where the table is."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.journey.commands import tokumei_json
from tests.platform.offers import write_table

from tokumei.platform.accounts.models import User
from tokumei.platform.api.services import make_token
from tokumei.platform.exchange.models import LevelRequest, PublishedOffer
from tokumei.platform.teams import services as teams

pytestmark = pytest.mark.django_db(transaction=True)
PASSWORD = "correct horse battery"
# No connection is kept, so that none is left open.
ALONE = {"Connection": "close"}


class Person:
    """Somebody with a browser, as far as addresses, forms and cookies go."""

    def __init__(self, server: str, name: str = "") -> None:
        self.web = httpx.Client(base_url=server, follow_redirects=True, timeout=60, headers=ALONE)
        if name:
            page = self.send("/login", {"username": name, "password": PASSWORD})
            assert "Log out" in page

    def get(self, path: str, status: int = 200) -> str:
        found = self.web.get(path)
        assert found.status_code == status, found.text
        return found.text

    def send(self, path: str, fields: dict[str, str], files: dict[str, Path] | None = None, status: int = 200) -> str:
        """Fill in the form of a page."""
        self.web.get(path)
        token = self.web.cookies.get("tokumei_csrf", "")
        given = {name: (file.name, file.read_bytes()) for name, file in (files or {}).items()}
        found = self.web.post(path, data=fields | {"csrfmiddlewaretoken": token}, files=given or None)
        assert found.status_code == status, found.text
        return found.text

    def try_levels(self, levels: str) -> dict[str, Any]:
        found: dict[str, Any] = self.web.get(f"/exchange/people/try?{levels}").json()
        return found

    def ask(self, levels: str, status: int = 200) -> str:
        return self.send(f"/exchange/people/ask?{levels}", {"purpose": "a study", "criterion": "own"}, status=status)


class Provider:
    """The provider's machine: the table, the desk, and the commands run there."""

    def __init__(self, folder: Path, server: str, token: str) -> None:
        self.folder, self.server = folder, server
        write_table(folder)
        (folder / "token").write_text(token)
        (folder / "token").chmod(0o600)

    def run(self, *arguments: object, exit_code: int = 0) -> dict[str, Any]:
        return tokumei_json("exchange", *arguments, exit_code=exit_code, cwd=self.folder)

    def serve(self) -> list[str]:
        """Answer what waits on the platform, and give the outcomes."""
        desk = ["--desk", "desk", "--key", "shop.key", "--server", self.server, "--token-file", "token"]
        return list(self.run("serve-requests", *desk, "--once")["answered"].values())


@pytest.fixture
def provider(tmp_path: Path, live_server: Any, settings: Any) -> Provider:
    """The red team's machine; alice is its captain, and carol and dave are users who want data."""
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.MEDIA_ROOT.mkdir()
    people = {
        name: User.objects.create_user(name, f"{name}@example.com", PASSWORD, display_name=name.title())
        for name in ("alice", "carol", "dave", "mallory")
    }
    teams.create_team(people["alice"], slug="red-team", display_name="Red Team")
    _made, token = make_token(people["alice"], name="desk", scope="submit", days=1)
    (tmp_path / "home").mkdir()
    return Provider(tmp_path / "home", live_server.url, token)


def test_an_exchange_on_the_platform_with_a_provider_process(provider: Provider, tmp_path: Path) -> None:
    home, server = provider.folder, provider.server
    alice, carol, dave, public = (Person(server, name) for name in ("alice", "carol", "dave", ""))

    # The provider makes an offer where the table is, and publishes the four files that are public.
    provider.run("keys", "shop")
    provider.run(
        *("offer", "people.csv", "--qi", "age,sex,town", "--hierarchies", "hierarchies", "--k", 5),
        *("--name", "people", "--desk", "desk", "--key", "shop.key", "--method", "power-law", "--levels", "sex=0"),
        # Nearly without noise, so that what is promised does not depend on the key that was drawn.
        *("--epsilon", 100, "--tighten-every", 3),
        *("--no-vet", "--lots", "1e-9,1e-9", "--provider", "A shop", "--summary", "Ages of our customers."),
    )
    files = {
        "offer": home / "desk" / "offer.json",
        "first_release": home / "desk" / "first-release.csv",
        "log": home / "desk" / "public.jsonl",
        "head": home / "desk" / "public.head.json",
    }
    page = alice.send("/exchange/offers/publish", {"team": "red-team", "slug": "people"}, files)
    assert "The offer is published." in page
    assert "people" in public.get("/exchange/?q=customers")

    # Users try levels; nobody is asked. The finest cannot even be asked for.
    assert public.try_levels("l0=1&l1=0&l2=2")["zone"] == "allowed"
    assert public.try_levels("l0=0&l1=0&l2=0")["zone"] == "refused"
    for user, name in ((carol, "A university"), (dave, "An institute")):
        user.send("/exchange/profile", {"organization": name, "about": ""})
    carol.ask("l0=0&l1=0&l2=0", status=400)
    assert not LevelRequest.objects.exists()

    # Pairs of ages are promised and hold; single ages are promised and fail: γ, refused in the same words as others.
    carol.ask("l0=1&l1=0&l2=2")
    dave.ask("l0=0&l1=0&l2=2")
    assert provider.serve() == ["served", "refused"]
    served, refused = (LevelRequest.objects.get(user__username=name) for name in ("carol", "dave"))
    assert (served.state, refused.state) == ("served", "refused")
    assert "The provider does not give these levels." in dave.get(f"/exchange/requests/{refused.key}")
    release = carol.get(f"/exchange/requests/{served.key}/release").splitlines()
    assert release[:3] == ["age,sex,town,n_rows", "a,f,*,16", "a,m,*,16"]
    for person in (dave, alice):
        person.get(f"/exchange/requests/{served.key}/release", status=404)

    # Two who collude: towns by sex are allowed alone, and refused beside the ages by sex that carol has.
    found = dave.try_levels("l0=2&l1=0&l2=0")
    assert (found["zone_alone"], found["zone"]) == ("allowed", "refused")
    dave.ask("l0=2&l1=0&l2=0")
    assert provider.serve() == ["refused"]

    # The provider learns from γ at home, and the process brings the steeper formula to the platform.
    learned = provider.run("learn", "--desk", "desk", "--key", "shop.key", "--tighten")
    before, after = learned["criteria"]["own"]["before"], learned["criteria"]["own"]["after"]
    assert (before["served_fails"], after["served_fails"]) == (1, 0)
    assert provider.serve() == []
    assert PublishedOffer.objects.get().revision == 2
    assert public.try_levels("l0=0&l1=0&l2=2")["zone_alone"] == "refused"
    dave.ask("l0=0&l1=0&l2=2", status=400)

    # The public reads what was given and verifies the log, on the page and with the command.
    told = public.get("/exchange/people/disclosure")
    assert "A university (carol)" in told
    assert "An institute" not in told
    assert "Verified." in public.get("/exchange/people/audit")
    (tmp_path / "people.zip").write_bytes(public.web.get("/exchange/people/audit.zip").content)
    with zipfile.ZipFile(tmp_path / "people.zip") as archive:
        archive.extractall(home / "people")
    (home / "carol.answer.json").write_text(carol.get(f"/exchange/requests/{served.key}/answer"))
    verify = ["verify", "people", "--key", "people/provider.pub", "--answer", "carol.answer.json"]
    checked = provider.run(*verify)
    assert (checked["served"], checked["refused"], checked["lines"]) == (1, 2, 5)

    # A log that is changed is found by the page and by the command; one that the provider makes anew, too.
    for log in (PublishedOffer.objects.get().folder / "public.jsonl", home / "people" / "public.jsonl"):
        log.write_text(log.read_text().replace('"outcome":"served"', '"outcome":"refused"'))
    assert "This log was changed." in public.get("/exchange/people/audit")
    assert "line" in provider.run(*verify, exit_code=1)["message"]
    assert not re.search(r"people\.csv|shop\.key", public.get("/exchange/people/audit"))


def test_a_process_without_the_right_token_or_key_learns_and_changes_nothing(provider: Provider) -> None:
    provider.run("keys", "shop")
    offer = ["--qi", "age,sex,town", "--hierarchies", "hierarchies", "--k", 3, "--name", "people", "--key", "shop.key"]
    provider.run("offer", "people.csv", *offer, "--desk", "desk")
    desk = ["serve-requests", "--desk", "desk", "--key", "shop.key", "--server", provider.server, "--once"]
    # Nothing of this desk is published yet.
    assert "publish it" in provider.run(*desk, "--token-file", "token", exit_code=2)["message"]
    published = _publish(provider)
    assert provider.run(*desk, "--token-file", "token")["answered"] == {}
    _made, token = make_token(User.objects.get(username="mallory"), name="x", scope="submit", days=1)
    (provider.folder / "other").write_text(token)
    assert "can be read by others" in provider.run(*desk, "--token-file", "other", exit_code=1)["message"]
    (provider.folder / "other").chmod(0o600)
    assert "publish it" in provider.run(*desk, "--token-file", "other", exit_code=2)["message"]
    (provider.folder / "other").write_text("tokumei_wrong")
    assert "token" in provider.run(*desk, "--token-file", "other", exit_code=1)["message"]
    stranger = httpx.Client(
        base_url=f"{provider.server}/api/v1/exchange", headers=ALONE | {"Authorization": f"Bearer {token}"}
    )
    nothing = stranger.get("/offers/nothing/pending")
    for path in ("/offers/people/pending", "/offers/people"):
        found = stranger.get(path)
        assert (found.status_code, found.content) == (404, nothing.content)
    assert stranger.post("/offers/people/log", files={"log": b"", "head": b""}).status_code == 404
    assert published.requests.count() == 0


def _publish(provider: Provider) -> PublishedOffer:
    token = (provider.folder / "token").read_text()
    desk = provider.folder / "desk"
    files = {
        "offer": (desk / "offer.json").read_bytes(),
        "first_release": (desk / "first-release.csv").read_bytes(),
        "log": (desk / "public.jsonl").read_bytes(),
        "head": (desk / "public.head.json").read_bytes(),
    }
    found = httpx.post(
        f"{provider.server}/api/v1/exchange/offers?team=red-team&slug=people",
        files=files,
        headers={"Authorization": f"Bearer {token}"},
    )
    assert found.status_code == 201, found.text
    return PublishedOffer.objects.get()
