"""The workbench: from a file to a release, for its owner alone, and gone when it is deleted."""

from __future__ import annotations

import io
import json
import tomllib
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from tests.platform.conftest import LogIn, MakeUser
from tests.platform.workbench_plays import PEOPLE, begin, do_jobs

import tokumei as tk
from tokumei.platform.accounts.models import User
from tokumei.platform.accounts.services import delete_account
from tokumei.platform.jobs.models import Job as Work
from tokumei.platform.jobs.running import run
from tokumei.platform.workbench import services
from tokumei.platform.workbench.models import Piece, workbench_folder
from tokumei.tasks.job_file import Job

pytestmark = pytest.mark.django_db
GOAL = {"k": "2", "suppress": "0", "method": "optimal"}


@pytest.fixture(autouse=True)
def own_files(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path


def page(client: Client, piece: Piece, below: str = "") -> str:
    answer = client.get(f"/workbench/{piece.key}/{below}")
    assert answer.status_code == 200, below
    return answer.content.decode()


def sent_file(client: Client, piece: Piece, name: str) -> bytes:
    answer = client.get(f"/workbench/{piece.key}/files/{name}")
    assert answer.status_code == 200
    assert answer["Content-Disposition"].startswith("attachment")
    return b"".join(answer)


def released(client: Client, piece: Piece, **asked: str) -> None:
    assert client.post(f"/workbench/{piece.key}/protect", GOAL | asked).status_code == 302
    do_jobs()


def test_columns_have_suggested_roles_with_their_reasons(alice: User, log_in: LogIn) -> None:
    piece = begin(alice)
    shown = page(log_in(alice), piece)
    assert "8 rows, 5 columns" in shown
    assert '<tr class="role-identifier">' in shown
    assert "names of people" in shown
    assert "f 4, m 4" in shown
    assert Job.read(piece.folder / "job.toml").roles["illness"] == "sensitive"


def test_roles_set_by_a_form_change_the_job_file_and_all_that_follows_from_them(alice: User, log_in: LogIn) -> None:
    piece, client = begin(alice), log_in(alice)
    sent = {"r0": "identifier", "r1": "quasi-identifier", "r2": "quasi-identifier", "r3": "kept", "r4": "other"}
    answer = client.post(f"/workbench/{piece.key}/", sent)
    assert answer["Location"] == f"/workbench/{piece.key}/risk"
    job = Job.read(piece.folder / "job.toml")
    assert job.columns_with("quasi-identifier") == ["sex", "age"]
    assert job.keep == ("town",)
    assert job.threats[0].knows == ("sex", "age")
    assert job.threats[0].attacks == ("record-linkage", "singling-out")
    do_jobs()
    assert "8 of 8 rows (100%) share their quasi-identifiers with no other row" in page(client, piece, "risk")


def test_risk_page_has_attackers_and_what_attacks_find_before_anything_is_done(alice: User, log_in: LogIn) -> None:
    piece, client = begin(alice), log_in(alice)
    shown = page(client, piece, "risk")
    for word in ("Prosecutor", "Journalist", "≤ 100.0%", "Marketer", 'id="attacks"', "homogeneity", "by chance"):
        assert word in shown, word
    # Beside k stands what was attacked, and why what was not measured was not.
    for word in ("(k, counted)", "Identified with certainty (attacked)", "not measured", "No label is a range"):
        assert word in shown, word
    client.post(f"/workbench/{piece.key}/risk", {"population": "1000"})
    do_jobs()
    assert Job.read(piece.folder / "job.toml").population_size == 1000
    assert 'value="1000"' in page(client, piece, "risk")
    client.post(f"/workbench/{piece.key}/risk", {"population": "many"})
    assert "a whole number" in page(client, piece, "risk")
    client.post(f"/workbench/{piece.key}/risk", {"population": ""})
    assert Job.read(piece.folder / "job.toml").population_size is None


def test_risk_page_has_the_risk_of_a_sample_by_its_weights(alice: User, log_in: LogIn) -> None:
    piece, client = begin(alice), log_in(alice)
    roles = {"r0": "identifier", "r1": "quasi-identifier", "r2": "quasi-identifier", "r3": "other", "r4": "other"}
    client.post(f"/workbench/{piece.key}/", roles)
    do_jobs()
    assert 'id="sample"' not in page(client, piece, "risk")
    client.post(f"/workbench/{piece.key}/risk", {"population": "1000"})
    do_jobs()
    shown = page(client, piece, "risk")
    for word in ("Alone among all 1,000 people", "chosen for this share", "not estimated", "single out", "Zayatz"):
        assert word in shown, word
    assert "by its weight" not in shown
    # Nobody weighs people by what others know of them, or by a column that is not there.
    for column in ("age", "nothing"):
        client.post(f"/workbench/{piece.key}/risk", {"weights": column})
        assert "a column of the file that others do not know" in page(client, piece, "risk")
        assert Job.read(piece.folder / "job.toml").weights is None


def test_weights_of_a_survey_give_the_risk_of_its_rows(alice: User, log_in: LogIn) -> None:
    rows = "".join(f"{30 + n},{'fm'[n % 2]},{12.5 + n}\n" for n in range(8))
    piece, client = begin(alice, f"age,sex,weight\n{rows}".encode()), log_in(alice)
    client.post(f"/workbench/{piece.key}/", {"r0": "quasi-identifier", "r1": "quasi-identifier", "r2": "other"})
    do_jobs()
    client.post(f"/workbench/{piece.key}/risk", {"weights": "weight"})
    do_jobs()
    assert Job.read(piece.folder / "job.toml").weights == "weight"
    shown = page(client, piece, "risk")
    assert "<option selected>weight</option>" in shown
    # The weights add up to 128 people; the first row is at p/(1-p) ln(1/p) = ln(12.5)/11.5.
    assert "stand for 128 people" in shown
    assert "22.0%" in shown
    # Who may know the weights may not be asked with them.
    client.post(f"/workbench/{piece.key}/", {"r2": "quasi-identifier"})
    assert Job.read(piece.folder / "job.toml").weights is None


def test_risk_page_shows_the_first_picture_while_attacks_are_tried(alice: User, log_in: LogIn) -> None:
    piece, client = begin(alice), log_in(alice)
    found = json.loads((piece.folder / "risk.json").read_text())
    del found["attacks"]
    (piece.folder / "risk.json").write_text(json.dumps(found))
    Work.objects.filter(subject=piece.key).update(is_done=False)
    Work.objects.filter(subject=piece.key).update(created_at=timezone.now() - timedelta(hours=1))
    shown = page(client, piece, "risk")
    assert "Attacks are being tried" in shown
    assert 'data-poll="/workbench/' in shown
    assert client.get(f"/workbench/{piece.key}/state").json()["is_final"] is True
    assert client.get(f"/workbench/{piece.key}/state?whole=1").json()["is_final"] is False


def test_form_offers_tight_ranges_and_the_job_has_them_for_methods_that_make_some(alice: User, log_in: LogIn) -> None:
    piece = begin(alice)
    client = log_in(alice)
    both = GOAL | {"method": ["mondrian", "optimal"]}
    for asked, methods in (
        ({"ranges": "tight"}, [{"name": "mondrian", "ranges": "tight"}, {"name": "optimal"}]),
        ({}, [{"name": "mondrian"}, {"name": "optimal"}]),
    ):
        assert client.post(f"/workbench/{piece.key}/protect", both | asked).status_code == 302
        assert tomllib.loads((piece.folder / "job.toml").read_text())["method"] == methods
        is_ticked = 'name="ranges" value="tight" checked' in page(client, piece, "protect")
        assert is_ticked == ("ranges" in asked)


def test_roles_that_leave_nobody_to_protect_from_are_refused_and_change_nothing(alice: User, log_in: LogIn) -> None:
    piece, client = begin(alice), log_in(alice)
    before = (piece.folder / "job.toml").read_bytes()
    answer = client.post(f"/workbench/{piece.key}/", {f"r{n}": "other" for n in range(5)})
    assert (piece.folder / "job.toml").read_bytes() == before
    assert answer.status_code == 400
    shown = answer.content.decode()
    assert "Mark at least one column as a quasi-identifier." in shown
    # What was chosen stays as it was chosen.
    assert shown.count('<option value="other" selected>') == 5


@pytest.mark.slow
def test_release_of_the_pages_is_that_of_the_command_line_to_the_byte(
    alice: User, log_in: LogIn, tmp_path: Path
) -> None:
    piece, client = begin(alice), log_in(alice)
    released(client, piece, **{"l_diversity-0": "2"})
    shown = page(client, piece, "see")
    assert 'id="verdict"' in shown
    assert "record-linkage" in shown
    dossier = json.loads((piece.folder / "out" / "dossier.json").read_text())
    score = {one["attack"]: one["scores"] for one in dossier["results"]["attacks"]}["downcoding"]["singled-out"]
    assert "Singled out by labels (attacked)" in shown
    for figure in (score["value"], *score["interval"], score["baseline"]):
        assert f"{figure:.1%}" in shown
    home = tmp_path / "home"
    home.mkdir()
    (home / "people.csv").write_bytes(PEOPLE)
    taken = sent_file(client, piece, "job.toml").decode()
    (home / "job.toml").write_text(taken)
    assert tomllib.loads(taken)["requirements"]["l_diversity"] == {"illness": 2}
    done = tk.run(Job.read(home / "job.toml"), home / "dossier")
    assert done.holds
    release = sent_file(client, piece, "release.csv")
    assert (home / "dossier" / "release.csv").read_bytes() == release
    assert b"Ann" not in release


def test_everything_is_taken_home_but_the_file(alice: User, log_in: LogIn) -> None:
    piece, client = begin(alice), log_in(alice)
    released(client, piece)
    shown = page(client, piece, "take-home")
    for name in ("release.csv", "report.html", "report.ja.html", "dossier.json", "job.toml", "recipe.json"):
        assert f"/files/{name}" in shown
        assert sent_file(client, piece, name)
    packed = sent_file(client, piece, "everything.zip")
    names = zipfile.ZipFile(io.BytesIO(packed)).namelist()
    assert {"job.toml", "dossier/release.csv", "dossier/secret/seed.json"} <= set(names)
    assert "people.csv" not in names
    assert not any("/." in f"/{name}" for name in names)
    assert client.get(f"/workbench/{piece.key}/files/people.csv").status_code == 404


def test_frontier_tries_releases_and_makes_the_one_that_is_chosen(alice: User, log_in: LogIn) -> None:
    piece, client = begin(alice), log_in(alice)
    client.post(f"/workbench/{piece.key}/protect", GOAL | {"try": "1"})
    do_jobs()
    found = json.loads((piece.folder / "frontier.json").read_text())
    assert len(found["releases"]) == 12
    assert 'class="dot best"' in page(client, piece, "protect")
    number = next(n for n, one in enumerate(found["releases"], 1) if one["k"] == 3 and "error" not in one)
    client.post(f"/workbench/{piece.key}/choose", {"release": str(number)})
    do_jobs()
    assert Job.read(piece.folder / "job.toml").requirements["k"] == 3
    assert json.loads((piece.folder / "out" / "dossier.json").read_text())["results"]["k"] >= 3
    assert client.post(f"/workbench/{piece.key}/choose", {"release": "99"}).status_code == 404


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a,b\n1\n", "2 cells"),
        (b"a,b\n1,\x00\n", "people.csv"),
        (b"a,b\n", "at least one row"),
        (b"\xff\xfe\x00", "people.csv"),
    ],
)
def test_bad_file_gets_a_table_of_faults(alice: User, log_in: LogIn, content: bytes, said: str) -> None:
    piece = begin(alice, content)
    shown = page(log_in(alice), piece)
    assert "What is wrong" in shown
    assert said in shown
    assert str(workbench_folder()) not in shown


def test_file_of_another_kind_or_none_at_all_is_refused_at_once(alice: User, log_in: LogIn) -> None:
    client = log_in(alice)
    for sent in ({"kind": "table"}, {"kind": "table", "file": io.BytesIO(b"x")}, {"sample": "nothing"}):
        assert client.post("/workbench/new", sent).status_code in {400, 404}
    assert not Piece.objects.exists()
    assert not list(workbench_folder().glob("*"))


def test_piece_of_another_is_not_there(alice: User, mallory: User, admin: User, log_in: LogIn) -> None:
    piece = begin(alice)
    for user in (mallory, admin):
        client = log_in(user)
        for below in ("", "risk", "protect", "see", "take-home", "state", "files/job.toml", "hierarchies/0.csv"):
            assert client.get(f"/workbench/{piece.key}/{below}").status_code == 404
        for below in ("delete", "run", "cancel", "choose", "protect", ""):
            assert client.post(f"/workbench/{piece.key}/{below}").status_code == 404
        assert "people.csv" not in client.get("/workbench/").content.decode()
    assert piece.folder.is_dir()


def test_deleted_piece_is_gone_from_the_disk_at_once(alice: User, log_in: LogIn) -> None:
    piece, client = begin(alice), log_in(alice)
    released(client, piece)
    assert (piece.folder / "out" / "release.csv").is_file()
    client.post(f"/workbench/{piece.key}/delete", {"sure": "yes"})
    assert not list(workbench_folder().iterdir())
    assert not Piece.objects.exists()
    assert not Work.objects.filter(subject=piece.key).exists()
    assert client.get(f"/workbench/{piece.key}/").status_code == 404


def test_piece_over_its_time_is_not_there_and_is_swept_from_the_disk(alice: User, log_in: LogIn) -> None:
    over, kept = begin(alice), begin(alice)
    assert abs(over.expires - timezone.now() - timedelta(hours=24)) < timedelta(minutes=1)
    Piece.objects.filter(pk=over.pk).update(expires=timezone.now())
    assert log_in(alice).get(f"/workbench/{over.key}/").status_code == 404
    assert services.sweep() == 1
    assert [one.name for one in workbench_folder().iterdir()] == [kept.key]


def test_folder_that_no_row_knows_is_swept(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    piece = begin(alice)
    (workbench_folder() / "left-behind").mkdir()
    monkeypatch.setattr(services, "ORPHAN_SECONDS", -1)
    assert services.sweep() == 1
    assert [one.name for one in workbench_folder().iterdir()] == [piece.key]


def test_pieces_of_a_deleted_account_are_gone(alice: User, make_user: MakeUser) -> None:
    begin(alice)
    delete_account(alice)
    assert not list(workbench_folder().iterdir())


def test_files_are_for_the_servers_eyes_only(alice: User) -> None:
    piece = begin(alice)
    assert piece.folder.stat().st_mode & 0o077 == 0
    assert (piece.folder / "people.csv").stat().st_mode & 0o077 == 0


def test_more_than_the_quota_is_refused_with_the_reason(alice: User, log_in: LogIn, settings: Any) -> None:
    begin(alice)
    settings.WORKBENCH_PIECES = 1
    answer = log_in(alice).post("/workbench/new", {"sample": "people"})
    assert answer.status_code == 429
    assert "Delete one first" in answer.content.decode()
    settings.WORKBENCH_PIECES, settings.WORKBENCH_QUOTA = 9, 300
    answer = log_in(alice).post("/workbench/new", {"kind": "table", "file": io.BytesIO(PEOPLE)})
    assert Piece.objects.count() == 1


def test_work_that_was_cancelled_says_so_and_goes_on(alice: User, log_in: LogIn) -> None:
    piece, client = begin(alice), log_in(alice)
    client.post(f"/workbench/{piece.key}/protect", GOAL)
    assert client.get(f"/workbench/{piece.key}/state").json()["is_final"] is False
    assert "Cancel" in page(client, piece, "see")
    client.post(f"/workbench/{piece.key}/cancel")
    assert client.get(f"/workbench/{piece.key}/state").json() == {"is_final": True}
    do_jobs()
    assert not (piece.folder / "out").exists()
    assert "It was cancelled" in page(client, piece, "see")
    client.post(f"/workbench/{piece.key}/run")
    do_jobs()
    assert (piece.folder / "out" / "release.csv").is_file()


def test_same_job_run_twice_gives_the_same_release_and_another_job_leaves_nothing_of_it(
    alice: User, log_in: LogIn
) -> None:
    piece, client = begin(alice), log_in(alice)
    released(client, piece)
    first = (piece.folder / "out" / "release.csv").read_bytes()
    released(client, piece, method="mondrian")
    assert not (piece.folder / "out" / "secret" / "method-1-optimal").exists()
    released(client, piece)
    assert (piece.folder / "out" / "release.csv").read_bytes() == first


def test_no_form_names_a_file_of_the_server() -> None:
    from django.http import QueryDict

    from tokumei.platform.workbench.editing import set_pipeline

    job: dict[str, Any] = {}
    sent = "step=roll-up&roll-up.hierarchy=/etc/passwd&roll-up.characters=3&naming=pseudonyms&share=25"
    set_pipeline(QueryDict(sent))(job)
    assert job["method"][0]["step"][0] == {"method": "roll-up", "characters": 3}


@pytest.mark.slow
def test_release_with_its_report_is_made_within_the_limits_of_its_process(alice: User, log_in: LogIn) -> None:
    piece, client = begin(alice), log_in(alice)
    client.post(f"/workbench/{piece.key}/protect", GOAL)
    work = Work.objects.get(subject=piece.key, kind=services.RELEASE)
    assert run(work.pk)
    work.refresh_from_db()
    assert (work.outcome, work.last_failure) == ("done", "")
    assert (piece.folder / "out" / "report.ja.html").is_file()


def test_what_only_people_know_is_asked_in_both_languages_and_written_to_the_job(alice: User, log_in: LogIn) -> None:
    piece, client = begin(alice), log_in(alice)
    sent = {"reviewer": "the officer", "recipient": "a university", "environment": "contract", "most_gain": "2"}
    answer = client.post(f"/workbench/{piece.key}/context", sent)
    assert answer["Location"] == f"/workbench/{piece.key}/protect"
    job = Job.read(piece.folder / "job.toml")
    assert job.reviewer == "the officer"
    assert job.context.stated() == {"recipient": "a university", "environment": "contract", "most_gain": 0.02}
    # Shown again as it was sent, and asked in Japanese, too.
    assert 'value="2.0"' in page(client, piece, "context")
    shown = client.get(f"/workbench/{piece.key}/context", headers={"Accept-Language": "ja"}).content.decode()
    assert "加工データを誰に提供しますか？" in shown and "未記入" in shown
    wrong = client.post(f"/workbench/{piece.key}/context", {"review_on": "soon"})
    assert "a day, as 2027-01-31" in wrong.content.decode()
    client.post(f"/workbench/{piece.key}/context", {})
    assert Job.read(piece.folder / "job.toml").context.stated() == {}
