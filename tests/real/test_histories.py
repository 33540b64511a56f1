"""Whole jobs on files shaped like those that shops have, by commands alone."""

from __future__ import annotations

import functools
import json
import random
from pathlib import Path
from typing import Any

import pytest
from tests.journey.commands import tokumei_json

from tokumei.cli.main import main

GOODS = ("茶", "卵", "米")


def _grocery(path: Path) -> list[str]:
    """Write rows as those of Complete Journey: names of their own, moments, money as paid, columns of no use here."""
    draw = random.Random(1)
    lines = ["household_id,store_id,basket_id,product_id,quantity,sales_value,transaction_timestamp"]
    for household in range(900, 912):
        for basket in range(12):
            moment = f"2017-{1 + basket % 4:02d}-{1 + draw.randrange(28):02d}T{9 + draw.randrange(9):02d}:53:26Z"
            for _ in range(3):
                paid = draw.randrange(100, 900) / 100
                lines.append(
                    f"{household},330,{basket},{1095275 + draw.randrange(9)},{draw.choice([1, 0.5])},{paid},{moment}"
                )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ["--columns", "customer=household_id,item=product_id,date=transaction_timestamp,price=sales_value"]


def _cdnow(path: Path) -> list[str]:
    """Write rows as those of CDNOW: four columns kept apart by blanks, no header, dates as numbers, no items."""
    draw = random.Random(2)
    lines = []
    for customer in range(1, 13):
        for _ in range(8):
            day = f"1997{1 + draw.randrange(4):02d}{1 + draw.randrange(28):02d}"
            lines.append(f" {customer:05d} {day} {draw.randrange(1, 4):2d} {draw.randrange(500, 3000) / 100:7.2f}")
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    columns = "customer=1,date=2,quantity=3,price=4"
    return ["--delimiter", "blanks", "--no-header", "--columns", columns]


def _shop_in_japan(path: Path) -> list[str]:
    """Write rows as a till in Japan does: Shift-JIS, a title above the header, Japanese names and dates."""
    draw = random.Random(3)
    lines = ["売上明細", "", "会員番号;購入日;商品;単価;数量"]
    for customer in range(1, 13):
        for _ in range(10):
            day = f"2020年{1 + draw.randrange(4)}月{1 + draw.randrange(28)}日"
            lines.append(f"K{customer};{day};{draw.choice('茶卵米')};{draw.randrange(90, 400)};{draw.randrange(1, 5)}")
    path.write_bytes(("\r\n".join(lines) + "\r\n").encode("cp932"))
    return ["--skip-rows", "2", "--columns", "customer=会員番号,date=購入日,item=商品,price=単価,quantity=数量"]


@pytest.mark.parametrize(("make", "has_items"), [(_grocery, True), (_cdnow, False), (_shop_in_japan, True)])
def test_file_of_a_shop_goes_all_the_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], make: Any, has_items: bool
) -> None:
    original, released = tmp_path / "raw.txt", tmp_path / "A.csv"
    reading = make(original)
    table = reading[: reading.index("--columns")]
    run = functools.partial(_run, capsys)
    n_rows = run(
        "anonymize",
        "history",
        original,
        *reading,
        "--method",
        "pseudonyms",
        "--set",
        "lifetime=1",
        "--seed",
        1,
        "--out",
        released,
        "--published",
        tmp_path / "S.csv",
        "--truth",
        tmp_path / "F.csv",
    )["released"]
    assert n_rows == len(released.read_text(encoding="utf-8").splitlines()) - 1
    described = run("data", "describe", original, *table)
    assert described["rows"] == n_rows
    measured = run("measure", "history", "--original", original, "--release", released, *reading)
    assert measured["scores"]["rows"]["value"] == 0
    assert ("top-items" in measured["scores"]) == has_items
    if not has_items:
        assert measured["left_out"]["top-items"] == "the history has no item"
    attack = "s4" if has_items else "s1"
    done = run(
        "attack",
        "history",
        attack,
        "--knowledge",
        original,
        "--release",
        tmp_path / "S.csv",
        "--truth",
        tmp_path / "F.csv",
        "--out",
        tmp_path / "Fh.csv",
        *reading,
    )
    assert done["success"]["month"]["value"] > 0.5
    report = run(
        "report",
        "--original",
        original,
        "--release",
        released,
        "--knowledge",
        "50",
        "--attacks",
        attack,
        "--out",
        tmp_path / "report.html",
        *reading,
    )
    assert report["attacks"][0]["known"] == "50"


def _run(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    """Run with --json in this process; notes of how a file was read may stand beside the result."""
    with pytest.raises(SystemExit) as done:
        main([*map(str, arguments), "--json"])
    printed = capsys.readouterr()
    assert done.value.code == 0, printed.out + printed.err
    assert all(line.startswith("Note: ") for line in printed.err.splitlines())
    found: dict[str, Any] = json.loads(printed.out)
    return found


@pytest.mark.parametrize("day", ["12/01/2010", "foo", ""])
def test_date_that_cannot_be_read_writes_nothing(tmp_path: Path, day: str) -> None:
    file, out = tmp_path / "T.csv", tmp_path / "A.csv"
    file.write_text(f"customer,date,item,price,quantity\n1,2010-12-01,A,1,1\n2,{day},A,1,1\n", encoding="utf-8")
    found = tokumei_json("anonymize", "history", file, "--method", "pseudonyms", "--out", out, exit_code=2)
    assert (found["faults"][0]["line"], found["faults"][0]["column"], found["faults"][0]["value"]) == (3, "date", day)
    assert not out.exists()


def test_header_alone_and_one_row_go_all_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, rows in (("none", ""), ("one", "7,2011-01-01,A,1.5,2\n")):
        file, released, truth = (tmp_path / f"{name}{part}.csv" for part in ("T", "A", "F"))
        file.write_text(f"customer,date,item,price,quantity\n{rows}", encoding="utf-8")
        _run(capsys, "anonymize", "history", file, "--method", "pseudonyms", "--out", released, "--truth", truth)
        measured = _run(capsys, "measure", "history", "--original", file, "--release", released)
        assert "association-rules" in measured["left_out"]
        guess = tmp_path / f"{name}Fh.csv"
        _run(capsys, "attack", "history", "s1", "--knowledge", file, "--release", released, "--out", guess)
        _run(capsys, "judge", guess, "--truth", truth, "--published", released)
        _run(capsys, "knowledge", file)
