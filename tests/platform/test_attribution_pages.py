"""Whose purchases are known, on the pages of a contest of one's own: a release's score, the board, and the rules."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from tests.platform.conftest import LogIn
from tests.platform.contest_plays import finish, make_contest, participation

from tokumei.contest.custom.template import template
from tokumei.contest.edition import Files, files_in
from tokumei.contest.setting import parse_setting
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, Submission
from tokumei.platform.contests.services import submitting
from tokumei.platform.teams.models import Team

pytestmark = pytest.mark.django_db
TEXT = template("history").replace("made_customers = 40", "made_customers = 6")
TITLES = {"en": "Purchases given to their buyers", "ja": "購入者を当てられた購買"}
REASONS = {"en": "Values differ from T", "ja": "値が T と異なり"}


@pytest.fixture(name="contest")
def own_contest(organizer: User, team: Team, alice: User) -> Contest:
    return make_contest(organizer, (team, alice), edition="", own_toml=TEXT, source=None, digits_shown=2)


@pytest.fixture
def released(contest: Contest, tmp_path: Path) -> Files:
    """What the built-in anonymizer that changes values makes, which says whose purchases its rows are."""
    edition, data = parse_setting(TEXT), contest.folder / "public" / "data"
    edition.anonymize("perturb", files_in(data, edition.terms.data_files), tmp_path, seed=1)
    return files_in(tmp_path, edition.terms.release_files)


def _submit(contest: Contest, team: Team, user: User, text: str) -> Submission:
    upload = SimpleUploadedFile("A.csv", text.encode())
    made = submitting.submit_release(participation(contest, team), user, {"A": upload})
    finish(made.job)
    made.refresh_from_db()
    assert (made.state, made.faults) == ("scored", [])
    return made


def _shown(client: Client, address: str, language: str) -> str:
    return client.get(address, headers={"accept-language": language}).content.decode()


def test_score_states_whose_purchases_are_known_or_why_that_is_not_known(
    contest: Contest, released: Files, team: Team, alice: User, log_in: LogIn
) -> None:
    client, text = log_in(alice), released["A"].read_text()
    told = _submit(contest, team, alice, text)
    score: Any = told.score
    mean = round(score["details"]["attribution"]["attributed"]["25"], 2)
    open_ = _submit(contest, team, alice, re.sub(r",[^,\n]*$", "", text, flags=re.MULTILINE))
    for language, title in TITLES.items():
        card = f"<dt>{title}</dt><dd><strong>"
        page = _shown(client, f"/contests/submissions/{told.key}", language)
        assert f"{card}{mean:g}</strong>" in page
        # Six customers: one of them is right by chance in a sixth. To two decimals, as everything else.
        assert re.search(r"(by chance|偶然なら) 0\.17<", page)
        assert "95 %" in page
        page = _shown(client, f"/contests/submissions/{open_.key}", language)
        assert REASONS[language] in page.partition(card)[2].partition("</div>")[0]
        # In the report to keep and in the rules, too.
        assert card in _shown(client, f"/contests/submissions/{told.key}/report", language)
        assert title.lower() in _shown(client, "/contests/cup/rules", language).lower()
    # The latest release counts, of which it is not known.
    assert TITLES["en"].lower() not in _shown(client, "/contests/cup/scoreboard", "en").lower()
    _submit(contest, team, alice, text)
    assert TITLES["en"].lower() in _shown(client, "/contests/cup/scoreboard", "en").lower()
