"""What attackers know, by commands: how it is drawn, what each kind of it is worth, and what guesses from it are."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.journey.commands import tokumei_here

# The ten purchases of the slides on background knowledge: customer, day, item.
TOY = ["A1x", "C1x", "D1y", "B2x", "B2y", "B2z", "A3x", "B3y", "D3x", "D3z"]
HEADER = "customer,date,item,price,quantity\n"


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    path = tmp_path / "T.csv"
    path.write_text(HEADER + "".join(f"{who},2010-12-0{day},{item},1.0,1\n" for who, day, item in map(tuple, TOY)))
    return path


def test_knowledge_by_rows_gives_attacker_5_the_risk_of_the_slides(
    toy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for weight, risk in (("rows", 8 / 15), ("baskets", 3 / 7), ("usual", 3 / 7)):
        code, found = tokumei_here(capsys, "knowledge", toy, "--weight", weight)
        assert code == 0
        assert found["attackers"][5]["measured"] == pytest.approx(risk)
        assert found["attackers"][5]["as_stated"] == found["attackers"][5]["measured"]
        assert found["attackers"][5]["theory"] == pytest.approx(0.3)


def test_knowledge_drawn_by_command_leaves_nobody_out_unless_uniform(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Forty customers with one purchase, and one with forty.
    rows = [f"{number if number < 40 else 99},2011-01-{1 + number % 28:02},item{number},1.0,1" for number in range(80)]
    history = tmp_path / "T.csv"
    history.write_text(HEADER + "\n".join(rows) + "\n")
    alone = {}
    for draw, share in (("contest", 60), ("uniform", 60)):
        out = tmp_path / f"{draw}.csv"
        code, found = tokumei_here(
            capsys, "data", "draw-knowledge", history, "--share", share, "--draw", draw, "--seed", 3, "--out", out
        )
        lines = out.read_text().splitlines()[1:]
        known = [line for line in lines if line.strip(",")]
        assert (code, found["known"], len(lines), len(known)) == (0, 48, 80, 48)
        # Items are known by their first two characters, and rows stay where they are.
        assert all(line.split(",")[2] == "it" for line in known)
        assert [line[:10] for line in lines if line.strip(",")] == [
            row[:10] for row, line in zip(rows, lines, strict=True) if line.strip(",")
        ]
        alone[draw] = 41 - len({line.split(",")[0] for line in known})
        assert found["customers without a known row"] == alone[draw]
    assert alone["contest"] == 0 < alone["uniform"]
    code, found = tokumei_here(
        capsys, "data", "draw-knowledge", history, "--share", 9, "--draw", "even", "--out", tmp_path / "no.csv"
    )
    assert (code, found["faults"][0]["expected"]) == (2, "contest or uniform")
    assert not (tmp_path / "no.csv").exists()


@pytest.mark.parametrize("command", ["report", "sweep"])
def test_drawing_is_an_option_wherever_knowledge_is_drawn(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tokumei_here(
        capsys, "data", "make", "retail", "--customers", 40, "--rows", 160, "--seed", 1, "--out", tmp_path
    )
    assert made[0] == 0
    original, release = tmp_path / "history.parquet", tmp_path / "A.parquet"
    anonymized = ["anonymize", "history", original, "--method", "pseudonyms", "--set", "lifetime=1", "--seed", 1]
    assert tokumei_here(capsys, *anonymized, "--out", release)[0] == 0
    grid = tmp_path / "grid.toml"
    grid.write_text('[[pipeline]]\nname = "monthly"\n[[pipeline.step]]\nmethod = "pseudonyms"\nlifetime = 1\n')
    found = {}
    for draw in ("contest", "uniform"):
        out = ["--knowledge", "25", "--attacks", "linkage", "--draw", draw, "--out", tmp_path / f"{draw}.html"]
        files = ["--original", original, "--release", release] if command == "report" else [original, "--grid", grid]
        code, done = tokumei_here(capsys, command, *files, *out)
        assert code == 0
        found[draw] = done["attacks"][0]["cell"] if command == "report" else done["ways"][0]["found"]
    assert found["uniform"] < found["contest"]


def test_score_judge_and_report_tell_the_purchases_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # a and b in two months each; of their five purchases a has three.
    truth, published = tmp_path / "F.csv", tmp_path / "S.csv"
    truth.write_text("customer,2011-01,2011-02\na,p,q\nb,r,s\n")
    published.write_text(
        HEADER + "p,2011-01-01,x,1.0,1\np,2011-01-02,y,1.0,1\nr,2011-01-03,x,1.0,1\nq,2011-02-01,x,1.0,1\n"
        "s,2011-02-02,y,1.0,1\n"
    )
    # By row, and by pseudonym and month, in which a customer may occur several times.
    guesses = {
        "customer\na\na\na\n\nb\n": 3 / 5,
        "month,pseudonym,customer\n2011-01,p,a\n2011-01,r,a\n2011-02,q,b\n2011-02,s,b\n": 3 / 5,
        "customer,2011-01,2011-02\na,p,s\nb,r,q\n": 3 / 5,
    }
    for text, share in guesses.items():
        guess = tmp_path / "Fh.csv"
        guess.write_text(text)
        code, found = tokumei_here(capsys, "judge", "--truth", truth, "--published", published, guess)
        assert code == 0, found
        assert found["transaction"]["value"] == pytest.approx(share)
