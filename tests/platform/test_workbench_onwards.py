"""What follows a release: the next file, an offer on the exchange, a contest; the file is taken along."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from tests.platform.conftest import LogIn, MakeUser
from tests.platform.workbench_plays import PEOPLE, begin, do_jobs

from tokumei.contest.custom.settings import settings_of
from tokumei.contest.custom.template import template_of
from tokumei.data.files.toml import parse_toml
from tokumei.platform.accounts.models import User
from tokumei.platform.exchange.models import PublishedOffer
from tokumei.platform.teams.services import create_team
from tokumei.platform.workbench.models import Piece
from tokumei.tasks.anonymize_table import apply

pytestmark = pytest.mark.django_db
NEXT = b"name,sex,age,town,illness\nIda Roe,f,31,Nara,flu\nJo Fox,f,34,Nara,cold\n"


@pytest.fixture(autouse=True)
def own_files(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.MEDIA_ROOT.mkdir()


def released(client: Client, owner: User, suppress: str = "0") -> Piece:
    piece = begin(owner)
    client.post(f"/workbench/{piece.key}/protect", {"k": "2", "suppress": suppress, "method": "optimal"})
    do_jobs()
    return piece


def send_next(client: Client, piece: Piece, content: bytes, name: str = "next.csv", unseen: str = "refuse") -> str:
    sent = {"file": SimpleUploadedFile(name, content), "unseen": unseen}
    assert client.post(f"/workbench/{piece.key}/next", sent).status_code == 302
    do_jobs()
    return str(client.get(f"/workbench/{piece.key}/take-home").content.decode())


def test_recipe_is_applied_to_the_next_file_on_the_page_as_on_the_command_line(
    alice: User, log_in: LogIn, tmp_path: Path
) -> None:
    client = log_in(alice)
    piece = released(client, alice)
    shown = send_next(client, piece, NEXT)
    assert "next.csv: 2 rows released, 0 left out" in shown
    given = b"".join(client.get(f"/workbench/{piece.key}/files/next-release.csv"))
    assert b"Ida" not in given
    (tmp_path / "next.csv").write_bytes(NEXT)
    applied = apply(piece.folder / "out" / "secret" / "recipe.json", tmp_path / "next.csv")
    applied.save(tmp_path / "by-hand.csv")
    # Rows are put in an order drawn at random.
    assert sorted(given.splitlines()) == sorted((tmp_path / "by-hand.csv").read_bytes().splitlines())


def test_next_file_with_new_values_is_refused_with_its_lines_or_as_asked(alice: User, log_in: LogIn) -> None:
    client = log_in(alice)
    piece = released(client, alice)
    # One row of three, where the release may leave out none.
    assert "decide anew" in send_next(client, piece, NEXT + b"Kit Ray,x,34,Oslo,cold\n", unseen="suppress")
    piece = released(client, alice, suppress="40")
    odd = NEXT + b"Kit Ray,x,34,Oslo,cold\n"
    shown = send_next(client, piece, odd)
    assert "What is wrong" in shown
    assert "next-release.csv" not in shown
    assert "2 rows released, 1 left out" in send_next(client, piece, odd, unseen="suppress")
    assert "a name that ends in" in send_next(client, piece, odd, name="next.exe")
    for unseen in ("perhaps", ""):
        assert client.post(f"/workbench/{piece.key}/next", {"unseen": unseen}).status_code == 404


def test_next_file_counts_towards_the_quota(alice: User, log_in: LogIn, settings: Any) -> None:
    client = log_in(alice)
    piece = released(client, alice)
    settings.WORKBENCH_QUOTA = piece.n_bytes + 100
    sent = {"file": SimpleUploadedFile("next.csv", NEXT * 10), "unseen": "refuse"}
    assert client.post(f"/workbench/{piece.key}/next", sent).status_code == 429
    assert not (piece.folder / "next").exists()


def test_table_is_offered_on_the_exchange_without_being_sent_again(alice: User, mallory: User, log_in: LogIn) -> None:
    client = log_in(alice)
    piece = released(client, alice)
    team = create_team(alice, slug="clinic", display_name="Clinic")
    assert (
        f"/exchange/offers/host?piece={piece.key}" in client.get(f"/workbench/{piece.key}/take-home").content.decode()
    )
    shown = client.get(f"/exchange/offers/host?piece={piece.key}").content.decode()
    assert "The data is people.csv of the workbench" in shown
    assert 'value="public=3"' in shown
    assert 'type="file"' not in shown
    words = dict.fromkeys(("provider", "purpose", "terms", "summary"), "words")
    sent = {"team": team.slug, "slug": "people", "name": "people", "criteria": "public=3", "predictor": "power-law"}
    sent |= {"epsilon": "1", "approvals_needed": "0", "person": "name", "piece": piece.key}
    answer = client.post("/exchange/offers/host", sent | words)
    assert answer.status_code == 302, answer.context["form"].errors
    hosted = PublishedOffer.objects.get(slug="people").table_place
    assert (hosted / "table.csv").read_bytes() == PEOPLE
    assert {path.name for path in (hosted / "hierarchies").iterdir()} == {"sex.csv", "age.csv", "town.csv"}
    other = log_in(mallory)
    assert other.get(f"/exchange/offers/host?piece={piece.key}").status_code == 404


def test_contest_is_made_of_the_file_with_the_roles_of_its_columns(make_user: MakeUser, log_in: LogIn) -> None:
    organizer = make_user("olga", is_organizer=True)
    client = log_in(organizer)
    piece = released(client, organizer)
    assert f"/contests/new?piece={piece.key}" in client.get(f"/workbench/{piece.key}/take-home").content.decode()
    assert "no file needs to be sent" in client.get(f"/contests/new?piece={piece.key}").content.decode()
    answer = client.post("/contests/new", {"piece": piece.key})
    assert answer.status_code == 302
    shown = client.get(answer["Location"].replace("/data", "/rules"))
    assert 'source = "people.csv"' in shown.context["form"].data["own_toml"]
    from tokumei.platform.contests.models import ContestDraft

    (made,) = ContestDraft.objects.all()
    assert (made.folder / "source.csv").read_bytes() == PEOPLE
    assert (made.answers["file"]["name"], made.answers["kind"]) == ("people.csv", "own-table")


def test_text_of_a_contest_says_what_the_columns_are() -> None:

    roles = {
        "名前": "identifier",
        "age": "quasi-identifier",
        "pay": "sensitive",
        "illness": "sensitive",
        "note": "kept",
    }
    types = {"pay": "whole number", "illness": "text"}
    text = template_of("table", source="顧客.csv", columns={}, roles=roles | {"x": "other"}, types=types)
    found = settings_of(*parse_toml(text, "contest.toml"))
    assert found.roles.identifiers == ("名前", "x")
    assert (found.roles.sensitive, found.roles.insensitive) == (("pay",), ("illness", "note"))
    assert found.data.source == "顧客.csv"
    text = template_of("history", source="shop.csv", columns={"customer": "会員", "date": "日"}, roles={}, types={})
    found = settings_of(*parse_toml(text, "contest.toml"))
    assert (found.data.columns["customer"], found.data.columns["date"]) == ("会員", "日")
