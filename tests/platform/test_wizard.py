"""Making a contest step by step: nothing typed is lost, data are checked before all else, and drafts are private."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from tests.platform.conftest import LogIn, MakeUser
from tests.platform.contest_plays import finish, odd_edition, text_of  # noqa: F401 - a fixture among them.
from tests.platform.sites import SOURCE, do_jobs

from tokumei.contest.custom.template import template_of
from tokumei.platform.accounts.models import User
from tokumei.platform.accounts.services import delete_account
from tokumei.platform.contests.models import Contest, ContestDraft
from tokumei.platform.contests.services import drafts
from tokumei.platform.contests.services.phase_work import phase_jobs
from tokumei.platform.jobs.models import Job

pytestmark = pytest.mark.django_db
PEOPLE = "名前,性別,年齢,年収\n" + "".join(
    f"人{number},{'男女'[number % 2]},{20 + number % 30},{300 + number}\n" for number in range(40)
)


def schedule(**changed: datetime) -> dict[str, str]:
    now = timezone.localtime().replace(second=0, microsecond=0)
    given = {
        "opens_at": now - timedelta(hours=1),
        "attacks_open_at": now + timedelta(days=2),
        "closes_at": now + timedelta(days=3),
    } | changed
    return {name: f"{moment:%Y-%m-%dT%H:%M}" for name, moment in given.items()}


def details(**changed: str) -> dict[str, str]:
    given = {"title": "New", "slug": "new-cup", "is_public": "on", "board": "live", "digits_shown": "2"}
    return schedule() | given | {"releases_a_day": "3", "guesses_a_day": "4"} | changed


class Maker:
    """Somebody who makes a contest, step by step."""

    def __init__(self, client: Client, kind: str) -> None:
        self.client = client
        answer = client.post("/contests/new", {"kind": kind})
        assert answer.status_code == 302
        self.key = answer["Location"].split("/")[3]

    def get(self, step: str) -> Any:
        return self.client.get(f"/contests/drafts/{self.key}/{step}")

    def post(self, step: str, go: str = "next", **typed: Any) -> Any:
        return self.client.post(f"/contests/drafts/{self.key}/{step}", typed | {"go": go})

    @property
    def draft(self) -> ContestDraft:
        return ContestDraft.objects.get(key=self.key)

    def send(self, name: str, data: bytes, **typed: str) -> Any:
        sent = self.post("data", origin="file", source=SimpleUploadedFile(name, data), **typed)
        do_jobs("workbench")
        return sent

    def publish(self) -> Any:
        self.post("people", go="finish")
        do_jobs("workbench")
        return self.post("finish", go="publish", sure="yes")


def test_contest_of_an_edition_is_made_tried_out_and_published(organizer: User, log_in: LogIn) -> None:
    maker = Maker(log_in(organizer), "pwscup2015")
    assert maker.post("data", origin="made")["Location"].endswith("/rules")
    assert maker.post("rules", **{"option-n_rows": "many"}).status_code == 400
    # What is wrong is kept and told, and does not keep anybody from another step.
    assert maker.post("rules", go="people", **{"option-n_rows": "many"})["Location"].endswith("/people")
    assert 'value="many"' in maker.get("rules").content.decode()
    assert "something is missing" in text_of(maker.get("finish"))
    assert maker.post("rules", **{"option-n_rows": "60"})["Location"].endswith("/details")
    assert maker.post("details", **details(description="**Hello**"))["Location"].endswith("/people")
    assert not Contest.objects.exists()
    answer = maker.publish()
    assert answer["Location"] == "/contests/new-cup/organize", text_of(answer)
    made = Contest.objects.get()
    assert (made.options, made.digits_shown, made.releases_a_day, made.description) == (
        {"n_rows": 60},
        2,
        3,
        "**Hello**",
    )
    assert made.releases_in_all == 20
    assert not ContestDraft.objects.exists()
    assert not Job.objects.filter(kind__startswith="draft").exists()
    finish(phase_jobs(made).get())
    made.refresh_from_db()
    assert made.prepared_at is not None


def test_shift_jis_is_recognized_shown_and_makes_a_contest_of_ones_own(organizer: User, log_in: LogIn) -> None:
    maker = Maker(log_in(organizer), "own-table")
    assert maker.send("名簿.csv", PEOPLE.encode("cp932"))["Location"].endswith("/data")
    shown = text_of(maker.get("data"))
    for told in ("It is text in cp932", "40 rows, 4 columns.", "年収", "人0", "名簿.csv"):
        assert told in shown, told
    assert not Contest.objects.exists()
    assert maker.post("data", origin="file")["Location"].endswith("/rules")
    text = maker.get("rules").context["form"]["own_toml"].value()
    assert "年齢" in text
    assert maker.post("rules", own_toml=text)["Location"].endswith("/details")
    maker.post("details", **details())
    answer = maker.publish()
    assert answer.status_code == 302, text_of(answer)
    made = Contest.objects.get()
    finish(phase_jobs(made).get())
    made.refresh_from_db()
    assert (made.trouble, made.trouble_details) == ("", "")
    assert made.prepared_at is not None


def test_sheet_of_a_workbook_is_chosen_and_its_faults_are_told(organizer: User, log_in: LogIn, tmp_path: Any) -> None:
    import polars as pl
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "two.xlsx") as book:
        pl.DataFrame({"note": ["x"]}).write_excel(book, "About")
        pl.DataFrame({"age": [31, 52], "income": [3, 4]}).write_excel(book, "People")
    maker = Maker(log_in(organizer), "own-table")
    maker.send("two.xlsx", (tmp_path / "two.xlsx").read_bytes())
    assert "its sheet About is read (2 in all)" in text_of(maker.get("data"))
    maker.post("data", go="check", origin="file", sheet="People")
    do_jobs("workbench")
    shown = text_of(maker.get("data"))
    assert "its sheet People is read" in shown
    assert "2 rows, 2 columns." in shown


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("bad.csv", b"a,b\n1,2\n3\n4,5,6\n", ("2 faults", "bad.csv", "3", "4")),
        ("odd.csv", b"a,b\n1,\xff\xfe\xfa\n", ("1 fault", "odd.csv", "2")),
        ("empty.csv", b"a,b\n", ("at least one row",)),
    ],
)
def test_faults_of_data_are_told_by_line_before_anything_is_made(
    organizer: User, log_in: LogIn, name: str, data: bytes, says: tuple[str, ...]
) -> None:
    maker = Maker(log_in(organizer), "own-table")
    maker.send(name, data)
    shown = text_of(maker.get("data"))
    for told in says:
        assert told in shown, told
    assert maker.post("data", origin="file")["Location"].endswith("/data")
    maker.post("details", **details())
    assert maker.publish().status_code == 400
    assert not Contest.objects.exists()


@pytest.mark.parametrize("name", ["data.exe", "empty.csv"])
def test_file_that_is_no_table_is_refused(organizer: User, log_in: LogIn, name: str) -> None:
    maker = Maker(log_in(organizer), "own-table")
    sent = SimpleUploadedFile(name, b"" if name == "empty.csv" else b"MZ")
    assert maker.post("data", origin="file", source=sent).status_code == 400
    assert not list(maker.draft.folder.glob("source.*"))


def test_rules_are_shown_as_teams_see_them_and_the_formula_is_tried(organizer: User, log_in: LogIn) -> None:
    maker = Maker(log_in(organizer), "odd")
    maker.send("D.csv", SOURCE)
    maker.post("data", go="rules", origin="file")
    do_jobs("workbench")
    maker.post("details", go="rules", **details(slug="contest"))
    answer = maker.get("rules")
    trial = drafts.found_of(maker.draft, drafts.TRIAL, drafts.plan_of(maker.draft).trial_of)
    assert trial is not None
    assert "Score that teams are ranked by" in text_of(answer)
    page = answer.content.decode()
    preview = page[page.index('id="rules-preview">') :]
    assert maker.publish().status_code == 302
    finish(phase_jobs(Contest.objects.get()).get())
    rules = maker.client.get("/contests/contest/rules").content.decode()
    begin = rules.index("<h2>", rules.index('<div class="text">'))
    body = rules[begin : rules.index('<p><a class="button quiet"', begin)]
    assert body.split() == preview[preview.index("<h2>") : preview.index("</div>")].split()


def test_changed_rules_have_to_be_tried_again(organizer: User, log_in: LogIn) -> None:
    maker = Maker(log_in(organizer), "odd")
    maker.send("D.csv", SOURCE)
    maker.post("details", **details())
    maker.post("people", go="finish")
    do_jobs("workbench")
    assert "standing" in json.loads((maker.draft.folder / "draft-trial.json").read_text())
    assert maker.post("finish", go="publish").status_code == 400
    maker.post("what", kind="own-table")
    answer = maker.post("finish", go="publish", sure="yes")
    assert answer.status_code == 400
    assert "tried out as it stands" in text_of(answer)
    assert not Contest.objects.exists()


def test_data_that_the_rules_cannot_use_are_told_by_the_trial(organizer: User, log_in: LogIn) -> None:
    maker = Maker(log_in(organizer), "pwscup2018")
    maker.send("few.csv", b"customer,date,item,price,quantity\n1,2011-01-05,A,1,1\n")
    maker.post("data", go="rules", origin="file")
    do_jobs("workbench")
    shown = text_of(maker.get("rules"))
    assert "The data of the contest could not be made by these rules." in shown
    assert "n_customers" in shown
    maker.post("details", **details())
    assert maker.publish().status_code == 400


def test_details_that_do_not_fit_are_told_and_kept(organizer: User, log_in: LogIn) -> None:
    maker = Maker(log_in(organizer), "pwscup2018")
    for changed, says in (
        ({"slug": "drafts"}, "This name cannot be used."),
        ({"slug": "ä b"}, "slug"),
        ({"title": ""}, "This field is required."),
        ({"title": "a\u202eb"}, "character"),
        ({"digits_shown": "9"}, "less than or equal to 6"),
        ({"closes_at": "2020-01-01T00:00"}, "the times are out of order"),
        ({"opens_at": "tomorrow"}, "Enter a valid date/time."),
    ):
        answer = maker.post("details", **details(**changed))
        assert answer.status_code == 400, changed
        assert says in text_of(answer)
        kept = maker.get("details").context["form"].data
        assert kept["guesses_a_day"] == "4", changed
        assert {name: kept[name] for name in changed} == changed
        assert maker.publish().status_code == 400, changed
        assert not Contest.objects.exists(), changed


@pytest.mark.parametrize(
    ("step", "typed", "says"),
    [
        ("rules", {"own_toml": "kind ="}, "contest.toml"),
        ("rules", {"own_toml": ""}, "This field is required."),
        ("data", {"origin": "file"}, "Choose the file."),
        ("data", {"origin": "made", "reading": "column=customer=id"}, "one of encoding, delimiter"),
        ("data", {"origin": "made", "reading": "skip_rows=five"}, "how many lines to skip"),
        ("what", {"kind": "pwscup1999"}, "Select a valid choice"),
    ],
)
def test_steps_say_what_is_wrong(organizer: User, log_in: LogIn, step: str, typed: dict[str, str], says: str) -> None:
    maker = Maker(log_in(organizer), "own-table")
    answer = maker.post(step, **typed)
    assert answer.status_code == 400
    assert says in text_of(answer)


def test_text_that_names_a_file_needs_one(organizer: User, log_in: LogIn) -> None:
    maker = Maker(log_in(organizer), "own-table")
    roles = {"age": "quasi-identifier", "pay": "sensitive"}
    text = template_of("table", source="survey.csv", columns={}, roles=roles, types={"pay": "number"})
    answer = maker.post("rules", own_toml=text)
    assert "The text names a data file" in text_of(answer)


def test_moments_are_kept_with_their_zone(organizer: User, log_in: LogIn, make_user: MakeUser) -> None:
    maker = Maker(log_in(organizer), "pwscup2018")
    typed = details()
    maker.post("details", **typed)
    kept = datetime.fromisoformat(maker.draft.answers["opens_at"])
    assert timezone.localtime(kept).strftime("%Y-%m-%dT%H:%M") == typed["opens_at"]
    assert typed["opens_at"] in maker.get("details").content.decode()


def test_what_is_typed_is_kept_without_a_button(organizer: User, log_in: LogIn) -> None:
    maker = Maker(log_in(organizer), "pwscup2018")
    typed = {"title": "Half", "slug": "", "description": "<b>*x*</b>"}
    answer = maker.client.post(f"/contests/drafts/{maker.key}/details", typed, headers={"X-Autosave": "yes"})
    assert answer.status_code == 204
    page = maker.get("details").content.decode()
    assert "Half" in page
    assert "&lt;b&gt;<em>x</em>&lt;/b&gt;" in page
    assert "Half" in maker.client.get("/contests/new").content.decode()


def test_draft_is_nobody_elses(organizer: User, alice: User, admin: User, make_user: MakeUser, log_in: LogIn) -> None:
    maker = Maker(log_in(organizer), "pwscup2018")
    other = make_user("oscar", is_organizer=True)
    for user in (alice, admin, other):
        client = log_in(user)
        for step in ("what", "data", "rules", "details", "people", "finish", "state"):
            assert client.get(f"/contests/drafts/{maker.key}/{step}").status_code == 404
        assert client.post(f"/contests/drafts/{maker.key}/delete").status_code == 404
        assert client.post(f"/contests/drafts/{maker.key}/finish", {"go": "publish", "sure": "yes"}).status_code == 404
    assert Client().get(f"/contests/drafts/{maker.key}/what")["Location"].startswith("/login")
    assert log_in(alice).post("/contests/new", {"kind": "odd"}).status_code == 404
    assert maker.get("nonsense").status_code == 404
    User.objects.filter(pk=organizer.pk).update(is_organizer=False)
    assert maker.get("what").status_code == 404


def test_co_organizer_edits_the_draft_and_runs_the_contest(organizer: User, alice: User, log_in: LogIn) -> None:
    maker = Maker(log_in(organizer), "odd")
    assert "There is nobody of this name." in text_of(maker.post("people", go="add", username="nobody"))
    assert maker.post("people", go="add", username="alice").status_code == 302
    assert maker.post("people", go="add", username="alice").status_code == 400
    mate = log_in(alice)
    address = f"/contests/drafts/{maker.key}"
    assert mate.post(f"{address}/details", details(title="By Alice") | {"go": "next"}).status_code == 302
    assert "By Alice" in text_of(maker.get("what"))
    assert mate.post(f"{address}/delete").status_code == 403
    maker.send("D.csv", SOURCE)
    maker.post("people", go="finish")
    do_jobs("workbench")
    assert mate.post(f"{address}/finish", {"go": "publish", "sure": "yes"}).status_code == 400
    assert maker.post("finish", go="publish", sure="yes").status_code == 302
    assert list(Contest.objects.get().co_organizers.all()) == [alice]
    again = Maker(log_in(organizer), "odd")
    again.post("people", go="add", username="alice")
    again.post("people", go="remove:alice")
    assert mate.get(f"/contests/drafts/{again.key}/what").status_code == 404


def test_drafts_are_few_small_deleted_and_forgotten(
    organizer: User,
    log_in: LogIn,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    settings.WORKBENCH_QUOTA = 1000
    monkeypatch.setattr(drafts, "MOST_DRAFTS", 2)
    client = log_in(organizer)
    one, other = Maker(client, "odd"), Maker(client, "odd")
    assert client.post("/contests/new", {"kind": "odd"}).status_code == 429
    one.send("D.csv", b"x\n" * 400)
    assert other.post("data", origin="file", source=SimpleUploadedFile("D.csv", b"x\n" * 400)).status_code == 429
    folder = one.draft.folder
    assert folder.is_dir()
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post(f"/contests/drafts/{one.key}/delete").status_code == 302
    assert not folder.exists()
    assert one.get("what").status_code == 404
    ContestDraft.objects.update(changed_at=timezone.now() - drafts.KEPT_FOR - timedelta(days=1))
    assert drafts.forget_drafts() >= 1
    assert not ContestDraft.objects.exists()
    Maker(client, "odd")
    delete_account(organizer)
    assert not ContestDraft.objects.exists()
