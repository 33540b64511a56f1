"""Provider, two users and the public on the command line, from an offer to a log that was tampered with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.journey.commands import tokumei_json

from tokumei.data.files.keys import PrivateKey, write_keys

# Eight women and eight men of each of six ages, but two women of the third; pairs and triples of ages cross.
COUNTS = {(age, sex): 8 for age in "123456" for sex in "fm"} | {("3", "f"): 2}
HIERARCHIES = {
    "age": "1;a;*\n2;a;*\n3;b;*\n4;b;*\n5;c;*\n6;c;*\n",
    "sex": "f;*\nm;*\n",
    "town": "p;n;*\nq;n;*\nr;s;*\ns;s;*\n",
}
TOWNS = "pqrs"


class Journey:
    """Commands run as a person would, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *arguments: object, exit_code: int = 0) -> dict[str, Any]:
        return tokumei_json("exchange", *arguments, exit_code=exit_code, cwd=self.folder)

    def request(self, user: str, name: str, levels: str) -> None:
        arguments = ["--levels", levels, "--key", f"{user}.key", "--user", user, "--purpose", "a study"]
        self.run("request", "desk/offer.json", *arguments, "--out", f"in/{name}.request.json")

    def serve(self) -> dict[str, Any]:
        desk = ["--desk", "desk", "--key", "shop.key", "--inbox", "in", "--outbox", "out"]
        return self.run("serve-requests", *desk, "--once")


@pytest.fixture
def journey(tmp_path: Path) -> Journey:
    rows = [f"{age};{sex};{TOWNS[number % 4]}" for (age, sex), n_rows in COUNTS.items() for number in range(n_rows)]
    (tmp_path / "people.csv").write_text("\n".join(["age;sex;town", *rows]) + "\n")
    (tmp_path / "hierarchies").mkdir()
    for name, text in HIERARCHIES.items():
        (tmp_path / "hierarchies" / f"{name}.csv").write_text(text)
    (tmp_path / "mine.csv").write_text("alter;value\na;1\nb;2\nc;3\n")
    for name in ("in", "out"):
        (tmp_path / name).mkdir()
    journey = Journey(tmp_path)
    for name in ("one", "two"):
        journey.run("keys", name)
    # A desk draws by its key, and one key in some hundred refuses nearly all: always the same one here.
    write_keys(tmp_path / "shop", PrivateKey(bytes(range(32))))
    return journey


def test_an_exchange_from_offer_to_repair_and_audit(journey: Journey) -> None:
    folder = journey.folder
    # A power law that was not vetted promises more than holds; almost nothing is refused by lot here, and the noise is
    # next to none.
    offered = journey.run(
        *("offer", "people.csv", "--qi", "age,sex,town", "--hierarchies", "hierarchies", "--k", 5),
        *("--name", "people", "--desk", "desk", "--key", "shop.key", "--method", "power-law", "--levels", "sex=0"),
        *("--no-vet", "--lots", "1e-9,1e-9", "--provider", "A shop", "--summary", "Ages of our customers."),
        *("--epsilon", 100, "--tighten-every", 3),
    )
    assert offered["attack"]["proven"] == []
    assert offered["first_release"] == {"age": 2, "sex": 0, "town": 2}

    # A user tries levels, and sees where a table of their own connects.
    tried = journey.run("try", "desk/offer.json", "--data", "mine.csv", "--columns", "age=alter")
    assert {each["zone"] for each in tried["nodes"]} == {"allowed", "refused"}
    assert [each["connects"] for each in tried["connections"]] == [False, True, True]
    asking = ["--key", "one.key", "--user", "one", "--purpose", "x", "--out", "x.json"]
    finest = ["--levels", "age=0,sex=0,town=0", *asking]
    assert "is below 5" in journey.run("request", "desk/offer.json", *finest, exit_code=1)["message"]
    assert not (folder / "x.json").exists()

    # What is promised and holds is served; what is promised and fails (γ) is refused in the same words as others.
    journey.request("one", "pairs", "age=1,sex=0")
    journey.request("two", "singles", "age=0,sex=0")
    served = journey.serve()
    assert served["answered"] == {"pairs": "served", "singles": "refused"}
    release = (folder / "out" / "pairs.release.csv").read_text().splitlines()
    assert release[:3] == ["age,sex,town,n_rows", "a,f,*,16", "a,m,*,16"]
    answer = json.loads((folder / "out" / "singles.answer.json").read_text())["body"]
    assert answer["message"] == "The provider does not give these levels."
    assert not {"k", "quadrant", "reason"} & set(answer)

    # Two who collude: ages by sex are out, towns by sex are allowed alone, but the two together are not.
    alone = journey.run("try", "desk/offer.json", "--levels", "town=0,sex=0")
    assert alone["nodes"][0]["zone"] == "allowed"
    journey.request("two", "towns", "town=0,sex=0")
    assert journey.serve()["answered"] == {"towns": "refused"}
    lines = (folder / "desk" / "private" / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["payload"].get("reason") for line in lines] == [None, "", "count", "rule"]
    assert [json.loads(line)["payload"].get("quadrant") for line in lines] == [None, "alpha", "gamma", "delta"]

    # The provider learns from γ, and makes the formula steeper.
    learned = journey.run("learn", "--desk", "desk", "--key", "shop.key", "--tighten")
    before, after = learned["criteria"]["own"]["before"], learned["criteria"]["own"]["after"]
    assert (before["served_fails"], after["served_fails"]) == (1, 0)
    assert before["s2"] > after["s2"]
    assert learned["revision"] == 2
    singles = ["--levels", "age=0,sex=0", *asking]
    journey.run("request", "desk/offer.json", *singles, exit_code=1)

    # Everybody can see what was given; provider and users can check the logs.
    told = journey.run("disclose", "--desk", "desk", "--out", "given.md")
    assert [(each["recipient"], each["groups"]["age"]) for each in told["given"]] == [("one", 3)]
    assert "A shop" in (folder / "given.md").read_text()
    checked = journey.run("verify", "desk", "--key", "shop.pub", "--answer", "out/singles.answer.json")
    assert (checked["served"], checked["refused"], checked["is_good"]) == (1, 2, True)

    # A line that is changed is named, and nothing is answered any more.
    log = folder / "desk" / "public.jsonl"
    log.write_text(log.read_text().replace('"outcome":"refused"', '"outcome":"served"', 1))
    assert "public.jsonl, line" in journey.run("verify", "desk", exit_code=1)["message"]
    nodes = journey.run("try", "desk/offer.json")["nodes"]
    allowed = next(each["levels"] for each in nodes if each["zone"] == "allowed")
    journey.request("one", "more", ",".join(f"{name}={level}" for name, level in allowed.items()))
    desk = ["--desk", "desk", "--key", "shop.key", "--inbox", "in", "--outbox", "out"]
    journey.run("serve-requests", *desk, "--once", exit_code=1)
    assert not list((folder / "out").glob("more.*"))


def test_a_second_person_agrees_and_copies_are_found(journey: Journey) -> None:
    folder = journey.folder
    asking = ["--approvals", 1, "--approver", "two.pub", "--recipient", "one=one.pub:own"]
    for name, more in (("desk", asking), ("copy", ["--other-people"])):
        journey.run(
            *("offer", "people.csv", "--qi", "age,sex,town", "--hierarchies", "hierarchies", "--k", 3),
            *("--name", name, "--desk", name, "--key", "shop.key", "--lots", "1e-9,1e-9", "--method", "margins", *more),
        )
    journey.request("one", "pairs", "age=1")
    assert journey.serve()["answered"] == {"pairs": "waiting"}
    journey.run("approve", "in/pairs.request.json", "--key", "two.key", "--out", "in/pairs.approval.json")
    assert journey.serve()["answered"] == {"pairs": "served"}
    verified = ["--answer", "out/pairs.answer.json", "--request", "in/pairs.request.json"]
    checked = journey.run("verify", "desk", *verified, "--release", "out/pairs.release.csv")
    assert checked["log_line"] == 2
    # Another desk of the same people is refused, unless the provider says that they are others.
    again = ["--hierarchies", "hierarchies", "--k", 3, "--name", "again", "--desk", "again", "--key", "shop.key"]
    refused = journey.run("offer", "people.csv", "--qi", "age,sex,town", *again, exit_code=1)
    assert "offered as 'desk' already" in refused["message"]
    assert journey.run("attack", "desk")["proven"] == []
    assert journey.run("attack", "desk", "--against", "copy")["about"] == "one table"
    admitted = journey.run("admit", "--desk", "desk", "--key", "shop.key", "--recipient", "two=two.pub:own")
    assert admitted["recipients"] == ["one", "two"]
    found = journey.run("watch", "desk/offer.json", "copy/offer.json")
    assert [(each["one"], each["other"]) for each in found["copies"]] == [("desk/offer.json", "copy/offer.json")]
    release = folder / "out" / "pairs.release.csv"
    watched = journey.run("watch", "desk/offer.json", "--release", release, "--levels", "age=1")
    assert watched["tampering"] == []
    release.write_text("age,sex,town,n_rows\na,*,*,5000\n")
    watched = journey.run("watch", "desk/offer.json", "--release", release, "--levels", "age=1")
    assert len(watched["tampering"]) == 2
