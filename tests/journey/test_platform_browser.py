"""Two teams play a whole contest in a real browser, one in English and one in Japanese, on a real server and worker."""

from __future__ import annotations

import email
import email.policy
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.utils import timezone
from tests.platform.conftest import PASSWORD
from tests.platform.pictures import keep_picture
from tests.platform.sites import QUICK, Site, end_group, make_person, site, wait_until  # noqa: F401 - a fixture.

from tokumei.contest.editions.pwscup2018.edition import Pwscup2018
from tokumei.platform.contests.models import Contest, Phase

pytestmark = pytest.mark.slow

EDITION = Pwscup2018(n_customers=8)
UNLABELED = """() => [...document.querySelectorAll("main input:not([type=hidden]), main select, main img")]
    .filter((one) => !(one.labels && one.labels.length) && !one.alt).length"""
MAKE_FILE = """([name, text]) => {
    const carried = new DataTransfer();
    carried.items.add(new File([text], name));
    return carried;
}"""
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@dataclass(frozen=True)
class Words:
    """What the pages say in one language."""

    sign_up: str
    take_part: str
    rules_say: str
    tabs: tuple[str, ...]
    refused: str
    expected: str
    rule_says: str
    scored: str
    use_lost: str
    meaning: str
    hidden: str
    found: str
    verdicts: tuple[str, ...]
    index: str
    figure: str


ENGLISH = Words(
    sign_up="Sign up",
    take_part="Take part",
    rules_say="A customer has one pseudonym in all rows.",
    tabs=("Overview", "Rules", "Data", "Submit", "Attack", "My submissions", "Scoreboard", "Questions"),
    refused="Refused: it breaks a rule",
    expected="a real date YYYY/M/D, a range [lo;hi] of two such with lo ≤ hi, or *",
    rule_says="The date is a real one written YYYY/M/D",
    scored="Scored",
    use_lost="Use lost",
    meaning="0 if every cell says the true value",
    hidden="How right this guess was is shown when the contest is over.",
    found="0: nobody is found, 1: everybody",
    verdicts=("This proves the release unsafe.", "This does not prove the release unsafe."),
    index="Place",
    figure="Use and safety lost, by team",
)
JAPANESE = Words(
    sign_up="新規登録",
    take_part="参加する",
    rules_say="同じ顧客の全行に同じ仮名を付ける。",
    tabs=("概要", "ルール", "データ", "提出", "攻撃", "提出一覧", "順位表", "質問"),
    refused="不受理",
    expected="実在する日付 YYYY/M/D、下限が上限以下の範囲 [lo;hi]、または *",
    rule_says="YYYY/M/D",
    scored="評価済み",
    use_lost="有用性の損失",
    meaning="0 は全セルが真の値のまま",
    hidden="この推定の正しさは、コンテスト終了後に表示します。",
    found="0 は発見なし、1 は全員発見",
    verdicts=("この加工データが安全でないことを証明しました。", "この加工データが安全でないことの証明にはなりません。"),
    index="順位",
    figure="チーム別の有用性と安全性の損失",
)


@dataclass
class Player:
    """Somebody at a browser; everything that a browser complains of is noted."""

    page: Any
    language: str
    words: Words
    folder: Path
    mail: Path
    guess_page: str = ""
    complaints: list[str] = field(default_factory=list)
    n_pictures: int = 0

    def __post_init__(self) -> None:
        self.page.on("pageerror", lambda error: self.complaints.append(f"script: {error}"))
        self.page.on("console", self._hear)
        self.page.on("request", self._see)

    def _hear(self, said: Any) -> None:
        if said.type in {"error", "warning"}:
            self.complaints.append(f"console: {said.text}")

    def _see(self, request: Any) -> None:
        if urlsplit(request.url).hostname not in {"127.0.0.1", "localhost"}:
            self.complaints.append(f"outside: {request.url}")

    def picture(self, name: str) -> None:
        """Keep the page, which must fit the window and be in the player's language."""
        assert self.page.get_attribute("html", "lang") == self.language
        assert self.page.evaluate(TOO_WIDE) == 0, name
        assert self.page.evaluate(UNLABELED) == 0, name
        self.n_pictures += 1
        keep_picture(self.page, f"{self.language}-{self.n_pictures:02}-{name}")

    def sign_up_and_form_a_team(self, name: str, display_name: str) -> None:
        page = self.page
        page.goto("/")
        page.click(f"nav >> text={self.words.sign_up}")
        facts = {"username": name, "display_name": display_name, "email": f"{name}@example.com"}
        for label, typed in (facts | {"password": PASSWORD, "password_again": PASSWORD}).items():
            page.fill(f"#id_{label}", typed)
        page.click("main form button")
        page.wait_for_selector("[role=status]")
        self.confirm(facts["email"])
        page.goto("/teams/new")
        page.fill("#id_display_name", display_name)
        page.fill("#id_slug", f"team-{name}")
        page.click("main form button")
        page.wait_for_url(f"**/teams/team-{name}")

    def confirm(self, address: str) -> None:
        """Follow the link in the letter, which lies in a folder where no mail server is set."""

        def link() -> str | None:
            files = [file.read_bytes() for file in self.mail.glob("*")]
            letters = [email.message_from_bytes(file, policy=email.policy.default) for file in files]
            texts = [one.get_content() for one in letters if one["To"] == address]
            return next((found[0] for text in texts if (found := re.search(r"http\S+/verify/\S+", text))), None)

        self.page.goto(wait_until(link))
        self.page.wait_for_selector("[role=status]")

    def join_and_read_the_rules(self) -> None:
        page = self.page
        page.goto("/contests/cup")
        page.click(f"main form button >> text={self.words.take_part}")
        page.wait_for_selector("[role=status]")
        assert [tab.strip() for tab in page.locator(".tabs a").all_inner_texts()] == list(self.words.tabs)
        self.picture("contest")
        page.click(f".tabs >> text={self.words.tabs[1]}")
        assert self.words.rules_say in page.inner_text("main")
        self.picture("rules")

    def download(self, selector: str, name: str) -> Path:
        with self.page.expect_download() as started:
            self.page.click(selector)
        path = self.folder / name
        started.value.save_as(path)
        return path

    def drop(self, path: Path) -> None:
        """Drag a file over the field and let it go there."""
        carried = self.page.evaluate_handle(MAKE_FILE, [path.name, path.read_text()])
        self.page.dispatch_event(".drop", "dragover", {"dataTransfer": carried})
        assert "over" in self.page.get_attribute(".drop", "class")
        self.page.dispatch_event(".drop", "drop", {"dataTransfer": carried})
        assert "over" not in self.page.get_attribute(".drop", "class")
        self.hand_in()

    def choose(self, path: Path) -> None:
        self.page.set_input_files("main input[type=file]", path)
        self.hand_in()

    def hand_in(self) -> None:
        """Send the form by the keyboard: its button comes right after the file."""
        self.page.focus("main input[type=file]")
        self.page.keyboard.press("Tab")
        assert self.page.evaluate("document.activeElement.matches('main form button')")
        self.page.keyboard.press("Enter")
        self.page.wait_for_url("**/contests/submissions/*")
        # Until nothing more happens: the page looks again by itself.
        self.page.wait_for_selector(".facts")
        self.page.wait_for_selector("[data-poll]", state="detached")

    def submit_a_bad_and_a_good_release(self, anonymizer: str) -> None:
        page = self.page
        page.click(f".tabs >> text={self.words.tabs[2]}")
        data = {"T": self.download("main table a", "T.csv")}
        assert self.download("main .kit a", "kit.zip").stat().st_size > 1000
        self.picture("data")
        release = self.folder / "A.csv"
        EDITION.anonymize(anonymizer, data, self.folder, seed=1)
        good = release.read_bytes()
        lines = good.splitlines(keepends=True)
        cells = lines[2].split(b",")
        lines[2] = b",".join([cells[0], b"yesterday", *cells[2:]])
        release.write_bytes(b"".join(lines))
        page.goto("/contests/cup/submit")
        self.picture("submit")
        self.drop(release)
        said = page.inner_text("main")
        assert self.words.refused in said
        row = page.locator(".faults tbody tr").first.inner_text().split()
        assert row[:4] == ["A.csv", "3", "date", "yesterday"]
        assert self.words.expected in said
        assert self.words.rule_says in said
        self.picture("refused")
        release.write_bytes(good)
        page.goto("/contests/cup/submit")
        self.choose(release)
        said = page.inner_text("main")
        assert self.words.scored in said
        assert self.words.use_lost in said
        assert self.words.meaning in said
        self.picture("scored")
        report = self.download("main a[href$=report]", "report.html").read_text()
        assert self.words.meaning in report

    def attack(self, team: str, attack: str) -> None:
        page = self.page
        page.goto("/contests/cup/attack")
        self.picture("targets")
        page.click(f"main a[href$={team}]")
        published = {"A_published": self.download("main ul.files a", "A_published.csv")}
        data = {"T": self.folder / "T.csv"}
        EDITION.attack(attack, data, {}, published, self.folder, seed=1)
        self.picture("attack")
        self.choose(self.folder / "Fh.csv")
        said = page.inner_text("main")
        assert self.words.hidden in said
        assert self.words.found not in said
        self.picture("guess")
        self.guess_page = page.url

    def see_how_right_the_guess_was(self) -> None:
        self.page.goto(self.guess_page)
        said = self.page.inner_text("main")
        assert self.words.found in said
        assert any(verdict in said for verdict in self.words.verdicts)
        self.picture("guess-shown")

    def see_the_scoreboard(self, n_teams: int) -> None:
        page = self.page
        page.goto("/contests/cup/scoreboard")
        assert page.locator("main table").first.locator("tbody tr").count() == n_teams
        assert self.words.index in page.inner_text("main thead")
        figures = page.locator("figure img")
        assert figures.count() == 3
        for number in range(3):
            figures.nth(number).scroll_into_view_if_needed()
            # Fails where the figure cannot be shown.
            figures.nth(number).evaluate("(image) => image.decode()")
        assert figures.first.get_attribute("alt").startswith(self.words.figure)
        self.picture("scoreboard")


@pytest.fixture
def server(site: Site) -> Iterator[str]:  # noqa: F811 - a fixture.
    """The whole server as `tokumei serve` starts it, with its worker; gives its address."""
    log = (site.folder / "serve.log").open("wb")
    process = subprocess.Popen(
        [sys.executable, "-m", "tokumei", "serve", "--port", "0", "--data", str(site.folder)],
        env=site.environment | QUICK,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=log,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        line = next((line.decode() for line in process.stdout if b"Tokumei is at" in line), "")
        assert line, (site.folder / "serve.log").read_text()
        yield line.split("Tokumei is at ")[1].split()[0].rstrip("/")
    finally:
        end_group(process)
        process.stdout.close()
        log.close()


def make_contest() -> Contest:
    """Make a contest that is open; the server's worker prepares it."""
    from tokumei.platform.contests.services import contests

    now = timezone.now()
    return contests.create_contest(
        make_person("olga", is_organizer=True),
        slug="cup",
        title="Browser Cup",
        edition="pwscup2018",
        options={"n_customers": EDITION.n_customers},
        opens_at=now - timedelta(hours=1),
        attacks_open_at=now + timedelta(days=1),
        closes_at=now + timedelta(days=2),
    )


def begin_attacks(contest: Contest) -> None:
    """Let the time for releases be over, and wait until the worker has published them."""
    Contest.objects.filter(pk=contest.pk).update(attacks_open_at=timezone.now())
    wait_until(lambda: Contest.objects.get(pk=contest.pk).phase == Phase.ATTACK)


def close(contest: Contest) -> None:
    """Let the time for attacks be over, and wait until the worker has ranked the teams."""
    Contest.objects.filter(pk=contest.pk).update(closes_at=timezone.now())
    wait_until(lambda: Contest.objects.get(pk=contest.pk).phase == Phase.CLOSED)


def test_two_teams_play_a_contest_in_both_languages(
    site: Site,  # noqa: F811 - a fixture.
    server: str,
    browser: Any,
    tmp_path: Path,
) -> None:
    contest = make_contest()
    players = []
    for language, words, scheme, width in (("en", ENGLISH, "light", 1280), ("ja", JAPANESE, "dark", 400)):
        context = browser.new_context(
            base_url=server, locale=language, color_scheme=scheme, viewport={"width": width, "height": 900}
        )
        folder = tmp_path / language
        folder.mkdir()
        players.append(Player(context.new_page(), language, words, folder, site.folder / "mail"))
    alice, hanako = players
    alice.sign_up_and_form_a_team("alice", "Alice")
    hanako.sign_up_and_form_a_team("hanako", "花子")
    wait_until(lambda: Contest.objects.get(pk=contest.pk).phase == Phase.ANONYMIZE)
    for player, anonymizer in ((alice, "months"), (hanako, "coarse")):
        player.join_and_read_the_rules()
        player.submit_a_bad_and_a_good_release(anonymizer)
    begin_attacks(contest)
    alice.attack("team-hanako", "generalized")
    hanako.attack("team-alice", "items-in-common")
    close(contest)
    for player in players:
        player.see_how_right_the_guess_was()
        player.see_the_scoreboard(n_teams=2)
        player.page.context.close()
        assert player.complaints == []
