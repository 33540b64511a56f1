"""Every kind of page with something on it, in a browser: both languages, wide and on a phone, by one server."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from tests.platform.contest_plays import (  # noqa: F401 - fixtures among them.
    make_contest,
    move_to,
    odd_edition,
    open_contest,
    release,
)
from tests.platform.offers import host
from tests.platform.pictures import keep_picture
from tests.platform.workbench_plays import begin, do_jobs

from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, FileCheck, Phase
from tokumei.platform.notices.models import Notice, NoticeKind
from tokumei.platform.teams.models import Team
from tokumei.platform.workbench import services as workbench

pytestmark = pytest.mark.django_db(transaction=True)

HELP = ("guide", "glossary", "faq", "install", "privacy", "terms", "contact")
OF_CONTESTS = ("", "/rules", "/data", "/scoreboard", "/submit", "/submissions", "/questions")
OF_ORGANIZERS = ("", "/submissions", "/teams", "/log")
WAYS = ((1280, "en"), (390, "ja"))
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# What the edition of the tests says has no Japanese.
ODD = "as many rows as in D"
DEAD_END = "document.querySelectorAll('main a[href], main button, main input').length === 0"
CUT = """[...document.querySelectorAll('main svg, main img, main table')].filter((one) => {
  const box = one.getBoundingClientRect();
  return box.width > innerWidth && !one.closest('.scroll, .figure-scroll, pre');
}).map((one) => one.outerHTML.slice(0, 80))"""


@pytest.fixture
def pages(
    settings: Any, tmp_path: Path, contest: Contest, team: Team, alice: User, organizer: User, admin: User
) -> dict[str, list[str]]:
    """Fill the server, and give what each reader looks at."""
    settings.MEDIA_ROOT = Path(django_settings.MEDIA_ROOT)
    for number in range(3):
        Notice.objects.create(
            user=alice, kind=NoticeKind.SCORE, says="Scored", text=f"News {number}", link="/contests/"
        )
    refused = release(contest, team, alice, "a 20 30 40 50 60 70")
    scored = release(contest, team, alice, "12 20 30 40 50 60")
    check = FileCheck.objects.create(team=team, contest=contest, by=alice, kind="release", state="passed")
    piece = begin(alice)
    for work in (workbench.FRONTIER, workbench.RELEASE):
        workbench.start(piece, work)
        do_jobs()
    offer = host(alice, team, slug="people")
    past = move_to(make_contest(organizer, (team, alice), slug="past"), Phase.CLOSED)
    bench = [
        f"/workbench/{piece.key}/{step}"
        for step in ("", "hierarchies", "risk", "protect", "see", "others", "take-home")
    ]
    return {
        "": ["/", "/login", "/sign-up", "/reset", "/contests/", "/exchange/", "/workbench/", "/account/api", "/nothing"]
        + [f"/help/{page}" for page in HELP],
        "alice": ["/", "/notices/", "/notices/settings", "/account", "/account/tokens", "/teams/", "/teams/red-team"]
        + [f"/contests/cup{page}" for page in OF_CONTESTS]
        + [f"/contests/submissions/{one.key}" for one in (refused, scored)]
        + [f"/contests/checks/{check.key}", f"/contests/{past.slug}", f"/contests/{past.slug}/scoreboard"]
        + ["/workbench/", *bench]
        + [f"/exchange/{offer.slug}{page}" for page in ("", "/ask", "/desk", "/audit", "/disclosure")]
        + ["/exchange/offers", "/exchange/offers/host", "/exchange/requests", "/exchange/profile"],
        "olga": ["/contests/new"] + [f"/contests/cup/organize{page}" for page in OF_ORGANIZERS],
        "root": ["/server", "/people"],
    }


def test_every_page_fits_leads_on_and_is_in_one_language(
    pages: dict[str, list[str]], browser: Any, live_server: Any
) -> None:
    """One server is filled once, and seen by all readers in each way."""
    from tests.platform.security.test_japanese_pages import latin_sentences
    from tests.platform.test_browser import log_in

    wrong = []
    for (width, language), (who, paths) in product(WAYS, pages.items()):
        context = browser.new_context(
            base_url=live_server.url, locale=language, viewport={"width": width, "height": 900}
        )
        page = context.new_page()
        if who:
            log_in(page, who)
        for number, path in enumerate(paths):
            answer = page.goto(path)
            where = f"{language}-{width}-{who or 'visitor'}-{number:02d}{path.replace('/', '_')[:30]}"
            if answer.status != (404 if path == "/nothing" else 200):
                wrong.append(f"{where}: {answer.status}")
            keep_picture(page, where)
            wrong += [f"{where}: {what}" for what in _wrong_with(page, width)]
            if language == "ja":
                wrong += [f"{where}: {one}" for one in latin_sentences(page.content()) if one != ODD]
        context.close()
    assert wrong == []


def _wrong_with(page: Any, width: int) -> list[str]:
    wrong = []
    if page.evaluate(TOO_WIDE) > 0:
        wrong.append("wider than the window")
    if page.evaluate(DEAD_END):
        wrong.append("a dead end")
    wrong += [f"cut: {one}" for one in page.evaluate(CUT)]
    heads = [page.locator(part) for part in (".site-header", ".tabs ul")]
    if width < 400 and sum(head.first.bounding_box()["height"] for head in heads if head.count()) >= 120:
        wrong.append("header and tabs take 120 px or more")
    if not page.locator(".site-header button[name=language]").first.is_visible():
        wrong.append("the language cannot be changed in the header")
    return wrong
