"""The commands that change what they find, each on files laid out anew, at 60, 80 and 120 columns against their JSON.

Those of contests and exchanges above all; together with the other two lists these are all commands.
"""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest
from tests.cli.test_every_command import COMMANDS as ALL
from tests.cli.test_every_command import options_of
from tests.journey.test_widths import COMMANDS as OF_TABLES
from tests.journey.test_widths_of_histories import COMMANDS as OF_HISTORIES
from tests.journey.widths import check_widths

from tokumei.cli.main import main
from tokumei.data.made_services import make_service

CUP = ("--edition", "pwscup2016", "--set", "n_customers=12", "--seed", "7")
DESK = ("--desk", "desk", "--key", "shop.key")
OFFER = (
    *("exchange", "offer", "people.csv", "--qi", "sex,age", "--hierarchies", "s/hierarchies", "--k", "3"),
    *("--method", "margins", "--name", "customers", "--other-people"),
)
ASKED = ("--levels", "sex=0", "--key", "shop.key", "--user", "A university", "--purpose", "A study")
RELEASE = (
    *("--edition", "pwscup2016", "--data", "M=kit/data/M.csv", "--data", "T=kit/data/T.csv"),
    *(f"kit/sample/release/{name}.csv" for name in ("M_release", "T_release", "P")),
)
RETAIL = (
    "InvoiceNo,StockCode,Quantity,InvoiceDate,UnitPrice,CustomerID,Country\n1,tea,2,2010-12-01 08:26:00,1.5,7,Japan\n"
)
# The folders of the contest are named by how far it has come.
COMMANDS: dict[str, tuple[str, ...]] = {
    "contest new": ("contest", "new", "my.toml", "--kind", "table"),
    "contest prepare": ("contest", "prepare", *CUP, "--out", "another"),
    "contest kit": ("contest", "kit", "begun", "--out", "another.zip"),
    "contest export": ("contest", "export", "begun", "--codabench", "--image", "tokumei:1", "--out", "bundle.zip"),
    "contest check": ("contest", "check", "begun", "kit/sample/release"),
    "contest score": ("contest", "score", "begun", "kit/sample/release"),
    "contest make-release": ("contest", "make-release", "kit", "--out", "mine"),
    "contest make-guess": ("contest", "make-guess", "kit", "kit/sample/published", "--out", "guess"),
    "contest submit": ("contest", "submit", "begun", "--team", "gamma", "kit/sample/release"),
    "contest choose": ("contest", "choose", "begun", "1", "--team", "alpha"),
    "contest publish": ("contest", "publish", "begun"),
    "contest attack": (
        "contest",
        "attack",
        "published",
        "--team",
        "beta",
        "--target",
        "alpha",
        "--with",
        "same-fields",
    ),
    "contest judge": ("contest", "judge", "attacked"),
    "contest judge in a kit": (
        *("contest", "judge", "kit", "kit-guess", "--published", "kit/sample/published", "--truth", "kit/sample/truth"),
    ),
    "contest rank": ("contest", "rank", "judged"),
    "contest rank --close": ("contest", "rank", "judged", "--close"),
    "contest replay": ("contest", "replay", "judged"),
    "contest simulate": (
        *("contest", "simulate", "--edition", "pwscup2018", "--teams", "2", "--customers", "10", "--out", "season"),
    ),
    "check": ("check", *RELEASE),
    "score": ("score", *RELEASE),
    "exchange keys": ("exchange", "keys", "another"),
    "exchange offer": (*OFFER, "--desk", "another", "--key", "shop.key"),
    "exchange admit": ("exchange", "admit", *DESK, "--recipient", "A university=shop.pub:own"),
    "exchange answer": ("exchange", "answer", "a.request.json", *DESK, "--out", "out"),
    "exchange approve": ("exchange", "approve", "a.request.json", "--key", "shop.key", "--out", "a.approval.json"),
    "exchange serve-requests": ("exchange", "serve-requests", *DESK, "--inbox", "in", "--outbox", "out", "--once"),
    "exchange disclose": ("exchange", "disclose", "--desk", "answered"),
    "inspect": ("inspect", "people.csv"),
    "verify": ("verify", "dossier/dossier.json"),
    "data make retail": ("data", "make", "retail", "--customers", "5", "--rows", "40", "--out", "retail"),
    "data make services": ("data", "make", "services", "--services", "1", "--seed", "1", "--out", "services"),
    "data clean-retail": ("data", "clean-retail", "raw.csv", "--out", "T.csv"),
    "demo": ("demo", "--out", "demo.html", "--customers", "5"),
    "study run": ("study", "run", "knowledge-toy", "--out", "studies"),
}
# They ask a server, which tests/platform/test_remote.py has, or change one.
OF_SERVERS = {"user", "backup", "restore", *(name for name in ALL if name.startswith("remote "))}


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play a contest and an exchange, and keep a copy of each state that a command needs."""
    folder = tmp_path_factory.mktemp("states")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        _play()
        _exchange()
    return folder


def _play() -> None:
    _run("contest", "prepare", *CUP, "--counts", "chosen", "--out", "begun")
    _run("contest", "kit", "begun", "--out", "kit.zip")
    with zipfile.ZipFile("kit.zip") as packed:
        packed.extractall("kit")
    for team, method in (("alpha", "pseudonyms"), ("alpha", "perturb"), ("beta", "perturb")):
        _run("contest", "submit", "begun", "--team", team, "--with", method)
    _run("contest", "make-guess", "kit", "kit/sample/published", "--out", "kit-guess")
    shutil.copytree("begun", "published")
    for team in ("alpha", "beta"):
        _run("contest", "choose", "published", "1", "--team", team)
    _run("contest", "publish", "published")
    shutil.copytree("published", "attacked")
    _run("contest", "attack", "attacked", "--team", "beta", "--target", "alpha", "--with", "same-fields")
    shutil.copytree("attacked", "judged")
    _run("contest", "judge", "judged")


def _exchange() -> None:
    make_service(600, service=1, seed=1).write_csv("people.csv")
    Path("raw.csv").write_text(RETAIL)
    _run("exchange", "keys", "shop")
    _run("data", "make", "services", "--services", "1", "--seed", "1", "--out", "s")
    _run(*OFFER, *DESK)
    for name in ("in", "out", "given"):
        Path(name).mkdir()
    _run("exchange", "request", "desk/offer.json", *ASKED, "--out", "a.request.json")
    shutil.copy("a.request.json", "in")
    shutil.copytree("desk", "answered")
    _run("exchange", "answer", "a.request.json", "--desk", "answered", "--key", "shop.key", "--out", "given")
    _run("job", "new", "people.csv", "--out", "job.toml")
    _run("run", "job.toml", "--out", "dossier")


def _run(*arguments: str) -> None:
    with pytest.raises(SystemExit) as done:
        main(list(arguments))
    assert done.value.code == 0, arguments


@pytest.mark.thorough
@pytest.mark.parametrize("name", COMMANDS)
def test_no_number_or_name_is_cut_by_a_command_that_changes_files(
    name: str,
    laid_out: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "files"

    def lay_out_anew() -> None:
        monkeypatch.chdir(tmp_path)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(laid_out, folder)
        monkeypatch.chdir(folder)

    check_widths(capsys, monkeypatch, *COMMANDS[name], least=1, before=lay_out_anew)


def test_every_command_with_json_is_tried_at_every_width() -> None:
    tried = {" ".join(words) for words in (*COMMANDS.values(), *OF_TABLES.values(), *OF_HISTORIES.values())}
    wanted = {name for name in ALL if "--json" in options_of(name)} - OF_SERVERS
    assert {name for name in wanted if not any(f"{one} ".startswith(f"{name} ") for one in tried)} == set()
