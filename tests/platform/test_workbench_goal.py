"""The form of what is asked of a release: every field of a request, shown as the job file has it, and kept."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from tests.platform.conftest import LogIn
from tests.platform.workbench_plays import PEOPLE, begin, do_jobs

from tokumei.platform.accounts.models import User
from tokumei.platform.jobs.models import Job as Work
from tokumei.platform.workbench import editing, services
from tokumei.platform.workbench import folder as files
from tokumei.platform.workbench.goal_form import ELSEWHERE, FIRST, offered
from tokumei.platform.workbench.models import Piece

pytestmark = pytest.mark.django_db
PLAIN = {"k": "4", "suppress": "5", "method": "optimal"}
# What is sent, and what the job file has of it.
ASKED: dict[str, tuple[dict[str, str], Any]] = {
    "k": ({"k": "3"}, 3),
    "preset": ({"preset": "cheo-breach"}, "cheo-breach"),
    "l_diversity": (
        {"l_diversity-0": "2", "l_diversity-0_kind": "recursive", "l_diversity-0_c": "1.5"},
        "2:recursive:1.5",
    ),
    "t_closeness": ({"t_closeness-0": "0.4", "t_closeness-0_whose": "original"}, "0.4:equal:original"),
    "alpha_k": ({"alpha_k-0": "0.5"}, 0.5),
    "beta_likeness": ({"beta_likeness-0": "2", "beta_likeness-0_kind": "enhanced"}, "2:enhanced"),
    "delta_disclosure": ({"delta_disclosure-0": "1.5", "delta_disclosure-0_whose": "release"}, "1.5:release"),
    "missing_is_a_value": ({"missing_is_a_value": "on"}, True),
    "suppress": ({"suppress": "12.5"}, 0.125),
    "loss": ({"loss": "entropy"}, "entropy"),
    "weights": ({"weights-1": "2.5"}, {"age": 2.5}),
    "prefer": ({"prefer": "town、age"}, ["town", "age"]),
    "numeric": ({"numeric": "age"}, ["age"]),
    "keep_anyway": ({"keep_anyway": "name"}, ["name"]),
    "keep_order": ({"keep_order": "on"}, True),
}
WITH_FILES = {"k_map", "delta_presence", "population", "prices"}


@pytest.fixture(autouse=True)
def own_files(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path


@pytest.fixture
def piece(alice: User) -> Piece:
    return begin(alice)


@pytest.fixture
def client(alice: User, log_in: LogIn) -> Client:
    return log_in(alice)


def job_of(piece: Piece) -> Any:
    return tomllib.loads((piece.folder / "job.toml").read_text())


def send(client: Client, piece: Piece, **asked: Any) -> Any:
    return client.post(f"/workbench/{piece.key}/protect", PLAIN | asked)


def form_of(client: Client, piece: Piece) -> Any:
    return client.get(f"/workbench/{piece.key}/protect").context["goal"]


def as_sent(client: Client, piece: Piece) -> dict[str, Any]:
    """Return what a browser sends of the page as it stands."""
    sent: dict[str, Any] = {"method": "optimal"}
    for field in form_of(client, piece):
        widget = field.field.widget.get_context(field.html_name, field.value(), {})["widget"]
        parts = widget.get("subwidgets", [widget])
        if field.widget_type == "checkbox":
            parts = [{**widget, "value": ["on"]}] if field.value() else []
        if "optgroups" in widget and widget["attrs"].get("multiple", field.widget_type == "checkboxselectmultiple"):
            parts = [{"name": field.html_name, "value": field.value()}] if field.value() else []
        for one in parts:
            value = one.get("value")
            sent[one["name"]] = (value[0] if value else "") if isinstance(value, list) else value or ""
    return sent


def test_newcomer_sees_k_and_what_may_be_left_out_and_the_rest_folded(client: Client, piece: Piece) -> None:
    shown = client.get(f"/workbench/{piece.key}/protect").content.decode()
    at_first = shown.partition('<details class="asked"')[0]
    assert [name for name in FIRST if f'name="{name}"' in at_first] == ["k", "suppress"]
    assert 'name="preset"' not in at_first
    assert '<details class="asked" open' not in shown
    assert "More requirements" in shown


@pytest.mark.parametrize("name", ASKED)
def test_each_field_is_written_to_the_job_file_and_shown_again(client: Client, piece: Piece, name: str) -> None:
    sent, wanted = ASKED[name]
    wanted = {"illness": wanted} if f"{name}-0" in sent else wanted
    if name == "keep_anyway":
        # What may be kept although it names people is what is kept at all.
        assert client.post(f"/workbench/{piece.key}/", {"r0": "kept"}).status_code == 302
    before = job_of(piece)
    assert send(client, piece, **sent).status_code == 302
    section = "output" if name in ("keep_anyway", "keep_order") else "requirements"
    assert job_of(piece)[section][name] == wanted
    # Sent as it is shown again, nothing changes.
    after = (piece.folder / "job.toml").read_bytes()
    assert client.post(f"/workbench/{piece.key}/protect", as_sent(client, piece)).status_code == 302
    assert (piece.folder / "job.toml").read_bytes() == after
    shown = client.get(f"/workbench/{piece.key}/protect").content.decode()
    assert ('<details class="asked" open' in shown) == (name not in FIRST)
    # Taken back, the job file is as it was.
    send(client, piece)
    assert job_of(piece) == before


def test_every_field_of_the_form_is_tried_here() -> None:
    assert {one.name for one in offered()} == {*ASKED, *WITH_FILES}
    assert ELSEWHERE.keys().isdisjoint(ASKED)


BY_HAND = {
    "k": 500,
    "preset": "cheo-public-release",
    "suppress": 0.755,
    "l_diversity": {"illness": ["2", "1.5:entropy"], "sex": 3},
    "t_closeness": {"illness": "0.5::original"},
    "beta_likeness": {"illness": "3:unheard-of"},
    "delta_presence": "0.1:0.5",
    "k_map": 7,
    "population": "../everybody.csv",
    "loss": "discernibility",
    "weights": {"age": 2, "note": 0.5},
    "prefer": ["town", "age"],
    "numeric": ["age"],
}


def test_what_was_written_by_hand_is_shown_and_kept(client: Client, piece: Piece) -> None:
    def write(found: dict[str, Any]) -> None:
        found["roles"]["note"] = "other"
        found["requirements"] = BY_HAND
        found["output"] = {"keep": [], "keep_order": True}
        found["bound"] = [{"of": "k", "least": 400}]

    files.edit(piece.folder, write)
    before = (piece.folder / "job.toml").read_bytes()
    sent = as_sent(client, piece)
    wanted = {"k": "500", "suppress": "75.5", "loss": "discernibility", "weights-3": "0.5", "prefer": "town, age"}
    wanted |= {"l_diversity-1": "1.5", "l_diversity-1_kind": "entropy", "l_diversity-2": "3"}
    wanted |= {"beta_likeness-0_kind": "unheard-of"}
    assert {name: sent[name] for name in wanted} == wanted
    shown = client.get(f"/workbench/{piece.key}/protect").content.decode()
    assert "Remove everybody.csv" in shown
    assert 'max="500"' in shown
    # What nobody could meet is told at its field, and all else would be kept.
    (piece.folder / "job.toml").write_bytes(before.replace(b"unheard-of", b"enhanced"))
    before = (piece.folder / "job.toml").read_bytes()
    assert client.post(f"/workbench/{piece.key}/protect", as_sent(client, piece)).status_code == 302
    assert (piece.folder / "job.toml").read_bytes() == before


def test_requirement_without_k_stays_without_k(client: Client, piece: Piece) -> None:
    files.edit(piece.folder, lambda found: found.update(requirements={"l_diversity": {"illness": 2}}))
    before = job_of(piece)
    client.post(f"/workbench/{piece.key}/protect", as_sent(client, piece))
    assert job_of(piece) == before


WRONG = [
    ({"k": "0"}, "k", "1"),
    ({"k": "many"}, "k", ""),
    ({"suppress": "101"}, "suppress", "per cent from 0 to 100"),
    ({"l_diversity-0": "0"}, "l_diversity-0", "Expected: at least 1"),
    ({"l_diversity-0": "two"}, "l_diversity-0", "Expected: a number"),
    ({"l_diversity-0": "nan"}, "l_diversity-0", "Expected: a number"),
    ({"l_diversity-0": "2", "l_diversity-0_kind": "recursive"}, "l_diversity-0", "goes with the choice recursive"),
    ({"t_closeness-0": "7"}, "t_closeness-0", "a distance from 0 to 1"),
    ({"t_closeness-0": "0.2", "t_closeness-0_kind": "hierarchical"}, "t_closeness-0", "the hierarchy of"),
    ({"alpha_k-0": "2"}, "alpha_k-0", "a share above 0"),
    ({"beta_likeness-0": "-1"}, "beta_likeness-0", "a number above 0"),
    ({"delta_disclosure-0": "0"}, "delta_disclosure-0", "a number above 0"),
    ({"k_map": "2"}, "population", "need the file of everybody"),
    ({"delta_presence": "0.5:0.1"}, "delta_presence", "a share from 0 to 1"),
    ({"loss": "price"}, "prices", "needs the file of prices"),
    ({"loss": "prec", "method": "mondrian"}, "loss", "mondrian is measured by ncp"),
    ({"prefer": "age", "method": "mondrian"}, "prefer", "does not choose between levels"),
    ({"prefer": "illness"}, "prefer", "quasi-identifiers (sex, age, town)"),
    ({"weights-0": "-1"}, "weights-0", "a weight of 0 or more"),
    ({"weights-0": "much"}, "weights-0", "Expected: a number"),
    ({"preset": "none"}, "preset", "none"),
]


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize(("sent", "field", "said"), WRONG)
def test_what_is_wrong_is_told_at_its_field_and_nothing_is_started(
    client: Client, piece: Piece, sent: dict[str, str], field: str, said: str, language: str
) -> None:
    client.post("/language", {"language": language, "next": "/"})
    before = (piece.folder / "job.toml").read_bytes()
    answer = send(client, piece, **sent)
    assert answer.status_code == 200
    faults = answer.context["goal"].errors
    assert field in faults
    (told,) = faults[field]
    if language == "en":
        assert said in told
    else:
        assert any("ぁ" <= one <= "龥" for one in told), told
    page = answer.content.decode()
    assert f'id="{field}_error"' in page
    # What was typed stands there still.
    assert all(value in page for value in sent.values())
    assert (piece.folder / "job.toml").read_bytes() == before
    assert not Work.objects.filter(subject=piece.key, kind=services.RELEASE).exists()


def csv(name: str, content: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def test_population_is_sent_counted_in_replaced_and_removed(client: Client, piece: Piece) -> None:
    everybody = PEOPLE + b"Ian Poe,m,36,Kobe,flu\n"
    assert send(client, piece, k="2", k_map="2", population=csv("All of us.CSV", everybody)).status_code == 302
    assert job_of(piece)["requirements"]["population"] == "given/population.csv"
    assert (piece.folder / "given" / "population.csv").stat().st_mode & 0o077 == 0
    do_jobs()
    assert 'id="verdict"' in client.get(f"/workbench/{piece.key}/see").content.decode()
    first = (piece.folder / "out" / "steps" / "method-1-optimal.json").read_bytes()
    # Another file in its place makes another release, though the job file is the same.
    before = (piece.folder / "job.toml").read_bytes()
    again = as_sent(client, piece) | {"population": csv("b.csv", everybody + b"Jo Low,f,57,Nara,flu\n")}
    assert client.post(f"/workbench/{piece.key}/protect", again).status_code == 302
    assert (piece.folder / "job.toml").read_bytes() == before
    do_jobs()
    assert (piece.folder / "out" / "steps" / "method-1-optimal.json").read_bytes() != first
    faults = send(client, piece, k_map="", population=csv("a.txt", b"x")).context["goal"].errors
    assert list(faults) == ["population"]
    assert send(client, piece, **{"k_map": "", "population-removed": "on"}).status_code == 302
    assert {"population", "k_map"}.isdisjoint(job_of(piece)["requirements"])


def test_prices_are_sent_with_their_loss(client: Client, piece: Piece) -> None:
    prices = csv("p.csv", b"attribute,label,price\nsex,f,2\nsex,m,2\nage,31,1\ntown,Nara,1\ntown,Kobe,1\n")
    assert send(client, piece, loss="price", prices=prices).status_code == 302
    asked = job_of(piece)["requirements"]
    assert (asked["loss"], asked["prices"]) == ("price", "given/prices.csv")


def test_file_that_does_not_fit_beside_the_others_is_refused(client: Client, piece: Piece, settings: Any) -> None:
    settings.WORKBENCH_QUOTA = 3 * len(PEOPLE)
    answer = send(client, piece, k_map="2", population=csv("all.csv", PEOPLE * 4))
    assert answer.status_code == 429
    assert not list((piece.folder / "given").iterdir())


def test_changed_roles_take_along_what_names_columns(client: Client, piece: Piece) -> None:
    sent = {key: value for name in ("alpha_k", "weights", "prefer", "numeric") for key, value in ASKED[name][0].items()}
    assert send(client, piece, **sent).status_code == 302
    roles = {"r0": "identifier", "r1": "quasi-identifier", "r2": "other", "r3": "quasi-identifier", "r4": "other"}
    client.post(f"/workbench/{piece.key}/", roles)
    asked = job_of(piece)["requirements"]
    assert asked["prefer"] == ["town"]
    assert {"alpha_k", "weights", "numeric"}.isdisjoint(asked)
    shown = client.get(f"/workbench/{piece.key}/protect").content.decode()
    assert "need a sensitive column" in shown
    assert 'name="alpha_k-0"' not in shown


def test_bounds_follow_k_where_it_changes() -> None:
    other = {"of": "loss", "most": 0.5}
    job: dict[str, Any] = {"bound": [{"of": "k", "least": 9}, other]}
    editing.set_k(job, 4)
    assert job["bound"] == [{"of": "k", "least": 4}, {"of": "prosecutor-risk", "most": 0.25}, other]
